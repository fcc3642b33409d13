"""SHA-384 of eight blocks side by side, by the vectors of x86-64: the keys of a connection take twenty-four blocks, and eight at a time do
not need each other.

`vectors_here` gives the best way of the processor, found at run time: 2 with AVX-512, 1 with AVX2, 0 where nothing else here may be called.
A way that is below the best may be used as well.
"""

from libc.stdint cimport uint8_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #if defined(__GNUC__) && defined(__x86_64__)
    typedef uint64_t kwire_words __attribute__((vector_size(64)));  /* one word of eight states */

    #define KWIRE_RIGHT(value, count) ((value) >> (count) | (value) << (64 - (count)))

    /* FIPS 180-4, 6.4.2: `states` has word by word those of the eight, `blocks` their 128 bytes block by block; `rounds` are the constants
       of 4.2.3. The variables change their parts from round to round, so that no value moves. */
    #define KWIRE_VECTORS(name) \\
        static void name(uint64_t *states, const uint8_t *blocks, const uint64_t *rounds) { \\
            kwire_words words[16], x[8], begin[8], first; \\
            uint64_t taken[16][8], word; \\
            int at, i, nth; \\
            for (nth = 0; nth < 8; nth++) \\
                for (i = 0; i < 16; i++) { \\
                    memcpy(&word, blocks + 128 * nth + 8 * i, 8); \\
                    taken[i][nth] = __builtin_bswap64(word); \\
                } \\
            memcpy(words, taken, sizeof(words)); \\
            memcpy(begin, states, sizeof(begin)); \\
            memcpy(x, begin, sizeof(x)); \\
            for (at = 0; at < 80; at += 16) { \\
                _Pragma("GCC unroll 16") \\
                for (i = 0; i < 16; i++) { \\
                    const kwire_words a = x[(16 - i) & 7], b = x[(17 - i) & 7], c = x[(18 - i) & 7]; \\
                    const kwire_words e = x[(20 - i) & 7], f = x[(21 - i) & 7], g = x[(22 - i) & 7]; \\
                    if (at) { \\
                        const kwire_words near = words[(i + 1) & 15], far = words[(i + 14) & 15]; \\
                        words[i] += words[(i + 9) & 15] + (KWIRE_RIGHT(near, 1) ^ KWIRE_RIGHT(near, 8) ^ near >> 7) \\
                            + (KWIRE_RIGHT(far, 19) ^ KWIRE_RIGHT(far, 61) ^ far >> 6); \\
                    } \\
                    first = x[(23 - i) & 7] + (words[i] + rounds[at + i]) + (g ^ (e & (f ^ g))) \\
                        + (KWIRE_RIGHT(e, 14) ^ KWIRE_RIGHT(e, 18) ^ KWIRE_RIGHT(e, 41)); \\
                    x[(19 - i) & 7] += first; \\
                    x[(23 - i) & 7] = first + (KWIRE_RIGHT(a, 28) ^ KWIRE_RIGHT(a, 34) ^ KWIRE_RIGHT(a, 39)) + ((a & b) | (c & (a | b))); \\
                } \\
            } \\
            for (i = 0; i < 8; i++) begin[i] += x[i]; \\
            memcpy(states, begin, sizeof(begin)); \\
        }

    __attribute__((target("avx2"))) KWIRE_VECTORS(kwire_vectors_avx2)
    __attribute__((target("avx512f"))) KWIRE_VECTORS(kwire_vectors_avx512)

    static int kwire_vectors_here(void) {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx2") ? 1 : 0;
    }

    static void kwire_vectors_take(int way, uint64_t *states, const uint8_t *blocks, const uint64_t *rounds) {
        (way == 2 ? kwire_vectors_avx512 : kwire_vectors_avx2)(states, blocks, rounds);
    }
    #else
    static int kwire_vectors_here(void) { return 0; }
    static void kwire_vectors_take(int way, uint64_t *states, const uint8_t *blocks, const uint64_t *rounds) {
        (void)way; (void)states; (void)blocks; (void)rounds;
    }
    #endif
    """
    int vectors_here "kwire_vectors_here"() noexcept
    void vectors_take "kwire_vectors_take"(int way, uint64_t* states, const uint8_t* blocks, const uint64_t* rounds) noexcept nogil
