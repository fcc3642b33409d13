# cython: language_level=3, binding=False
"""Where the chosen fields of a message lie, in the native twin. The readable contract is `kwire.codec._pure.field_spans`."""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memset

from build_id cimport build_id
from codec.marked_program cimport MarkedProgram, marked_lower, marked_release
from codec.span_walk cimport SpanWalk, walk_block, walk_close, walk_open
from codec.spans cimport Place
from wire.cursor cimport OK, Bytes

from kwire.errors import Fault

__all__ = ["FieldSpans"]
__build__ = build_id()


@cython.final
cdef class FieldSpans:
    """Finds fields in messages of one plan; see the pure twin."""

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
        """As the pure twin."""
        cdef Py_buffer view
        cdef SpanWalk walk
        cdef const Place* place
        cdef Py_ssize_t number
        cdef list found = []
        if offset < 0:
            raise ValueError("the offset is below 0")
        memset(&walk, 0, sizeof(SpanWalk))
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            walk.lists = True
            walk.cut = not whole
            walk_open(&walk, &self.marked, <Bytes>view.buf, view.len, min(offset, view.len))
            walk_block(&walk, 0)
            if walk.no_memory:
                raise MemoryError
            for number in range(walk.place_count):
                place = &walk.places[number]
                found.append((self.unknown if place.choice < 0 else self.paths[place.choice], place.content, place.stop))
            if walk.cursor.code == OK:
                return walk.cursor.p - walk.cursor.base, None, found
            return walk.understood - walk.cursor.base, Fault(walk.cursor.code), found
        finally:
            walk_close(&walk)
            PyBuffer_Release(&view)
