"""Values of Python as bytes of the wire: what is of the usual type. All else is odd (NULL), and left to the careful writer.

No Python code runs in any function here, nor anything that may start a garbage collection and go on: so nothing that the caller handed
over can change or vanish while it is written. Without a GIL other threads run all the same, so the slots of objects are held
(`slots_hold` of `slotted.pxd`), and no list is looked into.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from codec.program cimport (
    BOOL, BYTES, BYTES_COMPACT, FLOAT64, INT8, INT16, INT32, INT64, STRING, STRING_COMPACT, UINT16, UINT32, UUID,
)
from codec.skip cimport LONGEST_TEXT
from wire.cursor cimport likely, unlikely
from wire.raw_python cimport raw_decref, raw_error_clear, raw_false, raw_true
from wire.write_buffer cimport Output, make_room, put_varint, store_16, store_32, store_64

cdef extern from *:
    """
    #if defined(__GNUC__)  /* in every place where an int is written: a call costs as much as the rest */
    #define KWIRE_INLINE static inline __attribute__((always_inline))
    #else
    #define KWIRE_INLINE static inline
    #endif

    /* The value of an int, or of an object of a subclass; 0 when it is none or takes more than 64 bits. */
    KWIRE_INLINE int kwire_int_value(PyObject *number, long long *value) {
        if (!PyLong_CheckExact(number) && !PyLong_Check(number)) return 0;
    #if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact((PyLongObject *)number)) {
            *value = PyUnstable_Long_CompactValue((PyLongObject *)number);
            return 1;
        }
    #else  /* the number of digits, negative for a negative number, and 0 with a digit of 0 */
        const digit *digits = ((PyLongObject *)number)->ob_digit;
        Py_ssize_t size = Py_SIZE(number);
        if ((size_t)size + 1 < 3) {
            *value = size * (long long)digits[0];
            return 1;
        }
        if (size == 2 || size == -2) {
            long long both = (long long)digits[0] | (long long)digits[1] << PyLong_SHIFT;
            *value = size < 0 ? -both : both;
            return 1;
        }
    #endif
        int overflow;
        *value = PyLong_AsLongLongAndOverflow(number, &overflow);
        return !overflow;
    }

    /* The elements of a list or tuple, NULL for anything else; `count` is theirs. */
    static inline PyObject **kwire_items(PyObject *array, Py_ssize_t *count) {
    #ifndef Py_GIL_DISABLED
        if (PyList_CheckExact(array)) {
            static PyObject *none[1];
            *count = PyList_GET_SIZE(array);
            return *count ? ((PyListObject *)array)->ob_item : none;  /* an empty list may have no array at all */
        }
    #endif
        if (PyTuple_CheckExact(array)) {
            *count = PyTuple_GET_SIZE(array);
            return ((PyTupleObject *)array)->ob_item;
        }
        return NULL;
    }

    #define KWIRE_BYTES_DATA(value) ((const unsigned char *)PyBytes_AS_STRING(value))
    """
    const uint8_t* bytes_data "KWIRE_BYTES_DATA"(PyObject* value) noexcept
    bint int_value "kwire_int_value"(PyObject* number, long long* value) noexcept
    PyObject** items_of "kwire_items"(PyObject* array, Py_ssize_t* count) noexcept

cdef extern from "Python.h":
    PyTypeObject* type_of "Py_TYPE"(PyObject* value) noexcept
    bint is_text "PyUnicode_CheckExact"(PyObject* value) noexcept
    bint is_plain_text "PyUnicode_IS_COMPACT_ASCII"(PyObject* value) noexcept
    Py_ssize_t text_size "PyUnicode_GET_LENGTH"(PyObject* value) noexcept
    const uint8_t* text_data "PyUnicode_1BYTE_DATA"(PyObject* value) noexcept
    PyObject* text_encode "PyUnicode_AsUTF8String"(PyObject* value) noexcept
    bint is_bytes "PyBytes_CheckExact"(PyObject* value) noexcept
    Py_ssize_t bytes_size "PyBytes_GET_SIZE"(PyObject* value) noexcept
    bint is_bytearray "PyByteArray_CheckExact"(PyObject* value) noexcept
    bint is_view "PyMemoryView_Check"(PyObject* value) noexcept
    int raw_buffer_get "PyObject_GetBuffer"(PyObject* value, Py_buffer* view, int flags) noexcept
    bint is_float "PyFloat_Check"(PyObject* value) noexcept
    double float_value "PyFloat_AS_DOUBLE"(PyObject* value) noexcept


cdef inline uint8_t* write_uuid(uint8_t* p, PyObject* value, PyTypeObject* uuid) noexcept:
    if unlikely((type_of(value) is not uuid and not is_bytes(value)) or bytes_size(value) != 16):
        return NULL
    memcpy(p, bytes_data(value), 16)
    return p + 16


cdef inline uint8_t* write_fixed(uint8_t* p, PyObject* value, int32_t code, PyTypeObject* uuid) noexcept:
    """A value of fixed size, for which there is room."""
    cdef long long number
    cdef uint64_t bits
    cdef double real
    if code == BOOL:
        if value is raw_true:
            p[0] = 1
        elif value is raw_false:
            p[0] = 0
        else:
            return NULL
        return p + 1
    if code == UUID:
        return write_uuid(p, value, uuid)
    if code == FLOAT64:
        if not is_float(value):
            return NULL
        real = float_value(value)
        memcpy(&bits, &real, 8)
        store_64(p, bits)
        return p + 8
    if unlikely(not int_value(value, &number)):
        return NULL
    if code == INT32:
        if unlikely(number != <int32_t>number):
            return NULL
        store_32(p, <uint32_t>number)
        return p + 4
    if code == INT16:
        if unlikely(number != <int16_t>number):
            return NULL
        store_16(p, <uint16_t>number)
        return p + 2
    if code == INT64:
        store_64(p, <uint64_t>number)
        return p + 8
    if code == INT8:
        if unlikely(number != <int8_t>number):
            return NULL
        p[0] = <uint8_t>number
        return p + 1
    if code == UINT16:
        if unlikely(number != <uint16_t>number):
            return NULL
        store_16(p, <uint16_t>number)
        return p + 2
    if unlikely(number != <uint32_t>number):
        return NULL
    store_32(p, <uint32_t>number)
    return p + 4


cdef inline void copy_short(uint8_t* target, const uint8_t* source, Py_ssize_t size) noexcept nogil:
    """Copy text, words at a time, for most is short; the last word may overlap what was copied, with the same."""
    cdef uint64_t eight
    cdef uint32_t four
    if size > 64:
        memcpy(target, source, size)
    elif size >= 8:
        while size > 8:
            memcpy(&eight, source, 8)
            memcpy(target, &eight, 8)
            source += 8
            target += 8
            size -= 8
        memcpy(&eight, source + size - 8, 8)
        memcpy(target + size - 8, &eight, 8)
    elif size >= 4:
        memcpy(&four, source, 4)
        memcpy(target, &four, 4)
        memcpy(&four, source + size - 4, 4)
        memcpy(target + size - 4, &four, 4)
    else:
        while size > 0:
            size -= 1
            target[size] = source[size]


cdef inline uint8_t* put_content(Output* output, uint8_t* p, const uint8_t* content, Py_ssize_t size, int32_t code) noexcept:
    """The length in the spelling of `code`, for which there is slack, and the content."""
    if code == STRING_COMPACT or code == BYTES_COMPACT:
        p = put_varint(p, <uint32_t>(size + 1))
    elif code == STRING:
        store_16(p, <uint16_t>size)
        p += 2
    else:
        store_32(p, <uint32_t>size)
        p += 4
    p = make_room(output, p, size)
    if likely(p is not NULL):
        copy_short(p, content, size)
        p += size
    return p


cdef inline uint8_t* write_other_text(Output* output, uint8_t* p, PyObject* value, int32_t code) noexcept:
    """Text that is not plain ASCII."""
    cdef PyObject* encoded = text_encode(value)
    if encoded is NULL:
        raw_error_clear()
        return NULL
    if bytes_size(encoded) > LONGEST_TEXT:
        p = NULL
    else:
        p = put_content(output, p, bytes_data(encoded), bytes_size(encoded), code)
    raw_decref(encoded)
    return p


cdef inline uint8_t* write_text(Output* output, uint8_t* p, PyObject* value, int32_t code) noexcept:
    if unlikely(not is_text(value)):
        return NULL
    if unlikely(not is_plain_text(value)):
        return write_other_text(output, p, value, code)
    if unlikely(text_size(value) > LONGEST_TEXT):
        return NULL
    return put_content(output, p, text_data(value), text_size(value), code)


cdef inline uint8_t* write_buffer(Output* output, uint8_t* p, PyObject* value, int32_t code) noexcept:
    """Bytes in a bytearray or a memory view. Neither runs Python code; what other objects do when asked for a buffer is unknown."""
    cdef Py_buffer view
    if not is_bytearray(value) and not is_view(value):
        return NULL
    if raw_buffer_get(value, &view, PyBUF_SIMPLE) != 0:
        raw_error_clear()
        return NULL
    if view.len >= 0x7FFFFFFF:
        p = NULL
    else:
        p = put_content(output, p, <const uint8_t*>view.buf, view.len, code)
    PyBuffer_Release(&view)
    return p


cdef inline uint8_t* write_bytes(Output* output, uint8_t* p, PyObject* value, int32_t code) noexcept:
    if unlikely(not is_bytes(value)):
        return write_buffer(output, p, value, code)
    if unlikely(bytes_size(value) >= 0x7FFFFFFF):
        return NULL
    return put_content(output, p, bytes_data(value), bytes_size(value), code)
