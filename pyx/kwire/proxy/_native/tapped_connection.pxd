"""C interface of pyx/proxy/tapped_connection.pyx for the loop: bytes of a connection are passed in place."""

from libc.stdint cimport int64_t, uint8_t

from capture.exported_talk cimport OpenPacket, Packets, Talk
from kwire.protocol._native.frame_blanking cimport FrameBlanker
from kwire.protocol._native.tracker cimport Connection, EventSink
from protocol.request_rows cimport RequestRow
from wire.cursor cimport Bytes
from wire.turns cimport Turn

# One direction: the beginning of the frame that is not over, as `kwire.proxy.frame_beginnings` keeps it.
cdef struct Beginning:
    int64_t at  # offset of the next byte that comes
    int64_t frame_at
    uint8_t* bytes  # from `frame_at` on
    Py_ssize_t size
    Py_ssize_t room
    int64_t written  # offset of the next byte that the capture has no packet for


# Bytes that came last, and where packets go.
cdef struct Latest:
    int side
    Bytes data
    Py_ssize_t size
    int64_t time_ns
    Packets* out
    OpenPacket packet


cdef class TappedConnection(EventSink):
    cdef Turn* turn  # see wire/turns.pxd
    cdef object file
    cdef Connection connection
    cdef FrameBlanker blanker
    cdef Talk talk
    cdef Packets packets
    cdef Latest latest
    cdef Beginning[2] streams
    cdef Py_ssize_t kept
    cdef bint looks

    cdef int take(self, int side, data, int64_t time_ns) except -1
    cdef int take_bytes(self, int side, Bytes data, Py_ssize_t size, int64_t time_ns, Packets* out) except -1
    cdef int stop(self) except -1
    cdef int offer(self) except -1
    cdef int add_frame(self, int direction, int64_t begin, int64_t end, int64_t most, event, const RequestRow* row) except -1
    cdef int write_frame(
        self, int direction, int64_t begin, int64_t end, Py_ssize_t have, event, const RequestRow* row, uint8_t* frame
    ) except -1
    cdef Py_ssize_t first_bytes(self, int direction, int64_t begin, Py_ssize_t most, uint8_t* out) noexcept
    cdef int keep(self, Beginning* stream, Bytes data, Py_ssize_t size) except -1


cdef int packets_offer(Packets* packets, file) except -1
