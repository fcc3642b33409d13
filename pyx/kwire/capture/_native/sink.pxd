"""C interface of pyx/capture/sink.pyx: the base class of receivers of streams."""

from libc.stdint cimport int64_t, uint8_t

from kwire.capture._native.connection cimport TcpConnection

from wire.turns cimport Turn

cdef class StreamSink:
    cdef Turn* turn  # see wire/turns.pxd
    cdef object target  # what has the methods of kwire.capture.sink.StreamSink
    cdef object source  # the bytes in which the payload lies that is dealt with

    cdef int opened(self, TcpConnection connection, int64_t time_ns, int64_t packet) except -1
    cdef int data(
        self, TcpConnection connection, int direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
    ) except -1
    cdef int lost(self, TcpConnection connection, int direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1
    cdef int closed(self, TcpConnection connection, int direction, bint reset, int64_t time_ns, int64_t packet) except -1
    cdef int ended(self, TcpConnection connection) except -1
    cdef int chunk_taken(self) except -1
    cdef object piece(self, const uint8_t* data, Py_ssize_t size)
