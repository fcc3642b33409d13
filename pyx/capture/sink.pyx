"""Native interface of receivers of TCP streams, as `kwire.capture.sink`."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t

from build_id cimport build_id
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.flow cimport part_of

__all__ = ["StreamSink"]
__build__ = build_id()


cdef class StreamSink:
    """Receiver of the events of all connections of a piece, in the order of their packets; this one calls the sink `target`.

    A native layer above makes a subclass and overrides the `cdef` methods, which mean what those of `kwire.capture.sink.StreamSink` do.
    `data` is valid during the call only; `chunk_taken` is called when the packets of a chunk are done.
    """

    def __init__(self, target=None):
        self.target = target

    def __dealloc__(self):
        turn_leave(self.turn)

    cdef int opened(self, TcpConnection connection, int64_t time_ns, int64_t packet) except -1:
        self.target.opened(connection, time_ns, packet)
        return 0

    cdef int data(
        self, TcpConnection connection, int direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
    ) except -1:
        self.target.data(connection, direction, self.piece(data, size), time_ns, packet)
        return 0

    cdef int lost(self, TcpConnection connection, int direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1:
        self.target.lost(connection, direction, count, bool(cut), time_ns, packet)
        return 0

    cdef int closed(self, TcpConnection connection, int direction, bint reset, int64_t time_ns, int64_t packet) except -1:
        self.target.closed(connection, direction, bool(reset), time_ns, packet)
        return 0

    cdef int ended(self, TcpConnection connection) except -1:
        self.target.ended(connection)
        return 0

    cdef int chunk_taken(self) except -1:
        return 0

    cdef object piece(self, const uint8_t* data, Py_ssize_t size):
        """The bytes that `data` was called with, as an object: a part of `source`, which may be of a kind of its own."""
        return part_of(self.source, data, 0, size)


cdef Turn** turn_of_stream_sink(PyObject* self) noexcept:
    return &(<StreamSink>self).turn


one_at_a_time(StreamSink, turn_of_stream_sink)
