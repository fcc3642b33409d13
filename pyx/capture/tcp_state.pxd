"""The state of one TCP connection as C structs: kwire/capture/flow.py and tcp.py, with the same names.

Absent values: -1 for `isn`, `next` and `opened_by`, INT64_MIN for `fin_at`, `closed` False for `closed_ns`.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

cdef enum:
    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    ACK = 0x10

    WINDOW = 1 << 30  # kwire.capture.flow.WINDOW
    FRAGMENT_COST = 256  # kwire.capture.flow.FRAGMENT_COST
    RECENT = 4

# Bytes behind a hole. The first and the last of them are counted in stream bytes from 0.
cdef struct Fragment:
    int64_t start, end
    PyObject* data  # bytes, end - start of them, or NULL where snaplen cut them; the fragment has a reference
    int64_t time_ns, packet

# Those that wait, sorted and without overlaps.
cdef struct Waiting:
    int64_t bytes  # what they count: their own, and FRAGMENT_COST each
    int32_t first, count, room
    Fragment fragments[1]  # in truth `room`; those that wait begin at `first`

cdef struct TcpFlow:
    int64_t isn
    int64_t next
    int64_t position
    int64_t fin_at  # a FIN that lies before the stream's first byte makes it negative
    int64_t packets, payload_packets, bytes, bytes_cut, bytes_lost, gaps, retransmissions, duplicates, strays
    uint32_t recent[RECENT]  # signatures, the oldest first
    uint8_t recent_count
    uint8_t anchored, finished
    Waiting* waiting  # NULL where nothing waits

cdef struct Packet:
    int64_t number, time_ns
    uint32_t seq, ack, signature
    int flags, direction
    int64_t captured, original  # payload bytes in the file and on the wire

# A packet that acknowledges bytes that have not been seen.
cdef struct HeldPacket:
    Packet packet
    PyObject* payload  # bytes, as many as were captured; it has a reference

cdef struct TcpState:
    TcpFlow flows[2]
    int64_t first_ns, last_ns, closed_ns
    HeldPacket* held
    int32_t held_count, held_room
    uint8_t closed, answered
    int8_t opened_by


cdef inline void tcp_begin(TcpState* tcp, int64_t time_ns) noexcept nogil:
    memset(tcp, 0, sizeof(TcpState))
    tcp.flows[0].isn = tcp.flows[0].next = tcp.flows[1].isn = tcp.flows[1].next = -1
    tcp.flows[0].fin_at = tcp.flows[1].fin_at = INT64_MIN
    tcp.first_ns = tcp.last_ns = time_ns
    tcp.opened_by = -1


cdef inline bint tcp_refused(const TcpState* tcp) noexcept nogil:
    """TcpConnection.refused: the SYN was answered by a RST."""
    cdef int side
    if not tcp.closed:
        return False
    for side in range(2):
        if tcp.flows[side].payload_packets or tcp.flows[side].fin_at != INT64_MIN:
            return False
    return (tcp.flows[0].isn < 0) != (tcp.flows[1].isn < 0)


cdef inline int64_t distance(uint32_t ahead, uint32_t behind) noexcept nogil:
    """Signed distance of two sequence numbers, across the wrap at 2**32."""
    return <int32_t>(ahead - behind)


cdef inline bint is_ahead(uint32_t sequence, int64_t known) noexcept nogil:
    """Return whether a sequence number lies in the window behind a known one."""
    cdef int64_t ahead = distance(sequence, <uint32_t>known)
    return 0 < ahead < WINDOW


cdef inline bint is_new_signature(TcpFlow* flow, uint32_t signature) noexcept nogil:
    """Flow.is_new: distinguish a packet from its copy among the latest."""
    cdef int index
    for index in range(flow.recent_count):
        if flow.recent[index] == signature:
            return False
    if flow.recent_count == RECENT:
        flow.recent[0], flow.recent[1], flow.recent[2] = flow.recent[1], flow.recent[2], flow.recent[3]
        flow.recent[3] = signature
    else:
        flow.recent[flow.recent_count] = signature
        flow.recent_count += 1
    return True


cdef inline void flow_begin(TcpFlow* flow, uint32_t isn) noexcept nogil:
    flow.isn = isn
    flow.next = <uint32_t>(isn + 1)
    flow.position = 0
    flow.anchored = True


cdef inline void flow_advance(TcpFlow* flow, int64_t count) noexcept nogil:
    """The next bytes of the stream are dealt with, delivered or lost."""
    flow.next = <uint32_t>(<uint32_t>flow.next + <uint32_t>count)
    flow.position += count


cdef inline Fragment* fragment_at(const TcpFlow* flow, Py_ssize_t index) noexcept nogil:
    """The fragment that waits behind `index` others."""
    return flow.waiting.fragments + flow.waiting.first + index


cdef inline Py_ssize_t waiting_count(const TcpFlow* flow) noexcept nogil:
    return 0 if flow.waiting is NULL else flow.waiting.count


cdef inline bint tcp_in_order(TcpState* tcp, const Packet* packet) noexcept nogil:
    """TcpConnection.in_order: the next bytes of a direction, or none, and nothing else to look at."""
    cdef TcpFlow* own = &tcp.flows[packet.direction]
    cdef const TcpFlow* other = &tcp.flows[1 - packet.direction]
    if (
        own.next != packet.seq
        or packet.flags & (SYN | FIN | RST | ACK) != ACK
        or packet.captured != packet.original
        or own.fin_at != INT64_MIN
        or not own.anchored
        or not other.anchored
        or tcp.closed
        or tcp.held_count
        or own.waiting is not NULL
        or (other.next != packet.ack and is_ahead(packet.ack, other.next))
    ):
        return False
    if packet.time_ns > tcp.last_ns:
        tcp.last_ns = packet.time_ns
    tcp.answered = True
    own.packets += 1
    if packet.captured:
        own.payload_packets += 1
        is_new_signature(own, packet.signature)
        flow_advance(own, packet.captured)
        own.bytes += packet.captured
    return True
