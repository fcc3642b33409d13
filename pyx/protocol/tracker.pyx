# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A tracked connection, compiled: the native twin of `kwire.protocol.connection.Connection`, which is the contract.

Frames are split, paired and read here, from first byte to last, whatever is lost or broken; the state is this object's alone. What only
Python can say of a frame (a violation, who the client is, a SASL token) is said by the pure twin's own functions, which run on this object
for that one frame: it has their attributes. The next frame is native again.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MIN, int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memset

from cursor cimport OK, TRUNCATED, Bytes, Cursor, cursor_open, load_16, load_32
from lane_kept_texts cimport exchange_keep_texts, exchange_rename_texts
from lane_requests cimport PASSED_OVER, client_id_of, count_client_id, request_head, request_recipe, row_done, take_request, unsay
from lane_recipe cimport Recipe
from lane_responses cimport give_up, give_up_all, note_object, response_recipe, take_answer, traits_of
from lane_rows cimport BODY_SKIPPED, NO_TEXT, ORPHAN_RESPONSE, microseconds, no_int, no_long
from lane_series cimport (
    LANE_OK, MAX_WAITING, NOT_OBSERVED, NOT_SENT, LaneExchange, LaneSeries, LaneWaiting, exchange_free, objects_forget, overtake, overtakes,
    series_close, series_open, waiting_add, waiting_free, waiting_new, waiting_open, waiting_remove, waiting_with,
)
from lane_texts cimport UNKNOWN_TEXT, text_of, texts_compact, texts_crowded, texts_mark, texts_renamed
from protocol.event_classes cimport EventClasses
from protocol.event_rows cimport events_open, new_row, text_borrowed
from protocol.frame_check cimport CHECK_CUT, CHECK_WHOLE, check_body
from protocol.frame_cutter cimport (
    LENGTH, MOST_PENDING, Arrival, Cutter, cutter_add, cutter_arrival, cutter_arrived, cutter_break, cutter_drop, cutter_forget,
    cutter_free, cutter_shift, cutter_wait,
)
from protocol.frame_search cimport WINDOW_REQUEST, WINDOW_RESPONSE, find_request, find_response
from protocol.waiting_objects cimport waiting_of_object
from program cimport Trace
from raw_python cimport raw_incref, raw_xdecref
from recipe_book cimport API_VERSIONS as API_VERSIONS_TRAIT
from recipe_book cimport KEYS, RecipeBook, book_open
from skip cimport skip_block
from uuid_text cimport fill_pairs

from kwire.protocol import connection as _connection
from kwire.protocol import exchange as _rows
from kwire.protocol import frames as _frames
from kwire.protocol import identity as _identity
from kwire.protocol import opening as _opening
from kwire.protocol import pairing as _pairing
from kwire.protocol import resync as _resync
from kwire.protocol.events import FrameSeen, RequestCompleted
from kwire.protocol.frames import MAX_FRAME, Frame, FrameFault
from kwire.protocol.passing import Passing
from kwire.protocol.sasl import SaslState
from kwire.protocol.tls_hello import HelloReader
from kwire.protocol.tracker_callbacks import CLOSED_BY, ROLES, SOURCES, TrackerCallbacks
from kwire.schema import catalog

__all__ = ["Connection"]

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)

cdef enum FrameFlag:
    # Attributes of kwire.protocol.frames.Frame
    DAMAGED = 1
    UNENDED = 2
    UNFINISHED = 4
    DOUBTFUL = 8

cdef enum:
    PROVEN = 3  # kwire.protocol.frames._PROVEN
    REQUEST = 0
    RESPONSE = 1
    SHORTEST_REQUEST_FRAME = 8
    SHORTEST_REQUEST = 10
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
cdef RecipeBook BOOK
cdef EventClasses CLASSES
cdef object CALLBACKS = TrackerCallbacks()
cdef object ALL_BODIES = Passing(None, None, None)
cdef dict KEYS_OF_NAMES = {}

book_open(&BOOK)
events_open(&CLASSES)
fill_pairs()


cdef class Identity:
    """The identity of a connection as `kwire.protocol.identity.ClientIdentity` has it, for that class's functions."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    see = _identity.ClientIdentity.see
    assigned = _identity.ClientIdentity.assigned
    _not_sent = _identity.ClientIdentity._not_sent
    _see_api_versions = _identity.ClientIdentity._see_api_versions
    _see_instance_id = _identity.ClientIdentity._see_instance_id
    _see_role = _identity.ClientIdentity._see_role

    def count_client_id(self, client_id, times=1):
        count_client_id(&self.of.state, &self.of.series.texts, text_of(&self.of.series.texts, client_id), times)

    lost_requests = _identity.ClientIdentity.lost_requests
    _unsay = _identity.ClientIdentity._unsay

    @property
    def _doubted(self):
        return bool(self.of.state.doubted)

    @_doubted.setter
    def _doubted(self, value):
        self.of.state.doubted = value

    @property
    def _settled(self):
        return bool(self.of.state.settled)

    @_settled.setter
    def _settled(self, value):
        self.of.state.settled = value

    @property
    def client_id(self):
        return self.of.text(client_id_of(&self.of.state))

    @property
    def _observed(self):
        return bool(self.of.state.observed)

    @_observed.setter
    def _observed(self, value):
        self.of.state.observed = value

    @property
    def _client_ids(self):
        cdef int index
        return {self.of.text(self.of.state.client_ids[index].client_id): self.of.state.client_ids[index].count
                for index in range(self.of.state.client_id_count)}

    @_client_ids.setter
    def _client_ids(self, value):
        self.of.state.client_id_count = self.of.state.client_id_text = 0
        for client_id, times in value.items():
            self.count_client_id(client_id, times)

    @property
    def software(self):
        return self.of.text(self.of.state.software_name), self.of.text(self.of.state.software_version)

    @software.setter
    def software(self, value):
        self.of.state.software_name = text_of(&self.of.series.texts, value[0])
        self.of.state.software_version = text_of(&self.of.series.texts, value[1])

    @property
    def source(self):
        return SOURCES[self.of.state.source]

    @source.setter
    def source(self, value):
        self.of.state.source = SOURCES.index(value)

    @property
    def instance_id(self):
        return self.of.text(self.of.state.instance_id)

    @instance_id.setter
    def instance_id(self, value):
        self.of.state.instance_id = text_of(&self.of.series.texts, value)
        memset(self.of.state.instance_bytes, 0, 16)

    @property
    def role(self):
        return ROLES[self.of.state.role]

    @role.setter
    def role(self, value):
        self.of.state.role = ROLES.index(value)


cdef class Waitings:
    """The requests that wait as `kwire.protocol.pairing.Pairing` has them, for the rules."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    def expect(self, waiting):
        """A request was sent that will be answered; what becomes of others by that is seen to when the rules are done."""
        cdef LaneWaiting* made = waiting_new(&self.of.state)
        if made is NULL:
            raise MemoryError
        waiting_of_object(made, self.of.series, waiting)
        waiting_add(&self.of.state, made)
        self.of.expecting = True
        return []

    @property
    def waiting(self):
        cdef LaneWaiting* each = self.of.state.waiting
        made = []
        while each is not NULL:
            made.append(self.of.waiting_object(each, overtakes(&self.of.state, each)))
            each = each.after
        return made

    @waiting.setter
    def waiting(self, value):
        for each in value:
            self.expect(each)

    @property
    def _held(self):
        return [_pairing._Held(frame, number) for frame, number in self.of.held]

    @_held.setter
    def _held(self, value):
        self.of.held = [(each.frame, each.correlation_id) for each in value]

    @property
    def last_answered(self):
        return None if self.of.state.last_answered == no_long() else self.of.state.last_answered

    @last_answered.setter
    def last_answered(self, value):
        self.of.state.last_answered = no_long() if value is None else value

    @property
    def is_unclear(self):
        return bool(self.of.state.is_unclear)

    @is_unclear.setter
    def is_unclear(self, value):
        self.of.state.is_unclear = value

    @property
    def losses(self):
        return self.of.state.losses

    @losses.setter
    def losses(self, value):
        self.of.state.losses = value

    @property
    def holds(self):
        return bool(self.of.held)


cdef class ClientJudge:
    """`kwire.protocol.resync.RequestJudge` of a connection, for the rules."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    accepts = _resync.RequestJudge.accepts
    _reads = _resync.RequestJudge._reads
    judge = _resync.RequestJudge.judge
    salvage = _resync.RequestJudge.salvage

    @property
    def client_id(self):
        return self.of.text(self.of.state.judge_client_id)

    @client_id.setter
    def client_id(self, value):
        self.of.state.judge_client_id = text_of(&self.of.series.texts, value)


@cython.final
cdef class Connection:
    """A connection whose client side is known; arguments and methods are those of `kwire.protocol.connection.Connection`."""

    def __cinit__(self):
        self.series = &self.own
        self.state.closed_by = -1
        self.held = []
        self.openings = [None, None]
        self.hellos = {}

    def __init__(self, joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None, asked=None):
        cdef LaneExchange* state = &self.state
        if self.own.desk is not NULL or self.sink is not NULL:
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
        cdef LaneExchange* state = &self.state
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
    _stranger = _connection.Connection._stranger
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
            exchange_keep_texts(&self.state, &self.own.texts)
            texts_compact(&self.own.texts)
            exchange_rename_texts(&self.state, &self.own.texts)
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
        """Whether the first bytes of a direction say by themselves that it may be Kafka: kwire/protocol/strangers.py for most of them."""
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
            self.say(self._stranger(DIRECTIONS[side], opening, verdict))
        return self.feed_all(side, opening.give_up())

    cdef int feed_all(self, int side, object chunks) except -1:
        for data, t, packet in chunks:
            self.feed(side, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet)
        return 0

    cdef int feed(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        if self.protocol_name is not None:
            self.stray += size
            if self.hellos:
                self.hellos[DIRECTIONS[side]].take(PyBytes_FromStringAndSize(<const char*>data, size))
            return 0
        return self.cut(side, data, size, t, packet)

    # frames

    cdef int cut(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        """FrameSplitter.feed."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef Py_ssize_t taken
        if cutter.is_broken:
            taken = <Py_ssize_t>min(cutter.skip, <int64_t>size)
            cutter.skip -= taken
            cutter.base += taken
            cutter.skipped_ns = t
            if cutter.skip:
                return 0
            self.end_broken(side)
            data += taken
            size -= taken
        while size:
            if cutter.size == 0:
                cutter.arrival_count = 0
                cutter_arrived(cutter, cutter.base, t, packet)
                taken = self.split(side, data, size, t)
                if not cutter.is_broken and taken < size:
                    cutter_add(cutter, data + taken, size - taken)
                cutter_forget(cutter)
                return 0
            if cutter.seeking:
                taken = size
            elif cutter.size < LENGTH:
                taken = min(LENGTH - cutter.size, size)
            else:
                taken = <Py_ssize_t>min(LENGTH + <int64_t>load_32(cutter.bytes) - cutter.size, <int64_t>size)
            if cutter.seeking or cutter.size < LENGTH:
                cutter_arrived(cutter, cutter.base + cutter.size, t, packet)
            cutter_add(cutter, data, taken)
            data += taken
            size -= taken
            if cutter.size < cutter.need:
                continue
            taken = self.split(side, cutter.bytes, cutter.size, t)
            if cutter.is_broken:
                # what came behind the head of a frame that is passed over
                taken = <Py_ssize_t>min(cutter.skip, <int64_t>size)
                cutter.skip -= taken
                cutter.base += taken
                cutter.skipped_ns = t
                if cutter.skip:
                    return 0
                self.end_broken(side)
                data += taken
                size -= taken
                continue
            cutter_shift(cutter, taken)
            cutter_forget(cutter)
        return 0

    cdef Py_ssize_t split(self, int side, Bytes p, Py_ssize_t size, int64_t t) except -1:
        """FrameSplitter._split; gives how many bytes are done."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef int64_t base = cutter.base
        cdef Py_ssize_t pos = 0
        cdef Py_ssize_t found, head
        cdef int64_t need = 0
        cdef int64_t length
        cdef const Arrival* arrival
        while True:
            if cutter.seeking:
                found = self.seek(side, p, size, pos, &need)
                cutter.bytes_opaque += found - pos
                pos = found
                if need:
                    break
                cutter.seeking = False
                cutter.unproven = PROVEN
            need = LENGTH
            if size - pos < LENGTH:
                break
            length = <int32_t>load_32(p + pos)
            if not 0 <= length <= cutter.max_frame:
                arrival = cutter_arrival(cutter, base + pos)
                self.fault(side, "negative" if length < 0 else "too_large", length, LENGTH, base + pos, arrival.packet, arrival.time_ns)
                cutter.seeking = True
                cutter.bytes_opaque += 1
                pos += 1
                continue
            need = LENGTH + length
            if size - pos < need:
                head = self.head_of(side, p + pos + LENGTH, size - pos - LENGTH) if self.state.ways is not NULL else 0
                if head:
                    if head <= size - pos - LENGTH:
                        cutter.base = base + size
                        cutter_break(cutter, p + pos + LENGTH, head, length, base + pos, need - (size - pos), False)
                        cutter.skipped_ns = cutter.broken_ns
                        return size
                    need = min(need, <int64_t>(LENGTH + head))
                break
            arrival = cutter_arrival(cutter, base + pos)
            self.frame(
                side, p + pos + LENGTH, <Py_ssize_t>length, length, base + pos, arrival.packet, arrival.time_ns, t,
                DOUBTFUL if cutter.unproven else 0,
            )
            cutter.unproven -= cutter.unproven > 0
            pos += <Py_ssize_t>need
        cutter.base = base + pos
        cutter.need = need
        return pos

    cdef Py_ssize_t head_of(self, int side, Bytes payload, Py_ssize_t have) except -1:
        """Passing.request_head and response_head: how many bytes of a frame suffice whose end has not come, 0 for all."""
        cdef const LaneWaiting* first = self.state.waiting
        if side == REQUEST:
            if have < SHORTEST_REQUEST_FRAME and not self.state.sasl_raw:
                return SHORTEST_REQUEST_FRAME
            return request_head(&self.state, self.series, payload, have)
        if first is NULL or first.is_token or first.row.body != BODY_SKIPPED or self.held:
            return 0
        return SHORTEST_RESPONSE if have < SHORTEST_RESPONSE or first.row.correlation_id == <int32_t>load_32(payload) else 0

    cdef int frame(
        self, int side, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns,
        int flags,
    ) except -1:
        """A frame has ended."""
        self.state.frames[side] += 1
        if side == REQUEST:
            self.state.seeks_responses = self.cutters[RESPONSE].seeking
            return self.request(payload, size, length, offset, packet, begin_ns, end_ns, flags)
        return self.response(payload, size, length, offset, packet, begin_ns, end_ns, flags)

    cdef object frame_object(
        self, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns, int flags
    ):
        return Frame(
            PyBytes_FromStringAndSize(<const char*>payload, size), length, offset, packet, begin_ns, end_ns, bool(flags & DAMAGED),
            not flags & UNENDED, bool(flags & DOUBTFUL), bool(flags & UNFINISHED),
        )

    cdef int end_broken(self, int side, int unfinished=0) except -1:
        """The end of a frame has come that is damaged or was passed over."""
        cdef Cutter* cutter = &self.cutters[side]
        cutter.is_broken = False
        cutter.skip = 0
        if not cutter.is_damaged:
            cutter.unproven -= cutter.unproven > 0
        self.frame(
            side, cutter.bytes, cutter.size, cutter.broken_length, cutter.broken_offset, cutter.broken_packet, cutter.broken_ns,
            cutter.skipped_ns, DAMAGED * cutter.is_damaged | UNENDED * (not cutter.is_ended) | DOUBTFUL * cutter.is_doubtful | unfinished,
        )
        cutter_shift(cutter, cutter.size)
        return 0

    cdef int fault(self, int side, str kind, int64_t length, int64_t have, int64_t offset, int64_t packet, int64_t time_ns) except -1:
        """Connection._fault for an impossible length."""
        direction = DIRECTIONS[side]
        fault = FrameFault(kind, length, have, offset, packet, time_ns, doubtful=self.cutters[side].unproven > 0)
        self.say(Exchange(self).seen(direction, "length", fault))
        if side == REQUEST:
            self.state.requests_lost = True
        else:
            self.lose_responses()
        if fault.doubtful:
            reason = f"the frame length is {length}"
            return self.say([Exchange(self).violation("frame_border_lost", direction, fault, reason=reason)])
        if kind == "negative":
            self.say([Exchange(self).violation("frame_length_negative", direction, fault, length=length)])
        else:
            self.say([Exchange(self).violation("frame_length_too_large", direction, fault, length=length, limit=self.cutters[side].max_frame)])
        return 0

    cdef int unfinished(self, int side, Bytes payload, Py_ssize_t size, int64_t length, int64_t have, int64_t offset, int64_t packet,
                        int64_t time_ns) except -1:
        """Connection._fault for a frame that the end of its direction cuts off."""
        direction = DIRECTIONS[side]
        fault = FrameFault("unfinished", length, have, offset, packet, time_ns, PyBytes_FromStringAndSize(<const char*>payload, size))
        self.say(Exchange(self).seen(direction, "length", fault))
        needed = length + LENGTH if have >= LENGTH else "unknown"
        self.say([Exchange(self).violation("frame_unfinished", direction, fault, have=have, length=needed)])
        if side == REQUEST or self.state.waiting is NULL or self.state.waiting.is_token or size < SHORTEST_RESPONSE:
            return 0
        # The server did answer, and what came of it may say more than its correlation id; when its end came nobody knows.
        self.state.losses += 1
        return self.response(payload, size, length, offset, packet, time_ns, time_ns, DAMAGED | UNENDED | UNFINISHED)

    # borders that are unknown

    cdef Py_ssize_t seek(self, int side, Bytes p, Py_ssize_t size, Py_ssize_t pos, int64_t* needed) except -1:
        """FrameSplitter._seek: where a frame begins, and 0; or up to where there is none, and the bytes that are needed from there on."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef int64_t base = cutter.base
        cdef Py_ssize_t best = -1
        cdef Py_ssize_t end = size + 1
        cdef Py_ssize_t window = WINDOW_REQUEST if side == REQUEST else WINDOW_RESPONSE
        cdef Py_ssize_t at = <Py_ssize_t>max(cutter.scanned - base, <int64_t>pos)
        cdef Py_ssize_t found
        cdef int64_t wants, offset
        cdef int index
        cdef int count = cutter.pending_count
        cutter.pending_count = 0
        for index in range(count):
            offset, wants = cutter.pending[index].offset, cutter.pending[index].need
            found = <Py_ssize_t>(offset - base)
            if wants <= size - found:
                wants = self.weigh(side, p, size, found)
            if wants > size - found:
                cutter_wait(cutter, offset, wants)
            elif wants and found + wants < end:
                best, end = found, <Py_ssize_t>(found + wants)
        while cutter.pending_count < MOST_PENDING:
            found = self.find(side, p, size, at) if cutter.candidates < MOST_CANDIDATES else -1
            if not 0 <= found < end:
                if found < 0:
                    at = max(at, size - window + 1)
                break
            cutter.candidates += 1
            at = found + 1
            if best >= 0 and found + min(LENGTH + <int64_t>load_32(p + found), LEAST_BELIEVED) >= end:
                continue  # it cannot be accepted with fewer bytes of the stream
            wants = self.weigh(side, p, size, found)
            if wants > size - found:
                cutter_wait(cutter, base + found, wants)
            elif wants and found + wants < end:
                best, end = found, <Py_ssize_t>(found + wants)
        if best >= 0:
            cutter.pending_count = 0
            cutter.scanned = cutter.candidates = 0
            needed[0] = 0
            return best
        cutter.scanned = base + at
        if cutter.pending_count:
            found = <Py_ssize_t>(cutter.pending[0].offset - base)
            needed[0] = size - found + 1
            return found
        needed[0] = window
        return at

    cdef Py_ssize_t find(self, int side, Bytes p, Py_ssize_t size, Py_ssize_t start) except -2:
        """Judge.find."""
        return find_request(p, size, start) if side == REQUEST else find_response(&self.state, p, size, start)

    cdef int64_t weigh(self, int side, Bytes p, Py_ssize_t size, Py_ssize_t start) except -1:
        """Judge.judge: 0, or a number of bytes: a frame is believed when they are there, else they are needed to ask again."""
        cdef int64_t length = load_32(p + start)
        cdef Py_ssize_t have = <Py_ssize_t>min(<int64_t>(size - start - LENGTH), length)
        cdef Bytes payload = p + start + LENGTH
        cdef Py_ssize_t trial = TRIALS[0]
        cdef int64_t following
        cdef LaneWaiting* asked
        cdef const Recipe* recipe
        cdef int index
        if side == REQUEST:
            recipe = request_recipe(self.series, payload, have)
            if length < SHORTEST_REQUEST or recipe is NULL or (recipe.traits & API_VERSIONS_TRAIT and load_16(payload + 2) == 0):
                return ClientJudge(self).judge(PyBytes_FromStringAndSize(<const char*>p + start, LENGTH + have), 0)
        else:
            asked = waiting_open(&self.state, <int32_t>load_32(payload), NULL)
            if length < SHORTEST_RESPONSE or asked is NULL or asked.row.api_key == no_int() or asked.row.api_version == no_int():
                return 0
            recipe = response_recipe(self.series, asked.row.api_key, asked.row.api_version)
            if recipe is not NULL and asked.row.api_key == API_VERSIONS and have == length and length >= 6:
                if load_16(payload + 4) == UNSUPPORTED_VERSION:  # in version 0 form, whatever was asked (KIP-511)
                    recipe = response_recipe(self.series, API_VERSIONS, 0)
            if recipe is NULL:
                return _resync.judge_response(
                    PyBytes_FromStringAndSize(<const char*>payload, have), length, asked.row.api_key, asked.row.api_version
                )
        if have == length and length <= BELIEVED:
            return LENGTH + length if self.reads(side, recipe, payload, have, length) else 0
        trial, following = 0, length
        for index in range(4):
            if TRIALS[index] <= have:
                trial = TRIALS[index]
            elif following > TRIALS[index]:
                following = TRIALS[index]
        if trial and not self.reads(side, recipe, payload, trial, length):
            return 0
        if trial and side == REQUEST and length > BELIEVED:
            if not _resync._names_client(PyBytes_FromStringAndSize(<const char*>payload, trial), length):
                return 0
        return LENGTH + (trial if trial == BELIEVED else following)

    cdef bint reads(self, int side, const Recipe* recipe, Bytes payload, Py_ssize_t have, int64_t length) except -1:
        """Whether a frame, or its beginning, can be one of these."""
        cdef Cursor cursor
        cdef Trace trace
        cdef const Recipe* header
        cdef Py_ssize_t start
        if side == REQUEST:
            header = &self.series.book.request_headers[recipe.header_version]
        else:
            header = &self.series.book.response_headers[recipe.header_version]
        trace.depth = 0
        cursor_open(&cursor, payload, have, 0)
        if not skip_block(&header.program, &cursor, header.program.blocks, &trace) or cursor.code != OK:
            return have < length and cursor.code == TRUNCATED
        start = cursor.p - payload
        return check_body(recipe, payload, have, length, start) == (CHECK_WHOLE if have == length else CHECK_CUT)

    cdef int lose(self, int side, int64_t count, int64_t t, bint cut) except -1:
        """FrameSplitter.lose."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef int64_t taken, length
        cdef Py_ssize_t start = 0
        while count:
            if cutter.is_broken:
                cutter.is_damaged = True
                cutter.is_doubtful = False
                cutter.skipped_ns = t
                taken = min(count, cutter.skip)
                cutter.skip -= taken
                cutter.base += taken
                count -= taken
                if cutter.skip:
                    return 0
                cutter.is_ended = cut
                self.end_broken(side)
                if count:
                    cutter.base += count
                    cutter.sought_from = cutter.base
                    cutter.seeking = True
                return 0
            start = self.salvage(side, count) if cutter.seeking else 0
            if start < 0 or cutter.size - start < LENGTH:
                cutter.bytes_opaque += cutter.size
                cutter.seeking = True
                cutter_drop(cutter, cutter.size + count)
                cutter.sought_from = cutter.base
                return 0
            cutter.bytes_opaque += start
            if cutter.seeking:
                cutter.unproven = PROVEN
            cutter.seeking = False
            length = <int32_t>load_32(cutter.bytes + start)
            taken = cutter.base + start
            cutter.base += cutter.size
            cutter_break(
                cutter, cutter.bytes + start + LENGTH, cutter.size - start - LENGTH, length, taken,
                LENGTH + length - (cutter.size - start), True,
            )
            if cutter.skip == 0:
                continue
        return 0

    cdef Py_ssize_t salvage(self, int side, int64_t count) except -2:
        """FrameSplitter._salvage: where a frame begins whose end is lost, -1 for nowhere."""
        cdef Cutter* cutter = &self.cutters[side]
        cdef Py_ssize_t found = self.find(side, cutter.bytes, cutter.size, 0)
        cdef bint at_border
        cdef int64_t length
        while found >= 0:
            at_border = cutter.base + found == cutter.sought_from
            if side == REQUEST:
                data = PyBytes_FromStringAndSize(<const char*>cutter.bytes + found, cutter.size - found)
                if ClientJudge(self).salvage(data, 0, count, at_border):
                    return found
            else:
                length = load_32(cutter.bytes + found)
                if self.weigh(side, cutter.bytes, cutter.size, found) and LENGTH + length >= cutter.size - found:
                    if at_border or found + LENGTH + length == cutter.size + count:
                        return found
            found = self.find(side, cutter.bytes, cutter.size, found + 1)
        return -1

    # requests and responses

    cdef int request(
        self, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns, int flags
    ) except -1:
        """Exchange.request."""
        cdef LaneExchange* state = &self.state
        cdef LaneWaiting* last = state.waiting_last
        cdef Py_ssize_t before = state.waiting_count
        if take_request(
            state, self.series, payload, size, <Py_ssize_t>length, offset, packet, end_ns, flags & DAMAGED, not flags & UNENDED
        ) != LANE_OK:
            self.expecting = False
            self.say(Exchange(self).request(self.frame_object(payload, size, length, offset, packet, begin_ns, end_ns, flags)))
            self.authenticated()
            if not self.expecting:
                return 0
        elif state.waiting_count == before:
            return 0
        if self.held and state.waiting_last.losses:
            # Where packets are missing, a response that came before is that to a request that was not seen, even if the id is the same.
            held, self.held = self.held, []
            for frame, _ in held:
                self.orphan(frame)
        if state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
            while state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
                last = state.waiting
                waiting_remove(state, last)
                give_up(state, self.series, last)
        if self.held:
            self.settle()
        return 0

    cdef int authenticated(self) except -1:
        """Take over what authentication has come to."""
        if self.state.sasl is not NULL:
            sasl = <object>self.state.sasl
            self.state.sasl_pending, self.state.sasl_raw = sasl.pending, sasl.raw
            self.state.sasl_counts = sasl.expected is not None
            self.state.principal = text_of(&self.series.texts, sasl.principal)
        return 0

    cdef int response(
        self, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns, int flags,
    ) except -1:
        """Exchange.response, Pairing.answer."""
        cdef LaneExchange* state = &self.state
        cdef LaneWaiting* found = state.waiting
        cdef Py_ssize_t keep
        if length < SHORTEST_RESPONSE and (found is NULL or not found.is_token):
            self.hear()
            return self.say(Exchange(self)._too_short(
                "response", self.frame_object(payload, size, length, offset, packet, begin_ns, end_ns, flags)
            ))
        if found is not NULL:
            if size >= SHORTEST_RESPONSE:
                found = self.waiting_for(<int32_t>load_32(payload), length, state.response_breaks)
            if found is not NULL and not self.held:
                self.hear()
                self.pass_by(found, state.response_breaks, None)
                waiting_remove(state, found)
                state.last_answered = no_long() if found.is_token else found.row.correlation_id
                return self.answered(found, None, payload, size, length, offset, packet, begin_ns, end_ns, flags)
        frame = self.frame_object(payload, size, length, offset, packet, begin_ns, end_ns, flags)
        if found is not NULL:
            outcomes = self.pair(len(self.held), frame, found, state.response_breaks)
            self.hear()
            return self.become(outcomes)
        # Of what a server says while authentication is under way, which may be a token, nothing is kept.
        keep = SHORTEST_RESPONSE if state.sasl_pending or state.sasl_raw else MOST_HELD_BYTES
        if size > keep:
            frame.payload, frame.damaged = frame.payload[:keep], True
        self.held.append((frame, <int32_t>load_32(payload) if size >= SHORTEST_RESPONSE else None))
        self.hear()
        if len(self.held) > MOST_HELD:
            self.orphan(self.held.pop(0)[0])
        return 0

    cdef int hear(self) except -1:
        """Exchange.heard."""
        if self.unheard:
            self.say(Exchange(self).heard())
        return 0

    cdef int lose_responses(self) except -1:
        """Exchange.lost_responses, Pairing.broke: when a single request waited, the bytes that are lost were its response's."""
        cdef LaneWaiting* last = self.state.waiting_last
        self.state.response_breaks += 1
        if last is not NULL and (last.before is NULL or last.before.is_lost):
            last.is_lost = True
        return 0

    cdef int lose_requests(self) except -1:
        """Exchange.lost_requests, ClientIdentity.lost_requests."""
        cdef LaneExchange* state = &self.state
        state.requests_lost = state.doubted = True
        state.observed = False
        if not state.settled:
            unsay(state)
        if state.named_name == UNKNOWN_TEXT and state.named_version == UNKNOWN_TEXT and state.source != NOT_SENT:
            state.named_name = state.named_version = NO_TEXT
        return 0

    cdef int orphan(self, object frame) except -1:
        """Exchange._orphan: a response has no request."""
        cdef LaneWaiting alone
        cdef bytes payload = frame.payload
        if self.sink is NULL or (
            not self.state.requests_lost and not self.state.response_breaks and PyBytes_GET_SIZE(payload) >= SHORTEST_RESPONSE
        ):
            return self.say(Exchange(self)._orphan(frame))
        memset(&alone, 0, sizeof(LaneWaiting))
        alone.row.request_index = alone.row.request_us = alone.row.latency_us = alone.row.request_bytes = no_long()
        alone.row.throttle_time_ms = no_long()
        alone.row.correlation_id = no_long()
        if PyBytes_GET_SIZE(payload) >= SHORTEST_RESPONSE:
            alone.row.correlation_id = <int32_t>load_32(<Bytes>PyBytes_AS_STRING(payload))
        alone.row.response_us = microseconds(frame.end_time) if frame.ended else no_long()
        alone.row.response_bytes = frame.length + LENGTH
        alone.row.packet, alone.row.stream_offset = frame.packet, frame.offset
        alone.row.api_key = alone.row.api_version = alone.row.header_version = alone.row.error_code = no_int()
        alone.row.acks = alone.row.topic_count = no_int()
        alone.row.client_id = alone.row.first_topic = alone.row.group_id = alone.row.transactional_id = NO_TEXT
        alone.row.client_instance_id, alone.row.principal = self.state.instance_id, self.state.principal
        alone.row.software_name, alone.row.software_version = self.state.software_name, self.state.software_version
        alone.row.state, alone.row.body = ORPHAN_RESPONSE, BODY_SKIPPED
        return row_done(&self.state, self.series, &alone)

    cdef LaneWaiting* waiting_for(self, int32_t correlation_id, int64_t length, int32_t response_breaks) noexcept:
        """Pairing._find: the request that a response answers, NULL for none; one at least waits."""
        cdef LaneWaiting* first = self.state.waiting
        cdef LaneWaiting* follower = first
        cdef bint several = False
        if not first.is_token:
            if first.response_breaks >= response_breaks:
                return first if first.row.correlation_id == correlation_id else waiting_with(&self.state, correlation_id)
            # Some clients give all their requests one id (pykafka). Then a response is that of the first request whose response is not
            # lost; where it may be, nobody can say which one is answered.
            first = waiting_open(&self.state, correlation_id, &several)
            if first is NULL:
                return NULL
            if correlation_id == self.state.last_answered and first.losses != self.state.losses:
                several = True
            if several and first.response_breaks < response_breaks:
                self.state.is_unclear = True
                return NULL
            return first
        # A raw token is answered by whatever comes next. Only the last token of GSSAPI may get no answer; then the response to the Kafka
        # request behind it comes.
        while follower is not NULL and follower.is_token:
            follower = follower.after
        if follower is not NULL and length >= 6 and follower.row.correlation_id == correlation_id:
            return follower
        return first

    cdef int pass_by(self, LaneWaiting* found, int32_t response_breaks, list outcomes) except -1:
        """What becomes of the requests that have waited longer than the one that is answered.

        Arguments:
            outcomes: where those are put down that are given up, None to give them up at once.
        """
        cdef LaneWaiting* each = self.state.waiting
        cdef LaneWaiting* after
        while each is not found:
            after = each.after
            if response_breaks > each.response_breaks or each.may_be_silent or each.is_token:
                waiting_remove(&self.state, each)
                if outcomes is None:
                    give_up(&self.state, self.series, each)
                else:
                    outcomes.append((<size_t>each, None))
            elif not self.state.waiting_uneven:
                break  # those behind it were sent later, so nothing was lost since
            each = after
        if self.state.waiting is not found:
            overtake(&self.state, found)
        found.overtaken_by = overtakes(&self.state, found)
        return 0

    cdef list pair(self, Py_ssize_t at, object frame, LaneWaiting* found, int32_t response_breaks):
        """Pairing._pair: the response at index `at` of those held, or behind them, answers a request. Gives what has become of all."""
        # The broker answers in order, so what came before this response and found no request will find none.
        cdef list outcomes = [(0, earlier) for earlier, _ in self.held[:at]]
        del self.held[:at + 1]
        self.pass_by(found, response_breaks, outcomes)
        waiting_remove(&self.state, found)
        self.state.last_answered = no_long() if found.is_token else found.row.correlation_id
        outcomes.append((<size_t>found, frame))
        return outcomes

    cdef int settle(self) except -1:
        """Pairing.expect: a new request may be the one that a response was held for."""
        cdef LaneWaiting* found
        cdef Py_ssize_t at = 0
        cdef list outcomes = []
        while at < len(self.held) and self.state.waiting is not NULL:
            frame, number = self.held[at]
            found = self.state.waiting if number is None else self.waiting_for(number, frame.length, 0)
            if found is NULL:
                at += 1
                continue
            outcomes += self.pair(at, frame, found, 0)
            at = 0
        return self.become(outcomes)

    cdef int become(self, list outcomes) except -1:
        """Say what has become of requests and responses."""
        cdef LaneWaiting* found
        for number, frame in outcomes:
            found = <LaneWaiting*><size_t>number
            if found is NULL:
                self.orphan(frame)
            elif frame is None:
                give_up(&self.state, self.series, found)
            else:
                payload = frame.payload
                self.answered(
                    found, frame, <Bytes>PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload), frame.length, frame.offset, frame.packet,
                    frame.begin_time, frame.end_time,
                    DAMAGED * frame.damaged | UNENDED * (not frame.ended) | DOUBTFUL * frame.doubtful | UNFINISHED * frame.unfinished,
                )
        return 0

    cdef int answered(
        self, LaneWaiting* waiting, object frame, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet,
        int64_t begin_ns, int64_t end_ns, int flags,
    ) except -1:
        """Exchange._answered for a request that waits no longer."""
        cdef LaneExchange* state = &self.state
        cdef object waits
        try:
            if size < SHORTEST_RESPONSE or take_answer(
                state, self.series, waiting, payload, size, <Py_ssize_t>length, offset, packet, end_ns,
                flags & DAMAGED or (size < length and waiting.row.body != BODY_SKIPPED), not flags & UNENDED, flags & UNFINISHED,
                flags & DOUBTFUL,
            ) != LANE_OK:
                if frame is None:
                    frame = self.frame_object(payload, size, length, offset, packet, begin_ns, end_ns, flags)
                waits = self.waiting_object(waiting, waiting.overtaken_by)
                self.say(Exchange(self)._answered(_pairing.Outcome("answered", waits, frame)))
                self.authenticated()
        finally:
            waiting_free(state, waiting)
        return 0

    cdef object waiting_object(self, LaneWaiting* waiting, int32_t overtaken_by):
        """As `kwire.protocol.pairing.Waiting`."""
        row = None if waiting.is_token else new_row(&CLASSES, self.series, waiting, INT64_MIN)
        note = None if waiting.is_token else note_object(self.series, waiting, traits_of(self.series, waiting))
        return _pairing.Waiting(
            row, waiting.losses, waiting.response_breaks, bool(waiting.may_be_silent), overtaken_by, note, waiting.kept,
            is_timed=not waiting.is_untimed, is_lost=bool(waiting.is_lost),
        )

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
        self.lose(side, n, t, cut)
        if self.cutters[side].seeking:
            if side == REQUEST:
                self.lose_requests()
            else:
                self.lose_responses()
        return 0

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
            return self.lose_requests()
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
        cdef LaneExchange* state = &self.state
        self.see(t)
        if state.closed_by < 0:
            state.closed_by = <int8_t>side
            if side == RESPONSE and state.sasl is not NULL:
                (<object>state.sasl).closed_by_server()
                self.authenticated()
        if reset:
            state.reset = True
            return self.hear() if side == RESPONSE else 0
        if state.closed[side]:
            return 0
        state.closed[side] = True
        if side == RESPONSE:
            self.hear()
        self.end(side, t)
        if state.closed[0] and state.closed[1] and not state.reset:
            self.give_up_all()
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
        cdef LaneExchange* state = &self.state
        cdef int side
        for side in range(2):
            if not state.closed[side]:
                self.end(side, t)
        return self.give_up_all()

    cdef int give_up_all(self) except -1:
        """Exchange.end: what is held has no request, what waits no response."""
        held, self.held = self.held, []
        for frame, _ in held:
            self.orphan(frame)
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
                return self.end_broken(side, UNFINISHED)
            rest = cutter.skip
            cutter.is_broken = False
            cutter.skip = 0
            self.unfinished(
                side, cutter.bytes, cutter.size, cutter.broken_length, LENGTH + cutter.broken_length - rest, cutter.broken_offset,
                cutter.broken_packet, cutter.broken_ns,
            )
            cutter_shift(cutter, cutter.size)
            return 0
        if cutter.seeking:
            cutter.bytes_opaque += cutter.size
        elif cutter.size:
            arrival = cutter_arrival(cutter, cutter.base)
            self.unfinished(
                side, cutter.bytes + LENGTH, max(cutter.size - LENGTH, 0), <int32_t>load_32(cutter.bytes) if cutter.size >= LENGTH else -1,
                cutter.size, cutter.base, arrival.packet, arrival.time_ns,
            )
        cutter_drop(cutter, cutter.size)
        return 0

    def __reduce__(self):
        return _taken_up, (self.plain(),)

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

    cdef object opening_of(self, int side):
        if self.opened[side]:
            return None
        if self.openings[side] is None:
            return _opening.Opening(DIRECTIONS[side], bool(self.state.joined_late), self.cutters[side].max_frame)
        return self.openings[side]

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



cdef class Exchange:
    """The state of a connection as `kwire.protocol.exchange.Exchange` has it, for that class's functions."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    violation = _rows.Exchange.violation
    _violations = _rows.Exchange._violations
    seen = _rows.Exchange.seen
    _shown = _rows.Exchange._shown
    _read = _rows.Exchange._read
    _is_token = _rows.Exchange._is_token
    _authenticate = _rows.Exchange._authenticate
    _row = _rows.Exchange._row
    _identity_changed = _rows.Exchange._identity_changed
    _outcomes = _rows.Exchange._outcomes
    _answered = _rows.Exchange._answered
    _observe = _rows.Exchange._observe
    _learn = _rows.Exchange._learn
    _orphan = _rows.Exchange._orphan
    _too_short = _rows.Exchange._too_short
    heard = _rows.Exchange.heard
    unbroken = _rows.Exchange.unbroken
    lost_requests = _rows.Exchange.lost_requests
    request = _rows.Exchange.request

    @property
    def passing(self):
        return self.of.passing

    @property
    def asked(self):
        return self.of.asked

    @property
    def identity(self):
        return Identity(self.of)

    @property
    def sasl(self):
        if self.of.state.sasl is NULL:
            made = SaslState()
            raw_incref(<PyObject*>made)
            self.of.state.sasl = <PyObject*>made
        return <object>self.of.state.sasl

    @property
    def pairing(self):
        return Waitings(self.of)

    @property
    def judge(self):
        return ClientJudge(self.of)

    @property
    def frames(self):
        return bool(self.of.state.tells_frames)

    @property
    def requests(self):
        return self.of.state.requests

    @requests.setter
    def requests(self, value):
        self.of.state.requests = value

    @property
    def unanswered(self):
        return self.of.state.unanswered

    @unanswered.setter
    def unanswered(self, value):
        self.of.state.unanswered = value

    @property
    def is_kafka(self):
        return bool(self.of.state.is_kafka)

    @is_kafka.setter
    def is_kafka(self, value):
        self.of.state.is_kafka = value

    @property
    def last_api_name(self):
        return None if self.of.state.last_api == no_int() else catalog().api_name(self.of.state.last_api)

    @last_api_name.setter
    def last_api_name(self, value):
        if not KEYS_OF_NAMES:
            KEYS_OF_NAMES.update({catalog().api_name(key): key for key in range(-1, KEYS) if catalog().api_name(key) is not None})
        self.of.state.last_api = KEYS_OF_NAMES.get(value, no_int())

    @property
    def advertised(self):
        return None if self.of.state.advertised is NULL else <object>self.of.state.advertised

    @advertised.setter
    def advertised(self, value):
        raw_xdecref(self.of.state.advertised)
        self.of.state.advertised = NULL
        if value is not None:
            raw_incref(<PyObject*>value)
            self.of.state.advertised = <PyObject*>value

    @property
    def named(self):
        return self.of.text(self.of.state.named_name), self.of.text(self.of.state.named_version)

    @named.setter
    def named(self, value):
        self.of.state.named_name = text_of(&self.of.series.texts, value[0])
        self.of.state.named_version = text_of(&self.of.series.texts, value[1])

    @property
    def losses(self):
        return self.of.state.losses

    @losses.setter
    def losses(self, value):
        self.of.state.losses = value

    @property
    def response_breaks(self):
        return self.of.state.response_breaks

    @response_breaks.setter
    def response_breaks(self, value):
        self.of.state.response_breaks = value

    @property
    def left(self):
        return self.of.state.closed_by == REQUEST

    @property
    def missing(self):
        return bool(self.of.state.missing)

    @missing.setter
    def missing(self, value):
        self.of.state.missing = value

    @property
    def seeks_responses(self):
        return bool(self.of.state.seeks_responses)

    @seeks_responses.setter
    def seeks_responses(self, value):
        self.of.state.seeks_responses = value

    @property
    def _unheard(self):
        if self.of.unheard is None:
            self.of.unheard = []
        return self.of.unheard

    @_unheard.setter
    def _unheard(self, value):
        self.of.unheard = value

    @property
    def requests_lost(self):
        return bool(self.of.state.requests_lost)

    @requests_lost.setter
    def requests_lost(self, value):
        self.of.state.requests_lost = value

    @property
    def _said(self):
        if self.of.state.said_rules is NULL:
            made = set()
            raw_incref(<PyObject*>made)
            self.of.state.said_rules = <PyObject*>made
        return <object>self.of.state.said_rules

    @_said.setter
    def _said(self, value):
        raw_xdecref(self.of.state.said_rules)
        raw_incref(<PyObject*>value)
        self.of.state.said_rules = <PyObject*>value

    def authenticated(self):
        """Authentication has been changed."""
        self.of.authenticated()


cdef class Splitter:
    """A direction as `kwire.protocol.frames.FrameSplitter` has it."""

    cdef Connection of
    cdef int side

    def __init__(self, Connection of, int side):
        self.of, self.side = of, side

    cdef Cutter* cutter(self) noexcept:
        return &self.of.cutters[self.side]

    @property
    def seeking(self):
        return bool(self.cutter().seeking)

    @seeking.setter
    def seeking(self, value):
        self.cutter().seeking = value

    @property
    def bytes_opaque(self):
        return self.cutter().bytes_opaque

    @bytes_opaque.setter
    def bytes_opaque(self, value):
        self.cutter().bytes_opaque = value

    @property
    def max_frame(self):
        return self.cutter().max_frame

    @property
    def _base(self):
        return self.cutter().base

    @_base.setter
    def _base(self, value):
        self.cutter().base = value

    @property
    def _buffer(self):
        cdef Cutter* cutter = self.cutter()
        return bytearray() if cutter.is_broken else bytearray(PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size))

    @_buffer.setter
    def _buffer(self, value):
        cdef bytes data = bytes(value)
        self.cutter().size = 0
        cutter_add(self.cutter(), <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    @property
    def _marks(self):
        cdef Cutter* cutter = self.cutter()
        cdef Py_ssize_t index
        return [
            (cutter.arrivals[index].offset, cutter.arrivals[index].time_ns, cutter.arrivals[index].packet)
            for index in range(cutter.arrival_count)
        ]

    @_marks.setter
    def _marks(self, value):
        self.cutter().arrival_count = 0
        for offset, time, packet in value:
            cutter_arrived(self.cutter(), offset, time, packet)

    @property
    def _need(self):
        return self.cutter().need

    @_need.setter
    def _need(self, value):
        self.cutter().need = value

    @property
    def _broken(self):
        cdef Cutter* cutter = self.cutter()
        if not cutter.is_broken:
            return None
        return Frame(
            PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size), cutter.broken_length, cutter.broken_offset,
            cutter.broken_packet, cutter.broken_ns, cutter.broken_ns, bool(cutter.is_damaged), bool(cutter.is_ended), bool(cutter.is_doubtful),
        )

    @_broken.setter
    def _broken(self, value):
        cdef Cutter* cutter = self.cutter()
        cutter.is_broken = value is not None
        if value is not None:
            self._buffer = value.payload
            cutter.broken_length, cutter.broken_offset, cutter.broken_packet = value.length, value.offset, value.packet
            cutter.broken_ns, cutter.is_damaged, cutter.is_ended = value.begin_time, value.damaged, value.ended
            cutter.is_doubtful = value.doubtful

    @property
    def _skip(self):
        return self.cutter().skip

    @_skip.setter
    def _skip(self, value):
        self.cutter().skip = value

    @property
    def _skipped_time(self):
        return self.cutter().skipped_ns

    @_skipped_time.setter
    def _skipped_time(self, value):
        self.cutter().skipped_ns = value

    @property
    def _sought_from(self):
        return self.cutter().sought_from

    @_sought_from.setter
    def _sought_from(self, value):
        self.cutter().sought_from = value

    @property
    def _pending(self):
        cdef Cutter* cutter = self.cutter()
        cdef int index
        return [(cutter.pending[index].offset, cutter.pending[index].need) for index in range(cutter.pending_count)]

    @_pending.setter
    def _pending(self, value):
        self.cutter().pending_count = 0
        for offset, need in value:
            cutter_wait(self.cutter(), offset, need)

    @property
    def _candidates(self):
        return self.cutter().candidates

    @_candidates.setter
    def _candidates(self, value):
        self.cutter().candidates = value

    @property
    def _unproven(self):
        return self.cutter().unproven

    @_unproven.setter
    def _unproven(self, value):
        self.cutter().unproven = value

    @property
    def _scanned(self):
        return self.cutter().scanned

    @_scanned.setter
    def _scanned(self, value):
        self.cutter().scanned = value


def copied(to, of, names):
    """Copy attributes from one form of a connection's state to the other."""
    for name in names:
        setattr(to, name, getattr(of, name))


# What a pickle holds: attributes that both twins have under the same names.
OF_CONNECTION = (
    "_closed", "_closed_by", "_first_seen", "_frames", "_hellos", "_last_seen", "_openings", "_protocol", "_proxied", "_reset", "_stray",
    "bytes_lost", "gaps", "received",
)
OF_EXCHANGE = (
    "_said", "_unheard", "advertised", "is_kafka", "last_api_name", "losses", "missing", "named", "requests", "requests_lost", "response_breaks", "seeks_responses", "unanswered",
)
OF_SPLITTER = (
    "_base", "_buffer", "_marks", "_need", "_broken", "_skip", "_skipped_time", "_sought_from", "_pending", "_candidates", "_scanned",
    "_unproven", "bytes_opaque", "seeking",
)


def _taken_up(pure):
    """A connection out of a pickle, which is that of the pure twin."""
    exchange = pure._exchange
    made = Connection(
        pure.joined_late, max_frame=pure._splitters["request"].max_frame, frames=exchange.frames, bodies=exchange.passing.bodies,
        asked=exchange.asked,
    )
    return take_over(made, pure)


cdef object take_over(Connection made, object pure):
    """Give a connection the state that another one has, of either twin."""
    exchange = pure._exchange
    copied(made, pure, OF_CONNECTION)
    native = made._exchange
    copied(native, exchange, OF_EXCHANGE)
    copied(native.identity, exchange.identity, _identity.ClientIdentity.__slots__)
    copied(native.sasl, exchange.sasl, SaslState.__slots__)
    copied(native.judge, exchange.judge, ("client_id",))
    copied(native.pairing, exchange.pairing, ("waiting", "_held", "is_unclear", "last_answered"))
    for direction in DIRECTIONS:
        copied(made._splitters[direction], pure._splitters[direction], OF_SPLITTER)
    native.authenticated()
    return made


cdef Connection row_connection(EventSink sink, LaneSeries* series, bint joined_late, object asked, object known):
    """A connection whose rows go to a series.

    Arguments:
        sink: takes what Python's rules say; it owns the connection, and lives as long.
        series: has to stay as long.
        known: a connection of either twin whose state it takes over, None at its beginning.
    """
    cdef Connection made = Connection.__new__(Connection)
    made.series = series
    made.sink = <PyObject*>sink
    series.classes = &CLASSES
    made.passing = ALL_BODIES
    made.open(joined_late, MAX_FRAME, asked)
    if known is not None:
        take_over(made, known)
    return made


cdef RecipeBook* field_plans() noexcept:
    """How to read each api version, for the whole process."""
    return &BOOK


cdef class EventSink:
    """Takes what Python's rules say of a connection whose rows are C structs."""

    cdef int said(self, Connection connection, list events) except -1:
        raise NotImplementedError
