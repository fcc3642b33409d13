"""TCP of one connection as C structs: kwire/capture/tcp.py and flow.py for all that an undisturbed connection does.

Holes, early packets and overlaps are not done here: `tcp_take` then changes nothing and says TCP_ODD, the state is written into a
`TcpConnection` (`tcp_export`), and Python goes on. So a flow here never waits for anything: it is finished as soon as its FIN was seen.
Payload that snaplen cut waits for nothing either; who takes the payload is told how much of it is missing. The rules, their order and the
counters are those of the Python modules, which are the contract.
"""

from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    FIN = 0x01
    SYN = 0x02
    RST = 0x04
    ACK = 0x10

    WINDOW = 1 << 30  # kwire.capture.flow.WINDOW
    RECENT = 4

cdef enum TcpNews:
    TCP_NONE = 0
    TCP_DATA = 1  # the payload is the next of its direction: deliver it, then say what else is set
    TCP_CLOSED = 2
    TCP_RESET = 4
    TCP_ODD = 8  # alone: nothing was changed

cdef struct TcpFlow:
    int64_t isn  # -1 where unknown
    int64_t next  # -1 before anything is known
    int64_t position
    int64_t fin_at  # INT64_MIN before a FIN was seen; a FIN that lies before the stream's first byte makes it negative
    int64_t packets, payload_packets, bytes, bytes_cut, bytes_lost, gaps, retransmissions, duplicates, strays
    uint32_t recent[RECENT]  # signatures, the oldest first
    uint8_t recent_count
    bint anchored, finished

cdef struct TcpState:
    TcpFlow flows[2]
    int64_t first_ns, last_ns, closed_ns
    bint closed  # closed_ns holds
    bint answered
    int opened_by  # -1 when joined in the middle

cdef struct Packet:
    int64_t number, time_ns
    uint32_t seq, ack, signature
    int flags, direction
    int64_t captured, original  # payload bytes in the file and on the wire


cdef inline void tcp_begin(TcpState* tcp, int64_t time_ns) noexcept nogil:
    memset(tcp, 0, sizeof(TcpState))
    tcp.flows[0].isn = tcp.flows[0].next = tcp.flows[1].isn = tcp.flows[1].next = -1
    tcp.flows[0].fin_at = tcp.flows[1].fin_at = INT64_MIN
    tcp.first_ns = tcp.last_ns = time_ns
    tcp.opened_by = -1


cdef inline int64_t tcp_distance(uint32_t ahead, uint32_t behind) noexcept nogil:
    """Signed distance of two sequence numbers, across the wrap at 2**32."""
    return <int32_t>(ahead - behind)


cdef inline bint is_ahead(uint32_t sequence, int64_t known) noexcept nogil:
    """Whether a sequence number lies in the window behind one that is known."""
    cdef int64_t ahead = tcp_distance(sequence, <uint32_t>known)
    return 0 < ahead < WINDOW


cdef inline bint is_new_signature(TcpFlow* flow, uint32_t signature) noexcept nogil:
    """Flow.is_new: tell a packet from its copy among the latest."""
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


cdef inline void flow_advance(TcpFlow* flow, const Packet* packet) noexcept nogil:
    """Flow._take: the payload is the next of its direction, whole or cut."""
    flow.next = <uint32_t>(<uint32_t>flow.next + <uint32_t>packet.original)
    flow.position += packet.original
    flow.bytes += packet.captured
    if packet.captured != packet.original:
        flow.bytes_cut += packet.original - packet.captured
        flow.gaps += 1


cdef inline bint tcp_in_order(TcpState* tcp, const Packet* packet) noexcept nogil:
    """TcpConnection.in_order: the next bytes of a direction, or none, and nothing else to look at."""
    cdef TcpFlow* own = &tcp.flows[packet.direction]
    cdef TcpFlow* other = &tcp.flows[1 - packet.direction]
    if (
        own.next != packet.seq
        or packet.flags & (SYN | FIN | RST | ACK) != ACK
        or own.finished
        or own.fin_at != INT64_MIN
        or not own.anchored
        or not other.anchored
        or tcp.closed
        or (other.next != packet.ack and is_ahead(packet.ack, other.next))
    ):
        return False
    if packet.time_ns > tcp.last_ns:
        tcp.last_ns = packet.time_ns
    own.packets += 1
    if packet.original:
        own.payload_packets += 1
        is_new_signature(own, packet.signature)
        flow_advance(own, packet)
    return True


cdef inline bint tcp_is_odd(const TcpState* tcp, const Packet* packet) noexcept nogil:
    """Whether a packet is early, or brings what has to wait or was there before: asked before anything is changed."""
    cdef const TcpFlow* own = &tcp.flows[packet.direction]
    cdef const TcpFlow* other = &tcp.flows[1 - packet.direction]
    cdef int64_t offset
    if packet.flags & RST:
        return own.anchored and own.next >= 0 and is_ahead(packet.seq, own.next)
    if packet.flags & ACK and other.anchored and other.next >= 0 and is_ahead(packet.ack, other.next):
        return True
    if packet.flags & SYN:  # with payload (TCP Fast Open) or a FIN, or in the middle of a stream: leave it
        return packet.original > 0 or packet.flags & FIN or own.position != 0 or own.finished or own.fin_at != INT64_MIN
    offset = tcp_distance(packet.seq, <uint32_t>own.next) if own.next >= 0 and own.anchored else 0
    if packet.flags & FIN and own.fin_at == INT64_MIN and (offset or (not own.anchored and packet.original == 1)):
        return True
    if packet.original == 0 or offset == 0 or own.finished:
        return False
    return -WINDOW < offset < WINDOW and offset + packet.original > 0


cdef inline int tcp_reset(TcpState* tcp, const Packet* packet) noexcept nogil:
    """TcpConnection._reset, where nothing waits."""
    cdef TcpFlow* own = &tcp.flows[packet.direction]
    cdef TcpFlow* other = &tcp.flows[1 - packet.direction]
    cdef int64_t away
    if own.next < 0:
        own.next = packet.seq
    elif own.anchored:
        away = tcp_distance(packet.seq, <uint32_t>own.next)
        if not -WINDOW < away < WINDOW:
            own.strays += 1
            return TCP_NONE
    if packet.flags & ACK and other.next < 0:
        other.next = packet.ack
    if tcp.closed:
        return TCP_NONE
    tcp.closed = True
    tcp.closed_ns = packet.time_ns
    return TCP_RESET


cdef inline int flow_segment(TcpFlow* own, const Packet* packet, uint32_t seq, bint copy) noexcept nogil:
    """Flow.segment, for a payload that is the next one, old or far away."""
    cdef int64_t offset
    if own.next < 0:
        own.next = seq
    offset = tcp_distance(seq, <uint32_t>own.next)
    if not own.anchored:
        if offset == -1 and packet.original == 1:  # a keepalive probe of a connection that was joined in the middle
            return TCP_NONE
        own.next = seq
        own.anchored = True
        offset = 0
    if offset == 0 and not own.finished:
        flow_advance(own, packet)
        return TCP_DATA
    if not -WINDOW < offset < WINDOW:
        own.strays += 1
    elif copy:
        own.duplicates += 1
    elif offset + packet.original != 0 or packet.original > 1:  # else a keepalive probe
        own.retransmissions += 1
    return TCP_NONE


cdef inline int tcp_take(TcpState* tcp, const Packet* packet) noexcept nogil:
    """TcpConnection.receive; gives `TcpNews`."""
    cdef TcpFlow* own = &tcp.flows[packet.direction]
    cdef TcpFlow* other = &tcp.flows[1 - packet.direction]
    cdef uint32_t seq = packet.seq
    cdef int news = TCP_NONE
    cdef int64_t ahead
    cdef bint copy
    if tcp_is_odd(tcp, packet):
        return TCP_ODD
    if packet.time_ns > tcp.last_ns:
        tcp.last_ns = packet.time_ns
    if packet.flags & (SYN | ACK) != SYN:
        tcp.answered = True
    own.packets += 1
    if packet.flags & RST:
        return tcp_reset(tcp, packet)
    if packet.flags & SYN:
        flow_begin(own, seq)
        if packet.flags & ACK:
            if other.next < 0 or not other.anchored:
                flow_begin(other, packet.ack - 1)
            if tcp.opened_by < 0:
                tcp.opened_by = 1 - packet.direction
        else:
            tcp.opened_by = packet.direction
        seq += 1
    elif own.next < 0:
        own.next = seq
    if packet.flags & ACK and not other.anchored:
        ahead = tcp_distance(packet.ack, <uint32_t>other.next)
        if other.next < 0 or 0 < ahead < WINDOW:
            other.next = packet.ack
    if packet.original:
        own.payload_packets += 1
        copy = not is_new_signature(own, packet.signature)
        news = flow_segment(own, packet, seq, copy)
    if packet.flags & FIN and own.fin_at == INT64_MIN:
        # its payload, if any, has just been taken: the FIN is the next in order
        if not own.anchored:
            own.next = seq
        own.fin_at = own.position
        own.finished = True
        own.next = <uint32_t>(<uint32_t>own.next + 1)
        if other.finished and not tcp.closed:
            tcp.closed = True
            tcp.closed_ns = packet.time_ns
        news |= TCP_CLOSED
    return news


cdef inline bint syn_is_next(const TcpState* tcp, const Packet* syn) noexcept nogil:
    """kwire.capture.carry._is_next: does this SYN begin a new connection, or belong to the one that is known?"""
    cdef const TcpFlow* own = &tcp.flows[syn.direction]
    cdef const TcpFlow* other = &tcp.flows[1 - syn.direction]
    cdef uint32_t start
    cdef bint answers
    if own.isn == syn.seq:
        return False
    answers = syn.flags & ACK and other.isn >= 0 and other.isn == <uint32_t>(syn.ack - 1)
    if answers:
        return False
    if own.isn >= 0 or own.next < 0:
        return True
    start = <uint32_t>(<uint32_t>own.next - <uint32_t><uint64_t>own.position - (1 if own.fin_at != INT64_MIN and own.finished else 0))
    return start != <uint32_t>(syn.seq + 1)


cdef inline void flow_export(const TcpFlow* flow, object made):
    made.isn = None if flow.isn < 0 else flow.isn
    made.next = None if flow.next < 0 else flow.next
    made.fin_at = None if flow.fin_at == INT64_MIN else flow.fin_at
    made.position, made.anchored, made.finished = flow.position, bool(flow.anchored), bool(flow.finished)
    made.recent = [flow.recent[index] for index in range(flow.recent_count)]
    made.packets, made.payload_packets, made.bytes = flow.packets, flow.payload_packets, flow.bytes
    made.bytes_cut, made.bytes_lost, made.gaps = flow.bytes_cut, flow.bytes_lost, flow.gaps
    made.retransmissions, made.duplicates, made.strays = flow.retransmissions, flow.duplicates, flow.strays


cdef inline int tcp_export(const TcpState* tcp, object made) except -1:
    """Write the state into a `TcpConnection`."""
    flow_export(&tcp.flows[0], made.flows[0])
    flow_export(&tcp.flows[1], made.flows[1])
    made.opened_by = None if tcp.opened_by < 0 else tcp.opened_by
    made.answered = bool(tcp.answered)
    made.first_ns, made.last_ns = tcp.first_ns, tcp.last_ns
    made.closed_ns = tcp.closed_ns if tcp.closed else None
    return 0


cdef inline int flow_import(TcpFlow* flow, object known) except -1:
    cdef int index
    flow.isn = -1 if known.isn is None else known.isn
    flow.next = -1 if known.next is None else known.next
    flow.fin_at = INT64_MIN if known.fin_at is None else known.fin_at
    flow.position, flow.anchored, flow.finished = known.position, known.anchored, known.finished
    flow.recent_count = len(known.recent)
    for index in range(flow.recent_count):
        flow.recent[index] = known.recent[index]
    flow.packets, flow.payload_packets, flow.bytes = known.packets, known.payload_packets, known.bytes
    flow.bytes_cut, flow.bytes_lost, flow.gaps = known.bytes_cut, known.bytes_lost, known.gaps
    flow.retransmissions, flow.duplicates, flow.strays = known.retransmissions, known.duplicates, known.strays
    return 0


cdef inline bint tcp_import(TcpState* tcp, object known) except -1:
    """Take the state of a `TcpConnection`; False, with nothing taken, while something waits there."""
    cdef object flow
    if known.held:
        return False
    for flow in known.flows:
        if flow.waiting or (flow.fin_at is not None and not flow.finished) or len(flow.recent) > RECENT:
            return False
    flow_import(&tcp.flows[0], known.flows[0])
    flow_import(&tcp.flows[1], known.flows[1])
    tcp.opened_by = -1 if known.opened_by is None else known.opened_by
    tcp.answered = known.answered
    tcp.first_ns, tcp.last_ns = known.first_ns, known.last_ns
    tcp.closed = known.closed_ns is not None
    tcp.closed_ns = known.closed_ns if tcp.closed else 0
    return True


cdef inline object segment_of(const Packet* packet, bytes data, int64_t offset, object kind):
    """The `Segment`, which is `kind`, of a packet whose payload begins at `offset` of `data`."""
    payload = data[offset:offset + packet.captured] if packet.captured else b""
    return kind(
        packet.direction, packet.seq, packet.ack, packet.flags, payload, packet.original, packet.signature, packet.time_ns, packet.number,
    )
