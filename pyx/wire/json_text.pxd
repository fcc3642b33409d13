"""JSON text under the cursor: where strings, numbers, objects and arrays end. Nothing is made of them here.

Every function takes a cursor before a value and leaves it behind the value; False says that no such value is there. A string and what an
object or array holds are only looked through, so what reads such a range has to check it.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from wire.cursor cimport Bytes, Cursor, likely, unlikely

cdef enum:
    QUOTE = 0x22
    BACKSLASH = 0x5C
    BLOCK = 64
    EXACT_DIGITS = 15  # so many decimal digits fit into a double, and so does ten to the power of that
    MOST_DIGITS = 18  # that fit into 64 bits

cdef struct JsonString:
    Bytes start  # behind the quote
    Py_ssize_t size
    bint is_plain  # no escapes: the bytes are the text

cdef struct JsonNumber:
    double value
    int64_t integer
    bint is_integer  # digits alone, and not too many for `integer`
    bint is_exact  # `value` is the double nearest to the text; else that is yet to be found

cdef extern from *:
    """
    /* Which of 64 bytes are quotes, backslashes, opening and closing brackets: a bit each, the first byte's lowest. */
    #if defined(__SSE2__)
    #include <emmintrin.h>
    static inline uint64_t kwire_equal_bytes(const __m128i *bytes, char sign) {
        const __m128i wanted = _mm_set1_epi8(sign);
        uint64_t found = 0;
        for (int i = 0; i < 4; i++) found |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], wanted)) << 16 * i;
        return found;
    }
    static inline void kwire_json_signs(const unsigned char *text, uint64_t *quotes, uint64_t *escapes, uint64_t *opens, uint64_t *ends) {
        __m128i bytes[4], folded[4];
        for (int i = 0; i < 4; i++) {
            bytes[i] = _mm_loadu_si128((const __m128i *)(text + 16 * i));
            folded[i] = _mm_or_si128(bytes[i], _mm_set1_epi8(0x20));  /* [ is { but for this bit, ] is } */
        }
        *quotes = kwire_equal_bytes(bytes, '"');
        *escapes = kwire_equal_bytes(bytes, '\\\\');
        *opens = kwire_equal_bytes(folded, '{');
        *ends = kwire_equal_bytes(folded, '}');
    }
    #else
    static inline void kwire_json_signs(const unsigned char *text, uint64_t *quotes, uint64_t *escapes, uint64_t *opens, uint64_t *ends) {
        *quotes = *escapes = *opens = *ends = 0;
        for (int i = 0; i < 64; i++) {
            *quotes |= (uint64_t)(text[i] == '"') << i;
            *escapes |= (uint64_t)(text[i] == '\\\\') << i;
            *opens |= (uint64_t)((text[i] | 0x20) == '{') << i;
            *ends |= (uint64_t)((text[i] | 0x20) == '}') << i;
        }
    }
    #endif
    static const double kwire_powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    #if defined(__GNUC__)
    #define kwire_count_bits(bits) __builtin_popcountll(bits)
    #define kwire_first_bit(bits) __builtin_ctzll(bits)
    #else
    static inline int kwire_count_bits(uint64_t bits) { int n = 0; for (; bits; bits &= bits - 1) n++; return n; }
    static inline int kwire_first_bit(uint64_t bits) { return kwire_count_bits((bits & (0 - bits)) - 1); }
    #endif
    """
    void json_signs "kwire_json_signs"(Bytes text, uint64_t* quotes, uint64_t* escapes, uint64_t* opens, uint64_t* ends) noexcept nogil
    int count_bits "kwire_count_bits"(uint64_t bits) noexcept nogil
    int first_bit "kwire_first_bit"(uint64_t bits) noexcept nogil
    const double* POWERS_OF_TEN "kwire_powers_of_ten"  # as many as EXACT_DIGITS


cdef inline int json_next(Cursor* cursor) noexcept nogil:
    """The next byte that is no blank, which the cursor then stands before; -1 at the end."""
    while cursor.p < cursor.end:
        if likely(cursor.p[0] > 0x20):
            return cursor.p[0]
        if cursor.p[0] != 0x20 and cursor.p[0] != 0x0A and cursor.p[0] != 0x0D and cursor.p[0] != 0x09:
            return cursor.p[0]
        cursor.p += 1
    return -1


cdef inline bint json_sign(Cursor* cursor, int sign) noexcept nogil:
    """Take one byte of punctuation, and blanks before it."""
    if likely(json_next(cursor) == sign):
        cursor.p += 1
        return True
    return False


cdef inline bint json_word(Cursor* cursor, const char* word, Py_ssize_t size) noexcept nogil:
    """Take `true`, `false` or `null`; what follows has to be punctuation."""
    if cursor.end - cursor.p < size or memcmp(cursor.p, word, size) != 0:
        return False
    cursor.p += size
    return True


cdef inline bint json_string(Cursor* cursor, JsonString* found) noexcept nogil:
    """Take a string."""
    cdef Bytes p = cursor.p
    if unlikely(p >= cursor.end or p[0] != QUOTE):
        return False
    p += 1
    found.start = p
    found.is_plain = True
    while p < cursor.end:
        if unlikely(p[0] == BACKSLASH):
            found.is_plain = False
            p += 1
        elif p[0] == QUOTE:
            found.size = p - found.start
            cursor.p = p + 1
            return True
        elif unlikely(p[0] < 0x20):
            return False
        p += 1
    return False


cdef inline uint64_t signs_in_strings(uint64_t quotes) noexcept nogil:
    """A bit for each byte from an opening quote up to the closing one, which is not among them."""
    quotes ^= quotes << 1
    quotes ^= quotes << 2
    quotes ^= quotes << 4
    quotes ^= quotes << 8
    quotes ^= quotes << 16
    return quotes ^ quotes << 32


cdef inline uint64_t escaped_signs(uint64_t escapes, bint* is_escaped) noexcept nogil:
    """A bit for each byte that has a backslash before it which counts; `is_escaped` goes from block to block."""
    cdef uint64_t escaped = <uint64_t>is_escaped[0]
    cdef uint64_t left
    cdef int place
    left = escapes & ~escaped
    is_escaped[0] = False
    while left:
        place = first_bit(left)
        if place == BLOCK - 1:
            is_escaped[0] = True
            break
        escaped |= <uint64_t>2 << place
        left &= ~(<uint64_t>3 << place)
    return escaped


cdef inline bint json_container(Cursor* cursor) noexcept nogil:
    """Take an object or an array: up to the bracket that closes it, whatever kind of bracket that is. Depth is a number, not a call."""
    cdef uint8_t last[BLOCK]
    cdef Bytes p = cursor.p
    cdef uint64_t quotes, escapes, opens, ends, inside, left
    cdef uint64_t in_string = 0
    cdef bint is_escaped = False
    cdef int64_t depth = 0
    cdef int place
    while p < cursor.end:
        if likely(cursor.end - p >= BLOCK):
            json_signs(p, &quotes, &escapes, &opens, &ends)
        else:
            memset(last, 0, BLOCK)
            memcpy(last, p, cursor.end - p)
            json_signs(last, &quotes, &escapes, &opens, &ends)
        if unlikely(escapes or is_escaped):
            quotes &= ~escaped_signs(escapes, &is_escaped)
        inside = signs_in_strings(quotes) ^ in_string
        in_string = <uint64_t>(<int64_t>inside >> 63)
        opens &= ~inside
        ends &= ~inside
        if depth > count_bits(ends):
            depth += count_bits(opens) - count_bits(ends)
        else:
            left = opens | ends
            while left:
                place = first_bit(left)
                left &= left - 1
                depth += 1 if opens >> place & 1 else -1
                if depth <= 0:
                    cursor.p = p + place + 1
                    return True
        p += BLOCK
    return False


cdef inline Py_ssize_t digits_at(Bytes p, Bytes end) noexcept nogil:
    cdef Bytes start = p
    while p < end and <uint8_t>(p[0] - 0x30) <= 9:
        p += 1
    return p - start


cdef inline bint json_number(Cursor* cursor, JsonNumber* found) noexcept nogil:
    """Take a number; zeros before others and a sign alone are none."""
    cdef Bytes p = cursor.p
    cdef bint is_negative = p < cursor.end and p[0] == 0x2D
    cdef Py_ssize_t whole, fraction = 0, index
    cdef int64_t value = 0
    p += is_negative
    whole = digits_at(p, cursor.end)
    if whole == 0 or (whole > 1 and p[0] == 0x30):
        return False
    found.is_integer = whole <= MOST_DIGITS
    for index in range(min(whole, MOST_DIGITS)):
        value = 10 * value + (p[index] - 0x30)
    p += whole
    if p < cursor.end and p[0] == 0x2E:
        p += 1
        fraction = digits_at(p, cursor.end)
        if fraction == 0:
            return False
        found.is_integer = False
        for index in range(min(fraction, MOST_DIGITS - min(whole, MOST_DIGITS))):
            value = 10 * value + (p[index] - 0x30)
        p += fraction
    found.is_exact = whole + fraction <= EXACT_DIGITS
    if p < cursor.end and p[0] | 0x20 == 0x65:
        found.is_integer = found.is_exact = False
        p += 1
        p += p < cursor.end and (p[0] == 0x2B or p[0] == 0x2D)
        whole = digits_at(p, cursor.end)
        if whole == 0:
            return False
        p += whole
    found.integer = -value if is_negative else value
    # both are exact, so their quotient is rounded once
    found.value = <double>found.integer / POWERS_OF_TEN[fraction] if found.is_exact else 0
    cursor.p = p
    return True
