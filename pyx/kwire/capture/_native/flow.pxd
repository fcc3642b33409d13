"""C interface of pyx/capture/flow.pyx: the bytes of one direction that wait behind a hole."""

from libc.stdint cimport int64_t, uint8_t

from capture.tcp_state cimport Fragment, Packet, TcpFlow

cdef object part_of(object owner, const uint8_t* payload, int64_t first, int64_t last)
cdef bint flow_wait(TcpFlow* flow, int64_t start, const Packet* packet, object owner, const uint8_t* payload) except -1
cdef bint flow_pop(TcpFlow* flow, Fragment* piece) noexcept
cdef void flow_close(TcpFlow* flow) noexcept
cdef int flow_plain(const TcpFlow* flow, object made) except -1
cdef int flow_restore(TcpFlow* flow, object known) except -1
