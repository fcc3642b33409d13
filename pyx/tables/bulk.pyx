"""The streams of a series into rows without a Python object per packet, frame or field: what the compiled reassembly calls.

`RowBatches` takes the streams of the connections (`kwire.capture._native.sink`). On each hangs a `TrackedStream` with its native state
(`kwire.protocol._native.tracker`), which makes rows as C structs; what Python's rules say of a frame comes here as events. While it is not
known which side is the server a native `DirectionDetector` tracks both readings; the one that wins makes rows from there on.
"""

cimport cython
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from build_id cimport build_id
from capture.endpoint_text cimport packed_port
from protocol.exchange_state cimport ExchangeState, WaitingRequest
from protocol.finished_rows cimport refused_by
from protocol.request_rows cimport PACKET_BITS, no_int
from protocol.series_state cimport series_write_back
from protocol.text_table cimport text_object, text_of, texts_crowded
from protocol.topic_uses cimport FETCHED, PRODUCED, TopicUses, sums_add
from protocol.waiting_objects cimport uses_of_objects
from tables.connection_slots cimport Slot, SlotList, slot_append, slot_remove
from tables.request_batch cimport row_of_event
from tables.row_batches cimport flush_rows, most_rows
from tables.connection_row cimport ConnectionTotals, connection_cells
from tables.row_columns cimport cells_of, wide_columns, wide_row_of
from tables.series_rows cimport (
    SeriesRows, count_requests, counts_write_back, end_stream, forget_texts, rows_close, rows_open, server_text,
)
from tables.series_rows cimport state_of, summary_of
from tables.topic_batch cimport topic_row_of
from wire.cursor cimport Bytes
from wire.turns cimport Turn, one_at_a_time, turn_share
from wire.uuid_text cimport fill_pairs

from kwire.capture._native.connection cimport TcpConnection
from kwire.capture._native.sink cimport StreamSink
from kwire.capture._native.tls_connection cimport PlainPiece, TlsConnection
from kwire.protocol._native.direction_detection cimport DirectionDetector
from kwire.protocol._native.tracker cimport Connection, EventSink, begins_with_tls, field_plans, row_connection

import weakref
from functools import cache, lru_cache
from ipaddress import ip_address

import pyarrow as pa

from kwire.capture.tcp import endpoints_of
from kwire.capture.tls.opening import TlsOpening
from kwire.protocol.events import IdentityChanged, RequestCompleted, TopicsUsed, ViolationFound
from kwire.protocol.tracking.direction_detection import DirectionDetector as PureDetector
from kwire.schema import catalog, error_name
from kwire.tables.client_keys import client_key, is_default_client_id
from kwire.tables.column_builder import BATCH_ROWS
from kwire.tables.encrypted_connection import UNKNOWN_LOSS, EncryptedConnection, Ending, tls_violations
from kwire.tables.observed_rows import TOPIC_USE
from kwire.tables.schemas import CONNECTIONS, REQUESTS

__all__ = ["RowBatches", "ObservedBatches", "TrackedStream"]
__build__ = build_id()

SCHEMAS_OF_ROWS = {"requests": REQUESTS, "connections": CONNECTIONS, "topic_use": TOPIC_USE}
CELLS = cells_of(connection_cells(), CONNECTIONS)
WIDE = wide_columns(pa, CELLS, CONNECTIONS)
PLACES = [CELLS.index(name) for name in CONNECTIONS.names]
fill_pairs()

cdef enum:
    API_VERSIONS = 18
    UNSUPPORTED_VERSION = 35


@lru_cache(maxsize=4096)
def _address_of(packed):
    return str(ip_address(packed)).encode()


@cython.final
@cython.no_gc  # no cycle goes through a stream
cdef class TrackedStream(EventSink):
    """Per-connection state of the protocol. It pickles to the pure backend's form."""

    cdef Slot slot
    cdef bytes key  # of the connection
    cdef RowBatches owner
    cdef Connection tracker  # None while it is not known which side is the server
    cdef dict unsupported  # as `Tracked.unsupported`; None for nothing
    cdef object decided_by  # as `DirectionDetector.decided_by`
    cdef DirectionDetector detector  # while it is not known which side is the server
    cdef int64_t begun  # packet in which that began
    cdef bint tls_undecided  # the first bytes have not shown yet whether this is TLS
    cdef object tls_opening  # as `Tracked.tls_opening`, once there are bytes
    cdef TlsConnection tls  # None for what is not encrypted
    cdef Connection plaintext  # tracks what is decrypted; None before the first of it
    cdef Slot plaintext_slot
    cdef object subject  # of the client certificate, once the plaintext's tracker has it

    def __dealloc__(self):
        if self.slot.exchange is not NULL:
            slot_remove(&self.owner.slots, &self.slot)
        if self.plaintext_slot.exchange is not NULL:
            slot_remove(&self.owner.slots, &self.plaintext_slot)
        if self.tracker is not None:
            self.tracker.sink = NULL
        if self.plaintext is not None:
            self.plaintext.sink = NULL

    @property
    def tracked(self):
        """Return the connection's state in the pure backend's form."""
        if self.tracker is not None:
            return plain_tracked(self.owner, self)
        return None if self.detector is None else plain_undecided(self.owner, self)

    cdef int take_events(self, Connection connection, list events) except -1:
        return self.owner.take_events(self, connection, events)


@cython.final
cdef class RowBatches(StreamSink):
    """Takes the streams of a series, and keeps rows as C structs until there are enough of them for a record batch."""

    cdef SeriesRows rows
    cdef SlotList slots  # the connections that are in shared
    cdef Py_ssize_t batch_rows
    cdef object name
    cdef object keys  # of encrypted connections
    cdef object violations  # a `kwire.tables.violation_rows.ViolationRows`
    cdef dict violating  # the `counted` of that
    cdef object message  # as `RowSink.asked`
    cdef list files
    cdef int64_t file_replayed  # of first events; -1 for those of the newest file
    cdef frozenset ports
    cdef dict batches
    cdef dict client_keys
    cdef tuple words
    cdef tuple asked
    cdef object __weakref__

    def __cinit__(self, sink, batch_rows=BATCH_ROWS):
        from kwire.tables import row_callbacks

        # Weak references: the C structs hold the callbacks, where no collector would find a cycle.
        myself = weakref.ref(self)
        self.target = weakref.proxy(sink)
        callbacks = row_callbacks.RowCallbacks(self.target, lambda place: myself().connection_id_of(place))
        rows_open(&self.rows, field_plans(), callbacks, len(CELLS))
        self.batch_rows, self.file_replayed = batch_rows, -1
        self.name, self.files, self.ports, self.keys = sink.series, sink.files, sink.ports, sink.tls
        self.violations, self.message = sink.violations, sink.asked
        self.violating = self.violations.counted
        self.batches = {table: [] for table in SCHEMAS_OF_ROWS}
        self.client_keys = {}
        self.words = (
            row_callbacks.ROW_STATES, row_callbacks.ROW_BODIES, row_callbacks.STATES, row_callbacks.CLOSED_BY, row_callbacks.SOURCES,
            row_callbacks.ROLES, row_callbacks.DIRECTIONS,
        )
        self.asked = (_address_of, client_key, is_default_client_id, cache(catalog().api_name))
        sink.observed.builders["topic_use"] = ObservedBatches(self)

    def __init__(self, sink, batch_rows=BATCH_ROWS):
        pass  # `__cinit__` did it; a target of another kind is for the base class

    def __dealloc__(self):
        rows_close(&self.rows)

    def connection_id_of(self, place):
        return text_object(&self.rows.connection_ids, place)

    def add_request(self, connection_id, event):
        """Append the row of a `RequestCompleted`; its packet number has the number of the file in its upper bits."""
        cdef int32_t place = text_of(&self.rows.connection_ids, connection_id)
        row_of_event(&self.rows.shared, place, event)
        self.flush_full()

    def add_connection(self, row):
        wide_row_of(&self.rows.connections, &self.rows.row_texts, row, PLACES)
        self.flush_full()

    def add_topic_use(self, row):
        topic_row_of(&self.rows.shared.topic_rows, &self.rows.shared.row_texts, self.words[6], row)
        self.flush_full()

    def take(self, table, *, whole):
        if whole:
            self.flush()
        batches, self.batches[table] = self.batches[table], []
        return batches

    def settle(self, counts):
        """Bring home what is counted and learned here: before the sink's `counts` and facts are read or stored."""
        series_write_back(&self.rows.shared)
        counts_write_back(&self.rows, counts)

    cdef int64_t packet_of(self, int64_t number) except -1:  # with the number of its file
        return (<int64_t>(len(self.files) - 1) if self.file_replayed < 0 else self.file_replayed) << PACKET_BITS | number

    cdef int flush_full(self) except -1:
        return self.flush() if most_rows(&self.rows) >= self.batch_rows else 0

    cdef int flush(self) except -1:
        names = (lambda _: self.name, self.files.__getitem__, self.asked[3], error_name, self.words[0], self.words[1])
        return flush_rows(&self.rows, pa, SCHEMAS_OF_ROWS, WIDE, self.batches, names, self.words[6])

    cdef int rows_added(self, Py_ssize_t before) except -1:
        if self.rows.shared.rows.count != before:
            count_requests(&self.rows, before)
            self.flush_full()
        return 0

    # streams

    cdef int opened(self, TcpConnection connection, int64_t time_ns, int64_t packet) except -1:
        cdef const uint8_t* packed = <const uint8_t*>PyBytes_AS_STRING(connection.key)
        cdef bint first, second
        if self.ports:
            first, second = packed_port(packed, 0) in self.ports, packed_port(packed, 1) in self.ports
            if not first and not second:
                connection.ignored = True
                return 0
        opened_by = None if connection.tcp.opened_by < 0 else connection.tcp.opened_by
        connection.attachment = first_events.begin(self.packet_of(packet), opened_by)
        return 0

    cdef int begin(
        self, TrackedStream stream, TcpConnection connection, int client_side, object decided_by, int64_t packet, object known
    ) except -1:
        """Begin the native state of a connection of known client; `known` is how it was tracked before, by either backend."""
        cdef bint late = decided_by != "syn" if known is None else known.joined_late
        cdef ExchangeState* state
        stream.tracker = row_connection(stream, &self.rows.shared, late, self.message, known)
        turn_share(&stream.tracker.turn, &self.turn)
        state = &stream.tracker.state
        server_text(&self.rows, state, connection.key, connection.n, 1 - client_side, _address_of)
        state.begun = packet
        if known is None:
            state.proven = bool(self.ports)
        stream.decided_by = decided_by
        stream.slot.client_side = client_side
        stream.slot.exchange = state
        slot_append(&self.slots, &stream.slot)
        stream.tls_undecided = known is None
        return 0

    cdef int data(
        self, TcpConnection connection, int direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
    ) except -1:
        cdef object found = connection.attachment
        cdef TrackedStream stream
        cdef Py_ssize_t before = self.rows.shared.rows.count
        cdef int side
        cdef ExchangeState* state
        if type(found) is TrackedStream and (<TrackedStream>found).owner is self:
            stream = <TrackedStream>found
        elif keep_data(self, connection, direction, data, size, time_ns, packet):
            return 0
        else:
            stream = self.stream_on(connection)
            before = self.rows.shared.rows.count
        side = direction != stream.slot.client_side
        if is_unproven(stream) and (connection.tcp.flows[direction].isn < 0 or stream.tracker.needs_proof(side, <Bytes>data, size)):
            begin_proof(self, stream, connection)
        if stream.tracker is not None:
            state = &stream.tracker.state
            if connection.tcp.opened_by >= 0 and connection.tcp.flows[direction].isn < 0 and not state.received[side]:
                stream.tracker.begin_late(side)  # its SYN is missing, and its first bytes may be missing too
                if stream.tls is not None:
                    stream.tls.begin_late(direction)
            state.server_unseen = side == 0 and not state.received[1]  # so many may wait, and the server has not said a word
            if stream.tls_undecided and stream.tls_opening is None and connection.tcp.opened_by >= 0 and begins_with_tls(data, size):
                take_tls(stream, TlsConnection.__new__(TlsConnection))
            stream.tracker.take(side, <Bytes>data, size, time_ns, self.packet_of(packet))
            state.server_unseen = False
            if stream.tls is not None:
                encrypted_data(self, stream, connection, direction, data, size, time_ns, packet)
            elif stream.tls_undecided:
                look_for_tls(self, stream, connection, direction, data, size, time_ns, packet)
            return self.rows_added(before) if self.rows.shared.rows.count != before else 0
        return take_undecided(self, stream, connection, direction, data, size, time_ns, packet)

    cdef int lost(self, TcpConnection connection, int direction, int64_t count, bint cut, int64_t time_ns, int64_t packet) except -1:
        cdef TrackedStream stream = self.stream_on(connection)
        cdef Py_ssize_t before = self.rows.shared.rows.count
        if is_unproven(stream):
            begin_proof(self, stream, connection)
        if stream.tracker is not None:
            stream.tracker.lose_bytes(direction != stream.slot.client_side, count, time_ns, cut)
            stream.tls_undecided, stream.tls_opening = False, None
            if stream.tls is not None:
                stream.tls.miss_bytes(self.keys, direction, count, time_ns, self.packet_of(packet), cut)
                take_plaintext(self, stream, connection)
            return self.rows_added(before)
        return lose_undecided(self, stream, connection, direction, count, cut, time_ns, packet)

    cdef int closed(self, TcpConnection connection, int direction, bint reset, int64_t time_ns, int64_t packet) except -1:
        cdef TrackedStream stream
        cdef Py_ssize_t before
        if type(connection.attachment) is bytes:
            more = first_events.with_closed(connection.attachment, direction, bool(reset), time_ns, self.packet_of(packet))
            if more is not None:
                connection.attachment = more
                return 0
        stream, before = self.stream_on(connection), self.rows.shared.rows.count
        if stream.tracker is not None:
            stream.tracker.close(direction != stream.slot.client_side, reset, time_ns)
            if stream.plaintext is not None:
                stream.plaintext.close(direction != stream.plaintext_slot.client_side, reset, time_ns)
            return self.rows_added(before)
        return take_decided(self, stream, connection, stream.detector.close(direction, reset, time_ns), False, False)

    cdef int ended(self, TcpConnection connection) except -1:
        cdef TrackedStream stream
        cdef Py_ssize_t before
        if connection.attachment is None:
            return 0
        stream, before = self.stream_on(connection), self.rows.shared.rows.count
        if stream.detector is not None:
            events = stream.detector.finish(connection.tcp.last_ns)
            take_decided(self, stream, connection, events, True, False)
            before = self.rows.shared.rows.count
        stream.tracker.state.server_unseen = connection.tcp.flows[1 - stream.slot.client_side].packets == 0
        stream.tracker.end_all(connection.tcp.last_ns)
        if stream.tls is not None:
            end_encrypted(self, stream, connection)
        self.rows_added(before)
        end_stream(
            &self.rows, &stream.slot, stream.tracker, stream.plaintext, stream.tls, stream.unsupported, connection.key, &connection.tcp,
            self.target, self.name, self.files, self.violations, self.violating, self.words, self.asked,
            self.client_keys,
        )
        slot_remove(&self.slots, &stream.slot)
        stream.slot.exchange = NULL
        if stream.plaintext is not None:
            slot_remove(&self.slots, &stream.plaintext_slot)
            stream.plaintext_slot.exchange = NULL
        connection.attachment = None
        return self.flush_full()

    cdef int chunk_taken(self) except -1:
        """Let go of the texts that no connection names any more, when there are many."""
        if texts_crowded(&self.rows.shared.row_texts):
            self.flush()
        if texts_crowded(&self.rows.shared.texts) or texts_crowded(&self.rows.connection_ids):
            self.flush()
            forget_texts(&self.rows, &self.slots)
            self.client_keys.clear()
        return 0

    cdef TrackedStream new_stream(self, TcpConnection connection):
        cdef TrackedStream made = TrackedStream.__new__(TrackedStream)
        made.key, made.owner = connection.key, self
        connection.attachment = made
        return made

    cdef TrackedStream stream_on(self, TcpConnection connection):
        """Return what hangs on a connection; what Python or a pickle has left there is put into it."""
        cdef TrackedStream made
        found = connection.attachment
        if type(found) is TrackedStream:
            if (<TrackedStream>found).owner is self:
                return <TrackedStream>found
            found = found.tracked
        if type(found) is bytes:
            return begin_stream(self, connection, found)
        if found is None:
            raise TypeError("a connection that was not opened has no streams")
        made = self.new_stream(connection)
        import_tracked(self, made, connection, found)
        return made

    cdef int take_events(self, TrackedStream stream, Connection connection, list events) except -1:
        """Take what Python's rules say of a connection, as `RowSink` does."""
        cdef ExchangeState* state = &connection.state
        cdef TopicUses uses
        cdef WaitingRequest alone
        cdef int direction
        tracked = None
        for event in events:
            if isinstance(event, RequestCompleted):
                if event.state == "answered" and event.error_code == UNSUPPORTED_VERSION and event.api_key != API_VERSIONS:
                    if stream.unsupported is None:
                        stream.unsupported = {}
                    stream.unsupported.setdefault((event.api_key, event.api_version), event.request_index)
                row_of_event(&self.rows.shared, state.connection, event)
                if event.state != "orphan_response":
                    refused_by(state, &self.rows.shared.rows.rows[self.rows.shared.rows.count - 1])
            elif isinstance(event, TopicsUsed):
                memset(&alone, 0, sizeof(WaitingRequest))
                uses_of_objects(&alone, &self.rows.shared, event.uses)
                uses.uses, uses.count = alone.uses, alone.use_count
                direction = PRODUCED if event.direction == "produce" else FETCHED
                if uses.count and not sums_add(
                    &state.topics, direction, &uses, text_of(&self.rows.shared.texts, event.client_id),
                    no_int() if event.acks is None else event.acks, event.time,
                ):
                    raise MemoryError
                free(alone.uses)
            elif isinstance(event, ViolationFound):
                self.target.take_violation(text_object(&self.rows.connection_ids, state.connection), event)
            elif not isinstance(event, IdentityChanged):
                if tracked is None:
                    from kwire.tables.row_sink import Tracked

                    tracked = Tracked(None, state.begun)
                    tracked.connection_id = text_object(&self.rows.connection_ids, state.connection)
                    tracked.server = endpoints_of(stream.key)[1 - stream.slot.client_side]
                self.target.take_event(tracked, event)
        return 0


include "tables/first_events.pxi"
include "tables/observed_batches.pxi"
include "tables/encrypted_streams.pxi"
include "tables/undecided_streams.pxi"


cdef Turn** turn_of_row_batches(PyObject* self) noexcept:
    return &(<RowBatches>self).turn


cdef Turn** turn_of_observed_batches(PyObject* self) noexcept:
    return NULL if (<ObservedBatches>self).owner is None else &(<ObservedBatches>self).owner.turn


cdef Turn** turn_of_tracked_stream(PyObject* self) noexcept:
    return NULL if (<TrackedStream>self).owner is None else &(<TrackedStream>self).owner.turn


one_at_a_time(RowBatches, turn_of_row_batches)
one_at_a_time(ObservedBatches, turn_of_observed_batches)
one_at_a_time(TrackedStream, turn_of_tracked_stream)
