"""C interface of pyx/capture/tls_record_cipher.pyx: the cipher of the records of one direction."""

from libc.stdint cimport int64_t, uint8_t

from wire.turns cimport Turn

cdef struct PlainShape:
    # what a deciphered record is: kwire.capture.tls.record_ciphers.Opened, where its plaintext begins the bytes that were deciphered
    int kind
    Py_ssize_t size
    int64_t padding


cdef class RecordCipher:
    cdef Turn* turn  # see wire/turns.pxd
    cdef readonly object suite  # kwire.capture.tls.cipher_suites.Suite
    cdef bint is_13, encrypt_then_mac, has_sequence_nonce
    cdef bytes secret  # of TLS 1.3
    cdef object keys  # kwire.capture.tls.key_schedule.Keys; None before they are derived of `secret`
    cdef object pure  # the pure cipher; None before the first record
    cdef object decrypt  # of its AEAD; None for a CBC suite
    cdef bytes iv
    cdef Py_ssize_t overhead

    cdef int begin(self) except -1
    cdef bytes open_record(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape)


cdef RecordCipher new_cipher(object suite, bytes secret)
cdef RecordCipher cipher_with_keys(object suite, object keys, bint is_13, bint encrypt_then_mac)
