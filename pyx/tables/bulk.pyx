"""A series of captures into rows without a Python object per packet, frame or field: the twin of kwire/capture/carry.py and what hears it.

Each connection has a slot. While nothing unusual happens its TCP is a C struct (lane_tcp) and its protocol another (lane_exchange): it is
in a *lane*. A frame that breaks a rule, or one that lanes do not know, makes a `Conversation` of it, a packet that leaves a hole a
`TcpConnection`, and Python's own rules carry on until all is regular again. So what is here is only what an undisturbed connection does,
and everything else is the same code as in the pure twin.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from build_id cimport build_id
from checksum cimport crc32, crc_start
from cursor cimport Bytes
from endpoint_text cimport packed_port
from lane_ends cimport SeriesRows, begin_lane, count_requests, end_lane, forget_texts, rows_close, rows_open, settle_counts
from lane_exchange cimport exchange_closed, exchange_finish, exchange_packet
from lane_flushes cimport flush_rows, most_rows
from lane_series cimport LANE_ODD, LANE_OK, ODD_REASONS, series_settle
from lane_slots cimport (
    IN_LANE, IN_PYTHON, STREAMS_ONLY, Slot, SlotList, slot_close, slot_expires, slot_of, slot_open, slot_remove, slot_unwatch, slot_watch,
    slots_watched,
)
from lane_tcp cimport (
    ACK, RST, SYN, TCP_CLOSED, TCP_DATA, TCP_ODD, TCP_RESET, Packet, segment_of, syn_is_next, tcp_begin, tcp_in_order, tcp_take,
)
from lane_texts cimport text_object, text_of, texts_crowded
from packet_rows cimport PacketRows, packet_at, packet_rows_open
from raw_python cimport raw_incref
from recipe_book cimport RecipeBook, book_open
from request_batch cimport PACKET_BITS, row_of_event
from row_columns cimport wide_row_of
from slot_handover cimport admit, connection_of, enter_lane, leave_lane, streams_of
from topic_batch cimport topic_row_of
from uuid_text cimport fill_pairs

import weakref
from functools import cache, lru_cache
from ipaddress import ip_address

import pyarrow as pa

from kwire.capture import carry as _carry
from kwire.capture.carry import SeriesCarry
from kwire.capture.tcp import Segment, TcpConnection
from kwire.schema import catalog, error_name
from kwire.tables.client_keys import client_key, is_default_client_id
from kwire.tables.column_builder import BATCH_ROWS
from kwire.tables.observed_rows import GROUP_STEPS, TOPIC_USE
from kwire.tables.schemas import CONNECTIONS, REQUESTS

__all__ = ["BulkCarry", "LaneBatches", "ObservedBatches"]
__build__ = build_id()

SCHEMAS_OF_LANES = {"requests": REQUESTS, "connections": CONNECTIONS, "group_steps": GROUP_STEPS, "topic_use": TOPIC_USE}
cdef int64_t LINGER_NS = _carry.LINGER_NS
cdef int64_t UNANSWERED_NS = _carry.UNANSWERED_NS
cdef int SWEEP_BITS = _carry.SWEEP_BITS
# How to read each api version: made when it is first needed, kept for the process.
cdef RecipeBook BOOK
cdef bint BOOK_IS_OPEN = False
fill_pairs()
crc_start()


@lru_cache(maxsize=4096)
def _address_of(packed):
    return str(ip_address(packed)).encode()


cdef bytearray others_of(list keys, uint32_t share, uint32_t shares):
    """Not kwire.capture.carry.is_of_share, a byte a key."""
    cdef bytearray made = bytearray(len(keys))
    cdef char* at = PyByteArray_AS_STRING(made)
    cdef Py_ssize_t index
    cdef bytes key
    for index in range(len(keys)):
        key = keys[index]
        at[index] = crc32(<const uint8_t*>PyBytes_AS_STRING(key), len(key)) % shares != share
    return made


cdef class LaneBatches:
    """Rows as C structs until there are enough of them for a record batch: of requests and connections, from lanes and from Python.

    Arguments:
        sink: a `kwire.tables.conversation_sink.ConversationSink`, which owns this.
    """

    cdef SeriesRows rows
    cdef Py_ssize_t batch_rows
    cdef object name
    cdef list files
    cdef frozenset ports
    cdef dict batches
    cdef dict client_keys
    cdef tuple words
    cdef tuple asked
    cdef object __weakref__

    def __cinit__(self, sink, batch_rows=BATCH_ROWS):
        global BOOK_IS_OPEN
        from kwire.tables import lane_desk

        if not BOOK_IS_OPEN:
            book_open(&BOOK)
            BOOK_IS_OPEN = True
        # Weak references: the C structs hold the desk, where no collector would find a cycle.
        myself = weakref.ref(self)
        rows_open(&self.rows, &BOOK, lane_desk.LaneDesk(weakref.proxy(sink), lambda place: myself().connection_id_of(place)))
        self.batch_rows = batch_rows
        self.name, self.files, self.ports = sink.series, sink.files, sink.ports
        self.batches = {table: [] for table in SCHEMAS_OF_LANES}
        self.client_keys = {}
        self.words = (
            lane_desk.ROW_STATES, lane_desk.ROW_BODIES, lane_desk.STATES, lane_desk.CLOSED_BY, lane_desk.PROTOCOLS, lane_desk.SOURCES,
            lane_desk.ROLES, lane_desk.DIRECTIONS, lane_desk.ODDITIES,
        )
        self.asked = (_address_of, client_key, is_default_client_id, cache(catalog().api_name))
        for table in ("group_steps", "topic_use"):
            sink.observed.builders[table] = ObservedBatches(self, table)

    def __dealloc__(self):
        rows_close(&self.rows)

    def connection_id_of(self, place):
        """The id of the connection that is in a lane under this number."""
        return text_object(&self.rows.places, place)

    @property
    def departures(self):
        """How often a connection left its lane, by reason."""
        return {self.words[8][reason]: self.rows.lanes.odd[reason] for reason in range(ODD_REASONS) if self.rows.lanes.odd[reason]}

    def add_request(self, connection_id, event):
        """Append the row of a `RequestCompleted`; its packet number has the number of the file in its upper bits."""
        cdef int32_t place = text_of(&self.rows.places, connection_id)
        row_of_event(&self.rows.lanes.rows, &self.rows.lanes.texts, place, event, self.words[0], self.words[1])
        self.flush_full()

    def add_connection(self, row):
        """Append a row of `connections`, values in the schema's order."""
        wide_row_of(&self.rows.connections, &self.rows.said, row)
        self.flush_full()

    def add_observed(self, table, row):
        """Append a row of `group_steps` or `topic_use`, values in the schema's order."""
        if table == "group_steps":
            wide_row_of(&self.rows.lanes.steps, &self.rows.lanes.said, row)
        else:
            topic_row_of(&self.rows.lanes.topic_rows, &self.rows.lanes.said, self.words[7], row)
        self.flush_full()

    def take(self, table, *, whole):
        """Give away the full batches of a table, and with `whole` the rows of the one that is begun too."""
        if whole:
            self.flush()
        batches, self.batches[table] = self.batches[table], []
        return batches

    def settle(self, counts):
        """Bring home what is counted and learned here: before the sink's `counts` and facts are read, or pickled."""
        series_settle(&self.rows.lanes)
        settle_counts(&self.rows, counts)

    cdef int64_t packet_of(self, int64_t number) except -1:  # with the number of its file
        return <int64_t>(len(self.files) - 1) << PACKET_BITS | number

    cdef int flush_full(self) except -1:
        return self.flush() if most_rows(&self.rows) >= self.batch_rows else 0

    cdef int flush(self) except -1:
        names = (lambda _: self.name, self.files.__getitem__, self.asked[3], error_name, self.words[0], self.words[1])
        return flush_rows(&self.rows, pa, SCHEMAS_OF_LANES, self.batches, names, self.words[7])

    cdef int rows_added(self, Py_ssize_t before) except -1:
        if self.rows.lanes.rows.count != before:
            count_requests(&self.rows, before)
            self.flush_full()
        return 0

    cdef int end(self, Slot* slot, object sink) except -1:
        """A connection has finished in its lane."""
        end_lane(&self.rows, slot, sink, self.words, self.asked, self.client_keys)
        return self.flush_full()

    cdef int tidy(self, const SlotList* slots) except -1:
        """Let go of the texts that no connection names any more, when there are many."""
        if texts_crowded(&self.rows.lanes.said):
            self.flush()
        if texts_crowded(&self.rows.lanes.texts) or texts_crowded(&self.rows.places):
            self.flush()
            forget_texts(&self.rows, slots)
            self.client_keys.clear()
        return 0


cdef class ObservedBatches:
    """The rows of a table that lanes make and those that Python makes, in their order; as a `ColumnBuilder`.

    Arguments:
        owner: keeps them.
        table: `group_steps` or `topic_use`.
    """

    cdef LaneBatches owner
    cdef str table

    def __init__(self, LaneBatches owner, table):
        self.owner, self.table = owner, table

    def add(self, row):
        """Append a row, values in the schema's order."""
        self.owner.add_observed(self.table, row)

    def take(self, *, whole):
        """Give away the full batches, and with `whole` the rows of the one that is begun too."""
        return self.owner.take(self.table, whole=whole)


cdef class BulkCarry:
    """Connections of a series between two pieces; pickles as a `SeriesCarry` does, and to one.

    Arguments:
        carry: what an earlier process left, of either twin.
    """

    cdef SlotList slots
    cdef dict numbers  # key -> address of its slot
    cdef readonly object carry  # the connections that are in Python, and what the series knows of all
    cdef int64_t latest_ns
    cdef readonly Py_ssize_t packets
    cdef readonly Py_ssize_t packets_in_python
    cdef readonly Py_ssize_t packets_of_streams  # whose payload Python's Conversation took
    cdef LaneBatches lanes  # of the sink that hears now; None for one that takes no rows from here

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

        made = SeriesCarry(self.carry.share)
        made.lives, made.strays = self.carry.lives, self.carry.strays
        made.packets, made.latest_ns, made.scan = self.packets, self.latest_ns, self.carry.scan
        made.live = {connection.key: connection for connection in self.connections()}
        return series_streams, (made,)

    def connections(self):
        """The connections that are open or linger, in the order in which they began."""
        found = []
        cdef Slot* slot = self.slots.first
        while slot is not NULL:
            if slot.mode == IN_LANE:
                leave_lane(slot, &self.lanes.rows, TcpConnection)
                slot.patience = slot.departures = 0
            found.append(streams_of(slot, TcpConnection))
            slot = slot.after
        return found

    @property
    def scan(self):
        return self.carry.scan

    cdef int adopt(self, object connection) except -1:
        """Take over a connection that the SeriesCarry began."""
        cdef Slot* slot = slot_open(&self.slots, self.numbers, connection.key)
        raw_incref(<PyObject*>connection)
        slot.connection = <PyObject*>connection
        slot.n = connection.n
        slot.ignored = connection.ignored
        admit(slot, self.carry.live)
        if slot_expires(slot):
            slot_watch(&self.slots, slot)
        return 0

    # packets

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def take(self, bytes data, columns, sink):
        """Bring the packets of one chunk to their connections; arguments as for `SeriesCarry.take`."""
        cdef PacketRows rows
        packet_rows_open(&rows, columns, len(data))
        cdef list keys = columns.keys
        cdef Py_ssize_t row
        cdef bint is_sweep
        cdef int32_t key
        cdef Slot* slot
        cdef Packet packet
        cdef Slot** known = <Slot**>calloc(len(keys) + 1, sizeof(Slot*))  # by key; NULL: look
        cdef bint is_all = self.carry.share[1] == 1
        cdef bytearray theirs = bytearray() if is_all else others_of(keys, self.carry.share[0], self.carry.share[1])
        if known is NULL:
            raise MemoryError
        self.lanes = getattr(sink, "batches", None)
        try:
            for row in range(rows.count):
                packet_at(&rows, row, &packet)
                key = rows.key[row]
                is_sweep = False
                if packet.time_ns > self.latest_ns:
                    is_sweep = packet.time_ns >> SWEEP_BITS != self.latest_ns >> SWEEP_BITS
                    self.latest_ns = packet.time_ns
                slot = known[key]
                if slot is NULL:
                    slot = known[key] = slot_of(self.numbers, keys[key])
                if not is_all and theirs[key]:
                    pass  # its time alone matters: sweeps come at the same packets in every share
                elif slot is not NULL and slot.mode != IN_PYTHON and tcp_in_order(&slot.tcp, &packet):
                    if packet.original and not slot.ignored:
                        self.deliver(slot, &packet, data, rows.offset[row], sink)
                else:
                    known[key] = slot = self.take_closely(slot, keys[key], &packet, data, rows.offset[row], sink)
                    if slot is not NULL and slot_expires(slot):
                        slot_watch(&self.slots, slot)
                if is_sweep:
                    self.sweep(packet.number, sink)
                    memset(known, 0, len(keys) * sizeof(Slot*))
            self.packets += rows.count
            if self.lanes is not None:
                self.lanes.tidy(&self.slots)
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
        cdef Slot* slot = slot_open(&self.slots, self.numbers, key)
        cdef const uint8_t* packed
        slot.mode = STREAMS_ONLY
        slot.n = self.carry.lives.begin(key)
        tcp_begin(&slot.tcp, packet.time_ns)
        if packet.flags & SYN:
            slot.tcp.opened_by = 1 - packet.direction if packet.flags & ACK else packet.direction
        if self.lanes is not None:
            packed = <const uint8_t*>PyBytes_AS_STRING(key)
            if self.lanes.ports and packed_port(packed, 0) not in self.lanes.ports and packed_port(packed, 1) not in self.lanes.ports:
                slot.ignored = True
                return slot
            if slot.tcp.opened_by >= 0:
                begin_lane(&self.lanes.rows, slot, self.lanes.packet_of(packet.number), _address_of)
                return slot
        connection = connection_of(slot, NULL if self.lanes is None else &self.lanes.rows, TcpConnection)
        sink.opened(connection, packet.time_ns, packet.number)
        slot.ignored = connection.ignored
        return slot

    cdef int receive(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        """TcpConnection.receive, here or there."""
        cdef int news = tcp_take(&slot.tcp, packet)
        if news == TCP_ODD:
            self.packets_in_python += 1
            connection = connection_of(slot, NULL if self.lanes is None else &self.lanes.rows, TcpConnection)
            slot.mode = IN_PYTHON
            self.carry.live[<object>slot.key] = connection
            connection.receive(segment_of(packet, data, offset, Segment), sink)
            admit(slot, self.carry.live)
            return 0
        if slot.ignored:
            return 0
        if news & TCP_DATA:
            self.deliver(slot, packet, data, offset, sink)
        if news & (TCP_CLOSED | TCP_RESET):
            if slot.mode == IN_LANE:
                if self.lane_closed(slot, packet, bool(news & TCP_RESET)):
                    return 0
                leave_lane(slot, &self.lanes.rows, TcpConnection)
            sink.closed(<object>slot.connection, packet.direction, bool(news & TCP_RESET), packet.time_ns, packet.number)
        return 0

    cdef Slot* take_in_python(
        self, Slot* slot, object key, const Packet* packet, bytes data, int64_t offset, object sink
    ) except? NULL:
        """A packet of a connection that waits for something."""
        self.packets_in_python += 1
        self.carry.take_closely(key, segment_of(packet, data, offset, Segment), sink)
        connection = self.carry.live.get(key)
        if connection is <object>slot.connection:
            admit(slot, self.carry.live)
            return slot
        slot_close(&self.slots, self.numbers, slot)
        if connection is None:
            return NULL
        self.adopt(connection)
        return slot_of(self.numbers, key)

    cdef int deliver(self, Slot* slot, const Packet* packet, bytes data, int64_t offset, object sink) except -1:
        """The next bytes of a direction, and how many were cut off behind them."""
        cdef Py_ssize_t start = 0
        cdef Py_ssize_t before
        cdef int64_t cut = packet.original - packet.captured
        cdef int outcome
        if slot.mode != IN_LANE and self.lanes is not None:
            slot.patience -= 1
            if slot.patience < 0:
                enter_lane(slot, &self.lanes.rows)
        if slot.mode == IN_LANE:
            before = self.lanes.rows.lanes.rows.count
            if not slot.exchange.received[0 if packet.direction == slot.client_side else 1] and slot.tcp.flows[packet.direction].isn < 0:
                leave_lane(slot, &self.lanes.rows, TcpConnection)  # its SYN is missing, and its first bytes may be missing too
        if slot.mode == IN_LANE:
            outcome = exchange_packet(
                slot.exchange, &self.lanes.rows.lanes, packet.direction == slot.client_side, packet,
                <Bytes>PyBytes_AS_STRING(data) + offset, self.lanes.packet_of(packet.number), &start,
            )
            self.lanes.rows_added(before)
            if outcome == LANE_OK:
                return 0
            leave_lane(slot, &self.lanes.rows, TcpConnection)
        self.packets_of_streams += 1
        connection = <object>slot.connection
        if start < packet.captured:
            sink.data(connection, packet.direction, data[offset + start:offset + packet.captured], packet.time_ns, packet.number)
        if cut:
            sink.lost(connection, packet.direction, cut, True, packet.time_ns, packet.number)
        return 0

    cdef bint lane_closed(self, Slot* slot, const Packet* packet, bint reset) except -1:  # False where that is for Python
        cdef Py_ssize_t before = self.lanes.rows.lanes.rows.count
        if exchange_closed(slot.exchange, &self.lanes.rows.lanes, packet.direction == slot.client_side, reset, packet.time_ns) == LANE_ODD:
            return False
        self.lanes.rows_added(before)
        return True

    # ends

    def finish(self, sink):
        """End every connection: the series is over."""
        self.lanes = getattr(sink, "batches", None)
        while self.slots.first is not NULL:
            if self.slots.first.mode == IN_PYTHON:
                self.end(self.slots.first, (<object>self.slots.first.connection).last_ns, 0, sink)
            else:
                self.end(self.slots.first, self.slots.first.tcp.last_ns, 0, sink)

    cdef int end(self, Slot* slot, int64_t time_ns, int64_t packet, object sink) except -1:
        """SeriesCarry.end."""
        cdef Py_ssize_t before
        if slot.mode == IN_LANE:
            before = self.lanes.rows.lanes.rows.count
            slot.exchange.server_unseen = slot.tcp.flows[1 - slot.client_side].packets == 0
            if exchange_finish(slot.exchange, &self.lanes.rows.lanes) == LANE_OK:
                self.lanes.rows_added(before)
                self.lanes.end(slot, sink)
                return slot_close(&self.slots, self.numbers, slot)
        elif slot.ignored and slot.mode == STREAMS_ONLY and self.lanes is not None:
            return slot_close(&self.slots, self.numbers, slot)
        connection = connection_of(slot, NULL if self.lanes is None else &self.lanes.rows, TcpConnection)
        if slot.mode == IN_PYTHON:
            self.carry.end(connection, time_ns, packet, sink)
        else:
            sink.ended(connection)
        return slot_close(&self.slots, self.numbers, slot)

    cdef int sweep(self, int64_t packet, object sink) except -1:
        """End the connections whose time is over."""
        cdef Slot** watched = slots_watched(&self.slots)
        cdef Slot** place = watched
        if watched is NULL:
            raise MemoryError
        self.carry.latest_ns = self.latest_ns
        try:
            while place[0] is not NULL:
                self.look_after(place[0], packet, sink)
                place += 1
        finally:
            free(watched)
        return 0

    cdef int look_after(self, Slot* slot, int64_t packet, object sink) except -1:
        """SeriesCarry.look_after."""
        if slot.mode == IN_PYTHON:
            self.carry.look_after(<object>slot.connection, packet, sink)
            if <object>slot.key not in self.carry.live:
                return slot_close(&self.slots, self.numbers, slot)
            admit(slot, self.carry.live)
        elif (slot.tcp.closed and self.latest_ns - slot.tcp.closed_ns > LINGER_NS) or (
            not slot.tcp.answered and self.latest_ns - slot.tcp.last_ns > UNANSWERED_NS
        ):
            return self.end(slot, self.latest_ns, packet, sink)
        if not slot_expires(slot):
            slot_unwatch(&self.slots, slot)
        return 0
