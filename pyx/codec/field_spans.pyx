# cython: language_level=3, binding=False
"""Spans of chosen fields of a message, in the native backend. The readable contract is `kwire.codec._pure.field_spans`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t

from build_id cimport build_id
from codec.listed_fields cimport ListedFields, field_at, fields_free, fields_list
from codec.marked_program cimport MarkedProgram, marked_lower, marked_release
from wire.cursor cimport OK, Bytes

from kwire.errors import Fault

__all__ = ["FieldSpans"]
__build__ = build_id()


@cython.final
cdef class FieldSpans:
    """Finds fields in messages of one plan; see the pure backend."""

    cdef MarkedProgram marked
    cdef tuple paths
    cdef tuple unknown

    def __cinit__(self, marking, tuple paths not None, tuple unknown not None):
        marked_lower(&self.marked, marking)
        self.paths = paths
        self.unknown = unknown

    def __dealloc__(self):
        marked_release(&self.marked)

    def find(self, data, Py_ssize_t offset, bint whole):
        cdef Py_buffer view
        cdef ListedFields listed
        cdef Py_ssize_t number, begin, stop
        cdef int32_t choice
        cdef list found = []
        if offset < 0:
            raise ValueError("the offset is below 0")
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            fields_list(&listed, &self.marked, <Bytes>view.buf, view.len, min(offset, view.len), whole)
            try:
                if listed.no_memory:
                    raise MemoryError
                for number in range(listed.count):
                    choice = field_at(&listed, number, &begin, &stop)
                    found.append((self.unknown if choice < 0 else self.paths[choice], begin, stop))
            finally:
                fields_free(&listed)
            return listed.end, None if listed.code == OK else Fault(listed.code), found
        finally:
            PyBuffer_Release(&view)
