# cython: language_level=3, binding=False
"""Secrets to traffic keys, the native twin of kwire/capture/tls/key_schedule.py, which is the contract.

SHA-256 and SHA-384 are here (FIPS 180-4), because what is hashed are a hundred bytes: a call of OpenSSL takes several times as long as the
hash, and a connection needs up to sixteen. The key of an HMAC is hashed once for all that is derived of it. Where the processor has
instructions for SHA-256, they do it (`capture/sha_instructions.pxd`); where it has wide vectors, the keys of a connection with SHA-384 are
derived together (`capture/sha384_vectors.pxd`).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from build_id cimport build_id
from capture.sha384_vectors cimport vectors_here, vectors_take
from capture.sha_instructions cimport sha_block, sha_here
from wire.write_buffer cimport store_32, store_64

from math import isqrt

__all__ = ["expand_label", "expand_together", "hmac_digest", "named_session", "prf"]
__build__ = build_id()

cdef enum:
    SESSION_KEY = 16  # bytes
    ABREAST = 8
    BLOCK_384 = 128
    MOST_LABEL = 64  # bytes of a label or seed that is expanded here: `client finished` and two randoms are less

cdef uint64_t[80] ROUNDS  # FIPS 180-4, 4.2.3
cdef uint32_t[64] NARROW_ROUNDS  # 4.2.2: their upper halves
cdef uint64_t[8] BEGIN_384  # 5.3.4
cdef uint32_t[8] BEGIN_256  # 5.3.3
cdef bint HAS_SHA = sha_here()
cdef int VECTOR_WAY = vectors_here()


def _fraction_of_root(number, power):
    """The first 64 bits behind the point of a square or cube root: FIPS 180-4 defines its constants so."""
    scaled = number << 64 * power
    if power == 2:
        return isqrt(scaled) & 0xFFFFFFFFFFFFFFFF
    root = int(number ** (1 / 3) * (1 << 52)) << 12  # right to 50 bits
    root = (2 * root + scaled // (root * root)) // 3  # and to 100
    while root ** 3 > scaled:
        root -= 1
    while (root + 1) ** 3 <= scaled:
        root += 1
    return root & 0xFFFFFFFFFFFFFFFF


cdef int fill_constants() except -1:
    cdef int index
    cdef uint64_t root
    primes = [number for number in range(2, 410) if all(number % each for each in range(2, isqrt(number) + 1))]
    for index in range(80):
        ROUNDS[index] = _fraction_of_root(primes[index], 3)
        if index < 64:
            NARROW_ROUNDS[index] = <uint32_t>(ROUNDS[index] >> 32)
    for index in range(8):
        root = _fraction_of_root(primes[index], 2)
        BEGIN_256[index] = <uint32_t>(root >> 32)
        BEGIN_384[index] = _fraction_of_root(primes[index + 8], 2)
    return 0


fill_constants()


# One block of a hash. Eight rounds stand in a row, so that the eight variables change their parts and no value moves.

cdef inline uint32_t number_at(const uint8_t* data) noexcept nogil:
    return <uint32_t>data[0] << 24 | <uint32_t>data[1] << 16 | <uint32_t>data[2] << 8 | data[3]


cdef inline uint64_t right_64(uint64_t value, int count) noexcept nogil:
    return value >> count | value << (64 - count)


cdef inline uint32_t right_32(uint32_t value, int count) noexcept nogil:
    return value >> count | value << (32 - count)


cdef inline void round_384(
    uint64_t a, uint64_t b, uint64_t c, uint64_t* d, uint64_t e, uint64_t f, uint64_t g, uint64_t* h, uint64_t added
) noexcept nogil:
    cdef uint64_t first = h[0] + (right_64(e, 14) ^ right_64(e, 18) ^ right_64(e, 41)) + (g ^ e & (f ^ g)) + added
    d[0] += first
    h[0] = first + (right_64(a, 28) ^ right_64(a, 34) ^ right_64(a, 39)) + (a & b | c & (a | b))


cdef inline void round_256(
    uint32_t a, uint32_t b, uint32_t c, uint32_t* d, uint32_t e, uint32_t f, uint32_t g, uint32_t* h, uint32_t added
) noexcept nogil:
    cdef uint32_t first = h[0] + (right_32(e, 6) ^ right_32(e, 11) ^ right_32(e, 25)) + (g ^ e & (f ^ g)) + added
    d[0] += first
    h[0] = first + (right_32(a, 2) ^ right_32(a, 13) ^ right_32(a, 22)) + (a & b | c & (a | b))


cdef void take_block_384(uint64_t* state, const uint8_t* data) noexcept nogil:
    """FIPS 180-4, 6.4.2."""
    cdef uint64_t[80] words
    cdef uint64_t a, b, c, d, e, f, g, h, first, second
    cdef int at
    for at in range(16):
        words[at] = <uint64_t>number_at(data + 8 * at) << 32 | number_at(data + 8 * at + 4)
    for at in range(16, 80):
        first, second = words[at - 15], words[at - 2]
        words[at] = words[at - 16] + words[at - 7] + (right_64(first, 1) ^ right_64(first, 8) ^ first >> 7) + (
            right_64(second, 19) ^ right_64(second, 61) ^ second >> 6
        )
    a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    for at in range(0, 80, 8):
        round_384(a, b, c, &d, e, f, g, &h, ROUNDS[at] + words[at])
        round_384(h, a, b, &c, d, e, f, &g, ROUNDS[at + 1] + words[at + 1])
        round_384(g, h, a, &b, c, d, e, &f, ROUNDS[at + 2] + words[at + 2])
        round_384(f, g, h, &a, b, c, d, &e, ROUNDS[at + 3] + words[at + 3])
        round_384(e, f, g, &h, a, b, c, &d, ROUNDS[at + 4] + words[at + 4])
        round_384(d, e, f, &g, h, a, b, &c, ROUNDS[at + 5] + words[at + 5])
        round_384(c, d, e, &f, g, h, a, &b, ROUNDS[at + 6] + words[at + 6])
        round_384(b, c, d, &e, f, g, h, &a, ROUNDS[at + 7] + words[at + 7])
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


cdef void take_block_256(uint32_t* state, const uint8_t* data) noexcept nogil:
    """FIPS 180-4, 6.2.2."""
    cdef uint32_t[64] words
    cdef uint32_t a, b, c, d, e, f, g, h, first, second
    cdef int at
    for at in range(16):
        words[at] = number_at(data + 4 * at)
    for at in range(16, 64):
        first, second = words[at - 15], words[at - 2]
        words[at] = words[at - 16] + words[at - 7] + (right_32(first, 7) ^ right_32(first, 18) ^ first >> 3) + (
            right_32(second, 17) ^ right_32(second, 19) ^ second >> 10
        )
    a, b, c, d, e, f, g, h = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    for at in range(0, 64, 8):
        round_256(a, b, c, &d, e, f, g, &h, NARROW_ROUNDS[at] + words[at])
        round_256(h, a, b, &c, d, e, f, &g, NARROW_ROUNDS[at + 1] + words[at + 1])
        round_256(g, h, a, &b, c, d, e, &f, NARROW_ROUNDS[at + 2] + words[at + 2])
        round_256(f, g, h, &a, b, c, d, &e, NARROW_ROUNDS[at + 3] + words[at + 3])
        round_256(e, f, g, &h, a, b, c, &d, NARROW_ROUNDS[at + 4] + words[at + 4])
        round_256(d, e, f, &g, h, a, b, &c, NARROW_ROUNDS[at + 5] + words[at + 5])
        round_256(c, d, e, &f, g, h, a, &b, NARROW_ROUNDS[at + 6] + words[at + 6])
        round_256(b, c, d, &e, f, g, h, &a, NARROW_ROUNDS[at + 7] + words[at + 7])
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


cdef inline void take_block(bint is_384, uint64_t* state, const uint8_t* data) noexcept nogil:
    if is_384:
        take_block_384(state, data)
    elif HAS_SHA:
        sha_block(<uint32_t*>state, data, NARROW_ROUNDS)
    else:
        take_block_256(<uint32_t*>state, data)


# Hashes and HMACs.

cdef inline void begin_state(bint is_384, uint64_t* state) noexcept nogil:
    if is_384:
        memcpy(state, BEGIN_384, 64)
    else:
        memcpy(state, BEGIN_256, 32)


cdef Py_ssize_t end_hash(
    bint is_384, uint64_t* state, Py_ssize_t before, const uint8_t* data, Py_ssize_t size, uint8_t* digest
) noexcept nogil:
    """Take the rest of what is hashed, behind `before` bytes in whole blocks; gives the size of the digest."""
    cdef Py_ssize_t block_bytes = 128 if is_384 else 64
    cdef Py_ssize_t length_bytes = 16 if is_384 else 8
    cdef Py_ssize_t digest_bytes = 48 if is_384 else 32
    cdef uint64_t bits = <uint64_t>(before + size) * 8
    cdef uint8_t[256] padded
    cdef Py_ssize_t end, at
    cdef uint32_t* narrow = <uint32_t*>state
    while size >= block_bytes:
        take_block(is_384, state, data)
        data += block_bytes
        size -= block_bytes
    end = block_bytes if size + 1 + length_bytes <= block_bytes else 2 * block_bytes
    memset(padded, 0, end)
    if size:
        memcpy(padded, data, size)
    padded[size] = 0x80
    store_64(padded + end - 8, bits)
    take_block(is_384, state, padded)
    if end > block_bytes:
        take_block(is_384, state, padded + block_bytes)
    if is_384:
        for at in range(6):
            store_64(digest + 8 * at, state[at])
    else:
        for at in range(8):
            store_32(digest + 4 * at, narrow[at])
    return digest_bytes


cdef bytes session_key(bytes name):
    """session_keys.session_key: what stands for the id or ticket of a session."""
    cdef uint64_t[8] state
    cdef uint8_t[MOST_DIGEST] digest
    begin_state(False, state)
    end_hash(False, state, 0, <const uint8_t*>PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name), digest)
    return PyBytes_FromStringAndSize(<const char*>digest, SESSION_KEY)


cdef int hash_number(object name) except -1:
    """Whether a hash is SHA-384."""
    if name == "sha384":
        return True
    if name == "sha256":
        return False
    raise ValueError(f"no suite has the hash {name}")


cdef void hmac_begin(Hmac* made, bint is_384, const uint8_t* key, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t block_bytes = 128 if is_384 else 64
    cdef uint8_t[128] inner
    cdef uint8_t[128] outer
    cdef uint8_t[MOST_DIGEST] short_key
    cdef Py_ssize_t at
    cdef uint8_t each
    if size > block_bytes:
        begin_state(is_384, made.inner)
        size = end_hash(is_384, made.inner, 0, key, size, short_key)
        key = short_key
    for at in range(block_bytes):
        each = key[at] if at < size else 0
        inner[at], outer[at] = each ^ 0x36, each ^ 0x5C
    made.is_384 = is_384
    begin_state(is_384, made.inner)
    begin_state(is_384, made.outer)
    take_block(is_384, made.inner, inner)
    take_block(is_384, made.outer, outer)


cdef Py_ssize_t hmac_of(const Hmac* key, const uint8_t* data, Py_ssize_t size, uint8_t* digest) noexcept nogil:
    """The HMAC of data; gives its size. `digest` has room for MOST_DIGEST bytes and may be `data`."""
    cdef Py_ssize_t block_bytes = 128 if key.is_384 else 64
    cdef uint64_t[8] state
    cdef Py_ssize_t digest_bytes
    memcpy(state, key.inner, 64)
    digest_bytes = end_hash(key.is_384, state, block_bytes, data, size, digest)
    memcpy(state, key.outer, 64)
    return end_hash(key.is_384, state, block_bytes, digest, digest_bytes, digest)


# What is derived.

cdef inline int put_label(uint8_t* info, const uint8_t* label, int label_size, int length) noexcept nogil:
    """What is hashed for a label without a context; gives its size."""
    info[0], info[1], info[2] = <uint8_t>(length >> 8), <uint8_t>length, <uint8_t>(label_size + 6)
    memcpy(info + 3, b"tls13 ", 6)
    memcpy(info + 9, label, label_size)
    info[9 + label_size], info[10 + label_size] = 0, 1
    return 11 + label_size


cdef bytes expanded(const Hmac* key, const uint8_t* label, Py_ssize_t label_size, Py_ssize_t length):
    """key_schedule.expand_label without a context, of a length that one hash gives."""
    cdef uint8_t[MOST_LABEL + 16] info
    cdef uint8_t[MOST_DIGEST] digest
    cdef int size = put_label(info, label, <int>label_size, <int>length)
    if length > hmac_of(key, info, size, digest):
        raise ValueError("one hash does not give so much")
    return PyBytes_FromStringAndSize(<const char*>digest, length)


cdef int expand_seed(const Hmac* key, const uint8_t* seed, Py_ssize_t seed_size, uint8_t* made, Py_ssize_t size) except -1:
    """P_hash of TLS 1.2 (RFC 5246, 5)."""
    cdef uint8_t[MOST_DIGEST + 256] step  # A(i), and the seed behind it
    cdef uint8_t[MOST_DIGEST] digest
    cdef Py_ssize_t digest_bytes = 48 if key.is_384 else 32
    cdef Py_ssize_t count
    if seed_size > 256:
        raise ValueError("a seed is longer than two randoms and a label")
    memcpy(step + digest_bytes, seed, seed_size)
    hmac_of(key, seed, seed_size, step)
    while size > 0:
        hmac_of(key, step, digest_bytes + seed_size, digest)
        count = min(size, digest_bytes)
        memcpy(made, digest, count)
        made += count
        size -= count
        if size > 0:
            hmac_of(key, step, digest_bytes, step)
    return 0


cdef int key_block(bytes master, bytes client_random, bytes server_random, bint is_384, uint8_t* block, Py_ssize_t size) except -1:
    """The key block of TLS 1.2 (RFC 5246, 6.3)."""
    cdef Hmac key
    seed = b"key expansion" + server_random + client_random
    hmac_begin(&key, is_384, <const uint8_t*>PyBytes_AS_STRING(master), PyBytes_GET_SIZE(master))
    return expand_seed(&key, <const uint8_t*>PyBytes_AS_STRING(seed), PyBytes_GET_SIZE(seed), block, size)


cdef int vector_way() noexcept:
    """The best way of `keys_together`, 0 where it cannot be asked."""
    return VECTOR_WAY


cdef inline void each_state(uint64_t* target, const uint64_t* begun, int count, int first) noexcept nogil:
    """The states that continue from those of some hashes: a key's and an IV's."""
    cdef int word, nth
    for word in range(8):
        for nth in range(count):
            target[ABREAST * word + nth] = target[ABREAST * word + MOST_TOGETHER + nth] = begun[ABREAST * word + first + nth]


cdef void keys_together(
    int way, int count, const uint8_t** secrets, const Py_ssize_t* sizes, int key_bytes, TogetherKeys* made
) noexcept nogil:
    """Keys and IVs of up to MOST_TOGETHER traffic secrets with SHA-384, of 128 bytes at most: key_schedule.keys_13 of each."""
    cdef uint64_t[8 * ABREAST] states
    cdef uint64_t[8 * ABREAST] begun
    cdef uint8_t[ABREAST * BLOCK_384] blocks
    cdef uint8_t* block
    cdef int nth, at, size, word
    # the first block of the inner and of the outer hash (RFC 2104)
    memset(blocks, 0, sizeof(blocks))
    for nth in range(count):
        block = blocks + BLOCK_384 * nth
        memcpy(block, secrets[nth], sizes[nth])
        memcpy(block + BLOCK_384 * MOST_TOGETHER, secrets[nth], sizes[nth])
    for at in range(BLOCK_384 * MOST_TOGETHER):
        blocks[at] ^= 0x36
    for at in range(BLOCK_384 * MOST_TOGETHER, BLOCK_384 * ABREAST):
        blocks[at] ^= 0x5C
    for word in range(8):
        for nth in range(ABREAST):
            begun[ABREAST * word + nth] = BEGIN_384[word]
    vectors_take(way, begun, blocks, ROUNDS)
    # what is expanded (RFC 8446, 7.1)
    memset(blocks, 0, sizeof(blocks))
    for nth in range(ABREAST):
        block = blocks + BLOCK_384 * nth
        size = put_label(block, b"iv", 2, IV_BYTES) if nth >= MOST_TOGETHER else put_label(block, b"key", 3, key_bytes)
        end_block(block, size)
    memset(states, 0, sizeof(states))
    each_state(states, begun, count, 0)
    vectors_take(way, states, blocks, ROUNDS)
    # the outer hash of these digests
    memset(blocks, 0, sizeof(blocks))
    for nth in range(ABREAST):
        block = blocks + BLOCK_384 * nth
        put_digest(block, states, nth)
        end_block(block, MOST_DIGEST)
    each_state(states, begun, count, MOST_TOGETHER)
    vectors_take(way, states, blocks, ROUNDS)
    for nth in range(count):
        put_digest(made[nth].key, states, nth)
        put_digest(made[nth].iv, states, MOST_TOGETHER + nth)


cdef inline void put_digest(uint8_t* target, const uint64_t* states, int nth) noexcept nogil:
    """The digest of one of the hashes."""
    cdef int word
    for word in range(MOST_DIGEST // 8):
        store_64(target + 8 * word, states[ABREAST * word + nth])


cdef inline void end_block(uint8_t* block, int size) noexcept nogil:
    """The end of what is hashed behind one block: these bytes, and zeros."""
    block[size] = 0x80
    block[BLOCK_384 - 2], block[BLOCK_384 - 1] = <uint8_t>((BLOCK_384 + size) * 8 >> 8), <uint8_t>((BLOCK_384 + size) * 8)


# For Python: what the tests hold against the pure twin.

def named_session(bytes name):
    """As `kwire.capture.tls.session_keys.session_key`."""
    return session_key(name)


def hmac_digest(bytes key, bytes data, digest, instructions=True):
    """An HMAC with SHA-256 or SHA-384, as `hmac.digest`.

    Args:
        instructions: use those of the processor for SHA-256, where it has them.
    """
    global HAS_SHA
    cdef Hmac begun
    cdef uint8_t[MOST_DIGEST] made
    cdef bint is_384 = hash_number(digest)
    cdef bint has_sha = HAS_SHA
    HAS_SHA = has_sha and instructions
    hmac_begin(&begun, is_384, <const uint8_t*>PyBytes_AS_STRING(key), PyBytes_GET_SIZE(key))
    size = hmac_of(&begun, <const uint8_t*>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), made)
    HAS_SHA = has_sha
    return PyBytes_FromStringAndSize(<const char*>made, size)


def expand_label(bytes secret, bytes label, Py_ssize_t length, digest):
    """`kwire.capture.tls.key_schedule.expand_label` without a context, of at most the hash's length."""
    cdef Hmac key
    if PyBytes_GET_SIZE(label) > MOST_LABEL or not 0 <= length <= MOST_DIGEST:
        raise ValueError("no such label or length")
    hmac_begin(&key, hash_number(digest), <const uint8_t*>PyBytes_AS_STRING(secret), PyBytes_GET_SIZE(secret))
    return expanded(&key, <const uint8_t*>PyBytes_AS_STRING(label), PyBytes_GET_SIZE(label), length)


def expand_together(list secrets, int key_bytes, int way):
    """Keys and IVs of up to four secrets with SHA-384; None where the processor cannot do it in that way."""
    cdef const uint8_t* begins[MOST_TOGETHER]
    cdef Py_ssize_t[MOST_TOGETHER] sizes
    cdef TogetherKeys[MOST_TOGETHER] made
    cdef int index
    if not 1 <= len(secrets) <= MOST_TOGETHER or not 0 <= key_bytes <= MOST_DIGEST or max(map(len, secrets)) > LONGEST_TOGETHER:
        raise ValueError("too many secrets, or one that is too long")
    if not 1 <= way <= VECTOR_WAY:
        return None
    for index in range(len(secrets)):
        begins[index], sizes[index] = <const uint8_t*>PyBytes_AS_STRING(<bytes?>secrets[index]), len(secrets[index])
    keys_together(way, <int>len(secrets), begins, sizes, key_bytes, made)
    return [(made[index].key[:key_bytes], made[index].iv[:IV_BYTES]) for index in range(len(secrets))]


def prf(bytes secret, bytes label, bytes seed, Py_ssize_t length, digest):
    """`kwire.capture.tls.key_schedule.prf`, of at most 1024 bytes."""
    cdef Hmac key
    cdef uint8_t[1024] made
    cdef bytes whole = label + seed
    if not 0 <= length <= 1024:
        raise ValueError("no such length")
    hmac_begin(&key, hash_number(digest), <const uint8_t*>PyBytes_AS_STRING(secret), PyBytes_GET_SIZE(secret))
    expand_seed(&key, <const uint8_t*>PyBytes_AS_STRING(whole), PyBytes_GET_SIZE(whole), made, length)
    return PyBytes_FromStringAndSize(<const char*>made, length)
