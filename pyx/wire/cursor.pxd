"""The one cursor: every read of wire bytes, in every executor, goes through it.

A cursor is a pointer, an end and a base. Its error is *sticky*: the first read that fails writes down the code (the numbers of
`kwire.errors.Fault`) and the offset, and moves the pointer to the end, so that every later read fails too and changes nothing. A hot loop
may therefore read on and look at `code` once.

All functions are `noexcept nogil`: nothing here makes or needs a Python object. Kafka's integers are big-endian; the shifts below are what
C compilers turn into one load and one byte swap, at any alignment and on any machine.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    # Macros that Cython defines in every module; they keep the handling of faults out of the way of the fast path.
    bint likely(bint condition) noexcept nogil
    bint unlikely(bint condition) noexcept nogil

cdef enum Fault:
    OK = 0
    TRUNCATED = 1
    BAD_VARINT = 2
    BAD_LENGTH = 3
    BAD_UTF8 = 4
    NULL_NOT_ALLOWED = 5
    TRAILING_BYTES = 8
    BAD_TAG = 11

cdef enum:
    # What read_length and its kin give for a null and for a fault: neither is the length of anything.
    NULL_LENGTH = -1
    NO_LENGTH = -2

cdef enum:
    MAX_LENGTH = 0x7FFFFFFF  # of anything: lengths and counts are Java ints

ctypedef const uint8_t* Bytes

cdef struct Cursor:
    Bytes p
    Bytes end
    Bytes base
    Py_ssize_t offset  # of the fault
    int code  # a Fault; OK while nothing went wrong


cdef inline void cursor_open(Cursor* cursor, Bytes base, Py_ssize_t size, Py_ssize_t start) noexcept nogil:
    """Put the cursor at `start` of a buffer of `size` bytes; offsets count from the buffer's first byte."""
    cursor.base = base
    cursor.p = base + start
    cursor.end = base + size
    cursor.offset = 0
    cursor.code = OK


cdef inline Py_ssize_t cursor_left(const Cursor* cursor) noexcept nogil:
    return cursor.end - cursor.p


cdef inline void cursor_fail(Cursor* cursor, int code, Bytes at) noexcept nogil:
    """Write down the first fault; later ones are its consequences."""
    if cursor.code == OK:
        cursor.code = code
        cursor.offset = at - cursor.base
    cursor.p = cursor.end


cdef inline bint cursor_has(Cursor* cursor, Py_ssize_t size) noexcept nogil:
    """Check that `size` bytes are left, else set a fault at the cursor; the caller may then use the `load_` functions on them."""
    if likely(cursor.end - cursor.p >= size):
        return True
    cursor_fail(cursor, TRUNCATED, cursor.p)
    return False


# Loads without a check: only behind `cursor_has`.

cdef inline uint16_t load_16(Bytes p) noexcept nogil:
    return <uint16_t>((<uint32_t>p[0] << 8) | p[1])


cdef inline uint32_t load_32(Bytes p) noexcept nogil:
    return (<uint32_t>p[0] << 24) | (<uint32_t>p[1] << 16) | (<uint32_t>p[2] << 8) | p[3]


cdef inline uint64_t load_64(Bytes p) noexcept nogil:
    return (<uint64_t>load_32(p) << 32) | load_32(p + 4)


cdef inline double load_double(Bytes p) noexcept nogil:
    cdef uint64_t bits = load_64(p)
    cdef double value
    memcpy(&value, &bits, sizeof(double))
    return value


cdef inline uint64_t read_long_varint(Cursor* cursor, int last_shift, uint8_t last_most) noexcept nogil:
    """The varint at the cursor, whatever its length; its last byte, where there is one for `last_shift`, is at most `last_most`."""
    cdef Bytes start = cursor.p
    cdef Bytes p = start
    cdef uint64_t value = 0
    cdef uint64_t byte
    cdef int shift = 0
    while True:
        if unlikely(p == cursor.end):
            cursor_fail(cursor, TRUNCATED, start)
            return 0
        byte = p[0]
        p += 1
        if unlikely(shift == last_shift and byte > last_most):
            cursor_fail(cursor, BAD_VARINT, start)
            return 0
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            cursor.p = p
            return value
        shift += 7


cdef inline uint32_t read_varint(Cursor* cursor) noexcept nogil:
    """An unsigned varint of 32 bits, five bytes at most; 0 after a fault."""
    cdef Bytes p = cursor.p
    if likely(p < cursor.end and p[0] < 0x80):
        cursor.p = p + 1
        return p[0]
    return <uint32_t>read_long_varint(cursor, 28, 0x0F)


cdef inline int32_t read_zigzag(Cursor* cursor) noexcept nogil:
    """A zigzag varint of 32 bits, as all lengths of records are; one and two bytes, which is nearly all there are, without a loop."""
    cdef Bytes p = cursor.p
    cdef uint32_t value
    if likely(cursor.end - p >= 2):
        value = p[0]
        if value < 0x80:
            cursor.p = p + 1
            return <int32_t>(value >> 1) ^ -<int32_t>(value & 1)
        if p[1] < 0x80:
            cursor.p = p + 2
            value = (value & 0x7F) | <uint32_t>p[1] << 7
            return <int32_t>(value >> 1) ^ -<int32_t>(value & 1)
    value = <uint32_t>read_long_varint(cursor, 28, 0x0F)
    return <int32_t>(value >> 1) ^ -<int32_t>(value & 1)


cdef inline int64_t read_varlong(Cursor* cursor) noexcept nogil:
    """A zigzag varint of 64 bits, ten bytes at most; one and two, as above, without a loop."""
    cdef Bytes p = cursor.p
    cdef uint64_t value
    if likely(cursor.end - p >= 2):
        value = p[0]
        if value < 0x80:
            cursor.p = p + 1
            return <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
        if p[1] < 0x80:
            cursor.p = p + 2
            value = (value & 0x7F) | <uint64_t>p[1] << 7
            return <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
    value = read_long_varint(cursor, 63, 1)
    return <int64_t>(value >> 1) ^ -<int64_t>(value & 1)


cdef inline Py_ssize_t read_length_16(Cursor* cursor, bint nullable) noexcept nogil:
    """Length of a string that is not compact: an int16. Every negative one is a null, as in Kafka's readers."""
    cdef Bytes start = cursor.p
    cdef int length
    if not cursor_has(cursor, 2):
        return NO_LENGTH
    length = <int16_t>load_16(start)
    cursor.p = start + 2
    if likely(length >= 0):
        return length
    if nullable:
        return NULL_LENGTH
    cursor_fail(cursor, NULL_NOT_ALLOWED, start)
    return NO_LENGTH


cdef inline Py_ssize_t read_length_32(Cursor* cursor, bint nullable) noexcept nogil:
    """Length of bytes or count of an array that are not compact: an int32, null if negative."""
    cdef Bytes start = cursor.p
    cdef int32_t length
    if not cursor_has(cursor, 4):
        return NO_LENGTH
    length = <int32_t>load_32(start)
    cursor.p = start + 4
    if likely(length >= 0):
        return length
    if nullable:
        return NULL_LENGTH
    cursor_fail(cursor, NULL_NOT_ALLOWED, start)
    return NO_LENGTH


cdef inline Py_ssize_t read_length_compact(Cursor* cursor, bint nullable) noexcept nogil:
    """Length or count of a compact value: a varint of one more, 0 for null."""
    cdef Bytes start = cursor.p
    cdef uint32_t plus_one = read_varint(cursor)
    if unlikely(plus_one == 0):
        if cursor.code != OK:
            return NO_LENGTH
        if nullable:
            return NULL_LENGTH
        cursor_fail(cursor, NULL_NOT_ALLOWED, start)
        return NO_LENGTH
    if unlikely(plus_one - 1 > MAX_LENGTH):
        cursor_fail(cursor, BAD_LENGTH, start)
        return NO_LENGTH
    return <Py_ssize_t>plus_one - 1


cdef inline bint check_count(Cursor* cursor, Bytes start, Py_ssize_t count, Py_ssize_t minimum) noexcept nogil:
    """Check that `count` elements of at least `minimum` bytes fit into the rest, else set a fault at the count, `start`.

    Nothing is reserved for an array before this was asked: memory stays within a fixed multiple of the input.
    """
    # count < 2^31 and minimum is a C int: 64 bits hold the product
    if likely(<int64_t>count * minimum <= <int64_t>(cursor.end - cursor.p)):
        return True
    cursor_fail(cursor, TRUNCATED, start)
    return False
