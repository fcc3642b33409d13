# cython: language_level=3, binding=False
"""Native backend of `kwire.capture.tls.record_ciphers.RecordCipher`: nonce and additional data of AEADs.

CBC suites are left to the pure cipher: no Kafka client of the last years offers them first.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from build_id cimport build_id
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.capture.tls.key_schedule import keys_13
from kwire.capture.tls.record_ciphers import Opened
from kwire.capture.tls.record_ciphers import RecordCipher as PureCipher

try:
    from cryptography.exceptions import InvalidTag
except ImportError:
    InvalidTag = ()  # without keys nothing is deciphered, and callers with keys ask for the package

__all__ = ["RecordCipher", "record_cipher"]
__build__ = build_id()

cdef enum:
    EXPLICIT = 8
    IV_BYTES = 12
    TAG = 16
    HEADER_13 = 5
    HEADER_12 = 13  # what an AEAD of TLS 1.2 vouches for beside the plaintext


@cython.freelist(64)
@cython.no_gc  # no cycle goes through it
cdef class RecordCipher:
    """Cipher of the records of one direction under one set of keys; the first record makes keys and cipher."""

    def __dealloc__(self):
        turn_leave(self.turn)

    def __repr__(self):
        return f"RecordCipher({self.suite.name})"

    cdef int begin(self) except -1:
        self.pure = self.plain()
        if self.suite.cipher != "cbc":
            if len(self.keys.iv) != (IV_BYTES if self.has_sequence_nonce else IV_BYTES - EXPLICIT):
                raise ValueError("the IV does not fit the cipher suite")
            self.iv, self.decrypt = self.keys.iv, self.pure.aead.decrypt
        return 0

    cdef bytes open_record(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape):
        """RecordCipher.open: bytes that begin with the plaintext, None for a record that does not verify."""
        cdef uint8_t[IV_BYTES] nonce
        cdef uint8_t[HEADER_12] additional
        cdef bytes opened
        cdef int place
        if self.pure is None:
            self.begin()
        if self.decrypt is None:
            found = self.pure.open(sequence, kind, version, PyBytes_FromStringAndSize(<const char*>data, size))
            if found is None:
                return None
            shape.kind, shape.size, shape.padding = found.kind, len(found.data), found.padding
            return found.data
        if size < self.overhead:
            return None
        if self.is_13:
            put_header(additional, kind, version, size)
        else:
            put_number(additional, sequence)
            put_header(additional + 8, kind, version, size - self.overhead)
        if self.has_sequence_nonce:
            memcpy(nonce, PyBytes_AS_STRING(self.iv), IV_BYTES)
            for place in range(8):
                nonce[11 - place] ^= <uint8_t>(sequence >> (8 * place))
        else:
            memcpy(nonce, PyBytes_AS_STRING(self.iv), IV_BYTES - EXPLICIT)
            memcpy(nonce + IV_BYTES - EXPLICIT, data, EXPLICIT)
            data += EXPLICIT
            size -= EXPLICIT
        try:
            opened = self.decrypt(
                PyBytes_FromStringAndSize(<const char*>nonce, IV_BYTES),
                PyBytes_FromStringAndSize(<const char*>data, size),
                PyBytes_FromStringAndSize(<const char*>additional, HEADER_13 if self.is_13 else HEADER_12),
            )
        except InvalidTag:
            return None
        size = PyBytes_GET_SIZE(opened)
        shape.kind, shape.size, shape.padding = kind, size, 0
        if not self.is_13:
            return opened
        data = <const uint8_t*>PyBytes_AS_STRING(opened)
        while size and not data[size - 1]:
            size -= 1
        if not size:
            return None  # RFC 8446, 5.4: a record of zeros has no content type
        shape.kind, shape.padding, shape.size = data[size - 1], shape.size - size, size - 1
        return opened

    def open(self, int64_t sequence, int kind, int version, bytes body):
        cdef PlainShape shape
        cdef bytes opened = self.open_record(
            sequence, kind, version, <const uint8_t*>PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body), &shape
        )
        return None if opened is None else Opened(shape.kind, opened[:shape.size], shape.padding)

    def __getattr__(self, name):
        return getattr(self.plain(), name)

    def plain(self):
        if self.pure is not None:
            return self.pure
        if self.keys is None:
            self.keys = keys_13(self.secret, self.suite)
        return PureCipher(self.suite, self.keys, is_13=bool(self.is_13), encrypt_then_mac=bool(self.encrypt_then_mac))


cdef RecordCipher new_cipher(object suite, bytes secret):
    """Make a cipher whose keys come from a traffic secret of TLS 1.3."""
    cdef RecordCipher made = cipher_with_keys(suite, None, True, False)
    made.secret = secret
    return made


cdef RecordCipher cipher_with_keys(object suite, object keys, bint is_13, bint encrypt_then_mac):
    cdef RecordCipher made = RecordCipher.__new__(RecordCipher)
    made.suite, made.keys, made.is_13, made.encrypt_then_mac = suite, keys, is_13, encrypt_then_mac
    made.has_sequence_nonce = is_13 or suite.cipher == "chacha20"
    made.overhead = (8 if suite.cipher == "ccm_8" else TAG) + (0 if made.has_sequence_nonce else EXPLICIT)
    return made


def record_cipher(suite, keys, is_13, encrypt_then_mac):
    return cipher_with_keys(suite, keys, is_13, encrypt_then_mac)


cdef inline void put_header(uint8_t* target, int kind, int version, Py_ssize_t size) noexcept:
    target[0] = <uint8_t>kind
    target[1], target[2] = <uint8_t>(version >> 8), <uint8_t>version
    target[3], target[4] = <uint8_t>(size >> 8), <uint8_t>size


cdef inline void put_number(uint8_t* target, int64_t sequence) noexcept:
    cdef int place
    for place in range(8):
        target[7 - place] = <uint8_t>(sequence >> (8 * place))


cdef Turn** turn_of_record_cipher(PyObject* self) noexcept:
    return &(<RecordCipher>self).turn


one_at_a_time(RecordCipher, turn_of_record_cipher)
