"""Native backend of the rules of `kwire.capture.tcp`, in its order.

No Python object is made for a packet that comes in order; what waits behind a hole, or for what it acknowledges, is kept as bytes. While
a payload is dealt with, `sink.source` is the object that it lies in.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int64_t, uint8_t, uint32_t
from libc.string cimport memmove

from build_id cimport build_id
from capture.tcp_state cimport (
    ACK, FIN, RST, SYN, WINDOW, Fragment, HeldPacket, Packet, TcpFlow, distance, flow_advance, flow_begin, fragment_at, is_ahead,
    is_new_signature,
)
from wire.raw_python cimport raw_decref

from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.flow cimport flow_pop, flow_wait
from kwire.capture._native.sink cimport StreamSink

__build__ = build_id()


cdef int tcp_receive(
    TcpConnection connection, const Packet* packet, const uint8_t* payload, const Patience* patience, StreamSink sink
) except -1:
    """Take the next packet; its payload begins at `payload` in `sink.source`."""
    if packet.time_ns > connection.tcp.last_ns:
        connection.tcp.last_ns = packet.time_ns
    if packet.flags & (SYN | ACK) != SYN:
        connection.tcp.answered = True
    connection.tcp.flows[packet.direction].packets += 1
    if connection.tcp.held_count and connection.tcp.held[0].packet.flags & RST and is_reset_ignored(connection, packet):
        connection.tcp.flows[packet.direction].strays += 1
        raw_decref(drop_first_held(connection))
        release(connection, patience.packets, patience, sink)
    if connection.tcp.held_count:
        if connection.fills(packet):
            process(connection, packet, payload, patience, sink)
        else:
            connection.hold(packet, payload, sink.source)
        release(connection, patience.packets, patience, sink)
    elif connection.early_by(packet):
        connection.hold(packet, payload, sink.source)
    else:
        process(connection, packet, payload, patience, sink)
    return 0


cdef int tcp_resolve(TcpConnection connection, const Patience* patience, StreamSink sink) except -1:
    """Wait no longer: holes that an acknowledgement passed become gaps."""
    return release(connection, 0, patience, sink)


cdef int tcp_finish(TcpConnection connection, int64_t time_ns, int64_t packet, const Patience* patience, StreamSink sink) except -1:
    release(connection, 0, patience, sink)
    give_up_waiting(connection, 0, time_ns, packet, sink)
    return give_up_waiting(connection, 1, time_ns, packet, sink)


cdef PyObject* drop_first_held(TcpConnection connection) noexcept:
    """Remove the first packet that is held; return its payload, whose reference is the caller's."""
    cdef PyObject* payload = connection.tcp.held[0].payload
    connection.tcp.held_count -= 1
    memmove(connection.tcp.held, connection.tcp.held + 1, connection.tcp.held_count * sizeof(HeldPacket))
    return payload


cdef bint is_reset_ignored(TcpConnection connection, const Packet* packet) noexcept:
    """TcpConnection._is_reset_ignored."""
    cdef const Packet* first = &connection.tcp.held[0].packet
    cdef int index
    if not connection.fills(packet) or distance(first.seq, packet.seq + <uint32_t>packet.original) <= 0:
        return False
    for index in range(1, connection.tcp.held_count):
        if connection.tcp.held[index].packet.direction != first.direction and not connection.tcp.held[index].packet.flags & RST:
            return True
    return False


cdef int release(TcpConnection connection, Py_ssize_t allowed, const Patience* patience, StreamSink sink) except -1:
    """Process the packets held that are early no longer, or that more than `allowed` wait with."""
    cdef HeldPacket first
    cdef TcpFlow* flow
    cdef int64_t missing
    cdef int64_t until
    cdef int direction
    while connection.tcp.held_count:
        first = connection.tcp.held[0]
        missing = connection.early_by(&first.packet)
        if missing:
            if connection.tcp.held_count <= allowed:
                return 0
            direction = first.packet.direction if first.packet.flags & RST else 1 - first.packet.direction
            flow = &connection.tcp.flows[direction]
            # One byte with nothing behind it is the FIN, whose packet was lost. Where the other side closes too, that is sure, and who
            # closed first is not lost with it.
            if missing == 1 and first.packet.flags & FIN and flow.fin_at == INT64_MIN and flow.waiting is NULL:
                flow.fin_at = flow.position
                close_if_done(connection, direction, first.packet.time_ns, first.packet.number, sink)
            elif missing > 1 or flow.waiting is not NULL or first.packet.flags & RST:
                until = flow.position + missing
                if flow.fin_at != INT64_MIN:
                    until = min(until, flow.fin_at)
                give_up(connection, direction, until, first.packet.time_ns, first.packet.number, sink)
                close_if_done(connection, direction, first.packet.time_ns, first.packet.number, sink)
        drop_first_held(connection)
        payload = <object>first.payload
        raw_decref(first.payload)
        source, sink.source = sink.source, payload
        try:
            process(connection, &first.packet, <const uint8_t*>PyBytes_AS_STRING(payload), patience, sink)
        finally:
            sink.source = source
    return 0


cdef int process(
    TcpConnection connection, const Packet* packet, const uint8_t* payload, const Patience* patience, StreamSink sink
) except -1:
    """Take a packet that is not early, or of which nothing earlier is waited for any longer."""
    cdef int direction = packet.direction
    cdef TcpFlow* own = &connection.tcp.flows[direction]
    cdef TcpFlow* other = &connection.tcp.flows[1 - direction]
    cdef uint32_t seq = packet.seq
    if packet.flags & RST:
        return take_reset(connection, packet, sink)
    if packet.flags & SYN:
        take_syn(connection, packet)
        seq += 1
    elif own.next < 0:
        own.next = seq
    if packet.flags & ACK and not other.anchored and (other.next < 0 or is_ahead(packet.ack, other.next)):
        other.next = packet.ack
    if packet.original:
        take_payload(connection, seq, packet, payload, patience, sink)
    if packet.flags & FIN and own.fin_at == INT64_MIN and own.next >= 0:
        if not own.anchored:
            own.next = seq
        own.fin_at = own.position + distance(seq + <uint32_t>packet.original, <uint32_t>own.next)
    if own.fin_at != INT64_MIN:
        close_if_done(connection, direction, packet.time_ns, packet.number, sink)
    return 0


cdef int take_syn(TcpConnection connection, const Packet* packet) noexcept:
    """A SYN has the number at which its stream begins, and one that answers that of the other."""
    cdef TcpFlow* own = &connection.tcp.flows[packet.direction]
    cdef TcpFlow* other = &connection.tcp.flows[1 - packet.direction]
    if own.position == 0 and own.waiting is NULL and not own.finished:
        flow_begin(own, packet.seq)
    else:
        own.isn = packet.seq
    if packet.flags & ACK:
        if other.next < 0 or not other.anchored:
            flow_begin(other, packet.ack - 1)
        if connection.tcp.opened_by < 0:
            connection.tcp.opened_by = 1 - packet.direction
    else:
        connection.tcp.opened_by = packet.direction
    return 0


cdef int take_payload(
    TcpConnection connection, uint32_t seq, const Packet* packet, const uint8_t* payload, const Patience* patience, StreamSink sink
) except -1:
    """Flow.segment, and what waits too long behind a hole is delivered."""
    cdef int direction = packet.direction
    cdef TcpFlow* own = &connection.tcp.flows[direction]
    cdef bint copy = not is_new_signature(own, packet.signature)
    cdef bint fresh = False
    cdef int64_t offset
    own.payload_packets += 1
    if own.next < 0:
        own.next = seq
    offset = distance(seq, <uint32_t>own.next)
    if not own.anchored:
        if offset == -1 and packet.original == 1:  # a keepalive probe of a connection that was joined in the middle
            return 0
        # what lies before the first byte seen was skipped, not lost
        own.next = seq
        own.anchored = True
        offset = 0
    if offset == 0 and not own.finished and (
        own.waiting is NULL or own.position + packet.original <= fragment_at(own, 0).start
    ):
        cut = packet.original - packet.captured
        advance(connection, direction, payload, packet.captured, cut, packet.time_ns, packet.number, sink)
        drain(connection, direction, sink)
        return 0
    if not -WINDOW < offset < WINDOW:
        own.strays += 1
    else:
        if offset + packet.original > 0 and not own.finished:
            fresh = flow_wait(own, own.position + offset, packet, sink.source, payload)
            drain(connection, direction, sink)
        if not fresh:
            if copy:
                own.duplicates += 1
            elif offset + packet.original != 0 or packet.original > 1:  # else a keepalive probe: one byte, already acknowledged
                own.retransmissions += 1
    while own.waiting is not NULL and own.waiting.bytes > patience.bytes:
        give_up(connection, direction, fragment_at(own, 0).start, packet.time_ns, packet.number, sink)
    return 0


cdef int take_reset(TcpConnection connection, const Packet* packet, StreamSink sink) except -1:
    cdef TcpFlow* own = &connection.tcp.flows[packet.direction]
    cdef TcpFlow* other = &connection.tcp.flows[1 - packet.direction]
    if own.next < 0:
        own.next = packet.seq
    elif own.anchored and not -WINDOW < distance(packet.seq, <uint32_t>own.next) < WINDOW:
        own.strays += 1
        return 0
    if packet.flags & ACK and other.next < 0:  # the refusal of a SYN that the capture has behind it
        other.next = packet.ack
    give_up_waiting(connection, 0, packet.time_ns, packet.number, sink)
    give_up_waiting(connection, 1, packet.time_ns, packet.number, sink)
    if not connection.tcp.closed:
        connection.tcp.closed, connection.tcp.closed_ns = True, packet.time_ns
        if not connection.ignored:
            sink.closed(connection, packet.direction, True, packet.time_ns, packet.number)
    return 0


cdef int close_if_done(TcpConnection connection, int direction, int64_t time_ns, int64_t packet, StreamSink sink) except -1:
    cdef TcpFlow* own = &connection.tcp.flows[direction]
    if own.finished or own.fin_at == INT64_MIN or own.position < own.fin_at or own.next < 0:
        return 0
    own.finished = True
    own.next = <uint32_t>(<uint32_t>own.next + 1)
    if connection.tcp.flows[1 - direction].finished and not connection.tcp.closed:
        connection.tcp.closed, connection.tcp.closed_ns = True, time_ns
    if not connection.ignored:
        sink.closed(connection, direction, False, time_ns, packet)
    return 0


cdef int advance(
    TcpConnection connection, int direction, const uint8_t* data, int64_t captured, int64_t cut, int64_t time_ns, int64_t packet,
    StreamSink sink,
) except -1:
    """Flow._take: the next bytes of a direction, and how many were cut off behind them."""
    cdef TcpFlow* flow = &connection.tcp.flows[direction]
    flow_advance(flow, captured + cut)
    if captured:
        flow.bytes += captured
        if not connection.ignored:
            sink.data(connection, direction, data, captured, time_ns, packet)
    if cut:
        flow.bytes_cut += cut
        flow.gaps += 1
        if not connection.ignored:
            sink.lost(connection, direction, cut, True, time_ns, packet)
    return 0


cdef int drain(TcpConnection connection, int direction, StreamSink sink) except -1:
    """Flow.drain: deliver what waits no longer."""
    cdef Fragment piece
    if connection.tcp.flows[direction].waiting is NULL:
        return 0
    source = sink.source
    try:
        while flow_pop(&connection.tcp.flows[direction], &piece):
            if piece.data is NULL:
                advance(connection, direction, NULL, 0, piece.end - piece.start, piece.time_ns, piece.packet, sink)
                continue
            sink.source = <object>piece.data
            raw_decref(piece.data)
            advance(
                connection, direction, <const uint8_t*>PyBytes_AS_STRING(sink.source), piece.end - piece.start, 0, piece.time_ns,
                piece.packet, sink,
            )
    finally:
        sink.source = source
    return 0


cdef int give_up(TcpConnection connection, int direction, int64_t until, int64_t time_ns, int64_t packet, StreamSink sink) except -1:
    """Flow.give_up: every hole before a position is a gap, and what waited behind it is delivered."""
    cdef TcpFlow* flow = &connection.tcp.flows[direction]
    cdef int64_t count
    drain(connection, direction, sink)
    while flow.position < until:
        count = (min(until, fragment_at(flow, 0).start) if flow.waiting is not NULL else until) - flow.position
        flow_advance(flow, count)
        flow.bytes_lost += count
        flow.gaps += 1
        if flow.waiting is not NULL:
            time_ns, packet = fragment_at(flow, 0).time_ns, fragment_at(flow, 0).packet
        if not connection.ignored:
            sink.lost(connection, direction, count, False, time_ns, packet)
        drain(connection, direction, sink)
    return 0


cdef int give_up_waiting(TcpConnection connection, int direction, int64_t time_ns, int64_t packet, StreamSink sink) except -1:
    cdef TcpFlow* flow = &connection.tcp.flows[direction]
    if flow.waiting is not NULL:
        give_up(connection, direction, fragment_at(flow, flow.waiting.count - 1).end, time_ns, packet, sink)
    if flow.fin_at != INT64_MIN and not flow.finished:
        if flow.position < flow.fin_at:
            give_up(connection, direction, flow.fin_at, time_ns, packet, sink)
        close_if_done(connection, direction, time_ns, packet, sink)
    return 0
