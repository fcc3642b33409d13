"""The streams of a series without a Python object per packet: the twin of kwire/capture/carry.py for who makes rows of them.

Each connection has a slot. While nothing unusual happens its TCP is a C struct (lane_tcp); a packet that does something else makes it a
`TcpConnection`, which Python's own rules carry on (`SeriesCarry.take_closely`) until nothing waits in it any more. So what is here is only
what an undisturbed connection does, and everything else is the same code as in the pure twin.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from lane_slots cimport IN_PYTHON, STREAMS_ONLY, Slot, SlotList, slot_append, slot_remove
from lane_tcp cimport (
    ACK, RST, SYN, TCP_CLOSED, TCP_DATA, TCP_ODD, TCP_RESET, Packet, syn_is_next, tcp_begin, tcp_export, tcp_import, tcp_in_order, tcp_take,
)
from raw_python cimport raw_incref

from kwire.capture import carry as _carry
from kwire.capture.carry import SeriesCarry
from kwire.capture.tcp import Segment, TcpConnection

__all__ = ["BulkCarry"]

cdef int64_t LINGER_NS = _carry.LINGER_NS
cdef int64_t UNANSWERED_NS = _carry.UNANSWERED_NS
cdef Py_ssize_t SWEEP_PACKETS = _carry.SWEEP_PACKETS


cdef class BulkCarry:
    """Connections of a series between two pieces; pickles as a `SeriesCarry` does, and to one.

    Arguments:
        carry: what an earlier process left, of either twin.
    """

    cdef SlotList slots
    cdef dict numbers  # key -> address of its slot
    cdef object carry  # the connections that are in Python, and what the series knows of all
    cdef int64_t latest_ns
    cdef Py_ssize_t packets
    cdef readonly Py_ssize_t packets_in_python

    def __init__(self, carry=None):
        self.numbers = {}
        self.carry = SeriesCarry() if carry is None else carry
        self.latest_ns = self.carry.latest_ns
        self.packets = self.carry.packets
        for connection in list(self.carry.live.values()):
            self.adopt(connection)

    def __dealloc__(self):
        while self.slots.first is not NULL:
            slot_remove(&self.slots, self.slots.first)

    def __reduce__(self):
        from kwire.tables.impl import series_streams

        made = SeriesCarry()
        made.lives, made.strays = self.carry.lives, self.carry.strays
        made.packets, made.latest_ns = self.packets, self.latest_ns
        made.live = {connection.key: connection for connection in self.connections()}
        return series_streams, (made,)

    def connections(self):
        """The connections that are open or linger, in the order in which they began."""
        found = []
        cdef Slot* slot = self.slots.first
        while slot is not NULL:
            found.append(self.connection_of(slot))
            slot = slot.after
        return found

    @property
    def lives(self):
        return self.carry.lives

    @property
    def strays(self):
        return self.carry.strays

    # slots

    cdef Slot* add_slot(self, object key) except NULL:
        cdef Slot* slot = slot_append(&self.slots)
        if slot is NULL:
            raise MemoryError
        raw_incref(<PyObject*>key)
        slot.key = <PyObject*>key
        self.numbers[key] = <size_t>slot
        return slot

    cdef Slot* find_slot(self, object key) except? NULL:
        cdef PyObject* found = PyDict_GetItem(self.numbers, key)
        return NULL if found is NULL else <Slot*><size_t><object>found

    cdef int drop_slot(self, Slot* slot) except -1:
        del self.numbers[<object>slot.key]
        slot_remove(&self.slots, slot)
        return 0

    cdef object connection_of(self, Slot* slot):
        """The connection as Python sees it, as it is now."""
        if slot.connection is NULL:
            made = TcpConnection(<object>slot.key, slot.n, slot.tcp.first_ns)
            made.ignored = bool(slot.ignored)
            raw_incref(<PyObject*>made)
            slot.connection = <PyObject*>made
        if slot.mode != IN_PYTHON:
            tcp_export(&slot.tcp, <object>slot.connection)
        return <object>slot.connection

    cdef int adopt(self, object connection) except -1:
        """Take over a connection that the SeriesCarry began."""
        cdef Slot* slot = self.add_slot(connection.key)
        raw_incref(<PyObject*>connection)
        slot.connection = <PyObject*>connection
        slot.n = connection.n
        slot.ignored = connection.ignored
        self.admit(slot)
        return 0

    cdef int admit(self, Slot* slot) except -1:
        """Go on without Python, unless something waits there."""
        if tcp_import(&slot.tcp, <object>slot.connection):
            slot.mode = STREAMS_ONLY
            del self.carry.live[<object>slot.key]
        return 0

    # packets

    def take(self, bytes data, columns, sink):
        """Bring the packets of one chunk to their connections; arguments as for `SeriesCarry.take`."""
        cdef const int64_t[::1] number = columns.number
        cdef const int64_t[::1] time_ns = columns.time_ns
        cdef const int32_t[::1] key = columns.key
        cdef const int8_t[::1] direction = columns.direction
        cdef const uint32_t[::1] seq = columns.seq
        cdef const uint32_t[::1] ack = columns.ack
        cdef const int16_t[::1] flags = columns.flags
        cdef const int64_t[::1] offset = columns.offset
        cdef const int32_t[::1] captured = columns.captured
        cdef const int32_t[::1] original = columns.original
        cdef const uint32_t[::1] signature = columns.signature
        cdef list keys = columns.keys
        cdef Py_ssize_t count = number.shape[0]
        cdef Py_ssize_t until_sweep = SWEEP_PACKETS - self.packets % SWEEP_PACKETS
        cdef Py_ssize_t row
        cdef Slot* slot
        cdef Packet packet
        cdef Slot** known = <Slot**>calloc(len(keys) + 1, sizeof(Slot*))  # by key; NULL: look
        if known is NULL:
            raise MemoryError
        try:
            for row in range(count):
                packet.number, packet.time_ns = number[row], time_ns[row]
                packet.seq, packet.ack, packet.signature = seq[row], ack[row], signature[row]
                packet.flags, packet.direction = flags[row], direction[row]
                packet.captured, packet.original = captured[row], original[row]
                if packet.time_ns > self.latest_ns:
                    self.latest_ns = packet.time_ns
                slot = known[key[row]]
                if slot is NULL:
                    slot = known[key[row]] = self.find_slot(keys[key[row]])
                if slot is not NULL and slot.mode != IN_PYTHON and tcp_in_order(&slot.tcp, &packet):
                    if packet.captured and not slot.ignored:
                        self.deliver(slot, &packet, data, offset[row], sink)
                else:
                    known[key[row]] = self.take_closely(slot, keys[key[row]], &packet, data, offset[row], sink)
                until_sweep -= 1
                if until_sweep == 0:
                    until_sweep = SWEEP_PACKETS
                    self.sweep(packet.number, sink)
                    memset(known, 0, len(keys) * sizeof(Slot*))
            self.packets += count
        finally:
            free(known)

    cdef Slot* take_closely(
        self, Slot* slot, object key, const Packet* packet, bytes data, int64_t offset, object sink
    ) except? NULL:
        """SeriesCarry.take_closely; gives the slot that the key has now."""
        cdef bint begins = packet.original > 0 and not packet.flags & RST
        if slot is not NULL and slot.mode == IN_PYTHON:
            return self.take_in_python(slot, key, packet, data, offset, sink)
        if slot is not NULL and packet.flags & SYN:
            if syn_is_next(&slot.tcp, packet):
                self.end(slot, packet.time_ns, packet.number, sink)
                slot = NULL
        elif slot is not NULL and slot.tcp.closed and packet.time_ns - slot.tcp.closed_ns > LINGER_NS:
            if not begins:
                self.carry.strays += 1
                return slot
            self.end(slot, packet.time_ns, packet.number, sink)
            slot = NULL
        elif slot is NULL and not begins and not packet.flags & SYN and key in self.carry.lives:
            self.carry.strays += 1
            return NULL
        if slot is NULL:
            slot = self.open(key, packet, sink)
        self.receive(slot, packet, data, offset, sink)
        return slot

    cdef Slot* open(self, object key, const Packet* packet, object sink) except NULL:
        """Begin a connection, as SeriesCarry does."""
        cdef Slot* slot = self.add_slot(key)
        cdef dict lives = self.carry.lives
        slot.mode = STREAMS_ONLY
        slot.n = lives.get(key, 0)
        lives[key] = slot.n + 1
        tcp_begin(&slot.tcp, packet.time_ns)
        if packet.flags & SYN:
            slot.tcp.opened_by = 1 - packet.direction if packet.flags & ACK else packet.direction
        connection = self.connection_of(slot)
        sink.opened(connection, packet.time_ns, packet.number)
        slot.ignored = connection.ignored
        return slot

    cdef int receive(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        """TcpConnection.receive, here or there."""
        cdef int news = tcp_take(&slot.tcp, packet)
        if news == TCP_ODD:
            self.packets_in_python += 1
            connection = self.connection_of(slot)
            slot.mode = IN_PYTHON
            self.carry.live[<object>slot.key] = connection
            connection.receive(segment_of(packet, data, offset), sink)
            self.admit(slot)
            return 0
        if slot.ignored:
            return 0
        if news & TCP_DATA:
            self.deliver(slot, packet, data, offset, sink)
        if news & (TCP_CLOSED | TCP_RESET):
            sink.closed(<object>slot.connection, packet.direction, bool(news & TCP_RESET), packet.time_ns, packet.number)
        return 0

    cdef Slot* take_in_python(
        self, Slot* slot, object key, const Packet* packet, bytes data, int64_t offset, object sink
    ) except? NULL:
        """A packet of a connection that waits for something."""
        self.packets_in_python += 1
        self.carry.take_closely(key, segment_of(packet, data, offset), sink)
        connection = self.carry.live.get(key)
        if connection is <object>slot.connection:
            self.admit(slot)
            return slot
        self.drop_slot(slot)
        if connection is None:
            return NULL
        self.adopt(connection)
        return self.find_slot(key)

    cdef int deliver(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        sink.data(<object>slot.connection, packet.direction, data[offset:offset + packet.captured], packet.time_ns, packet.number)
        return 0

    # ends

    def finish(self, sink):
        """End every connection: the series is over."""
        while self.slots.first is not NULL:
            if self.slots.first.mode == IN_PYTHON:
                self.end(self.slots.first, (<object>self.slots.first.connection).last_ns, 0, sink)
            else:
                self.end(self.slots.first, self.slots.first.tcp.last_ns, 0, sink)

    cdef int end(self, Slot* slot, int64_t time_ns, int64_t packet, object sink) except -1:
        """SeriesCarry.end."""
        connection = self.connection_of(slot)
        if slot.mode == IN_PYTHON:
            self.carry.end(connection, time_ns, packet, sink)
        else:
            sink.ended(connection)
        return self.drop_slot(slot)

    cdef int sweep(self, int64_t packet, object sink) except -1:
        """End the connections whose time is over."""
        cdef Slot* slot = self.slots.first
        cdef Slot* after
        self.carry.latest_ns = self.latest_ns
        while slot is not NULL:
            after = slot.after
            if slot.mode == IN_PYTHON:
                self.carry.look_after(<object>slot.connection, packet, sink)
                if <object>slot.key not in self.carry.live:
                    self.drop_slot(slot)
                else:
                    self.admit(slot)
            elif (slot.tcp.closed and self.latest_ns - slot.tcp.closed_ns > LINGER_NS) or (
                not slot.tcp.answered and self.latest_ns - slot.tcp.last_ns > UNANSWERED_NS
            ):
                self.end(slot, self.latest_ns, packet, sink)
            slot = after
        return 0


cdef object segment_of(const Packet* packet, bytes data, int64_t offset):
    payload = data[offset:offset + packet.captured] if packet.captured else b""
    return Segment(
        packet.direction, packet.seq, packet.ack, packet.flags, payload, packet.original, packet.signature, packet.time_ns, packet.number,
    )
