# Part of columns.pyx: where the messages of a batch are, given as buffers or as chunks of an Arrow array.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from codec.binary_column cimport OUTSIDE, PRESENT, BinaryColumn, column_close, column_element, column_open, refuse_element
from codec.column_batch cimport Span
from wire.cursor cimport Bytes


cdef Py_ssize_t sum_sizes(const Span* spans, Py_ssize_t count) noexcept:
    cdef Py_ssize_t index
    cdef Py_ssize_t size = 0
    for index in range(count):
        size += spans[index].size
    return size


@cython.final
cdef class Views:
    """Buffers that are held while they are read."""

    cdef Py_buffer* views
    cdef Py_ssize_t count

    def __cinit__(self, Py_ssize_t room):
        self.views = <Py_buffer*>PyMem_Calloc(room + 1, sizeof(Py_buffer))
        if self.views is NULL:
            raise MemoryError

    def __dealloc__(self):
        cdef Py_ssize_t index
        for index in range(self.count):
            PyBuffer_Release(&self.views[index])
        PyMem_Free(self.views)

    cdef Py_buffer* hold(self, object data) except NULL:
        cdef Py_buffer* view = &self.views[self.count]
        PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
        self.count += 1
        return view


@cython.final
cdef class HeldColumn:
    """A binary column that is held while its elements are read."""

    cdef BinaryColumn column

    def __cinit__(self, chunk):
        column_open(&self.column, chunk)

    def __dealloc__(self):
        column_close(&self.column)


@cython.final
cdef class Spans:
    """Positions of the messages of a batch."""

    cdef Span* spans
    cdef Py_ssize_t count
    cdef Py_ssize_t bytes
    cdef list held

    def __cinit__(self, Py_ssize_t count):
        self.spans = <Span*>PyMem_Calloc(count + 1, sizeof(Span))
        self.held = []
        if self.spans is NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.spans)

    cdef int add(self, Bytes data, Py_ssize_t size) except -1:
        self.spans[self.count].data = data
        self.spans[self.count].size = size
        self.count += 1
        self.bytes += size
        return 0

    cdef int add_buffers(self, list buffers) except -1:
        cdef Views views = Views(len(buffers))
        cdef Py_buffer* view
        self.held.append((buffers, views))
        for data in buffers:
            if PyBytes_CheckExact(data):
                self.add(<Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
            elif data is None:
                self.add(NULL, 0)
            else:
                view = views.hold(data)
                # an empty buffer may have no address
                self.add(<Bytes>view.buf if view.buf is not NULL else <Bytes>PyBytes_AS_STRING(b""), view.len)
        return 0

    cdef int add_chunk(self, object chunk) except -1:
        cdef HeldColumn held = HeldColumn(chunk)
        cdef Bytes data
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t index
        cdef int found
        self.held.append(held)
        for index in range(held.column.length):
            data = NULL
            found = column_element(&held.column, index, &data, &size)
            if found == OUTSIDE:
                refuse_element(index)
            self.add(data, size if found == PRESENT else 0)
        return 0
