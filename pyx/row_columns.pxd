"""Rows of `requests` into Arrow columns: values in the buffers of a `bytes` each, nulls in bitmaps, texts gathered by their numbers.

Every function takes the rows as a pointer to the first one's field and the distance to the next, so that columns that follow from others
are made from a plain array of text numbers in the same way.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MIN, INT64_MIN, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

from lane_texts cimport TextTable

cdef extern from "Python.h":
    bytes new_bytes "PyBytes_FromStringAndSize"(const char* data, Py_ssize_t size)


cdef inline tuple long_buffers(const char* first, Py_ssize_t stride, Py_ssize_t count):
    """Validity (or None), values and number of nulls of an int64 column."""
    cdef bytes values = new_bytes(NULL, count * 8)
    cdef bytes bits = new_bytes(NULL, (count + 7) // 8)
    cdef int64_t* value = <int64_t*>PyBytes_AS_STRING(values)
    cdef uint8_t* bit = <uint8_t*>PyBytes_AS_STRING(bits)
    cdef Py_ssize_t index
    cdef Py_ssize_t nulls = 0
    cdef int64_t found
    memset(bit, 0xFF, (count + 7) // 8)
    for index in range(count):
        found = (<const int64_t*>(first + index * stride))[0]
        value[index] = found
        if found == INT64_MIN:
            value[index] = 0
            bit[index >> 3] &= ~(<uint8_t>1 << (index & 7))
            nulls += 1
    return (bits if nulls else None), values, nulls


cdef inline tuple int_buffers(const char* first, Py_ssize_t stride, Py_ssize_t count, bint is_long):
    """The same of an int32 column, whose fields are int32 or, with `is_long`, int64."""
    cdef bytes values = new_bytes(NULL, count * 4)
    cdef bytes bits = new_bytes(NULL, (count + 7) // 8)
    cdef int32_t* value = <int32_t*>PyBytes_AS_STRING(values)
    cdef uint8_t* bit = <uint8_t*>PyBytes_AS_STRING(bits)
    cdef Py_ssize_t index
    cdef Py_ssize_t nulls = 0
    cdef int64_t found
    cdef int64_t null = INT64_MIN if is_long else INT32_MIN
    memset(bit, 0xFF, (count + 7) // 8)
    for index in range(count):
        if is_long:
            found = (<const int64_t*>(first + index * stride))[0]
        else:
            found = (<const int32_t*>(first + index * stride))[0]
        value[index] = <int32_t>found
        if found == null:
            value[index] = 0
            bit[index >> 3] &= ~(<uint8_t>1 << (index & 7))
            nulls += 1
    return (bits if nulls else None), values, nulls


cdef inline tuple text_buffers(const char* first, Py_ssize_t stride, Py_ssize_t count, const TextTable* texts):
    """Validity (or None), offsets, bytes and number of nulls of a text column; fields are numbers of `texts`.

    Raises:
        OverflowError: more than 2 GiB of text in one batch.
    """
    cdef bytes offsets = new_bytes(NULL, (count + 1) * 4)
    cdef bytes bits = new_bytes(NULL, (count + 7) // 8)
    cdef int32_t* offset = <int32_t*>PyBytes_AS_STRING(offsets)
    cdef uint8_t* bit = <uint8_t*>PyBytes_AS_STRING(bits)
    cdef Py_ssize_t index
    cdef Py_ssize_t nulls = 0
    cdef int64_t total = 0
    cdef int32_t number, start, size
    cdef bytes made
    cdef char* at
    memset(bit, 0xFF, (count + 7) // 8)
    for index in range(count):
        offset[index] = <int32_t>total
        number = (<const int32_t*>(first + index * stride))[0]
        if number < 0:
            bit[index >> 3] &= ~(<uint8_t>1 << (index & 7))
            nulls += 1
        else:
            total += texts.offsets[number + 1] - texts.offsets[number]
            if total > 0x7FFFFFFF:
                raise OverflowError("more than 2 GiB of text in one batch of rows")
    offset[count] = <int32_t>total
    made = new_bytes(NULL, total)
    at = PyBytes_AS_STRING(made)
    for index in range(count):
        size = offset[index + 1] - offset[index]
        if size:
            start = texts.offsets[(<const int32_t*>(first + index * stride))[0]]
            memcpy(at + offset[index], texts.bytes + start, size)
    return (bits if nulls else None), offsets, made, nulls
