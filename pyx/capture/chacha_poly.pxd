"""ChaCha20-Poly1305 (RFC 8439) for short records: a call of OpenSSL takes longer than such a record.

Four or eight blocks of the key stream side by side, and Poly1305 in two words of 64 bits; needs the vectors and the 128-bit numbers of GCC
and Clang and a little-endian processor. `chacha_here` gives the best way: 1 with the vectors that all processors of a kind have, 2 with
AVX2, 3 with the rotations of AVX-512; where it is 0 nothing else here may be called. A way that is below the best may be used as well.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #if defined(__GNUC__) && defined(__SIZEOF_INT128__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef uint32_t kwire_four __attribute__((vector_size(16)));  /* one word of so many blocks */
    typedef uint32_t kwire_eight __attribute__((vector_size(32)));
    typedef unsigned __int128 kwire_wide;
    typedef void (*kwire_chacha)(const uint8_t *, const uint8_t *, uint32_t, uint8_t *);

    #define KWIRE_TURN(a, b, count) x[a] ^= x[b]; x[a] = x[a] << count | x[a] >> (32 - count);
    #define KWIRE_QUARTER(a, b, c, d) \\
        x[a] += x[b]; KWIRE_TURN(d, a, 16) x[c] += x[d]; KWIRE_TURN(b, c, 12) \\
        x[a] += x[b]; KWIRE_TURN(d, a, 8) x[c] += x[d]; KWIRE_TURN(b, c, 7)

    /* RFC 8439, 2.3, of blocks from a counter on, as many as `words` has numbers: 64 bytes of the key stream each. */
    #define KWIRE_CHACHA(name, words) \\
        static void name(const uint8_t *key, const uint8_t *nonce, uint32_t counter, uint8_t *stream) { \\
            static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; \\
            enum { BLOCKS = sizeof(words) / 4 }; \\
            words x[16]; \\
            uint32_t begin[16], made[16][BLOCKS]; \\
            int each, round, block; \\
            memcpy(begin, constants, 16); \\
            memcpy(begin + 4, key, 32); \\
            begin[12] = counter; \\
            memcpy(begin + 13, nonce, 12); \\
            for (each = 0; each < 16; each++) x[each] = (words){0} + begin[each]; \\
            for (block = 0; block < BLOCKS; block++) x[12][block] += (uint32_t)block; \\
            for (round = 0; round < 10; round++) { \\
                KWIRE_QUARTER(0, 4, 8, 12) KWIRE_QUARTER(1, 5, 9, 13) KWIRE_QUARTER(2, 6, 10, 14) KWIRE_QUARTER(3, 7, 11, 15) \\
                KWIRE_QUARTER(0, 5, 10, 15) KWIRE_QUARTER(1, 6, 11, 12) KWIRE_QUARTER(2, 7, 8, 13) KWIRE_QUARTER(3, 4, 9, 14) \\
            } \\
            for (each = 0; each < 16; each++) x[each] += begin[each]; \\
            for (block = 0; block < BLOCKS; block++) x[12][block] += (uint32_t)block; \\
            memcpy(made, x, sizeof(made)); \\
            for (block = 0; block < BLOCKS; block++) \\
                for (each = 0; each < 16; each++) memcpy(stream + 64 * block + 4 * each, &made[each][block], 4); \\
        }

    KWIRE_CHACHA(kwire_chacha_four, kwire_four)
    #if defined(__x86_64__)
    __attribute__((target("avx2"))) KWIRE_CHACHA(kwire_chacha_eight, kwire_eight)
    __attribute__((target("avx512vl"))) KWIRE_CHACHA(kwire_chacha_turning, kwire_eight)  /* a rotation is one instruction */

    static int kwire_chacha_here(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx512vl") ? 3 : __builtin_cpu_supports("avx2") ? 2 : 1;
    }

    static kwire_chacha kwire_chacha_of(int way) {
        return way == 3 ? kwire_chacha_turning : way == 2 ? kwire_chacha_eight : kwire_chacha_four;
    }
    #else
    static int kwire_chacha_here(void) { return 1; }
    static kwire_chacha kwire_chacha_of(int way) { (void)way; return kwire_chacha_four; }
    #endif

    static inline uint64_t kwire_poly_word(const uint8_t *at) {
        uint64_t word;
        memcpy(&word, at, 8);
        return word;
    }

    /* RFC 8439, 2.5, of data that zeros fill up to whole blocks: h = (h + block + 2^128) * r, modulo 2^130 - 5. */
    static void kwire_poly_take(uint64_t h[3], const uint64_t r[2], const uint8_t *data, size_t size) {
        uint64_t fold = r[1] + (r[1] >> 2), carry;
        kwire_wide low, high;
        uint8_t padded[16];
        while (size) {
            size_t count = size < 16 ? size : 16;
            if (count < 16) {
                memset(padded, 0, 16);
                memcpy(padded, data, count);
                data = padded;
            }
            low = (kwire_wide)h[0] + kwire_poly_word(data);
            high = (kwire_wide)h[1] + (uint64_t)(low >> 64) + kwire_poly_word(data + 8);
            h[0] = (uint64_t)low;
            h[1] = (uint64_t)high;
            h[2] += (uint64_t)(high >> 64) + 1;
            low = (kwire_wide)h[0] * r[0] + (kwire_wide)h[1] * fold;
            high = (kwire_wide)h[0] * r[1] + (kwire_wide)h[1] * r[0] + (kwire_wide)h[2] * fold + (uint64_t)(low >> 64);
            h[2] = h[2] * r[0] + (uint64_t)(high >> 64);
            carry = (h[2] >> 2) + (h[2] & ~(uint64_t)3);
            h[2] &= 3;
            low = (kwire_wide)(uint64_t)low + carry;
            h[0] = (uint64_t)low;
            high = (kwire_wide)(uint64_t)high + (uint64_t)(low >> 64);
            h[1] = (uint64_t)high;
            h[2] += (uint64_t)(high >> 64);
            data += count;
            size -= count;
        }
    }

    /* RFC 8439, 2.8: `size` bytes of ciphertext and the tag of 16 behind it. Gives whether it verifies; else nothing is written. */
    static int kwire_chacha_open(
        int way, const uint8_t *key, const uint8_t *nonce, const uint8_t *additional, size_t additional_size, const uint8_t *data,
        size_t size, uint8_t *plain
    ) {
        const kwire_chacha blocks = kwire_chacha_of(way);
        const uint32_t together = way == 1 ? 4 : 8;
        uint8_t stream[512];
        uint64_t h[3] = {0, 0, 0}, r[2], lengths[2] = {additional_size, size};
        kwire_wide low, high;
        size_t used = 64, at, count;
        uint32_t counter = together;
        blocks(key, nonce, 0, stream);
        r[0] = kwire_poly_word(stream) & 0x0ffffffc0fffffff;
        r[1] = kwire_poly_word(stream + 8) & 0x0ffffffc0ffffffc;
        kwire_poly_take(h, r, additional, additional_size);
        kwire_poly_take(h, r, data, size);
        kwire_poly_take(h, r, (const uint8_t *)lengths, 16);
        low = (kwire_wide)h[0] + 5;  /* one more modulus out where it fits */
        high = (kwire_wide)h[1] + (uint64_t)(low >> 64);
        if ((h[2] + (uint64_t)(high >> 64)) >> 2) {
            h[0] = (uint64_t)low;
            h[1] = (uint64_t)high;
        }
        low = (kwire_wide)h[0] + kwire_poly_word(stream + 16);
        high = (kwire_wide)h[1] + kwire_poly_word(stream + 24) + (uint64_t)(low >> 64);
        if ((uint64_t)low != kwire_poly_word(data + size) || (uint64_t)high != kwire_poly_word(data + size + 8)) return 0;
        while (size) {
            if (used == 64 * together) {
                blocks(key, nonce, counter, stream);
                counter += together;
                used = 0;
            }
            count = size < 64 * together - used ? size : 64 * together - used;
            for (at = 0; at < count; at++) plain[at] = data[at] ^ stream[used + at];
            used += count;
            plain += count;
            data += count;
            size -= count;
        }
        return 1;
    }

    #else
    static int kwire_chacha_here(void) { return 0; }
    static int kwire_chacha_open(
        int way, const uint8_t *key, const uint8_t *nonce, const uint8_t *additional, size_t additional_size, const uint8_t *data,
        size_t size, uint8_t *plain
    ) {
        (void)way; (void)key; (void)nonce; (void)additional; (void)additional_size; (void)data; (void)size; (void)plain;
        return 0;
    }
    #endif
    """
    int chacha_here "kwire_chacha_here"() noexcept
    bint chacha_open "kwire_chacha_open"(
        int way, const uint8_t* key, const uint8_t* nonce, const uint8_t* additional, size_t additional_size, const uint8_t* data,
        size_t size, uint8_t* plain
    ) noexcept nogil
