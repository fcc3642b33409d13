"""Where chosen fields of a message lie: the walk of kwire/codec/field_spans.py, which is the contract and makes the steps.

The steps are Python tuples, made once a message; what is walked over costs no Python code, and no object but a dictionary a struct.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint32_t

from build_id cimport build_id
from wire.cursor cimport (
    BAD_LENGTH, BAD_TAG, MAX_LENGTH, NO_LENGTH, NULL_NOT_ALLOWED, OK, TRUNCATED, Bytes, Cursor, cursor_left, cursor_open, read_length_16,
    read_length_32, read_length_compact, read_varint,
)

from kwire.errors import Fault

__all__ = ["walk"]
__build__ = build_id()

cdef enum:
    SKIP = 0
    TEXT = 1
    STRUCT = 2
    ARRAY = 3
    TAGS = 4
    LONGEST_VARINT = 5


cdef class Walk:
    """One message being walked over; every method gives 0 when a fault ends the walk.

    The cursor stands up to where the message was understood, the length or marker that is at fault included.
    """

    cdef Cursor at
    cdef bint whole
    cdef int fault
    cdef object visit
    cdef list scopes

    cdef bint stop(self, int fault) noexcept:
        self.fault = fault
        return False

    cdef bint stop_in(self, Bytes start, int size) noexcept:
        """A length or a varint of `size` bytes at most is at fault."""
        self.at.p = start + min(size, self.at.end - start)
        return self.stop(self.at.code)

    cdef bint struct(self, tuple steps) except -1:
        cdef bint good = True
        self.scopes.append({})
        for step in steps:
            if not self.step(<tuple> step):
                good = False
                break
        self.scopes.pop()
        return good

    cdef bint step(self, tuple step) except -1:
        cdef int kind = step[0]
        cdef int64_t length
        cdef bint null
        if kind == SKIP:
            return self.skip(step[1])
        if kind == TAGS:
            return self.tags(step)
        if kind == TEXT:
            if not self.length(step[1], step[2], &length):
                return False
            return length < 0 or self.content(step[3], length)
        if kind == ARRAY:
            return self.array(step)
        if step[2]:
            if not self.is_null(step[3], &null):
                return False
            if null:
                return True
        return self.struct(<tuple> step[1])

    cdef bint skip(self, int64_t size) noexcept:
        if size > cursor_left(&self.at):
            if not self.whole:
                self.at.p = self.at.end
            return self.stop(TRUNCATED)
        self.at.p += size
        return True

    cdef bint content(self, path, int64_t size) except -1:
        cdef Py_ssize_t begin = self.at.p - self.at.base
        if size > cursor_left(&self.at):
            return self.stop(TRUNCATED)
        if path is not None:
            (<dict> self.scopes[len(self.scopes) - 1])[path[len(path) - 1]] = (begin, begin + size)
            self.visit(path, begin, begin + size, self.scopes)
        self.at.p += size
        return True

    cdef bint array(self, tuple step) except -1:
        cdef int64_t count
        cdef int64_t fixed = step[4]
        cdef int64_t _index
        cdef tuple element = step[5]
        if not self.length(step[1], step[2], &count):
            return False
        if count <= 0:
            return True
        if self.whole and count * <int64_t> step[3] > cursor_left(&self.at):
            return self.stop(TRUNCATED)
        if fixed:
            return self.skip(count * fixed)
        if element[0] == STRUCT:
            element = element[1]
            for _index in range(count):
                if not self.struct(element):
                    return False
        else:
            for _index in range(count):
                if not self.step(element):
                    return False
        return True

    cdef bint tags(self, tuple step) except -1:
        cdef uint32_t count
        cdef uint32_t tag
        cdef uint32_t size
        cdef Bytes begin
        if not self.varint(&count):
            return False
        while count:
            count -= 1
            if not self.varint(&tag) or not self.varint(&size):
                return False
            begin = self.at.p
            if tag in step[2] and size <= cursor_left(&self.at):
                return self.stop(BAD_TAG)
            known = (<dict> step[1]).get(tag)
            if known is not None:
                if not self.step(<tuple> known):
                    return False
                if self.at.p - begin != size:
                    return self.stop(BAD_TAG)
            elif not self.content(step[3], size):
                return False
        return True

    cdef bint varint(self, uint32_t* value) noexcept:
        cdef Bytes start = self.at.p
        value[0] = read_varint(&self.at)
        if self.at.code != OK:
            return self.stop_in(start, LONGEST_VARINT)
        return value[0] <= <uint32_t> MAX_LENGTH or self.stop(BAD_LENGTH)

    cdef bint length(self, int width, bint nullable, int64_t* value) noexcept:
        """A length or count, -1 for null."""
        cdef Bytes start = self.at.p
        if width == 0:
            value[0] = read_length_compact(&self.at, True)
        else:
            value[0] = read_length_16(&self.at, True) if width == 2 else read_length_32(&self.at, True)
        if value[0] == NO_LENGTH:
            return self.stop_in(start, width or LONGEST_VARINT)
        return value[0] >= 0 or nullable or self.stop(NULL_NOT_ALLOWED)

    cdef bint is_null(self, bint compact, bint* null) noexcept:
        cdef int64_t value
        if compact:
            if not self.length(0, True, &value):
                return False
            null[0] = value < 0
            return True
        if not self.skip(1):
            return False
        null[0] = self.at.p[-1] > 0x7F
        return True


def walk(tuple steps not None, bytes data not None, Py_ssize_t offset, visit, bint whole):
    """Walk a message.

    Args:
        steps: of its outermost struct.
        data, offset, visit, whole: as for `kwire.codec.field_spans.FieldWalker.walk`.

    Returns:
        Up to where it was understood, and what stopped the walk, None when the message was whole.
    """
    cdef Walk walk = Walk()
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
    if offset < 0:
        raise ValueError("the offset is below 0")
    cursor_open(&walk.at, <Bytes> PyBytes_AS_STRING(data), size, min(offset, size))
    walk.whole = whole
    walk.visit = visit
    walk.scopes = []
    good = walk.struct(steps)
    return walk.at.p - walk.at.base, None if good else Fault(walk.fault)
