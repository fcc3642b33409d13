"""Values of a splice: old ones out of the bytes, new ones into them; what is unusual is left to `kwire.codec.splice_values`."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Calloc
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t

from codec.program cimport BOOL, BYTES, INT8, INT16, INT32, INT64, STRING, UINT16, UINT32, UUID, fixed_size
from codec.skip cimport LONGEST_TEXT
from codec.spans cimport Place
from wire.cursor cimport Bytes, load_16, load_32, load_64, load_double

cdef extern from "Python.h":
    object PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char* errors)
    bint PyUnicode_CheckExact(object text)
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    const void* PyUnicode_DATA(object text)
    bint PyLong_CheckExact(object number)
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1

cdef struct Kind:
    # A leaf
    int32_t code
    bint compact
    bint nullable


cdef inline Kind* kinds_of(tuple leaves, tuple chosen) except NULL:
    """Kinds of leaves; the caller frees them."""
    cdef Kind* kinds = <Kind*>PyMem_Calloc(len(chosen) + 1, sizeof(Kind))
    if kinds is NULL:
        raise MemoryError
    for at, number in enumerate(chosen):
        kinds[at] = Kind(leaves[number].code, leaves[number].compact, leaves[number].nullable)
    return kinds


cdef inline object value_at(Bytes base, const Place* place, int32_t code, object uuid):
    cdef Bytes p = base + place.content
    if place.null:
        return None
    if code == STRING:
        return PyUnicode_DecodeUTF8(<const char*>p, place.stop - place.content, NULL)
    if code == BYTES:
        return PyBytes_FromStringAndSize(<const char*>p, place.stop - place.content)
    if code == BOOL:
        return p[0] != 0
    if code == INT8:
        return <signed char>p[0]
    if code == INT16:
        return <int16_t>load_16(p)
    if code == UINT16:
        return load_16(p)
    if code == INT32:
        return <int32_t>load_32(p)
    if code == UINT32:
        return load_32(p)
    if code == INT64:
        return <int64_t>load_64(p)
    if code == UUID:
        return uuid(PyBytes_FromStringAndSize(<const char*>p, 16))
    return load_double(p)


cdef inline object integer_content(int32_t code, object value):
    """The bytes of an int that fits, else None."""
    cdef int overflow = 0
    cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
    cdef int size = fixed_size(code)
    cdef int bits = 8 * size
    cdef uint8_t out[8]
    cdef int at
    if overflow:
        return None
    if code == UINT16 or code == UINT32:
        if number < 0 or number >> bits:
            return None
    elif size < 8 and (number >> (bits - 1) != 0 and number >> (bits - 1) != -1):
        return None
    for at in range(size):
        out[at] = <uint8_t>((<uint64_t>number) >> (8 * (size - 1 - at)))
    return PyBytes_FromStringAndSize(<const char*>out, size)


cdef inline object plain_content(const Kind* kind, object value):
    """The bytes of what most values are, without the length before it; None for others, and for what does not fit."""
    if kind.code == STRING:
        if PyUnicode_CheckExact(value) and PyUnicode_IS_COMPACT_ASCII(value) and PyUnicode_GET_LENGTH(value) <= LONGEST_TEXT:
            return PyBytes_FromStringAndSize(<const char*>PyUnicode_DATA(value), PyUnicode_GET_LENGTH(value))
    elif INT8 <= kind.code <= INT64 and PyLong_CheckExact(value):
        return integer_content(kind.code, value)
    return None
