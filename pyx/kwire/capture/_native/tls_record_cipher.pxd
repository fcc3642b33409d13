"""What pyx/capture/tls_record_cipher.pyx offers to other compiled modules: the cipher of the records of one direction."""

from libc.stdint cimport int64_t, uint8_t

from capture.aes_instructions cimport Aes
from wire.turns cimport Turn

from kwire.capture._native.tls_key_schedule cimport Hmac

cdef enum Cipher:
    GCM = 0
    CCM = 1
    CHACHA20 = 2
    CBC = 3


cdef struct PlainShape:
    # what a deciphered record is: kwire.capture.tls.record_ciphers.Opened, where its plaintext begins the bytes that were deciphered
    int kind
    Py_ssize_t size
    int64_t padding


cdef class RecordCipher:
    cdef Turn* turn  # see wire/turns.pxd
    cdef readonly object suite  # kwire.capture.tls.cipher_suites.Suite
    cdef Cipher cipher
    cdef bint is_13, encrypt_then_mac
    cdef bytes secret  # of TLS 1.3
    cdef bytes key, iv, mac_key  # kwire.capture.tls.key_schedule.Keys; `key` is None before it is derived of `secret`
    cdef bint is_begun, has_mac
    cdef bint is_short_here  # short records are deciphered here
    cdef int chacha_way
    cdef int64_t long_records  # of AES-GCM
    cdef Aes aes  # for these
    cdef Hmac mac_hash  # where `has_mac`
    cdef object inner, outer  # of another MAC: what begins its hashes with the key
    cdef object decrypt  # of the AEAD, or what takes whole blocks of CBC; None before the first record that the library deciphers
    cdef Py_ssize_t overhead, mac_bytes

    cdef int derive(self) except -1
    cdef int begin(self) except -1
    cdef int begin_library(self) except -1
    cdef int begin_mac(self) except -1
    cdef int mac(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, uint8_t* digest) except -1
    cdef bytes open_cbc(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape)
    cdef bytes open_record(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape)


cdef RecordCipher new_cipher(object suite, bytes secret, bint is_13, bint encrypt_then_mac)
cdef int derive_together(list ciphers) except -1
cdef RecordCipher cipher_with_keys(object suite, bytes key, bytes iv, bytes mac_key, bint is_13, bint encrypt_then_mac)
