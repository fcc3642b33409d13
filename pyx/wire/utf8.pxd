"""Is it UTF-8? As strict as Python's decoder: no surrogates, nothing beyond U+10FFFF, no longer form than needed."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from wire.cursor cimport likely


cdef inline uint64_t word_at(const uint8_t* p) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, p, 8)
    return word


cdef inline bint is_plain(const uint8_t* text, Py_ssize_t size) noexcept nogil:
    """Return whether all bytes are ASCII."""
    cdef uint64_t seen = 0
    cdef const uint8_t* last
    if size >= 8:
        last = text + size - 8
        seen = word_at(last)
        while text < last:
            seen |= word_at(text)
            text += 8
        return seen & <uint64_t>0x8080808080808080ULL == 0
    while size > 0:
        size -= 1
        seen |= text[size]
    return seen < 0x80


cdef extern from *:
    """
    #if defined(__SSE2__)
    #include <emmintrin.h>
    static inline int kwire_short_plain(const unsigned char *text, Py_ssize_t size) {
        uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)text));
        uint32_t high = (uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(text + 16)));
        return ((low | (uint64_t)high << 16) & (((uint64_t)1 << size) - 1)) == 0;
    }
    #else
    static inline int kwire_short_plain(const unsigned char *text, Py_ssize_t size) {
        unsigned char seen = 0;
        for (Py_ssize_t i = 0; i < size; i++) seen |= text[i];
        return seen < 0x80;
    }
    #endif
    """
    bint is_short_plain "kwire_short_plain"(const uint8_t* text, Py_ssize_t size) noexcept nogil  # at most 32 bytes, of 32 that are there


cdef inline int sequence_size(const uint8_t* p, Py_ssize_t left) noexcept nogil:
    """Bytes of the character at `p`, 0 if it is none."""
    cdef uint8_t first = p[0]
    cdef uint8_t low = 0x80
    cdef uint8_t high = 0xBF
    cdef int size
    cdef int index
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return 0
    if first < 0xE0:
        size = 2
    elif first < 0xF0:
        size = 3
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
    else:
        size = 4
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    if left < size or p[1] < low or p[1] > high:
        return 0
    for index in range(2, size):
        if p[index] & 0xC0 != 0x80:
            return 0
    return size


cdef inline bint is_utf8(const uint8_t* text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t at = 0
    cdef int step
    if likely(is_plain(text, size)):
        return True
    while at < size:
        step = sequence_size(text + at, size - at)
        if step == 0:
            return False
        at += step
    return True
