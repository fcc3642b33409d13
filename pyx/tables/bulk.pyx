"""The streams of a series into rows without a Python object per packet, frame or field: what the compiled reassembly calls.

`LaneBatches` takes the streams of the connections (`kwire.capture._native.sink`). On each hangs a `TrackedStream`. While nothing unusual
happens the protocol of a connection is a C struct (lane_exchange): it is in a *lane*. A frame that breaks a rule, or one that lanes do not
know, and a gap make a `Conversation` of it, and Python's own rules carry on until all is regular again. So what is here is only what an
undisturbed connection does, and everything else is the same code as in the pure twin.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free

from build_id cimport build_id
from cursor cimport Bytes
from endpoint_text cimport packed_port
from lane_ends cimport SeriesRows, begin_lane, count_requests, end_lane, forget_texts, rows_close, rows_open, settle_counts
from lane_exchange cimport exchange_bytes, exchange_closed, exchange_cut, exchange_finish
from lane_flushes cimport flush_rows, most_rows
from lane_handover cimport exchange_export, exchange_import
from lane_series cimport LANE_OK, ODD_REASONS, LaneExchange, series_settle
from lane_slots cimport Slot, SlotList, slot_append, slot_free_exchange, slot_remove
from lane_texts cimport text_object, text_of, texts_crowded
from recipe_book cimport RecipeBook, book_open
from request_batch cimport PACKET_BITS, row_of_event
from row_columns cimport wide_row_of
from topic_batch cimport topic_row_of
from uuid_text cimport fill_pairs

from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.sink cimport StreamSink

import weakref
from functools import cache, lru_cache
from ipaddress import ip_address

import pyarrow as pa

from kwire.capture.tcp import endpoints_of
from kwire.schema import catalog, error_name
from kwire.tables.client_keys import client_key, is_default_client_id
from kwire.tables.column_builder import BATCH_ROWS
from kwire.tables.observed_rows import GROUP_STEPS, TOPIC_USE
from kwire.tables.schemas import CONNECTIONS, REQUESTS

__all__ = ["LaneBatches", "ObservedBatches", "TrackedStream"]
__build__ = build_id()

SCHEMAS_OF_LANES = {"requests": REQUESTS, "connections": CONNECTIONS, "group_steps": GROUP_STEPS, "topic_use": TOPIC_USE}
# How to read each api version: made when it is first needed, kept for the process.
cdef RecipeBook BOOK
cdef bint BOOK_IS_OPEN = False
fill_pairs()

cdef enum:
    # How many pieces of payload a connection stays in Python once it left its lane, at least; twice as many each time.
    PATIENCE = 4
    MOST_DOUBLINGS = 6


@lru_cache(maxsize=4096)
def _address_of(packed):
    return str(ip_address(packed)).encode()


@cython.no_gc  # no cycle goes through what Python has of a connection
cdef class TrackedStream:
    """What hangs on a connection: its lane, or what Python has of it. It pickles to the latter, as the pure twin has it."""

    cdef Slot slot
    cdef bytes key  # of the connection
    cdef LaneBatches owner
    cdef object kept  # a `kwire.tables.conversation_sink.Tracked`, while it is in no lane

    def __dealloc__(self):
        if self.slot.exchange is not NULL:
            slot_remove(&self.owner.slots, &self.slot)
            slot_free_exchange(&self.slot)

    def __reduce__(self):
        from kwire.tables.impl import restored_stream

        return restored_stream, (self.tracked,)

    @property
    def tracked(self):
        """What Python has of the connection; it leaves its lane, and comes back with the next payload."""
        if self.slot.exchange is not NULL:
            self.owner.leave(self)
            self.slot.patience = self.slot.departures = 0
        return self.kept


cdef class LaneBatches(StreamSink):
    """Takes the streams of a series, and keeps rows as C structs until there are enough of them for a record batch.

    Arguments:
        sink: a `kwire.tables.conversation_sink.ConversationSink`, which owns this.
    """

    cdef SeriesRows rows
    cdef SlotList slots  # the connections that are in lanes
    cdef readonly int64_t pieces_in_python  # of payload or of what is missing, which Python's Conversation took
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
        self.target = weakref.proxy(sink)
        rows_open(&self.rows, &BOOK, lane_desk.LaneDesk(self.target, lambda place: myself().connection_id_of(place)))
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

    def __init__(self, sink, batch_rows=BATCH_ROWS):
        pass  # `__cinit__` did it; a target of another kind is for the base class

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

    # streams

    cdef int opened(self, TcpConnection connection, int64_t time_ns, int64_t packet) except -1:
        cdef const uint8_t* packed = <const uint8_t*>PyBytes_AS_STRING(connection.key)
        cdef TrackedStream stream
        if self.ports and packed_port(packed, 0) not in self.ports and packed_port(packed, 1) not in self.ports:
            connection.ignored = True
            return 0
        if connection.tcp.opened_by < 0:
            return StreamSink.opened(self, connection, time_ns, packet)
        stream = self.stream_on(connection)
        begin_lane(&self.rows, &stream.slot, connection.key, connection.n, connection.tcp.opened_by, self.packet_of(packet), _address_of)
        slot_append(&self.slots, &stream.slot)
        return 0

    cdef int data(
        self, TcpConnection connection, int direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
    ) except -1:
        cdef TrackedStream stream = self.stream_on(connection)
        cdef Py_ssize_t done = 0
        cdef Py_ssize_t before
        cdef int outcome
        if stream.slot.exchange is NULL:
            stream.slot.patience -= 1
            if stream.slot.patience < 0:
                self.enter(stream)
        if stream.slot.exchange is not NULL and connection.tcp.flows[direction].isn < 0 and not stream.slot.exchange.received[
            0 if direction == stream.slot.client_side else 1
        ]:
            self.leave(stream)  # its SYN is missing, and its first bytes may be missing too
        if stream.slot.exchange is not NULL:
            before = self.rows.lanes.rows.count
            outcome = exchange_bytes(
                stream.slot.exchange, &self.rows.lanes, direction == stream.slot.client_side, <Bytes>data, size, time_ns,
                self.packet_of(packet), &done,
            )
            self.rows_added(before)
            if outcome == LANE_OK:
                return 0
            self.leave(stream)
        self.pieces_in_python += 1
        connection.attachment = stream.kept
        try:
            return StreamSink.data(self, connection, direction, data + done, size - done, time_ns, packet)
        finally:
            connection.attachment = stream

    cdef int lost(self, TcpConnection connection, int direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1:
        cdef TrackedStream stream = self.stream_on(connection)
        cdef Py_ssize_t before = self.rows.lanes.rows.count
        if stream.slot.exchange is not NULL:
            if cut:
                if exchange_cut(
                    stream.slot.exchange, &self.rows.lanes, direction == stream.slot.client_side, count, time_ns
                ) == LANE_OK:
                    return self.rows_added(before)
                self.rows_added(before)
            self.leave(stream)
        self.pieces_in_python += 1
        connection.attachment = stream.kept
        try:
            return StreamSink.lost(self, connection, direction, count, cut, time_ns, packet)
        finally:
            connection.attachment = stream

    cdef int closed(self, TcpConnection connection, int direction, bint reset, int64_t time_ns, int64_t packet) except -1:
        cdef TrackedStream stream = self.stream_on(connection)
        cdef Py_ssize_t before = self.rows.lanes.rows.count
        if stream.slot.exchange is not NULL:
            if exchange_closed(
                stream.slot.exchange, &self.rows.lanes, direction == stream.slot.client_side, reset, time_ns
            ) == LANE_OK:
                return self.rows_added(before)
            self.leave(stream)
        connection.attachment = stream.kept
        try:
            return StreamSink.closed(self, connection, direction, reset, time_ns, packet)
        finally:
            connection.attachment = stream

    cdef int ended(self, TcpConnection connection) except -1:
        cdef TrackedStream stream
        cdef Py_ssize_t before = self.rows.lanes.rows.count
        if connection.attachment is None:
            return 0
        stream = self.stream_on(connection)
        if stream.slot.exchange is not NULL:
            stream.slot.exchange.server_unseen = connection.tcp.flows[1 - stream.slot.client_side].packets == 0
            if exchange_finish(stream.slot.exchange, &self.rows.lanes) == LANE_OK:
                self.rows_added(before)
                end_lane(
                    &self.rows, &stream.slot, connection.key, &connection.tcp, self.target, self.words, self.asked, self.client_keys,
                )
                slot_remove(&self.slots, &stream.slot)
                slot_free_exchange(&stream.slot)
                connection.attachment = None
                return self.flush_full()
            self.leave(stream)
        connection.attachment = stream.kept
        return StreamSink.ended(self, connection)

    cdef int chunk_taken(self) except -1:
        """Let go of the texts that no connection names any more, when there are many."""
        if texts_crowded(&self.rows.lanes.said):
            self.flush()
        if texts_crowded(&self.rows.lanes.texts) or texts_crowded(&self.rows.places):
            self.flush()
            forget_texts(&self.rows, &self.slots)
            self.client_keys.clear()
        return 0

    cdef TrackedStream stream_on(self, TcpConnection connection):
        """What hangs on a connection; what Python or a pickle has left there is put into it."""
        cdef TrackedStream made
        found = connection.attachment
        if isinstance(found, TrackedStream):
            if (<TrackedStream>found).owner is self:
                return <TrackedStream>found
            found = found.tracked
        made = TrackedStream.__new__(TrackedStream)
        made.key, made.owner, made.kept = connection.key, self, found
        connection.attachment = made
        return made

    cdef int leave(self, TrackedStream stream) except -1:
        """From a lane to Python's Conversation."""
        cdef Slot* slot = &stream.slot
        ends = endpoints_of(stream.key)
        stream.kept = exchange_export(
            slot.exchange, &self.rows.lanes, slot.client_side, ends[0].port, ends[1].port,
            text_object(&self.rows.places, slot.exchange.connection), ends[1 - slot.client_side],
        )
        slot_remove(&self.slots, slot)
        slot_free_exchange(slot)
        slot.departures += 1
        slot.patience = PATIENCE << min(slot.departures, MOST_DOUBLINGS)
        return 0

    cdef int enter(self, TrackedStream stream) except -1:
        """From Python's Conversation to a lane, if all is regular."""
        cdef Slot* slot = &stream.slot
        cdef LaneExchange* exchange
        tracked = stream.kept
        slot.patience = PATIENCE << min(slot.departures, MOST_DOUBLINGS)
        if tracked.server is None:
            return 0
        exchange = <LaneExchange*>calloc(1, sizeof(LaneExchange))
        if exchange is NULL:
            raise MemoryError
        try:
            taken = exchange_import(
                exchange, &self.rows.lanes, tracked, text_of(&self.rows.places, tracked.connection_id),
                text_of(&self.rows.lanes.texts, f"{tracked.server.address}:{tracked.server.port}"),
            )
        except BaseException:
            free(exchange)
            raise
        if not taken:
            free(exchange)
            slot.departures += 1
            return 0
        slot.client_side = 0 if tracked.server == endpoints_of(stream.key)[1] else 1
        slot.exchange = exchange
        slot_append(&self.slots, slot)
        stream.kept = None
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
