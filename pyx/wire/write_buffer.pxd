"""Bytes that grow while a message is written.

The writer holds the position itself (`uint8_t* p`, in a register) and gets it back from each function, NULL where it cannot go on. At
the beginning of each field there are `SLACK` bytes behind the position, enough for all fields of fixed size, lengths and markers of a
struct; who writes more asks for it with `make_room`, which gives the slack again.
"""

from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from wire.cursor cimport likely, unlikely

cdef enum:
    MOST_BYTES = 0x7FFFFFFF  # of a message: a frame says its length as an int32
    FIRST_SIZE = 16384
    MOST_KEPT = 1048576  # bytes that wait for the next message
    LONGEST_VARINT = 5

cdef extern from *:
    """
    /* Big-endian stores of whole words. */
    #if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define KWIRE_BIG_16(value) __builtin_bswap16(value)
    #define KWIRE_BIG_32(value) __builtin_bswap32(value)
    #define KWIRE_BIG_64(value) __builtin_bswap64(value)
    static inline void kwire_store_16(unsigned char *p, uint16_t v) { v = KWIRE_BIG_16(v); memcpy(p, &v, 2); }
    static inline void kwire_store_32(unsigned char *p, uint32_t v) { v = KWIRE_BIG_32(v); memcpy(p, &v, 4); }
    static inline void kwire_store_64(unsigned char *p, uint64_t v) { v = KWIRE_BIG_64(v); memcpy(p, &v, 8); }
    #else
    static inline void kwire_store_16(unsigned char *p, uint16_t v) { p[0] = (unsigned char)(v >> 8); p[1] = (unsigned char)v; }
    static inline void kwire_store_32(unsigned char *p, uint32_t v) {
        kwire_store_16(p, (uint16_t)(v >> 16));
        kwire_store_16(p + 2, (uint16_t)v);
    }
    static inline void kwire_store_64(unsigned char *p, uint64_t v) {
        kwire_store_32(p, (uint32_t)(v >> 32));
        kwire_store_32(p + 4, (uint32_t)v);
    }
    #endif
    """
    void store_16 "kwire_store_16"(uint8_t* p, uint16_t value) noexcept nogil
    void store_32 "kwire_store_32"(uint8_t* p, uint32_t value) noexcept nogil
    void store_64 "kwire_store_64"(uint8_t* p, uint64_t value) noexcept nogil

cdef struct Output:
    uint8_t* start
    uint8_t* end  # of the memory
    Py_ssize_t slack


cdef inline uint8_t* output_open(Output* output, uint8_t* kept, Py_ssize_t kept_size, Py_ssize_t slack) noexcept:
    """Begin with memory that was kept, or with new memory; gives the position, NULL without memory."""
    output.slack = slack
    if kept is not NULL and kept_size >= slack:
        output.start = kept
        output.end = kept + kept_size
        return kept
    PyMem_Free(kept)
    output.start = <uint8_t*>PyMem_Malloc(FIRST_SIZE + slack)
    output.end = output.start
    if output.start is not NULL:
        output.end += FIRST_SIZE + slack
    return output.start


cdef inline uint8_t* grow(Output* output, uint8_t* p, Py_ssize_t size) noexcept:
    cdef Py_ssize_t used = p - output.start
    cdef Py_ssize_t wanted
    cdef uint8_t* moved
    if size > MOST_BYTES or used > MOST_BYTES - size:
        return NULL
    wanted = min(2 * (used + size), <Py_ssize_t>MOST_BYTES) + output.slack
    moved = <uint8_t*>PyMem_Realloc(output.start, wanted)
    if moved is NULL:
        return NULL
    output.start = moved
    output.end = moved + wanted
    return moved + used


cdef inline uint8_t* make_room(Output* output, uint8_t* p, Py_ssize_t size) noexcept:
    """The position with room for `size` bytes and the slack; NULL when the message becomes too long, or memory ends."""
    if likely(output.end - p - output.slack >= size):
        return p
    return grow(output, p, size)


cdef inline uint8_t* put_long_varint(uint8_t* p, uint32_t value) noexcept nogil:
    while value > 0x7F:
        p[0] = <uint8_t>(value | 0x80)
        p += 1
        value >>= 7
    p[0] = <uint8_t>value
    return p + 1


cdef inline uint8_t* put_varint(uint8_t* p, uint32_t value) noexcept nogil:
    if likely(value < 0x80):
        p[0] = <uint8_t>value
        return p + 1
    return put_long_varint(p, value)


cdef inline uint8_t* put_before(Output* output, uint8_t* p, Py_ssize_t place, uint32_t value) noexcept:
    """Write the varint for which one byte was left free at `place`, an offset; what lies behind it moves when it takes more."""
    cdef uint8_t number[LONGEST_VARINT]
    cdef Py_ssize_t size = put_varint(number, value) - number
    cdef uint8_t* at
    p = make_room(output, p, LONGEST_VARINT)
    if unlikely(p is NULL):
        return NULL
    at = output.start + place
    if size > 1:
        memmove(at + size, at + 1, p - at - 1)
    memcpy(at, number, size)
    return p + size - 1
