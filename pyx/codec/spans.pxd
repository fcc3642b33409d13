"""Positions of values, tagged fields and array elements, as recorded by codec/span_walk.pxd."""

from libc.stdint cimport int32_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

from codec.program cimport DEEPEST

cdef struct Pattern:
    # A choice of a single: `depth` indexes, or none for all places
    int32_t depth
    Py_ssize_t index[DEEPEST]

cdef struct Place:
    # Small: hostile bytes may have one in each byte
    int32_t begin  # of the length, or of a value without one
    int32_t content
    int32_t stop
    int32_t section
    int32_t rule  # position among the rules as `SpanWalk` has them, or OWN; a rule has as many places, one after the other, as members
    int32_t choice
    int32_t element  # innermost one around it that is written down, -1 where there is none
    bint null

# An array whose elements are written down, for edits that drop some.
cdef struct NotedArray:
    int32_t begin  # of the count
    int32_t stop
    int32_t count
    int32_t dropped
    int32_t section
    int32_t element  # around it, -1 where there is none
    bint compact

cdef struct NotedElement:
    int32_t begin
    int32_t stop
    int32_t array
    bint is_dropped

cdef struct Section:
    Py_ssize_t begin  # of the size
    Py_ssize_t stop
    Py_ssize_t size
    Py_ssize_t delta
    int32_t parent


cdef inline void* grown(void* array, Py_ssize_t* room, Py_ssize_t size, const void* few) noexcept nogil:
    """The array with room for more, which is not given back where it is `few`; NULL without memory, and the array is as it was."""
    cdef Py_ssize_t more = room[0] * 2 if room[0] else 16
    cdef void* made = realloc(NULL if array is few else array, <size_t>(more * size))
    if made is not NULL and array is few and array is not NULL:
        memcpy(made, array, <size_t>(room[0] * size))
    if made is not NULL:
        room[0] = more
    return made
