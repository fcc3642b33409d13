"""AES-GCM and AES-CBC deciphered by the processor's instructions, for short records: a call of OpenSSL takes longer than such a record.

Of x86-64 (AES-NI and PCLMULQDQ), found at run time; elsewhere `aes_here` is False and nothing else here may be called. The carry-less
product and its reduction are those of Intel's "Carry-Less Multiplication Instruction and its Usage for Computing the GCM Mode", with
four blocks to a reduction.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    typedef struct {
        uint8_t keys[15][16];  /* of the rounds, in the order in which they are used */
        uint8_t powers[4][16];  /* of the hash key of GCM: H, H^2, H^3, H^4 */
        int rounds;
    } kwire_aes;

    #if defined(__GNUC__) && defined(__x86_64__)
    #include <immintrin.h>
    #define KWIRE_AES __attribute__((target("aes,pclmul,sse4.1,ssse3")))
    #define KWIRE_AES_INLINE KWIRE_AES static inline __attribute__((always_inline))

    static int kwire_aes_here(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
    }

    KWIRE_AES_INLINE __m128i kwire_get(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)at); }
    KWIRE_AES_INLINE void kwire_put(uint8_t *at, __m128i block) { _mm_storeu_si128((__m128i *)at, block); }

    KWIRE_AES_INLINE __m128i kwire_swapped(__m128i block) {
        return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    }

    /* FIPS 197, 5.2, for keys of 16 and 32 bytes. */
    KWIRE_AES static void kwire_aes_expand(kwire_aes *made, const uint8_t *key, int key_bytes) {
        int words = key_bytes / 16, index;
        unsigned int constant = 1;
        made->rounds = 4 * words + 6;
        memcpy(made->keys, key, (size_t)key_bytes);
        for (index = words; index <= made->rounds; index++) {
            __m128i block = kwire_get(made->keys[index - words]);
            __m128i substituted = _mm_aeskeygenassist_si128(kwire_get(made->keys[index - 1]), 0);
            block = _mm_xor_si128(block, _mm_slli_si128(block, 4));
            block = _mm_xor_si128(block, _mm_slli_si128(block, 8));
            if (index % words == 0) {
                substituted = _mm_xor_si128(_mm_shuffle_epi32(substituted, 0xff), _mm_set1_epi32((int)constant));
                constant = constant << 1 ^ (constant >> 7) * 0x11b;
            } else substituted = _mm_shuffle_epi32(substituted, 0xaa);
            kwire_put(made->keys[index], _mm_xor_si128(block, substituted));
        }
    }

    KWIRE_AES_INLINE void kwire_aes_four(const kwire_aes *aes, __m128i block[4]) {
        int round, each;
        __m128i key = kwire_get(aes->keys[0]);
        for (each = 0; each < 4; each++) block[each] = _mm_xor_si128(block[each], key);
        for (round = 1; round < aes->rounds; round++) {
            key = kwire_get(aes->keys[round]);
            for (each = 0; each < 4; each++) block[each] = _mm_aesenc_si128(block[each], key);
        }
        key = kwire_get(aes->keys[aes->rounds]);
        for (each = 0; each < 4; each++) block[each] = _mm_aesenclast_si128(block[each], key);
    }

    /* The product of two polynomials, not reduced: added to low, middle, high. */
    KWIRE_AES_INLINE void kwire_multiply(__m128i a, __m128i b, __m128i sum[3]) {
        sum[0] = _mm_xor_si128(sum[0], _mm_clmulepi64_si128(a, b, 0x00));
        sum[1] = _mm_xor_si128(sum[1], _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x10), _mm_clmulepi64_si128(a, b, 0x01)));
        sum[2] = _mm_xor_si128(sum[2], _mm_clmulepi64_si128(a, b, 0x11));
    }

    KWIRE_AES_INLINE __m128i kwire_reduced(const __m128i sum[3]) {
        __m128i low = _mm_xor_si128(sum[0], _mm_slli_si128(sum[1], 8)), high = _mm_xor_si128(sum[2], _mm_srli_si128(sum[1], 8));
        __m128i low_bits = _mm_srli_epi32(low, 31), high_bits = _mm_srli_epi32(high, 31), folded, rest;
        low = _mm_or_si128(_mm_slli_epi32(low, 1), _mm_slli_si128(low_bits, 4));  /* the bits are reflected: one place to the left */
        high = _mm_or_si128(_mm_slli_epi32(high, 1), _mm_or_si128(_mm_slli_si128(high_bits, 4), _mm_srli_si128(low_bits, 12)));
        folded = _mm_xor_si128(_mm_slli_epi32(low, 31), _mm_xor_si128(_mm_slli_epi32(low, 30), _mm_slli_epi32(low, 25)));
        rest = _mm_srli_si128(folded, 4);
        low = _mm_xor_si128(low, _mm_slli_si128(folded, 12));
        rest = _mm_xor_si128(rest, _mm_xor_si128(_mm_srli_epi32(low, 1), _mm_xor_si128(_mm_srli_epi32(low, 2), _mm_srli_epi32(low, 7))));
        return _mm_xor_si128(high, _mm_xor_si128(low, rest));
    }

    KWIRE_AES_INLINE __m128i kwire_product(__m128i a, __m128i b) {
        __m128i sum[3] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()};
        kwire_multiply(a, b, sum);
        return kwire_reduced(sum);
    }

    KWIRE_AES_INLINE __m128i kwire_part(const uint8_t *data, size_t size) {
        uint8_t padded[16] = {0};
        memcpy(padded, data, size);
        return kwire_get(padded);
    }

    KWIRE_AES static void kwire_gcm_begin(kwire_aes *made, const uint8_t *key, int key_bytes) {
        __m128i block[4] = {_mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128(), _mm_setzero_si128()}, hash, power;
        int each;
        kwire_aes_expand(made, key, key_bytes);
        kwire_aes_four(made, block);
        hash = power = kwire_swapped(block[0]);
        for (each = 0; each < 4; each++) {
            kwire_put(made->powers[each], power);
            power = kwire_product(power, hash);
        }
    }

    /* SP 800-38D, 7.2, for a nonce of 12 bytes: `size` bytes of ciphertext and the tag of 16 behind it. Additional data: 16 bytes at most.
       Gives whether it verifies; `plain` has room for `size` bytes, and is to be thrown away where it does not. */
    KWIRE_AES static int kwire_gcm_open(
        const kwire_aes *aes, const uint8_t *nonce, const uint8_t *additional, size_t additional_size, const uint8_t *data, size_t size,
        uint8_t *plain
    ) {
        __m128i hash = kwire_get(aes->powers[0]), counter = kwire_part(nonce, 12), block[4], sum[3], tag, mask, lengths;
        __m128i state = kwire_product(kwire_swapped(kwire_part(additional, additional_size)), hash);
        uint32_t number = 1;
        size_t left = size, each, count;
        uint8_t rest[16];
        for (each = 0; each < 4; each++, number++) block[each] = _mm_insert_epi32(counter, (int)__builtin_bswap32(number), 3);
        kwire_aes_four(aes, block);
        mask = block[0];
        count = 1;  /* of the blocks of the key stream that are used */
        while (left) {
            if (count == 4) {
                for (each = 0; each < 4; each++, number++) block[each] = _mm_insert_epi32(counter, (int)__builtin_bswap32(number), 3);
                kwire_aes_four(aes, block);
                count = 0;
                if (left >= 64) {
                    sum[0] = sum[1] = sum[2] = _mm_setzero_si128();
                    for (each = 0; each < 4; each++) {
                        __m128i taken = kwire_get(data + 16 * each);
                        __m128i added = kwire_swapped(taken);
                        if (each == 0) added = _mm_xor_si128(added, state);
                        kwire_multiply(added, kwire_get(aes->powers[3 - each]), sum);
                        kwire_put(plain + 16 * each, _mm_xor_si128(taken, block[each]));
                    }
                    state = kwire_reduced(sum);
                    data += 64;
                    plain += 64;
                    left -= 64;
                    count = 4;
                    continue;
                }
            }
            if (left >= 16) {
                __m128i taken = kwire_get(data);
                state = kwire_product(_mm_xor_si128(state, kwire_swapped(taken)), hash);
                kwire_put(plain, _mm_xor_si128(taken, block[count]));
                data += 16;
                plain += 16;
                left -= 16;
            } else {
                __m128i taken = kwire_part(data, left);
                state = kwire_product(_mm_xor_si128(state, kwire_swapped(taken)), hash);
                kwire_put(rest, _mm_xor_si128(taken, block[count]));
                memcpy(plain, rest, left);
                data += left;
                left = 0;
            }
            count++;
        }
        lengths = _mm_set_epi64x((long long)additional_size * 8, (long long)size * 8);
        state = kwire_product(_mm_xor_si128(state, lengths), hash);
        tag = _mm_xor_si128(_mm_xor_si128(kwire_swapped(state), mask), kwire_get(data));
        return _mm_testz_si128(tag, tag);
    }

    /* FIPS 197, 5.3.5: the keys of the rounds for the way back. */
    KWIRE_AES static void kwire_cbc_begin(kwire_aes *made, const uint8_t *key, int key_bytes) {
        kwire_aes way;
        int round;
        kwire_aes_expand(&way, key, key_bytes);
        made->rounds = way.rounds;
        for (round = 0; round <= way.rounds; round++) {
            __m128i turned = kwire_get(way.keys[way.rounds - round]);
            kwire_put(made->keys[round], round == 0 || round == way.rounds ? turned : _mm_aesimc_si128(turned));
        }
    }

    /* CBC (SP 800-38A, 6.2) of `blocks` blocks behind the one of the IV, which `data` begins with. */
    KWIRE_AES static void kwire_cbc_open(const kwire_aes *aes, const uint8_t *data, size_t blocks, uint8_t *plain) {
        while (blocks) {
            __m128i block[4], key = kwire_get(aes->keys[0]);
            size_t each, count = blocks < 4 ? blocks : 4;
            int round;
            for (each = 0; each < 4; each++) block[each] = _mm_xor_si128(kwire_get(data + 16 * (each < count ? each + 1 : count)), key);
            for (round = 1; round < aes->rounds; round++) {
                key = kwire_get(aes->keys[round]);
                for (each = 0; each < 4; each++) block[each] = _mm_aesdec_si128(block[each], key);
            }
            key = kwire_get(aes->keys[aes->rounds]);
            for (each = 0; each < count; each++) {
                block[each] = _mm_aesdeclast_si128(block[each], key);
                kwire_put(plain + 16 * each, _mm_xor_si128(block[each], kwire_get(data + 16 * each)));
            }
            data += 16 * count;
            plain += 16 * count;
            blocks -= count;
        }
    }

    #else
    static int kwire_aes_here(void) { return 0; }
    static void kwire_gcm_begin(kwire_aes *made, const uint8_t *key, int key_bytes) { (void)made; (void)key; (void)key_bytes; }
    static int kwire_gcm_open(
        const kwire_aes *aes, const uint8_t *nonce, const uint8_t *additional, size_t additional_size, const uint8_t *data, size_t size,
        uint8_t *plain
    ) {
        (void)aes; (void)nonce; (void)additional; (void)additional_size; (void)data; (void)size; (void)plain;
        return 0;
    }
    static void kwire_cbc_begin(kwire_aes *made, const uint8_t *key, int key_bytes) { (void)made; (void)key; (void)key_bytes; }
    static void kwire_cbc_open(const kwire_aes *aes, const uint8_t *data, size_t blocks, uint8_t *plain) {
        (void)aes; (void)data; (void)blocks; (void)plain;
    }
    #endif
    """
    ctypedef struct Aes "kwire_aes":
        pass
    bint aes_here "kwire_aes_here"() noexcept
    void gcm_begin "kwire_gcm_begin"(Aes* made, const uint8_t* key, int key_bytes) noexcept nogil
    bint gcm_open "kwire_gcm_open"(
        const Aes* aes, const uint8_t* nonce, const uint8_t* additional, size_t additional_size, const uint8_t* data, size_t size,
        uint8_t* plain
    ) noexcept nogil
    void cbc_begin "kwire_cbc_begin"(Aes* made, const uint8_t* key, int key_bytes) noexcept nogil
    void cbc_open "kwire_cbc_open"(const Aes* aes, const uint8_t* data, size_t blocks, uint8_t* plain) noexcept nogil
