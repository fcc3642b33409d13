# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A tracked connection, compiled: the native twin of `kwire.protocol.tracking.connection.Connection`, which is the contract.

Frames are split, paired and read here, from first byte to last, whatever is lost or broken; the state is this object's alone. What only
Python can say of a frame (a violation, who the client is, a SASL token) is said by the pure twin's own functions, which run on this object
for that one frame: it has their attributes. The next frame is native again.
"""

# The names that the included parts use are imported here, where the linter does not see their use.
cimport cython  # no-cython-lint
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer  # no-cython-lint
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE  # no-cython-lint
from cpython.object cimport PyObject  # no-cython-lint
from libc.stdint cimport INT64_MIN, int8_t, int16_t, int32_t, int64_t  # no-cython-lint
from libc.string cimport memset  # no-cython-lint

from build_id cimport build_id  # no-cython-lint
from codec.program cimport Trace  # no-cython-lint
from codec.skip cimport skip_block  # no-cython-lint
from protocol.answer_callbacks cimport note_object, response_field_plan, traits_of  # no-cython-lint
from protocol.event_classes cimport EventClasses  # no-cython-lint
from protocol.event_rows cimport events_open, new_row, text_borrowed  # no-cython-lint
from protocol.exchange_state cimport SENT, FRAME_TAKEN, MAX_WAITING, NOT_OBSERVED, NOT_SENT, ExchangeState  # no-cython-lint
from protocol.exchange_state cimport WaitingRequest  # no-cython-lint
from protocol.field_plan cimport FieldPlan  # no-cython-lint
from protocol.field_plans cimport API_VERSIONS as API_VERSIONS_TRAIT  # no-cython-lint
from protocol.field_plans cimport KEYS, FieldPlans, plans_open  # no-cython-lint
from protocol.finished_rows cimport row_done  # no-cython-lint
from protocol.frame_check cimport CHECK_CUT, CHECK_WHOLE, check_body  # no-cython-lint
from protocol.frame_cutter cimport LENGTH, MOST_PENDING, Arrival, Cutter, cutter_add, cutter_arrival, cutter_arrived  # no-cython-lint
from protocol.frame_cutter cimport cutter_break, cutter_drop, cutter_forget, cutter_free, cutter_shift, cutter_wait  # no-cython-lint
from protocol.frame_search cimport WINDOW_REQUEST, WINDOW_RESPONSE, find_request, find_response  # no-cython-lint
from protocol.kept_texts cimport exchange_keep_texts, exchange_rename_texts  # no-cython-lint
from protocol.request_frames cimport PASSED_OVER, request_head, request_field_plan  # no-cython-lint
from protocol.request_frames cimport take_request  # no-cython-lint
from protocol.request_identity cimport client_id_of, columns_null, count_client_id  # no-cython-lint
from protocol.request_identity cimport unsay  # no-cython-lint
from protocol.request_rows cimport BODY_SKIPPED, NO_TEXT, ORPHAN_RESPONSE, microseconds, no_int, no_long  # no-cython-lint
from protocol.response_frames cimport give_up, give_up_all, take_answer  # no-cython-lint
from protocol.series_state cimport SeriesState  # no-cython-lint
from protocol.series_state cimport objects_forget, series_close, series_open  # no-cython-lint
from protocol.text_table cimport UNKNOWN_TEXT, TextTable, text_intern, text_of, texts_compact, texts_crowded, texts_mark, texts_renamed  # no-cython-lint
from protocol.waiting_objects cimport waiting_of_object  # no-cython-lint
from protocol.waiting_requests cimport exchange_free, overtake, overtakes  # no-cython-lint
from protocol.waiting_requests cimport waiting_add, waiting_free, waiting_new, waiting_open, waiting_remove, waiting_with  # no-cython-lint
from wire.cursor cimport OK, TRUNCATED, Bytes, Cursor, cursor_open, load_16, load_32  # no-cython-lint
from wire.raw_python cimport raw_incref, raw_xdecref  # no-cython-lint
from wire.uuid_text cimport fill_pairs  # no-cython-lint

from kwire.protocol.tracking import connection as _connection  # no-cython-lint
from kwire.protocol.tracking import exchange as _rows  # no-cython-lint
from kwire.protocol.tracking import frames as _frames  # no-cython-lint
from kwire.protocol.tracking import identity as _identity  # no-cython-lint
from kwire.protocol.tracking import opening as _opening  # no-cython-lint
from kwire.protocol.tracking import pairing as _pairing  # no-cython-lint
from kwire.protocol.tracking import resync as _resync  # no-cython-lint
from kwire.protocol.events import FrameSeen  # no-cython-lint
from kwire.protocol.tracking.frames import MAX_FRAME, Frame, FrameFault  # no-cython-lint
from kwire.protocol.tracking.passing import Passing  # no-cython-lint
from kwire.protocol.sasl import SaslState  # no-cython-lint
from kwire.protocol.tracking.callbacks import CLOSED_BY, ROLES, SOURCES, TrackerCallbacks  # no-cython-lint
from kwire.schema import catalog  # no-cython-lint

__all__ = ["Connection"]

__build__ = build_id()

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)

cdef enum FrameFlag:
    # Attributes of kwire.protocol.tracking.frames.Frame
    DAMAGED = 1
    UNENDED = 2
    UNFINISHED = 4
    DOUBTFUL = 8

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
cdef Py_ssize_t MOST_HELD_BYTES = _pairing.MAX_HELD_BYTES
cdef int64_t LEAST_BELIEVED = _frames.LEAST_BELIEVED
cdef int64_t BELIEVED = LEAST_BELIEVED - LENGTH  # of the payload of a long frame
cdef Py_ssize_t[4] TRIALS = _resync._TRIALS
cdef FieldPlans BOOK
cdef EventClasses CLASSES
cdef object CALLBACKS = TrackerCallbacks()
cdef object ALL_BODIES = Passing(None, None, None)
cdef dict KEYS_OF_NAMES = {}

plans_open(&BOOK)
events_open(&CLASSES)
fill_pairs()


@cython.final
cdef class Connection:
    """A connection whose client side is known; arguments and methods are those of `kwire.protocol.tracking.connection.Connection`."""

    def __cinit__(self):
        self.series = &self.own
        self.state.closed_by = -1
        self.held = []
        self.openings = [None, None]
        self.hellos = {}

    def __init__(self, joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None, asked=None):
        cdef ExchangeState* state = &self.state
        if self.own.callbacks is not NULL or self.sink is not NULL:
            raise TypeError("a connection begins once")
        series_open(&self.own, &BOOK, NULL, CALLBACKS, 16)
        self.own.classes = &CLASSES
        state.is_tracked = True
        state.tells_frames, state.asks = bool(frames), asked is not None
        self.open(bool(joined_late), max_frame, asked)
        self.passing = ALL_BODIES if bodies is None else Passing(bodies, None, None)
        if bodies is not None:
            memset(self.ways, PASSED_OVER, sizeof(self.ways))
            for key in self.passing.bodies:
                if isinstance(key, int) and 0 <= key < KEYS:
                    self.ways[<int>key] = 0
            state.ways = self.ways

    cdef int open(self, bint joined_late, int64_t max_frame, object asked) except -1:
        """Begin, with all that is the same whoever takes what is said."""
        cdef ExchangeState* state = &self.state
        cdef int side
        state.joined_late = state.requests_lost = state.missing = joined_late
        state.observed = not joined_late
        self.asked = asked
        state.first_seen = state.last_seen = no_long()
        state.source = NOT_OBSERVED
        state.software_name = state.software_version = NO_TEXT
        state.named_name = state.named_version = NO_TEXT if joined_late else UNKNOWN_TEXT
        state.instance_id = state.principal = state.judge_client_id = NO_TEXT
        state.last_api = no_int()
        state.last_answered = state.refused_index = no_long()
        for side in range(2):
            self.cutters[side].max_frame = max_frame
            self.cutters[side].seeking = joined_late
            self.cutters[side].need = LENGTH

    def __dealloc__(self):
        exchange_free(&self.state)
        cutter_free(&self.cutters[0])
        cutter_free(&self.cutters[1])
        series_close(&self.own)

    # the pure twin's rules that run on this state

    _summary = _connection.Connection.summary
    _protocol_of = _connection.Connection.protocol.fget
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
        """What is said from now on goes into this list."""
        cdef list events = []
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        self.busy = True
        self.state.events = <PyObject*>events
        return events

    cdef int done(self) except -1:
        self.state.events = NULL
        self.busy = False
        if texts_crowded(&self.own.texts):
            objects_forget(&self.own)
            texts_mark(&self.own.texts)
            exchange_keep_texts(&self.state, &self.own.texts, self.own.plans.columns.texts)
            texts_compact(&self.own.texts)
            exchange_rename_texts(&self.state, &self.own.texts, self.own.plans.columns.texts)
            texts_renamed(&self.own.texts)
        return 0

    cdef int say(self, list events) except -1:
        """What Python's rules say."""
        if self.sink is not NULL:
            return (<EventSink>self.sink).said(self, events) if events else 0
        (<list>self.state.events).extend(events)
        return 0

    cdef list receive(self, int side, data, int64_t t, int64_t packet):
        cdef Py_buffer view
        cdef list events = self.begin()
        try:
            if PyBytes_CheckExact(data):
                self.take(side, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
                return events
            PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
            try:
                self.take(side, <Bytes>view.buf, view.len, t, packet)
            finally:
                PyBuffer_Release(&view)
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
        cdef object opening
        if size == 0:
            return 0
        self.see(t)
        self.state.received[side] += size
        if not self.opened[side]:
            if self.openings[side] is None and self.begins_kafka(side, data, size):
                self.opened[side] = True
            else:
                if self.openings[side] is None:
                    self.openings[side] = _opening.Opening(DIRECTIONS[side], bool(self.state.joined_late), self.cutters[side].max_frame)
                opening = self.openings[side]
                verdict = opening.take(PyBytes_FromStringAndSize(<const char*>data, size), t, packet)
                if opening.proxied_address is not None:
                    self.proxied = opening.proxied_address
                if verdict is not None:
                    self.decided(side, opening, verdict)
                return 0
        return self.feed(side, data, size, t, packet)

    cdef bint begins_kafka(self, int side, Bytes data, Py_ssize_t size) noexcept:
        """Whether the first bytes of a direction may be Kafka: kwire/protocol/tracking/foreign_protocols.py for most of them."""
        cdef int64_t code
        if self.state.joined_late:
            return not 0x14 <= data[0] <= 0x17 or (size > 1 and data[1] != 3)
        if data[0] != 0 or size < LENGTH or <int32_t>load_32(data) > self.cutters[side].max_frame:
            return False
        if side == RESPONSE:
            return True
        if size < 8:
            return False
        # PostgreSQL's requests for encryption or cancellation, and its start-up, which reads as Metadata v0 until its parameters come
        code = load_32(data + LENGTH)
        return not 80877102 <= code <= 80877104 and (code != 3 << 16 or (size > 8 and data[8] < 0x61))

    cdef int decided(self, int side, object opening, str verdict) except -1:
        """Connection._opened."""
        self.openings[side] = None
        self.opened[side] = True
        if opening.skipped and self.state.tells_frames:
            self.say([FrameSeen(DIRECTIONS[side], "proxy", 0, opening.skipped)])
        if verdict == "kafka":
            if not self.cutters[side].seeking:
                self.cutters[side].base = opening.skipped
        else:
            self.say(self._foreign(DIRECTIONS[side], opening, verdict))
        return self.feed_all(side, opening.give_up())

    cdef int feed_all(self, int side, object chunks) except -1:
        for data, t, packet in chunks:
            self.feed(side, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
        return 0

    cdef int feed(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        if self.protocol_name is not None:
            self.stray += size
            if self.hellos and not self.hellos[DIRECTIONS[side]].done:
                self.hellos[DIRECTIONS[side]].take(PyBytes_FromStringAndSize(<const char*>data, size))
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
        cdef object opening = self.openings[side]
        if n <= 0:
            return 0
        self.see(t)
        self.state.gaps += 1
        self.state.bytes_lost += n
        self.state.missing = True
        if not cut:
            self.state.losses += 1
        self.opened[side] = True
        if opening is not None:
            self.openings[side] = None
            self.feed_all(side, opening.give_up())
        if self.protocol_name is not None:
            if self.hellos:
                self.hellos[DIRECTIONS[side]].done = True
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
        self.openings[side] = _opening.Opening(DIRECTIONS[side], True, self.cutters[side].max_frame)
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
        self.end(side, t)
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
                self.end(side, t)
        return self.give_up_waiting()

    cdef int give_up_waiting(self) except -1:
        """Exchange.end: what is held has no request, what waits no response."""
        held, self.held = self.held, []
        for frame, _ in held:
            say_orphan(self, frame)
        return give_up_all(&self.state, self.series)

    cdef int end(self, int side, int64_t t) except -1:
        """Connection._end, FrameSplitter.end."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef object opening = self.openings[side]
        cdef const Arrival* arrival
        cdef int64_t rest
        if opening is not None and opening.has_bytes:
            self.openings[side] = None
            self.opened[side] = True
            self.feed_all(side, opening.give_up())
        if self.protocol_name is not None:
            return 0
        if cutter.is_broken:
            cutter.skipped_ns = t
            if cutter.is_damaged:
                cutter.is_ended = False
                return end_broken(self, side, UNFINISHED)
            rest = cutter.skip
            cutter.is_broken = False
            cutter.skip = 0
            say_unfinished(
                self, side, cutter.bytes, cutter.size, cutter.broken_length, LENGTH + cutter.broken_length - rest, cutter.broken_offset,
                cutter.broken_packet, cutter.broken_ns,
            )
            cutter_shift(cutter, cutter.size)
            return 0
        if cutter.seeking:
            cutter.bytes_opaque += cutter.size
        elif cutter.size:
            arrival = cutter_arrival(cutter, cutter.base)
            say_unfinished(
                self, side, cutter.bytes + LENGTH, max(cutter.size - LENGTH, 0),
                <int32_t>load_32(cutter.bytes) if cutter.size >= LENGTH else -1,
                cutter.size, cutter.base, arrival.packet, arrival.time_ns,
            )
        cutter_drop(cutter, cutter.size)
        return 0

    def __reduce__(self):
        return taken_up, (self.plain(),)

    cdef object plain(self):
        """The same connection as the pure twin has it."""
        cdef object made, exchange
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        made = _connection.Connection(
            bool(self.state.joined_late), max_frame=self.cutters[0].max_frame, frames=bool(self.state.tells_frames),
            bodies=self.passing.bodies, asked=self.asked,
        )
        exchange = made._exchange
        copied(made, self, OF_CONNECTION)
        copied(exchange, self._exchange, OF_EXCHANGE)
        copied(exchange.identity, self._exchange.identity, _identity.ClientIdentity.__slots__)
        copied(exchange.sasl, self._exchange.sasl, SaslState.__slots__)
        copied(exchange.judge, self._exchange.judge, ("client_id",))
        exchange.pairing.put_back(self._exchange.pairing.waiting)
        copied(exchange.pairing, self._exchange.pairing, ("_held", "is_unclear", "last_answered", "losses"))
        exchange.left = self.state.closed_by == REQUEST
        for direction in DIRECTIONS:
            copied(made._splitters[direction], self._splitters[direction], OF_SPLITTER)
        return made

    # attributes of the pure twin, for its rules and for whoever looks

    def summary(self):
        if self.busy:
            raise RuntimeError(_connection.TWO_THREADS)
        return self._summary()

    cdef object opening_of(self, int side):
        if self.opened[side]:
            return None
        if self.openings[side] is None:
            return _opening.Opening(DIRECTIONS[side], bool(self.state.joined_late), self.cutters[side].max_frame)
        return self.openings[side]

    @property
    def protocol(self):
        return self._protocol_of()

    @property
    def joined_late(self):
        return bool(self.state.joined_late)

    @property
    def gaps(self):
        return self.state.gaps

    @gaps.setter
    def gaps(self, value):
        self.state.gaps = value

    @property
    def bytes_lost(self):
        return self.state.bytes_lost

    @bytes_lost.setter
    def bytes_lost(self, value):
        self.state.bytes_lost = value

    @property
    def received(self):
        return {"request": self.state.received[0], "response": self.state.received[1]}

    @received.setter
    def received(self, value):
        self.state.received[0], self.state.received[1] = value["request"], value["response"]

    @property
    def _frames(self):
        return {"request": self.state.frames[0], "response": self.state.frames[1]}

    @_frames.setter
    def _frames(self, value):
        self.state.frames[0], self.state.frames[1] = value["request"], value["response"]

    @property
    def _exchange(self):
        return Exchange(self)

    @property
    def _hellos(self):
        return self.hellos

    @_hellos.setter
    def _hellos(self, value):
        self.hellos = value

    @property
    def _protocol(self):
        return self.protocol_name

    @_protocol.setter
    def _protocol(self, value):
        self.protocol_name = value

    @property
    def _stray(self):
        return self.stray

    @_stray.setter
    def _stray(self, value):
        self.stray = value

    @property
    def _proxied(self):
        return self.proxied

    @_proxied.setter
    def _proxied(self, value):
        self.proxied = value

    @property
    def _openings(self):
        return {"request": self.opening_of(0), "response": self.opening_of(1)}

    @_openings.setter
    def _openings(self, value):
        self.openings = [value["request"], value["response"]]
        self.opened[0], self.opened[1] = value["request"] is None, value["response"] is None

    @property
    def _splitters(self):
        return {"request": Splitter(self, 0), "response": Splitter(self, 1)}

    @property
    def _first_seen(self):
        return None if self.state.first_seen == no_long() else self.state.first_seen

    @_first_seen.setter
    def _first_seen(self, value):
        self.state.first_seen = no_long() if value is None else value

    @property
    def _last_seen(self):
        return None if self.state.last_seen == no_long() else self.state.last_seen

    @_last_seen.setter
    def _last_seen(self, value):
        self.state.last_seen = no_long() if value is None else value

    @property
    def _closed(self):
        return {"request": bool(self.state.closed[0]), "response": bool(self.state.closed[1])}

    @_closed.setter
    def _closed(self, value):
        self.state.closed[0], self.state.closed[1] = value["request"], value["response"]

    @property
    def _closed_by(self):
        return None if self.state.closed_by < 0 else CLOSED_BY[self.state.closed_by]

    @_closed_by.setter
    def _closed_by(self, value):
        self.state.closed_by = -1 if value is None else <int8_t>CLOSED_BY.index(value)

    @property
    def _reset(self):
        return bool(self.state.reset)

    @_reset.setter
    def _reset(self, value):
        self.state.reset = value


include "protocol/connection_frames.pxi"
include "protocol/connection_borders.pxi"
include "protocol/connection_pairing.pxi"
include "protocol/exchange_view.pxi"
include "protocol/splitter_view.pxi"
include "protocol/connection_pickles.pxi"


cdef Connection row_connection(EventSink sink, SeriesState* series, bint joined_late, object asked, object known):
    """A connection whose rows go to a series.

    Arguments:
        sink: takes what Python's rules say; it owns the connection, and lives as long.
        series: has to stay as long.
        known: a connection of either twin that made events so far, None at its beginning. The native one is this connection from here on.
    """
    cdef Connection made
    series.classes = &CLASSES
    if known is None:
        made = Connection.__new__(Connection)
        made.series = series
        made.passing = ALL_BODIES
        made.open(joined_late, MAX_FRAME, asked)
    else:
        made = known if isinstance(known, Connection) else taken_up(known)
        move_texts(made, series)
        made.state.is_tracked = made.state.asks = False
    made.sink = <PyObject*>sink
    return made


cdef int move_texts(Connection self, SeriesState* series) except -1:
    """A connection that made events names texts of its own: those of a series from here on."""
    cdef TextTable* own = &self.own.texts
    cdef int32_t number
    texts_mark(own)
    exchange_keep_texts(&self.state, own, series.plans.columns.texts)
    for number in range(own.count):
        if own.renamed[number] >= 0:
            own.renamed[number] = text_intern(&series.texts, own.bytes + own.offsets[number], own.offsets[number + 1] - own.offsets[number])
            if own.renamed[number] < 0:
                raise MemoryError
    exchange_rename_texts(&self.state, own, series.plans.columns.texts)
    series_close(&self.own)
    self.series = series
    return 0


cdef FieldPlans* field_plans() noexcept:
    """How to read each api version, for the whole process."""
    return &BOOK


cdef class EventSink:
    """Takes what Python's rules say of a connection whose rows are C structs."""

    cdef int said(self, Connection connection, list events) except -1:
        raise NotImplementedError
