"""C interface of pyx/capture/carry.pyx: the connections of a series."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from capture.tcp_state cimport Packet, TcpState
from wire.turns cimport Turn
from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.sink cimport StreamSink
from kwire.capture._native.tcp cimport Patience

# What kwire.capture.carry and kwire.capture.tcp call so.
cdef struct Limits:
    int64_t linger_ns, held_ns, unanswered_ns
    int sweep_bits
    Py_ssize_t most_open
    Patience patience

cdef class SeriesCarry:
    cdef Turn* turn  # see wire/turns.pxd
    cdef readonly tuple share
    cdef readonly bint by_hosts
    cdef readonly dict live
    cdef public dict half_open  # packed, as capture/half_open.pxd has them
    cdef PyObject* first_watched
    cdef Py_ssize_t watched_count
    cdef public object lives
    cdef dict recent  # while a chunk is read, all that `lives` counts, None where it has more than that
    cdef public object scan
    cdef public int64_t packets, latest_ns, strays, begun, ended_early
    cdef Limits limits
    cdef PyObject** known  # connections by the numbers of their keys in the chunk that is read, with a reference; NULL: not looked up yet
    cdef Py_ssize_t known_count

    cdef PyObject* look_up(self, object key, int32_t place) except? NULL
    cdef int take_with_streams(
        self, TcpConnection connection, bytes key, const Packet* packet, const uint8_t* payload, StreamSink sink
    ) except -1
    cdef int end_those_before(self, int64_t before_ns, StreamSink streams) except -1
    cdef int64_t count_begun(self, bytes key) except -1
    cdef TcpConnection open(self, bytes key, const Packet* packet, StreamSink sink)
    cdef int end_oldest(self, StreamSink sink) except -1
    cdef TcpConnection unpack(self, bytes key, bytes packed)
    cdef TcpConnection next_begun(self, list connections, list keys)
    cdef int sort_by_begin(self, list connections, list keys) except -1
    cdef int end_in_order(self, list connections, list keys, StreamSink sink) except -1
    cdef int remove(self, TcpConnection connection) except -1
    cdef int end(self, TcpConnection connection, int64_t time_ns, int64_t packet, StreamSink sink) except -1
    cdef int sweep(self, int64_t packet, StreamSink sink) except -1
    cdef bint is_over(self, const TcpState* tcp) noexcept
    cdef bint is_past(self, int64_t last_ns, int64_t closed_ns, bint closed, bint answered) noexcept
    cdef bint is_due(self, const TcpState* tcp) noexcept
    cdef int look_after(self, TcpConnection connection, int64_t packet, StreamSink sink) except -1
    cdef int look_up_limits(self) except -1
    cdef void watch(self, TcpConnection connection) noexcept
    cdef void unwatch(self, TcpConnection connection) noexcept
    cdef list watched_in_order(self)
    cpdef int adopt(self, object known) except -1
