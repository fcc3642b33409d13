# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A tracked connection, compiled: the native twin of `kwire.protocol.tracking.connection.Connection`, which is the contract.

Frames are split, paired and read here, from first byte to last, whatever is lost or broken; the state is this object's alone. What only
Python can say of a frame (a violation, who the client is, a SASL token) is said by the pure twin's own functions, which run on this object
for that one frame: it has their attributes. The next frame is native again.
"""

# The names that the included parts use are imported here, where the linter does not see their use.
cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from build_id cimport build_id
from codec.program cimport Trace
from codec.skip cimport skip_block
from protocol.answer_callbacks cimport note_object, response_field_plan, traits_of
from protocol.event_classes cimport EventClasses
from protocol.event_rows cimport events_open, new_row, text_borrowed
from protocol.exchange_state cimport SENT, FRAME_TAKEN, MAX_WAITING, NOT_OBSERVED, NOT_SENT, ExchangeState
from protocol.exchange_state cimport WaitingRequest
from protocol.field_plan cimport FieldPlan
from protocol.field_plans cimport API_VERSIONS as API_VERSIONS_TRAIT
from protocol.field_plans cimport KEYS, FieldPlans, plans_open
from protocol.finished_rows cimport row_done
from protocol.frame_check cimport CHECK_CUT, CHECK_WHOLE, check_body
from protocol.frame_cutter cimport LENGTH, MOST_PENDING, Arrival, Cutter, cutter_add, cutter_arrival, cutter_arrived
from protocol.frame_cutter cimport cutter_break, cutter_drop, cutter_forget, cutter_free, cutter_shift, cutter_wait
from protocol.foreign_protocols cimport KAFKA, MORE, PROXY, TLS, UNKNOWN, ForeignProtocols, foreign_open
from protocol.foreign_protocols cimport spoken_by_client, spoken_by_server, spoken_in_the_middle
from protocol.frame_search cimport WINDOW_REQUEST, WINDOW_RESPONSE, find_request, find_response
from protocol.held_responses cimport HeldResponse, Outcome, Outcomes, held_add, held_free, held_new, held_remove
from protocol.held_responses cimport outcome_add
from protocol.kept_texts cimport exchange_keep_texts, exchange_rename_texts
from protocol.openings cimport Opening, opening_add, opening_end, opening_free, opening_new
from protocol.request_frames cimport PASSED_OVER, request_head, request_field_plan
from protocol.request_frames cimport take_request
from protocol.request_identity cimport client_id_of, count_client_id
from protocol.request_identity cimport unsay
from protocol.request_rows cimport BODY_SKIPPED, NO_TEXT, ORPHAN_RESPONSE, microseconds, no_int, no_long
from protocol.response_frames cimport give_up, give_up_all, take_answer
from protocol.series_state cimport SeriesState
from protocol.series_state cimport objects_forget, series_close, series_open
from protocol.text_table cimport UNKNOWN_TEXT, TextTable, text_intern, text_of, texts_compact, texts_crowded, texts_mark, texts_renamed
from protocol.waiting_objects cimport waiting_of_object
from protocol.waiting_requests cimport exchange_free, overtake, overtakes
from protocol.waiting_requests cimport waiting_add, waiting_free, waiting_new, waiting_open, waiting_remove, waiting_with
from protocol.wire_frame cimport DAMAGED, DOUBTFUL, UNENDED, UNFINISHED, WireFrame
from wire.cursor cimport OK, TRUNCATED, Bytes, Cursor, cursor_open, load_16, load_32
from wire.raw_python cimport raw_incref, raw_xdecref
from wire.turns cimport Turn, one_at_a_time, turn_leave
from wire.uuid_text cimport fill_pairs

from kwire.protocol.tracking import connection as _connection
from kwire.protocol.tracking import exchange as _rows
from kwire.protocol.tracking import foreign_protocols as _foreign_protocols
from kwire.protocol.tracking import frames as _frames
from kwire.protocol.tracking import identity as _identity
from kwire.protocol.tracking import opening as _opening
from kwire.protocol.tracking import pairing as _pairing
from kwire.protocol.tracking import resync as _resync
from kwire.protocol.events import FrameSeen
from kwire.protocol.tracking.frames import MAX_FRAME, Frame, FrameFault
from kwire.protocol.tracking.passing import Passing
from kwire.protocol.sasl import SaslState
from kwire.protocol.tracking.callbacks import CLOSED_BY, ROLES, SOURCES, TrackerCallbacks
from kwire.schema import catalog

__all__ = ["Connection"]

__build__ = build_id()

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)

cdef enum:
    PROVEN = 3  # kwire.protocol.tracking.frames._PROVEN
    REQUEST = 0
    RESPONSE = 1
    SHORTEST_REQUEST_FRAME = 8
    SHORTEST_REQUEST = 10
    CLIENT_ID_SIZE = 8  # where the size of a client id lies in a request header
    API_VERSIONS = 18
    UNSUPPORTED_VERSION = 35
    SHORTEST_RESPONSE = 4

cdef tuple DIRECTIONS = ("request", "response")
cdef int64_t MOST_CANDIDATES = _frames.MAX_CANDIDATES
cdef int64_t MOST_WAITING_BYTES = _pairing.MAX_WAITING_BYTES
cdef int MOST_HELD = _pairing.MAX_HELD
cdef Py_ssize_t MOST_UNHEARD = _rows.MAX_UNHEARD
cdef Py_ssize_t MOST_HELD_BYTES = _pairing.MAX_HELD_BYTES
cdef int64_t LEAST_BELIEVED = _frames.LEAST_BELIEVED
cdef int64_t BELIEVED = LEAST_BELIEVED - LENGTH  # of the payload of a long frame
cdef Py_ssize_t[4] TRIALS = _resync._TRIALS
cdef FieldPlans BOOK
cdef EventClasses CLASSES
cdef object CALLBACKS = TrackerCallbacks()
cdef object ALL_BODIES = Passing(None, None, None)
cdef dict KEYS_OF_NAMES = {}
# What nearly every connection has, for all of them: never changed, but replaced
cdef dict NO_HELLOS = {}
cdef SeriesState NO_SERIES  # of a connection that has not begun
cdef ForeignProtocols FOREIGN
cdef Py_ssize_t MOST_OPENING_BYTES = _opening.MAX_BYTES

plans_open(&BOOK)
events_open(&CLASSES)
foreign_open(&FOREIGN, _foreign_protocols)
fill_pairs()


include "protocol/state_views.pxi"


@cython.final
@cython.no_gc  # no cycle goes through a connection
@cython.freelist(64)
cdef class Connection:
    """A connection whose client side is known; arguments and methods are those of `kwire.protocol.tracking.connection.Connection`."""

    def __cinit__(self):
        self.series = &NO_SERIES
        self.state.closed_by = -1
        self._hellos = NO_HELLOS

    def __init__(self, joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None, asked=None):
        cdef ExchangeState* state = &self.state
        if self.series is not &NO_SERIES:
            raise TypeError("a connection begins once")
        self.series = self.own = <SeriesState*>calloc(1, sizeof(SeriesState))
        if self.own is NULL:
            raise MemoryError
        series_open(self.series, &BOOK, NULL, CALLBACKS, 16)
        self.series.classes = &CLASSES
        state.is_tracked = True
        state.reports_frames, state.asks = bool(frames), asked is not None
        self.open(bool(joined_late), max_frame, asked)
        self.passing = ALL_BODIES if bodies is None else Passing(bodies, None, None)
        if bodies is not None:
            state.ways = self.ways = <uint8_t*>malloc(KEYS)
            if self.ways is NULL:
                raise MemoryError
            memset(self.ways, PASSED_OVER, KEYS)
            for key in self.passing.bodies:
                if isinstance(key, int) and 0 <= key < KEYS:
                    self.ways[<int>key] = 0

    cdef int open(self, bint joined_late, int64_t max_frame, object asked) except -1:
        """Begin, with all that does not depend on the sink."""
        cdef ExchangeState* state = &self.state
        cdef int side
        state.joined_late = state.requests_lost = state.missing = joined_late
        state.observed = not joined_late
        state.proven = True
        self.asked = asked
        state.first_seen = state.last_seen = no_long()
        state.source = NOT_OBSERVED
        state.software_name = state.software_version = NO_TEXT
        state.named_name = state.named_version = NO_TEXT if joined_late else UNKNOWN_TEXT
        state.instance_id = state.principal = state.judge_client_id = NO_TEXT
        state.last_api = no_int()
        state.last_answered = state.refused_index = no_long()
        for side in range(2):
            self.is_middle[side] = self.cutters[side].seeking = joined_late
            self.cutters[side].max_frame = max_frame
            self.cutters[side].need = LENGTH

    def __dealloc__(self):
        cdef int side
        exchange_free(&self.state)
        for side in range(2):
            cutter_free(&self.cutters[side])
            opening_free(self.openings[side])
        held_free(&self.held)
        free(self.outcomes.each)
        own_free(self)
        free(self.ways)
        turn_leave(self.turn)

    # the pure twin's rules that run on this state

    _summary = _connection.Connection.summary
    _foreign = _connection.Connection._foreign
    __repr__ = _connection.Connection.__repr__

    cdef object text(self, int32_t number):
        return <object>text_borrowed(self.series, number)

    # bytes

    def receive_request_bytes(self, data, t, packet=0):
        return self.receive(REQUEST, data, t, packet)

    def receive_response_bytes(self, data, t, packet=0):
        return self.receive(RESPONSE, data, t, packet)

    cdef list begin(self):
        """Events from now on go into this list."""
        cdef list events = []
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        self.busy = True
        self.state.events = <PyObject*>events
        return events

    cdef int done(self) except -1:
        self.state.events = NULL
        self.busy = False
        if self.own is not NULL and texts_crowded(&self.own.texts):
            objects_forget(self.series)
            texts_mark(&self.series.texts)
            exchange_keep_texts(&self.state, &self.series.texts, self.series.plans.columns.texts)
            texts_compact(&self.series.texts)
            exchange_rename_texts(&self.state, &self.series.texts, self.series.plans.columns.texts)
            texts_renamed(&self.series.texts)
        return 0

    cdef int say(self, list events) except -1:
        if self.sink is not NULL:
            return (<EventSink>self.sink).take_events(self, events) if events else 0
        (<list>self.state.events).extend(events)
        return 0

    cdef list receive(self, int side, data, int64_t t, int64_t packet):
        cdef Py_buffer view
        if PyBytes_CheckExact(data):
            return self.receive_bytes(side, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self.receive_bytes(side, <Bytes>view.buf, view.len, t, packet)
        finally:
            PyBuffer_Release(&view)

    cdef list receive_bytes(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet):
        """As `receive`, of bytes that stay where they are until it is over."""
        cdef list events = self.begin()
        try:
            self.take(side, data, size, t, packet)
        finally:
            self.done()
        return events

    cdef void see(self, int64_t t) noexcept:
        if self.state.first_seen == no_long() or t < self.state.first_seen:
            self.state.first_seen = t
        if self.state.last_seen == no_long() or t > self.state.last_seen:
            self.state.last_seen = t

    cdef int take(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        """Connection._receive."""
        cdef int spoken
        if size == 0:
            return 0
        self.see(t)
        self.state.received[side] += size
        if not self.opened[side]:
            if self.openings[side] is not NULL:
                return take_opening(self, side, data, size, t, packet)
            spoken = self.spoken(side, data, size)
            if spoken == KAFKA:
                self.opened[side] = True
            elif spoken == TLS and not (side == RESPONSE and self.state.is_kafka and self.state.proven):
                tls_decided(self, side)
            else:
                return take_opening(self, side, data, size, t, packet)
        if self._protocol is None:
            return take_pieces(self, side, data, size, t, packet)
        return self.feed(side, data, size, t, packet)

    cdef bint begins_kafka(self, int side, Bytes data, Py_ssize_t size) noexcept:
        """Return whether the first bytes of a direction may be Kafka, and suffice to decide it."""
        return self.spoken(side, data, size) == KAFKA

    cdef bint begins_tls(self, int side, Bytes data, Py_ssize_t size) noexcept:
        """Return whether they are TLS."""
        return self.spoken(side, data, size) == TLS

    cdef bint needs_proof(self, int side, Bytes data, Py_ssize_t size) except -1:
        """Return True if the first bytes of a connection are neither a whole request nor those of another protocol."""
        cdef int64_t length
        cdef const FieldPlan* field_plan
        cdef int spoken
        if side == RESPONSE or self.state.received[REQUEST] or self.state.received[RESPONSE]:
            return True
        spoken = self.spoken(side, data, size)
        if spoken != KAFKA:
            return spoken == MORE or spoken == PROXY
        length = load_32(data)
        field_plan = request_field_plan(self.series, data + LENGTH, size - LENGTH)
        if field_plan is not NULL and LENGTH + length <= size:
            self.state.proven = reads_as_frame(self, REQUEST, field_plan, data + LENGTH, <Py_ssize_t>length, length)
        return not self.state.proven

    cdef int spoken(self, int side, Bytes data, Py_ssize_t size) noexcept:
        """Opening._recognise, but that a PROXY header is not read."""
        if self.is_middle[side]:
            return spoken_in_the_middle(data, size)
        if side == REQUEST:
            return spoken_by_client(&FOREIGN, data, size, self.cutters[side].max_frame)
        return spoken_by_server(&FOREIGN, data, size, self.cutters[side].max_frame)

    cdef int feed(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        if self._protocol is not None:
            self._stray += size
            if self._hellos and not self._hellos[DIRECTIONS[side]].done:
                self._hellos[DIRECTIONS[side]].take(PyBytes_FromStringAndSize(<const char*>data, size))
            return 0
        return take_pieces(self, side, data, size, t, packet)

    # losses and ends

    def lost(self, direction, int64_t n, int64_t t, int64_t packet=0, *, cut=False):
        cdef list events = self.begin()
        try:
            self.lose_bytes(DIRECTIONS.index(direction), n, t, bool(cut))
        finally:
            self.done()
        return events

    cdef int lose_bytes(self, int side, int64_t n, int64_t t, bint cut) except -1:
        """Connection.lost."""
        if n <= 0:
            return 0
        self.see(t)
        self.state.gaps += 1
        self.state.bytes_lost += n
        self.state.missing = True
        if not cut:
            self.state.losses += 1
        self.opened[side] = True
        if self.openings[side] is not NULL:
            feed_opening(self, side)
        if self._protocol is not None:
            if self._hellos:
                self._hellos[DIRECTIONS[side]].done = True
            return 0
        lose_stream(self, side, n, t, cut)
        if self.cutters[side].seeking:
            if side == REQUEST:
                lose_requests(self)
            else:
                lose_responses(self)
        return 0

    def authenticated(self, principal):
        self._exchange.sasl.principal = principal
        authenticated(self)

    def begins_late(self, direction):
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        self.begin_late(DIRECTIONS.index(direction))
        return []

    cdef int begin_late(self, int side) except -1:
        """Connection.begins_late."""
        self.state.missing = True
        self.opened[side] = False
        self.is_middle[side] = True
        opening_free(self.openings[side])
        self.openings[side] = NULL
        self.cutters[side].seeking = True
        if side == REQUEST:
            return lose_requests(self)
        self.state.response_breaks += 1
        return 0

    def closed(self, direction, reset, int64_t t, int64_t packet=0):
        cdef list events = self.begin()
        try:
            self.close(DIRECTIONS.index(direction), bool(reset), t)
        finally:
            self.done()
        return events

    cdef int close(self, int side, bint reset, int64_t t) except -1:
        """Connection.closed."""
        cdef ExchangeState* state = &self.state
        self.see(t)
        if state.closed_by < 0:
            state.closed_by = <int8_t>side
            if side == RESPONSE and state.sasl is not NULL:
                (<object>state.sasl).closed_by_server()
                authenticated(self)
        if reset:
            state.reset = True
            return hear_server(self) if side == RESPONSE else 0
        if state.closed[side]:
            return 0
        state.closed[side] = True
        if side == RESPONSE:
            hear_server(self)
        end_direction(self, side, t)
        if state.closed[0] and state.closed[1] and not state.reset:
            self.give_up_waiting()
        return 0

    def finish(self, int64_t t):
        cdef list events = self.begin()
        try:
            self.end_all(t)
        finally:
            self.done()
        return events

    cdef int end_all(self, int64_t t) except -1:
        """Connection.finish."""
        cdef ExchangeState* state = &self.state
        cdef int side
        for side in range(2):
            if not state.closed[side]:
                end_direction(self, side, t)
        return self.give_up_waiting()

    cdef int give_up_waiting(self) except -1:
        """Exchange.end: what is held has no request, what waits no response."""
        give_up_held(self)
        return give_up_all(&self.state, self.series)

    def __reduce__(self):
        return import_state, (self.export_state(),)

    cdef object export_state(self):
        """The same connection as the pure twin has it."""
        return plain_connection(self)

    # attributes of the pure twin, for its rules and for callers

    def summary(self):
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        return self._summary()

    joined_late = of_state(&STATE_LAYOUT.joined_late, FLAG)
    gaps = of_state(&STATE_LAYOUT.gaps, LONG)
    bytes_lost = of_state(&STATE_LAYOUT.bytes_lost, LONG)
    received = of_state(&STATE_LAYOUT.received, LONG_BY_SIDE)
    _frames = of_state(&STATE_LAYOUT.frames, LONG_BY_SIDE)
    _first_seen = of_state(&STATE_LAYOUT.first_seen, OPTIONAL_LONG)
    _last_seen = of_state(&STATE_LAYOUT.last_seen, OPTIONAL_LONG)
    _closed = of_state(&STATE_LAYOUT.closed, FLAG_BY_SIDE)
    _closed_by = of_state(&STATE_LAYOUT.closed_by, WORD, CLOSED_BY)
    _reset = of_state(&STATE_LAYOUT.reset, FLAG)

    @property
    def protocol(self):
        cdef const Opening* opening = NULL if self.opened[REQUEST] else self.openings[REQUEST]
        if self.state.is_kafka:
            return "kafka"
        if self._protocol is not None:
            return self._protocol
        if opening is not NULL and opening.skipped and opening.size == opening.skipped:
            return "proxy"
        return "unknown" if self.state.received[0] or self.state.received[1] else "silent"

    @property
    def _exchange(self):
        return Exchange(self)

    @property
    def _openings(self):
        return {"request": opening_object(self, 0), "response": opening_object(self, 1)}

    @_openings.setter
    def _openings(self, value):
        cdef int side
        for side in range(2):
            take_over_opening(self, side, value[DIRECTIONS[side]])

    @property
    def _splitters(self):
        return {"request": Splitter(self, 0), "response": Splitter(self, 1)}


include "protocol/connection_frames.pxi"
include "protocol/connection_borders.pxi"
include "protocol/connection_pairing.pxi"
include "protocol/connection_pickles.pxi"
include "protocol/connection_rows.pxi"
include "protocol/connection_ends.pxi"


cdef Turn** turn_of_connection(PyObject* self) noexcept:
    return &(<Connection>self).turn


cdef Turn** turn_of_view(PyObject* self) noexcept:
    return NULL if (<View>self).of is None else &(<View>self).of.turn


one_at_a_time(Connection, turn_of_connection)
for _view in (Identity, Waitings, ClientJudge, Exchange, Splitter):
    one_at_a_time(_view, turn_of_view)
