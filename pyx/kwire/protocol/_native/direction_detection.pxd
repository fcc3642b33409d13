"""C interface of pyx/protocol/direction_detection.pyx."""

from libc.stdint cimport int64_t

from kwire.protocol._native.tracker cimport Connection
from wire.cursor cimport Bytes
from wire.turns cimport Turn


cdef class DirectionDetector:
    cdef Turn* turn  # see wire/turns.pxd
    cdef int server  # the server's side, -1 while undecided
    cdef readonly object decided_by
    cdef int named  # the side whose port is known to be a server's, -1 for none
    cdef bint proven  # as in `DirectionDetector`
    cdef int lower  # the side of the lower port
    cdef int64_t max_frame
    cdef bint frames
    cdef object asked
    cdef list readings  # by server side, None for one that is not tracked
    cdef list kept  # by server side: events kept back
    cdef Py_ssize_t weighed[2]  # so many of them have been looked at
    cdef int64_t taken  # bytes while undecided

    cdef list take(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet)
    cdef list lose(self, int side, int64_t n, int64_t t, bint cut)
    cdef list close(self, int side, bint reset, int64_t t)
    cdef int join_late(self) except -1
    cdef int guess(self) except -1
    cdef int give(self, int server, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1
    cdef Connection tracked(self, int server)
    cdef Connection new_reading(self, bint joined_late)
    cdef Connection owned(self, Connection made)
    cdef int weigh(self) except -1
    cdef list given(self, bint ended)
    cdef tuple likelier(self)
    cdef int decide(self, int server, object by) except -1
    cdef object export_state(self)


cdef DirectionDetector detector_of(object pure)
