# cython: language_level=3, binding=False
"""One protected record to its plaintext: the native twin of `kwire.capture.tls.record_ciphers.RecordCipher`, which is the contract.

Keys are derived with the first record. Short records are deciphered here: of AES-GCM and AES-CBC where the processor has instructions for
it (`capture/aes_instructions.pxd`), and of ChaCha20-Poly1305 (`capture/chacha_poly.pxd`). All others, and all records elsewhere, are
deciphered by `cryptography`: one call for a record.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp, memcpy

from build_id cimport build_id
from capture.aes_instructions cimport aes_here, cbc_begin, cbc_open, gcm_begin, gcm_open
from capture.chacha_poly cimport chacha_here, chacha_open
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.capture._native.tls_key_schedule cimport (
    IV_BYTES, LONGEST_TOGETHER, MOST_DIGEST, MOST_TOGETHER, Hmac, TogetherKeys, expanded, hash_number, hmac_begin, hmac_of, keys_together,
    vector_way,
)

import hashlib

from kwire.capture.tls.key_schedule import Keys
from kwire.capture.tls.record_ciphers import Opened
from kwire.capture.tls.record_ciphers import RecordCipher as PureCipher

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher as BlockCipher
    from cryptography.hazmat.primitives.ciphers.aead import AESCCM, AESGCM, ChaCha20Poly1305
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CBC as CbcMode
except ImportError:
    InvalidTag = ()  # without keys nothing is deciphered, and those that bring keys ask for the package

__all__ = ["RecordCipher", "record_cipher"]
__build__ = build_id()

cdef enum:
    EXPLICIT = 8
    BLOCK = 16
    TAG = 16
    HEADER = 13  # of what a MAC or an AEAD of TLS 1.2 vouches for beside the plaintext
    # Of a record that is deciphered here, of AES and of ChaCha20, and of what is hashed here for its MAC: OpenSSL is faster with more.
    MOST_SHORT = 4096
    MOST_SHORT_CHACHA = 512
    MOST_SHORT_CHACHA_WIDE = 2048  # eight blocks at once
    MOST_HASHED = 2048
    FIRST_LONG = 4  # long records of AES-GCM: until then OpenSSL's cipher costs more than it saves

cdef dict MAC_BYTES = {"sha1": 20, "sha256": 32, "sha384": 48}
cdef dict HASHES = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384}
cdef bytes INNER = bytes(value ^ 0x36 for value in range(256))
cdef bytes OUTER = bytes(value ^ 0x5C for value in range(256))
cdef bint HAS_AES = aes_here()
cdef int CHACHA_WAY = chacha_here()


@cython.freelist(64)
@cython.no_gc  # no cycle goes through it
cdef class RecordCipher:
    """What opens the records of one direction under one set of keys; keys and cipher are made with the first record."""

    def __dealloc__(self):
        turn_leave(self.turn)

    def __repr__(self):
        return f"RecordCipher({self.suite.name})"

    cdef int derive(self) except -1:
        """key_schedule.keys_13, where there are no keys yet."""
        cdef Hmac secret
        if self.key is None:
            hmac_begin(&secret, hash_number(self.suite.hash), <const uint8_t*>PyBytes_AS_STRING(self.secret), PyBytes_GET_SIZE(self.secret))
            self.key = expanded(&secret, b"key", 3, self.suite.key_bytes)
            self.iv = expanded(&secret, b"iv", 2, IV_BYTES)
        return 0

    cdef int begin(self) except -1:
        """Derive the keys, and prepare what is deciphered here."""
        cdef const uint8_t* key
        cdef int key_bytes
        self.derive()
        key, key_bytes = <const uint8_t*>PyBytes_AS_STRING(self.key), <int>PyBytes_GET_SIZE(self.key)
        self.is_short_here = self.is_short_here and (key_bytes == 32 or (key_bytes == 16 and self.cipher != CHACHA20))
        if self.is_short_here:
            if self.cipher == GCM:
                gcm_begin(&self.aes, key, key_bytes)
            elif self.cipher == CBC:
                cbc_begin(&self.aes, key, key_bytes)
        if self.cipher == CBC and self.suite.mac != "sha1":
            key = <const uint8_t*>PyBytes_AS_STRING(self.mac_key)
            hmac_begin(&self.mac_hash, hash_number(self.suite.mac), key, PyBytes_GET_SIZE(self.mac_key))
            self.has_mac = True
        self.is_begun = True
        return 0

    cdef int begin_library(self) except -1:
        """Make the cipher of `cryptography`."""
        if self.cipher == GCM:
            self.decrypt = AESGCM(self.key).decrypt
        elif self.cipher == CHACHA20:
            self.decrypt = ChaCha20Poly1305(self.key).decrypt
        elif self.cipher == CCM:
            self.decrypt = AESCCM(self.key, tag_length=8 if self.suite.cipher == "ccm_8" else TAG).decrypt
        else:
            # What stands before a block is all that CBC needs: one context takes record behind record, and the block of the IV is dropped.
            self.decrypt = BlockCipher(AES(self.key), CbcMode(bytes(BLOCK))).decryptor().update
        return 0

    cdef int begin_mac(self) except -1:
        """Hash the key of the MAC: the inner and the outer hash of each HMAC continue from there (RFC 2104, 4)."""
        begin = HASHES[self.suite.mac]
        padded = self.mac_key + bytes(begin().block_size - len(self.mac_key))
        self.inner, self.outer = begin(padded.translate(INNER)).copy, begin(padded.translate(OUTER)).copy
        return 0

    cdef int mac(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, uint8_t* digest) except -1:
        """The MAC of CBC (RFC 5246, 6.2.3.1): `mac_bytes` of it."""
        cdef uint8_t[HEADER + MOST_HASHED] hashed
        cdef bytes made
        put_additional(hashed, sequence, kind, version, size)
        if self.has_mac and size <= MOST_HASHED:
            memcpy(hashed + HEADER, data, size)
            hmac_of(&self.mac_hash, hashed, HEADER + size, digest)
            return 0
        if self.inner is None:
            self.begin_mac()
        inner, outer = self.inner(), self.outer()
        inner.update(PyBytes_FromStringAndSize(<const char*>hashed, HEADER))
        inner.update(PyBytes_FromStringAndSize(<const char*>data, size))
        outer.update(inner.digest())
        made = outer.digest()
        memcpy(digest, PyBytes_AS_STRING(made), self.mac_bytes)
        return 0

    cdef bytes open_cbc(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape):
        """RecordCipher._open_cbc; None for a record that does not verify."""
        cdef uint8_t[MOST_DIGEST] digest
        cdef const uint8_t* padded
        cdef Py_ssize_t end, at
        cdef int pad
        cdef bytes opened
        if self.encrypt_then_mac:
            size -= self.mac_bytes
            if size < 0:
                return None
            self.mac(sequence, kind, version, data, size, digest)
            if memcmp(data + size, digest, self.mac_bytes):
                return None
        if size < 2 * BLOCK or size % BLOCK:
            return None
        if self.is_short_here and size <= MOST_SHORT:
            opened = PyBytes_FromStringAndSize(NULL, size - BLOCK)
            cbc_open(&self.aes, data, size // BLOCK - 1, <uint8_t*>PyBytes_AS_STRING(opened))
        else:
            if self.decrypt is None:
                self.begin_library()
            opened = self.decrypt(PyBytes_FromStringAndSize(<const char*>data, size))[BLOCK:]
        padded = <const uint8_t*>PyBytes_AS_STRING(opened)
        size -= BLOCK
        pad = padded[size - 1]
        end = size - 1 - pad
        if end < 0:
            return None
        for at in range(end, size):
            if padded[at] != pad:
                return None
        shape.kind, shape.size, shape.padding = kind, end, 0
        if self.encrypt_then_mac:
            return opened
        shape.size = end - self.mac_bytes
        if shape.size < 0:
            return None
        self.mac(sequence, kind, version, padded, shape.size, digest)
        return opened if not memcmp(padded + shape.size, digest, self.mac_bytes) else None

    cdef bytes open_record(self, int64_t sequence, int kind, int version, const uint8_t* data, Py_ssize_t size, PlainShape* shape):
        """RecordCipher.open: bytes that begin with the plaintext, None for a record that does not verify."""
        cdef uint8_t[IV_BYTES] nonce
        cdef uint8_t[HEADER] additional
        cdef bytes opened
        cdef int place
        if not self.is_begun:
            self.begin()
        if self.cipher == CBC:
            return self.open_cbc(sequence, kind, version, data, size, shape)
        if size < self.overhead:
            return None
        if self.is_13:
            put_header(additional, kind, version, size)
        else:
            put_additional(additional, sequence, kind, version, size - self.overhead)
        if self.is_13 or self.cipher == CHACHA20:
            memcpy(nonce, PyBytes_AS_STRING(self.iv), IV_BYTES)
            for place in range(8):
                nonce[11 - place] ^= <uint8_t>(sequence >> (8 * place))
        else:
            memcpy(nonce, PyBytes_AS_STRING(self.iv), 4)
            memcpy(nonce + 4, data, EXPLICIT)
            data += EXPLICIT
            size -= EXPLICIT
        place = 5 if self.is_13 else HEADER
        if self.is_short_here and is_short(self, size):
            opened = PyBytes_FromStringAndSize(NULL, size - TAG)
            if not open_short(self, nonce, additional, place, data, size - TAG, <uint8_t*>PyBytes_AS_STRING(opened)):
                return None
        else:
            if self.decrypt is None:
                self.begin_library()
            try:
                opened = self.decrypt(
                    PyBytes_FromStringAndSize(<const char*>nonce, IV_BYTES),
                    PyBytes_FromStringAndSize(<const char*>data, size),
                    PyBytes_FromStringAndSize(<const char*>additional, place),
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
        """As `kwire.capture.tls.record_ciphers.RecordCipher.open`."""
        cdef PlainShape shape
        cdef bytes opened = self.open_record(
            sequence, kind, version, <const uint8_t*>PyBytes_AS_STRING(body), PyBytes_GET_SIZE(body), &shape
        )
        return None if opened is None else Opened(shape.kind, opened[:shape.size], shape.padding)

    def plain(self):
        """As the pure twin has it."""
        self.derive()
        return PureCipher(
            self.suite, Keys(self.key, self.iv, self.mac_key), is_13=bool(self.is_13), encrypt_then_mac=bool(self.encrypt_then_mac)
        )


cdef inline bint is_short(RecordCipher self, Py_ssize_t size) noexcept:
    """Whether a record of an AEAD is deciphered here."""
    if self.cipher == CHACHA20:
        return size <= (MOST_SHORT_CHACHA_WIDE if self.chacha_way > 1 else MOST_SHORT_CHACHA)
    if size <= MOST_SHORT:
        return True
    self.long_records += 1
    return self.long_records <= FIRST_LONG


cdef inline bint open_short(
    RecordCipher self, const uint8_t* nonce, const uint8_t* additional, int count, const uint8_t* data, Py_ssize_t size, uint8_t* plain
) noexcept:
    if self.cipher == CHACHA20:
        return chacha_open(self.chacha_way, <const uint8_t*>PyBytes_AS_STRING(self.key), nonce, additional, count, data, size, plain)
    return gcm_open(&self.aes, nonce, additional, count, data, size, plain)


cdef RecordCipher new_cipher(object suite, bytes secret, bint is_13, bint encrypt_then_mac):
    """What is derived of a secret of TLS 1.3; one with other keys is given them."""
    cdef RecordCipher made = RecordCipher.__new__(RecordCipher)
    name = suite.cipher
    made.suite, made.secret, made.is_13, made.encrypt_then_mac = suite, secret, is_13, encrypt_then_mac
    made.cipher = GCM if name == "gcm" else CHACHA20 if name == "chacha20" else CBC if name == "cbc" else CCM
    made.overhead = (8 if name == "ccm_8" else TAG) + (0 if is_13 or made.cipher == CHACHA20 else EXPLICIT)
    made.mac_bytes = MAC_BYTES[suite.mac] if made.cipher == CBC else 0
    made.is_short_here = CHACHA_WAY > 0 if made.cipher == CHACHA20 else HAS_AES and made.cipher != CCM
    made.chacha_way = CHACHA_WAY
    return made


cdef int derive_together(list ciphers) except -1:
    """Derive the keys of the secrets of a connection at once, where that is faster: those of SHA-384, of one suite."""
    cdef const uint8_t* secrets[MOST_TOGETHER]
    cdef Py_ssize_t[MOST_TOGETHER] sizes
    cdef TogetherKeys[MOST_TOGETHER] made
    cdef RecordCipher cipher
    cdef int key_bytes
    cdef int count = 0
    cdef int way = vector_way()
    if not way or not 2 <= len(ciphers) <= MOST_TOGETHER:
        return 0
    suite = (<RecordCipher>ciphers[0]).suite
    if suite.hash != "sha384":
        return 0
    for cipher in ciphers:
        if cipher.key is not None or PyBytes_GET_SIZE(cipher.secret) > LONGEST_TOGETHER or cipher.suite is not suite:
            return 0
        secrets[count], sizes[count] = <const uint8_t*>PyBytes_AS_STRING(cipher.secret), PyBytes_GET_SIZE(cipher.secret)
        count += 1
    key_bytes = suite.key_bytes
    keys_together(way, count, secrets, sizes, key_bytes, made)
    for count in range(len(ciphers)):
        cipher = ciphers[count]
        cipher.key = PyBytes_FromStringAndSize(<const char*>made[count].key, key_bytes)
        cipher.iv = PyBytes_FromStringAndSize(<const char*>made[count].iv, IV_BYTES)
    return 0


cdef RecordCipher cipher_with_keys(object suite, bytes key, bytes iv, bytes mac_key, bint is_13, bint encrypt_then_mac):
    """A cipher of keys that are there."""
    cdef RecordCipher made = new_cipher(suite, None, is_13, encrypt_then_mac)
    made.key, made.iv, made.mac_key = key, iv, mac_key
    return made


def record_cipher(suite, keys, is_13, encrypt_then_mac, short_here=True, chacha_way=3):
    """A cipher as the pure twin has it: `suite`, `keys`, `is_13`, `encrypt_then_mac`.

    Args:
        short_here: decipher short records here, where that is possible; else all by `cryptography`.
        chacha_way: of `capture/chacha_poly.pxd`, at most the best one of this processor.
    """
    cdef RecordCipher made = cipher_with_keys(suite, keys.key, keys.iv, keys.mac_key, is_13, encrypt_then_mac)
    made.is_short_here = made.is_short_here and short_here
    made.chacha_way = min(max(<int>chacha_way, 1), CHACHA_WAY)
    return made


cdef inline void put_header(uint8_t* target, int kind, int version, Py_ssize_t size) noexcept:
    target[0] = <uint8_t>kind
    target[1], target[2] = <uint8_t>(version >> 8), <uint8_t>version
    target[3], target[4] = <uint8_t>(size >> 8), <uint8_t>size


cdef inline void put_additional(uint8_t* target, int64_t sequence, int kind, int version, Py_ssize_t size) noexcept:
    cdef int place
    for place in range(8):
        target[7 - place] = <uint8_t>(sequence >> (8 * place))
    put_header(target + 8, kind, version, size)


cdef Turn** turn_of_record_cipher(PyObject* self) noexcept:
    return &(<RecordCipher>self).turn


one_at_a_time(RecordCipher, turn_of_record_cipher)
