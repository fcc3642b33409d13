"""Where chosen fields of a message lie: the walk of kwire/codec/field_spans.py, which is the contract and makes the steps.

The steps are Python tuples, made once a message; what is walked over costs no Python code, and no object but a dictionary a struct.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t

from build_id cimport build_id

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
    MAX_LENGTH = 0x7FFFFFFF
    TRUNCATED = 1
    BAD_VARINT = 2
    BAD_LENGTH = 3
    NULL_NOT_ALLOWED = 5
    BAD_TAG = 11


cdef class Walk:
    """One message being walked over; every method gives 0 when a fault ends the walk."""

    cdef const uint8_t* data
    cdef Py_ssize_t pos
    cdef Py_ssize_t end
    cdef bint whole
    cdef int fault
    cdef object visit
    cdef list scopes

    cdef bint stop(self, int fault) noexcept:
        self.fault = fault
        return False

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
        if size > self.end - self.pos:
            if not self.whole:
                self.pos = self.end
            return self.stop(TRUNCATED)
        self.pos += size
        return True

    cdef bint content(self, path, int64_t size) except -1:
        cdef Py_ssize_t stop
        if size > self.end - self.pos:
            return self.stop(TRUNCATED)
        stop = self.pos + size
        if path is not None:
            (<dict> self.scopes[len(self.scopes) - 1])[path[len(path) - 1]] = (self.pos, stop)
            self.visit(path, self.pos, stop, self.scopes)
        self.pos = stop
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
        if self.whole and count * <int64_t> step[3] > self.end - self.pos:
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
        cdef int64_t stop
        if self.pos < self.end and self.data[self.pos] == 0:
            self.pos += 1
            return True
        if not self.varint(&count):
            return False
        while count:
            count -= 1
            if not self.varint(&tag) or not self.varint(&size):
                return False
            stop = <int64_t> size + self.pos
            if tag in step[2] and stop <= self.end:
                return self.stop(BAD_TAG)
            known = (<dict> step[1]).get(tag)
            if known is not None:
                if not self.step(<tuple> known):
                    return False
                if self.pos != stop:
                    return self.stop(BAD_TAG)
            elif not self.content(step[3], size):
                return False
        return True

    cdef int raw_varint(self, uint32_t* value) noexcept:
        """Read a varint of 32 bits; a fault leaves the position behind what it may have been."""
        cdef Py_ssize_t at = self.pos
        cdef uint32_t found = 0
        cdef int shift = 0
        cdef uint8_t byte
        cdef int fault = TRUNCATED
        while at < self.end:
            byte = self.data[at]
            at += 1
            found |= <uint32_t> (byte & 0x7F) << shift
            if byte < 0x80:
                if shift == 28 and byte > 0x0F:
                    fault = BAD_VARINT
                    break
                value[0] = found
                self.pos = at
                return 0
            shift += 7
            if shift == 35:
                fault = BAD_VARINT
                break
        return fault

    cdef bint varint(self, uint32_t* value) noexcept:
        cdef int fault = self.raw_varint(value)
        if fault:
            self.pos = min(self.pos + LONGEST_VARINT, self.end)
            return self.stop(fault)
        if value[0] > MAX_LENGTH:
            return self.stop(BAD_LENGTH)
        return True

    cdef bint length(self, int width, bint nullable, int64_t* value) noexcept:
        """A length or count, -1 for null."""
        cdef uint32_t found
        cdef const uint8_t* at = self.data + self.pos
        cdef Py_ssize_t before = self.pos
        cdef int fault = 0
        if width:
            if width > self.end - self.pos:
                fault = TRUNCATED
            elif width == 2:
                value[0] = <int16_t> (at[0] << 8 | at[1])
            else:
                value[0] = <int32_t> (<uint32_t> at[0] << 24 | <uint32_t> at[1] << 16 | <uint32_t> at[2] << 8 | at[3])
            if not fault:
                self.pos += width
                value[0] = max(value[0], -1)
        else:
            fault = self.raw_varint(&found)
            if not fault:
                if found > <uint32_t> MAX_LENGTH + 1:
                    self.pos = before
                    fault = BAD_LENGTH
                else:
                    value[0] = <int64_t> found - 1
        if fault:
            self.pos = min(self.pos + (width or LONGEST_VARINT), self.end)
            return self.stop(fault)
        if value[0] < 0 and not nullable:
            return self.stop(NULL_NOT_ALLOWED)
        return True

    cdef bint is_null(self, bint compact, bint* null) noexcept:
        cdef int64_t value
        if compact:
            if not self.length(0, True, &value):
                return False
            null[0] = value < 0
            return True
        if not self.skip(1):
            return False
        null[0] = self.data[self.pos - 1] > 0x7F
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
    walk.data = <const uint8_t*> PyBytes_AS_STRING(data)
    walk.end = PyBytes_GET_SIZE(data)
    if not 0 <= offset:
        raise ValueError("the offset is below 0")
    walk.pos = offset
    walk.whole = whole
    walk.visit = visit
    walk.scopes = []
    good = walk.struct(steps)
    return walk.pos, None if good else Fault(walk.fault)
