"""CRC-32C of record batches (magic 2) and CRC-32 of messages (magic 0 and 1), without the GIL.

CRC-32C runs on the processor's own instruction where it has one (SSE 4.2, found at run time; the CRC extension of ARMv8): three stripes
side by side, because the instruction takes three cycles and one can start in each. The stripes are joined with tables that append zero
bytes to a CRC: the state after n zero bytes is linear in the state before. Elsewhere, and for CRC-32, tables take eight bytes a step.
"""

from libc.stdint cimport uint32_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #if defined(__GNUC__) && defined(__x86_64__)
    #define KWIRE_CRC_X86 1
    #elif defined(__GNUC__) && defined(__aarch64__) && (defined(__linux__) || defined(__APPLE__))
    #define KWIRE_CRC_ARM 1
    #if defined(__linux__)
    #include <sys/auxv.h>
    #endif
    #endif

    #define KWIRE_LONG_STRIPE 2048
    #define KWIRE_SHORT_STRIPE 128

    static uint32_t kwire_crc32c_steps[8][256];
    static uint32_t kwire_crc32_steps[8][256];
    static uint32_t kwire_zeros_long[4][256];
    static uint32_t kwire_zeros_short[4][256];
    static int kwire_crc_hardware;

    static void kwire_crc_make_steps(uint32_t polynomial, uint32_t steps[8][256]) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t state = byte;
            for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (polynomial & (0u - (state & 1)));
            steps[0][byte] = state;
        }
        for (int step = 1; step < 8; step++)
            for (int byte = 0; byte < 256; byte++)
                steps[step][byte] = (steps[step - 1][byte] >> 8) ^ steps[0][steps[step - 1][byte] & 0xff];
    }

    /* The tables that append `length` zero bytes: what each single bit of the state becomes, joined for each byte of it. */
    static void kwire_crc_make_zeros(size_t length, uint32_t zeros[4][256]) {
        uint32_t bits[32];
        for (int bit = 0; bit < 32; bit++) {
            uint32_t state = 1u << bit;
            for (size_t i = 0; i < length; i++) state = (state >> 8) ^ kwire_crc32c_steps[0][state & 0xff];
            bits[bit] = state;
        }
        for (int place = 0; place < 4; place++)
            for (int byte = 0; byte < 256; byte++) {
                uint32_t state = 0;
                for (int bit = 0; bit < 8; bit++)
                    if (byte >> bit & 1) state ^= bits[8 * place + bit];
                zeros[place][byte] = state;
            }
    }

    static inline uint32_t kwire_crc_append_zeros(const uint32_t zeros[4][256], uint32_t state) {
        return zeros[0][state & 0xff] ^ zeros[1][state >> 8 & 0xff] ^ zeros[2][state >> 16 & 0xff] ^ zeros[3][state >> 24];
    }

    static void kwire_crc_start(void) {
        kwire_crc_make_steps(0x82f63b78u, kwire_crc32c_steps);
        kwire_crc_make_steps(0xedb88320u, kwire_crc32_steps);
        kwire_crc_make_zeros(KWIRE_LONG_STRIPE, kwire_zeros_long);
        kwire_crc_make_zeros(KWIRE_SHORT_STRIPE, kwire_zeros_short);
    #if KWIRE_CRC_X86
        __builtin_cpu_init();
        kwire_crc_hardware = __builtin_cpu_supports("sse4.2") != 0;
    #elif KWIRE_CRC_ARM && defined(__linux__)
        kwire_crc_hardware = (getauxval(AT_HWCAP) & (1ul << 7)) != 0;  /* HWCAP_CRC32 */
    #elif KWIRE_CRC_ARM
        kwire_crc_hardware = 1;  /* every Apple processor has it */
    #endif
    }

    static uint32_t kwire_crc_by_steps(const uint32_t steps[8][256], uint32_t state, const uint8_t *data, size_t size) {
        for (; size >= 8; data += 8, size -= 8) {
            uint32_t low = state ^ ((uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24);
            state = steps[7][low & 0xff] ^ steps[6][low >> 8 & 0xff] ^ steps[5][low >> 16 & 0xff] ^ steps[4][low >> 24]
                ^ steps[3][data[4]] ^ steps[2][data[5]] ^ steps[1][data[6]] ^ steps[0][data[7]];
        }
        for (; size; data++, size--) state = (state >> 8) ^ steps[0][(state ^ *data) & 0xff];
        return state;
    }

    #if KWIRE_CRC_X86 || KWIRE_CRC_ARM
    #if KWIRE_CRC_X86
    #if defined(__clang__) && __clang_major__ >= 14  /* there the instruction is a feature of its own */
    #define KWIRE_CRC_TARGET __attribute__((target("sse4.2,crc32")))
    #else
    #define KWIRE_CRC_TARGET __attribute__((target("sse4.2")))
    #endif
    #define KWIRE_CRC_8(state, word) state = __builtin_ia32_crc32di(state, word)
    #define KWIRE_CRC_1(state, byte) state = __builtin_ia32_crc32qi((uint32_t)state, byte)
    #else
    #define KWIRE_CRC_TARGET
    #define KWIRE_CRC_8(state, word) \\
        __asm__(".arch_extension crc\\n\\tcrc32cx %w0, %w0, %x1" : "+r"(state) : "r"(word))
    #define KWIRE_CRC_1(state, byte) \\
        __asm__(".arch_extension crc\\n\\tcrc32cb %w0, %w0, %w1" : "+r"(state) : "r"((uint32_t)(byte)))
    #endif

    static inline uint64_t kwire_crc_word(const uint8_t *data) {
        uint64_t word;
        memcpy(&word, data, 8);
        return word;
    }

    #define KWIRE_CRC_STRIPES(STRIPE, ZEROS) \\
        while (size >= 3 * STRIPE) { \\
            uint64_t second = 0, third = 0; \\
            for (const uint8_t *stop = data + STRIPE; data < stop; data += 8) { \\
                KWIRE_CRC_8(state, kwire_crc_word(data)); \\
                KWIRE_CRC_8(second, kwire_crc_word(data + STRIPE)); \\
                KWIRE_CRC_8(third, kwire_crc_word(data + 2 * STRIPE)); \\
            } \\
            state = kwire_crc_append_zeros(ZEROS, (uint32_t)state) ^ second; \\
            state = kwire_crc_append_zeros(ZEROS, (uint32_t)state) ^ third; \\
            data += 2 * STRIPE; \\
            size -= 3 * STRIPE; \\
        }

    KWIRE_CRC_TARGET static uint32_t kwire_crc32c_by_instruction(uint32_t start, const uint8_t *data, size_t size) {
        uint64_t state = start;
        KWIRE_CRC_STRIPES(KWIRE_LONG_STRIPE, kwire_zeros_long)
        KWIRE_CRC_STRIPES(KWIRE_SHORT_STRIPE, kwire_zeros_short)
        for (; size >= 8; data += 8, size -= 8) KWIRE_CRC_8(state, kwire_crc_word(data));
        for (; size; data++, size--) KWIRE_CRC_1(state, *data);
        return (uint32_t)state;
    }
    #endif

    static uint32_t kwire_crc32c(const uint8_t *data, size_t size, int hardware) {
    #if KWIRE_CRC_X86 || KWIRE_CRC_ARM
        if (hardware && kwire_crc_hardware) return ~kwire_crc32c_by_instruction(~0u, data, size);
    #endif
        (void)hardware;
        return ~kwire_crc_by_steps(kwire_crc32c_steps, ~0u, data, size);
    }

    static uint32_t kwire_crc32(const uint8_t *data, size_t size) {
        return ~kwire_crc_by_steps(kwire_crc32_steps, ~0u, data, size);
    }
    """
    void crc_start "kwire_crc_start"() noexcept  # makes the tables; once, before the others
    uint32_t crc32c "kwire_crc32c"(const unsigned char* data, size_t size, bint hardware) noexcept nogil
    uint32_t crc32 "kwire_crc32"(const unsigned char* data, size_t size) noexcept nogil
