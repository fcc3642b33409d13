"""C interface of pyx/capture/connection.pyx: the state of a TCP connection."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from capture.tcp_state cimport Packet, TcpState
from wire.turns cimport Turn

cdef class TcpConnection:
    cdef Turn* turn  # see wire/turns.pxd
    cdef readonly bytes key
    cdef public int64_t begun
    cdef public object attachment
    cdef public bint ignored
    cdef readonly int32_t n
    cdef int32_t place  # where a SeriesCarry looks it up in the chunk that it reads, -1 before it did
    cdef uint8_t is_watched  # a sweep has to look at it: it is in the carry's list then, which has a reference
    cdef PyObject* watched_before
    cdef PyObject* watched_after
    cdef TcpState tcp

    cdef int restore(self, object known) except -1
    cdef bint has_expiry(self) noexcept
    cdef int hold(self, const Packet* packet, const uint8_t* payload, object source) except -1
    cdef int64_t early_by(self, const Packet* packet) noexcept
    cdef bint fills(self, const Packet* packet) noexcept


cdef TcpConnection new_connection(bytes key, int64_t n, int64_t time_ns)
