"""CPython's C API as the object executor uses it: raw pointers in and out, reference counts kept by hand, no exception checks in between.

A NULL that comes back means that a Python exception is set.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uint8_t, uint32_t

cdef extern from *:
    """
    /* A Uuid (a subclass of bytes without state of its own) of 16 bytes, made without the detour over bytes and a call of the class. */
    static inline PyObject *kwire_uuid(PyTypeObject *type, const unsigned char *content) {
        PyObject *self = type->tp_alloc(type, 16);
        if (self == NULL) return NULL;
        memcpy(PyBytes_AS_STRING(self), content, 16);
    #if defined(__GNUC__)
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    #endif
        ((PyBytesObject *)self)->ob_shash = -1;  /* hash not known yet, as bytes.__new__ leaves it */
    #if defined(__GNUC__)
    #pragma GCC diagnostic pop
    #endif
        return self;
    }
    """
    PyObject* uuid_new "kwire_uuid"(PyTypeObject* kind, const uint8_t* content) noexcept

cdef extern from *:
    """
    /* A memory view of some bytes of `source`: `bytes`, or a read-only memory view of unsigned bytes with one dimension. The new view has
       a copy of its own of what the exporter gave, which no other code has seen yet, so that its start and size can be set: what slicing
       does, without the objects that spell a slice. */
    static inline PyObject *kwire_view(PyObject *source, const unsigned char *content, Py_ssize_t size) {
        PyObject *self = PyMemoryView_FromObject(source);
        if (self == NULL) return NULL;
        Py_buffer *buffer = PyMemoryView_GET_BUFFER(self);
        buffer->buf = (void *)content;
        buffer->len = buffer->shape[0] = size;
        return self;
    }
    """
    PyObject* view_new "kwire_view"(PyObject* source, const uint8_t* content, Py_ssize_t size) noexcept

cdef extern from "Python.h":
    PyObject* raw_none "Py_None"
    PyObject* raw_true "Py_True"
    PyObject* raw_false "Py_False"
    PyObject* raw_unicode_error "PyExc_UnicodeDecodeError"
    void raw_incref "Py_INCREF"(PyObject*) noexcept
    void raw_decref "Py_DECREF"(PyObject*) noexcept
    void raw_xdecref "Py_XDECREF"(PyObject*) noexcept
    PyObject* raw_long "PyLong_FromLong"(long) noexcept
    PyObject* raw_long_long "PyLong_FromLongLong"(long long) noexcept
    PyObject* raw_float "PyFloat_FromDouble"(double) noexcept
    PyObject* raw_bytes "PyBytes_FromStringAndSize"(const char*, Py_ssize_t) noexcept
    PyObject* raw_text_new "PyUnicode_New"(Py_ssize_t, uint32_t) noexcept
    uint8_t* raw_text_data "PyUnicode_1BYTE_DATA"(PyObject*) noexcept
    Py_ssize_t raw_text_size "PyUnicode_GET_LENGTH"(PyObject*) noexcept
    bint raw_text_is_ascii "PyUnicode_IS_ASCII"(PyObject*) noexcept
    PyObject* raw_text_decode "PyUnicode_DecodeUTF8"(const char*, Py_ssize_t, const char*) noexcept
    PyObject* raw_tuple_new "PyTuple_New"(Py_ssize_t) noexcept
    void raw_tuple_set "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept
    PyObject* raw_tuple_pack "PyTuple_Pack"(Py_ssize_t, PyObject*, PyObject*) noexcept
    PyObject* raw_list_new "PyList_New"(Py_ssize_t) noexcept
    void raw_list_set "PyList_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept
    int raw_list_append "PyList_Append"(PyObject*, PyObject*) noexcept
    PyObject* raw_list_as_tuple "PyList_AsTuple"(PyObject*) noexcept
    bint raw_error_is "PyErr_ExceptionMatches"(PyObject*) noexcept
    void raw_error_clear "PyErr_Clear"() noexcept
    bint is_collected "PyType_IS_GC"(PyTypeObject*) noexcept
    void gc_track "PyObject_GC_Track"(PyObject*) noexcept
    void gc_untrack "PyObject_GC_UnTrack"(PyObject*) noexcept


cdef inline PyObject* new_none() noexcept:
    raw_incref(raw_none)
    return raw_none
