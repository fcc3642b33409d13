"""C interface of pyx/capture/tcp.pyx: the rules of a TCP connection."""

from libc.stdint cimport int64_t, uint8_t

from capture.tcp_state cimport Packet
from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.sink cimport StreamSink

# How long packets and bytes wait: REORDER_PACKETS and MAX_WAITING_BYTES of kwire.capture.tcp.
cdef struct Patience:
    Py_ssize_t packets
    int64_t bytes

cdef int tcp_receive(
    TcpConnection connection, const Packet* packet, const uint8_t* payload, const Patience* patience, StreamSink sink
) except -1
cdef int tcp_resolve(TcpConnection connection, const Patience* patience, StreamSink sink) except -1
cdef int tcp_finish(TcpConnection connection, int64_t time_ns, int64_t packet, const Patience* patience, StreamSink sink) except -1
