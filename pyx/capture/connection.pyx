"""State of one TCP connection, with the attributes of `kwire.capture.tcp.TcpConnection`."""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free

from build_id cimport build_id
from capture.tcp_state cimport ACK, RST, HeldPacket, Packet, TcpFlow, distance, is_ahead, tcp_begin, tcp_refused
from wire.grown cimport grown
from wire.raw_python cimport raw_incref, raw_xdecref
from wire.turns cimport Turn, one_at_a_time, turn_leave

from kwire.capture._native.flow cimport flow_close, flow_plain, flow_restore, part_of

from kwire.capture.flow import Flow as PlainFlow
from kwire.capture.tcp import Segment, endpoints_of
from kwire.capture.tcp import TcpConnection as PlainConnection

__all__ = ["Flow", "TcpConnection"]
__build__ = build_id()


cdef class Flow:
    """One direction of a connection, as `kwire.capture.flow.Flow` has it: a view, which shows what it is now."""

    cdef TcpConnection connection
    cdef TcpFlow* state

    def __init__(self):
        raise TypeError("a Flow is a part of a TcpConnection")

    def plain(self):
        made = PlainFlow()
        flow_plain(self.state, made)
        return made

    @property
    def isn(self):
        return None if self.state.isn < 0 else self.state.isn

    @property
    def next(self):
        return None if self.state.next < 0 else self.state.next

    @property
    def fin_at(self):
        return None if self.state.fin_at == INT64_MIN else self.state.fin_at

    @property
    def position(self):
        return self.state.position

    @property
    def anchored(self):
        return bool(self.state.anchored)

    @property
    def finished(self):
        return bool(self.state.finished)

    @property
    def packets(self):
        return self.state.packets

    @property
    def payload_packets(self):
        return self.state.payload_packets

    @property
    def bytes(self):
        return self.state.bytes

    @property
    def bytes_cut(self):
        return self.state.bytes_cut

    @property
    def bytes_lost(self):
        return self.state.bytes_lost

    @property
    def gaps(self):
        return self.state.gaps

    @property
    def retransmissions(self):
        return self.state.retransmissions

    @property
    def duplicates(self):
        return self.state.duplicates

    @property
    def strays(self):
        return self.state.strays

    @property
    def waiting_bytes(self):
        return 0 if self.state.waiting is NULL else self.state.waiting.bytes

    @property
    def waiting(self):
        return self.plain().waiting

    @property
    def recent(self):
        return self.plain().recent

    @property
    def start(self):
        return self.plain().start


cdef Flow flow_of(TcpConnection connection, int direction):
    cdef Flow made = Flow.__new__(Flow)
    made.connection, made.state = connection, &connection.tcp.flows[direction]
    return made


@cython.freelist(64)
cdef class TcpConnection:
    """The state of a connection, as `kwire.capture.tcp.TcpConnection` has it; `flows` and `held` are given as they are now."""

    def __cinit__(self):
        self.place = -1
        tcp_begin(&self.tcp, 0)

    def __init__(self):
        raise TypeError("a TcpConnection is begun by a SeriesCarry")

    def __dealloc__(self):
        cdef Py_ssize_t index
        for index in range(self.tcp.held_count):
            raw_xdecref(self.tcp.held[index].payload)
        free(self.tcp.held)
        flow_close(&self.tcp.flows[0])
        flow_close(&self.tcp.flows[1])
        turn_leave(self.turn)

    def plain(self):
        made = PlainConnection(self.key, self.n, self.tcp.first_ns)
        made.last_ns, made.closed_ns, made.opened_by = self.tcp.last_ns, self.closed_ns, self.opened_by
        made.answered, made.ignored, made.begun, made.attachment = self.answered, self.ignored, self.begun, self.attachment
        made.held = self.held
        flow_plain(&self.tcp.flows[0], made.flows[0])
        flow_plain(&self.tcp.flows[1], made.flows[1])
        return made

    @staticmethod
    def of(known):
        cdef TcpConnection made = new_connection(known.key, known.n, known.first_ns)
        made.restore(known)
        return made

    cdef int restore(self, object known) except -1:
        """Take over the state of a `kwire.capture.tcp.TcpConnection`; this one must be new."""
        cdef Packet packet
        cdef bytes payload
        self.tcp.last_ns = known.last_ns
        self.tcp.closed = known.closed_ns is not None
        self.tcp.closed_ns = known.closed_ns if self.tcp.closed else 0
        self.tcp.opened_by = -1 if known.opened_by is None else known.opened_by
        self.tcp.answered, self.ignored, self.attachment = known.answered, known.ignored, known.attachment
        flow_restore(&self.tcp.flows[0], known.flows[0])
        flow_restore(&self.tcp.flows[1], known.flows[1])
        for segment in known.held:
            payload = bytes(segment.payload)
            packet.direction, packet.seq, packet.ack, packet.flags = segment.direction & 1, segment.seq, segment.ack, segment.flags
            packet.captured, packet.original, packet.signature = len(payload), segment.original, segment.signature
            packet.time_ns, packet.number = segment.time_ns, segment.packet
            self.hold(&packet, <const uint8_t*>PyBytes_AS_STRING(payload), payload)
        return 0

    @property
    def a(self):
        return endpoints_of(self.key)[0]

    @property
    def b(self):
        return endpoints_of(self.key)[1]

    @property
    def opened_by(self):
        return None if self.tcp.opened_by < 0 else self.tcp.opened_by

    @property
    def answered(self):
        return bool(self.tcp.answered)

    @property
    def first_ns(self):
        return self.tcp.first_ns

    @property
    def last_ns(self):
        return self.tcp.last_ns

    @property
    def closed_ns(self):
        return self.tcp.closed_ns if self.tcp.closed else None

    @property
    def expires(self):
        return bool(self.has_expiry())

    @property
    def flows(self):
        return flow_of(self, 0), flow_of(self, 1)

    @property
    def held(self):
        """The early packets as they are now, as `kwire.capture.tcp.Segment`."""
        cdef list found = []
        cdef const Packet* packet
        cdef Py_ssize_t index
        for index in range(self.tcp.held_count):
            packet = &self.tcp.held[index].packet
            found.append(
                Segment(
                    packet.direction, packet.seq, packet.ack, packet.flags, <object>self.tcp.held[index].payload, packet.original,
                    packet.signature, packet.time_ns, packet.number,
                )
            )
        return found

    @property
    def refused(self):
        return bool(tcp_refused(&self.tcp))

    # what the rules ask of the state

    cdef bint has_expiry(self) noexcept:
        return self.tcp.closed or not self.tcp.answered or self.tcp.held_count > 0

    cdef int hold(self, const Packet* packet, const uint8_t* payload, object source) except -1:
        cdef Py_ssize_t room = self.tcp.held_room
        cdef HeldPacket* held = <HeldPacket*>grown(self.tcp.held, &room, self.tcp.held_count + 1, 2, sizeof(HeldPacket))
        cdef object kept
        if held is NULL:
            raise MemoryError
        self.tcp.held, self.tcp.held_room = held, <int32_t>room
        kept = part_of(source, payload, 0, packet.captured) if packet.captured else b""
        raw_incref(<PyObject*>kept)
        held[self.tcp.held_count].packet = packet[0]
        held[self.tcp.held_count].payload = <PyObject*>kept
        self.tcp.held_count += 1
        return 0

    cdef int64_t early_by(self, const Packet* packet) noexcept:
        """Count unseen bytes of the other side (of its own, for a RST) that the packet presupposes."""
        cdef const TcpFlow* flow
        cdef uint32_t sequence
        if packet.flags & RST:
            flow, sequence = &self.tcp.flows[packet.direction], packet.seq
        elif packet.flags & ACK:
            flow, sequence = &self.tcp.flows[1 - packet.direction], packet.ack
        else:
            return 0
        if not flow.anchored or flow.next < 0 or not is_ahead(sequence, flow.next):
            return 0
        return distance(sequence, <uint32_t>flow.next)

    cdef bint fills(self, const Packet* packet) noexcept:
        """Return whether a packet may bring the bytes that the first held packet waits for."""
        cdef const Packet* first = &self.tcp.held[0].packet
        cdef int hole = first.direction if first.flags & RST else 1 - first.direction
        cdef uint32_t needed = first.seq if first.flags & RST else first.ack
        return packet.direction == hole and not packet.flags & RST and distance(needed, packet.seq) > 0


cdef TcpConnection new_connection(bytes key, int64_t n, int64_t time_ns):
    cdef TcpConnection made = TcpConnection.__new__(TcpConnection)
    made.key, made.n = key, n
    made.tcp.first_ns = made.tcp.last_ns = time_ns
    return made


cdef Turn** turn_of_tcp_connection(PyObject* self) noexcept:
    return &(<TcpConnection>self).turn


cdef Turn** turn_of_flow(PyObject* self) noexcept:
    return NULL if (<Flow>self).connection is None else &(<Flow>self).connection.turn


one_at_a_time(TcpConnection, turn_of_tcp_connection)
one_at_a_time(Flow, turn_of_flow)
