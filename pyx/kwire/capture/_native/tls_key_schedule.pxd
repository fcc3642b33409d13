"""What pyx/capture/tls_key_schedule.pyx offers to other compiled modules: HMACs with SHA-256 and SHA-384, the keys of a direction, and what
stands for a session."""

from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    MOST_DIGEST = 48
    MOST_TOGETHER = 4  # traffic secrets of a connection: of two directions, of handshake and data
    LONGEST_TOGETHER = 128  # bytes of one of them
    IV_BYTES = 12
    MOST_KEY_BLOCK = 256  # bytes of TLS 1.2: MAC keys of SHA-384, keys of AES-256, and IVs make 184


cdef struct Hmac:
    # an HMAC of which the key is taken: the states behind the first block of the inner and of the outer hash (RFC 2104, 4)
    bint is_384
    uint64_t[8] inner
    uint64_t[8] outer


cdef struct TogetherKeys:
    # hashes of which the first bytes are the key and the IV of a traffic secret
    uint8_t[MOST_DIGEST] key
    uint8_t[MOST_DIGEST] iv


cdef bytes session_key(bytes name)
cdef int hash_number(object name) except -1
cdef void hmac_begin(Hmac* made, bint is_384, const uint8_t* key, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t hmac_of(const Hmac* key, const uint8_t* data, Py_ssize_t size, uint8_t* digest) noexcept nogil
cdef bytes expanded(const Hmac* key, const uint8_t* label, Py_ssize_t label_size, Py_ssize_t length)
cdef int vector_way() noexcept
cdef void keys_together(
    int way, int count, const uint8_t** secrets, const Py_ssize_t* sizes, int key_bytes, TogetherKeys* made
) noexcept nogil
cdef int key_block(
    bytes master, bytes client_random, bytes server_random, bint is_384, uint8_t* block, Py_ssize_t size
) except -1
