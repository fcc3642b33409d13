# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A relay between one client and one broker, compiled: `kwire.protocol.relay.relay.Relay` is the contract.

Bytes are cut, paired and passed on without a Python object (protocol/relay_feed.pxd). Python is called for frames that a rule wants, for
programs that only Python has, and for raw SASL tokens.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from build_id cimport build_id
from protocol.relay_edit cimport MOST_EXPLAINED
from protocol.relay_counters cimport TEXT_OTHER, TEXT_UNKNOWN
from protocol.relay_feed cimport relay_begin, relay_drain, relay_feed, relay_finish
from protocol.relay_owed cimport BY_PLAN, owed_answer, owed_count, owed_first
from protocol.relay_pieces cimport Piece, Pieces, chunk_take
from protocol.relay_request cimport release_request
from protocol.relay_response cimport release_response
from protocol.relay_state cimport (
    OPEN, PROGRAM_FAILED, REFUSED, REQUEST, RESPONSE, SASL_REFUSED, SASL_UNKNOWN_MECHANISM, SASL_WITHOUT_HANDSHAKE, UNKNOWN_API,
    HeldFrame, is_blocked, is_inside, relay_close, relay_close_api, relay_free, relay_is_idle, relay_kept, send_answers,
)
from wire.cursor cimport Bytes
from wire.turns cimport Turn, one_at_a_time, turn_leave, waiting_turn_begin, waiting_turn_end

from kwire.errors import EncodeError, WireError
from kwire.protocol.relay.heads import SHORTEST_RESPONSE, is_refused_version, mechanism_of
from kwire.protocol.relay.limits import MAX_HELD
from kwire.protocol.relay.moves import CLOSE_TEXTS, Closing, Held, Moves
from kwire.protocol.relay.raw_tokens import RawTokens
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["HeldBudget", "Lease", "Relay", "RelayCounters"]

__build__ = build_id()

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)

cdef str TWO_THREADS = "two calls use a relay at once: give a relay to one thread, or guard its calls with a lock"
cdef tuple REASONS = (None, *CLOSE_TEXTS)
cdef tuple DIRECTIONS = ("request", "response")


include "protocol/relay_plan_table.pxi"
include "protocol/relay_counts.pxi"


@cython.final
@cython.no_gc_clear  # the core points into budget and counters, also in __dealloc__: the collector breaks a cycle elsewhere
cdef class Relay:
    """One connection; arguments and methods are those of `kwire.protocol.relay.relay.Relay`."""

    def __cinit__(
        self, plan, *, int64_t max_frame=MAX_FRAME, int64_t max_held=MAX_HELD, HeldBudget budget=None,
        RelayCounters counters=None
    ):
        self.use_plan(plan)
        self.budget = budget
        self.core.budget = NULL if budget is None else &budget.budget
        self.counters = counters
        self.core.counters = NULL if counters is None else &counters.counters
        self.core.software, self.core.client = TEXT_UNKNOWN, TEXT_OTHER
        self.core.owner = <PyObject*>self
        self.core.max_frame, self.core.max_held = max_frame, max_held
        self.core.streams[REQUEST].owes = -1

    def __dealloc__(self):
        relay_free(&self.core)
        turn_leave(self.turn)

    # bytes

    def from_client(self, data, int64_t t):
        return self.take(REQUEST, data, t)

    def from_server(self, data, int64_t t):
        return self.take(RESPONSE, data, t)

    cdef object take(self, int side, data, int64_t t):
        cdef Py_buffer view
        if self.core.streams[side].ended:
            raise ValueError("bytes received after the end of their direction")
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            self.begin()
            try:
                relay_feed(&self.core, side, <Bytes>view.buf, view.len, t)
                relay_finish(&self.core, t)
                return self.moves_of(data, <Bytes>view.buf, view.len)
            finally:
                self.over()
        finally:
            PyBuffer_Release(&view)

    cdef int begin(self) except -1:
        """Refuse a call while another one runs, in another thread or in a program of the plan."""
        if self.core.busy:
            raise RuntimeError(TWO_THREADS)
        self.core.busy = True
        if self.counters is not None:
            waiting_turn_begin(&self.counters.waiting)
        relay_begin(&self.core)
        return 0

    cdef void over(self) noexcept:
        """A call ends."""
        if self.counters is not None:
            waiting_turn_end(&self.counters.waiting)
        self.core.busy = False

    def end_client(self, int64_t t):
        return self.end(REQUEST, t)

    def end_server(self, int64_t t):
        return self.end(RESPONSE, t)

    cdef object end(self, int side, int64_t t):
        self.begin()
        try:
            self.core.streams[side].ended = True
            relay_finish(&self.core, t)
            return self.moves_of(None, NULL, 0)
        finally:
            self.over()

    def end_requests(self):
        self.core.requests_ended = True

    def use_plan(self, plan, Lease lease=None):
        if self.core.busy:
            raise RuntimeError(TWO_THREADS)
        if self.core.lease is not NULL:
            self.core.lease.is_on = False
        self.plan, self.table, self.lease = plan, table_of(plan), lease
        self.core.table = &self.table.table
        self.core.lease = NULL
        if lease is not None:
            self.core.next_table, self.core.table = self.core.table, &lease.table.table
            self.core.lease = &lease.state
            lease.state.is_on = True

    cdef object program(self, int action):
        """The program of an action of the plan in use."""
        return (self.plan if self.core.lease is NULL else self.lease.plan).programs[action - 1]

    # frames that are held

    def release(self, held, pieces=None, *, int64_t t=0, response=None):
        self.begin()
        try:
            self.release_held(held, pieces, t, response)
            return self.moves_of(None, NULL, 0)
        finally:
            self.over()

    def answer(self, held, frame, *, int64_t t=0):
        self.begin()
        try:
            self.answer_held(held, frame, t)
            return self.moves_of(None, NULL, 0)
        finally:
            self.over()

    cdef object held_frame(self, int side):
        """The Held of the frame that is held, None where none is."""
        cdef const HeldFrame* held = &self.core.streams[side].held
        cdef object known = self.held_request if side == REQUEST else self.held_response
        if held.frame is NULL:
            return None
        if known is None:
            known = Held(
                DIRECTIONS[side],
                PyBytes_FromStringAndSize(<const char*>held.frame, held.size), held.api_key, held.api_version, held.asked_version,
                held.correlation_id, held.wants_answer, held.time_ns,
                self.core.owed.asked, self.core.owed.served,
                side == RESPONSE and owed_first(&self.core.owed).action != BY_PLAN,
            )
            if side == REQUEST:
                self.held_request = known
            else:
                self.held_response = known
        return known

    cdef int let_go(self, object held) except -1:
        """The side whose frame this is; it is not held any more for callers."""
        cdef int side = REQUEST if held.kind == "request" else RESPONSE
        if held is None or (self.held_request if side == REQUEST else self.held_response) is not held:
            raise ValueError("this frame is not held")
        if side == REQUEST:
            self.held_request = None
        else:
            self.held_response = None
        return side

    cdef int release_held(self, object held, object pieces, int64_t t, object response) except -1:
        """Relay.release, between `relay_begin` and the sending of `core.out`."""
        cdef list whole = None if pieces is None else list(pieces)
        cdef uint8_t* frame = NULL
        cdef Py_ssize_t size = 0
        cdef int side
        if whole is not None:
            frame = self.gathered(whole, &size)
        side = self.let_go(held)
        if self.core.reason == OPEN:
            self.send(side, frame, size, BY_PLAN if response is None else <int32_t>response)
        self.forget(side)
        relay_drain(&self.core, side, t)
        return relay_finish(&self.core, t)

    cdef uint8_t* gathered(self, list pieces, Py_ssize_t* size) except NULL:
        """The bytes of pieces in one chunk."""
        cdef Py_buffer view
        cdef uint8_t* made
        cdef uint8_t* at
        for piece in pieces:
            size[0] += len(piece)
        at = made = chunk_take(&self.core.chunks, max(size[0], 1))
        for piece in pieces:
            PyObject_GetBuffer(piece, &view, PyBUF_SIMPLE)
            try:
                if at + view.len > made + size[0]:
                    raise ValueError("a piece of bytes only")
                memcpy(at, view.buf, view.len)
                at += view.len
            finally:
                PyBuffer_Release(&view)
        if at != made + size[0]:
            raise ValueError("a piece of bytes only")
        return made

    cdef int send(self, int side, uint8_t* frame, Py_ssize_t size, int32_t action) except -1:
        """Send the frame that is held, as it is where `frame` is NULL."""
        if side == REQUEST:
            return release_request(&self.core, frame, size, action)
        return release_response(&self.core, frame, size)

    cdef int forget(self, int side) except -1:
        """Nothing is held on this side."""
        cdef HeldFrame* held = &self.core.streams[side].held
        free(held.frame)
        held.frame = NULL
        held.size = 0
        return 0

    cdef int answer_held(self, object held, object frame, int64_t t) except -1:
        """Relay.answer, between `relay_begin` and the sending of `core.out`."""
        cdef bytes whole = None if frame is None else bytes(frame)
        if held.kind != "request":
            raise ValueError("only a request can be answered")
        if whole is not None and not SHORTEST_RESPONSE <= len(whole) <= self.core.max_frame:
            raise ValueError(f"an answer of {len(whole)} bytes")
        self.let_go(held)
        if whole is not None and self.core.streams[REQUEST].held.wants_answer and self.core.reason == OPEN:
            owed_answer(&self.core.owed, held.correlation_id, <const uint8_t*>PyBytes_AS_STRING(whole), PyBytes_GET_SIZE(whole))
            send_answers(&self.core)
        self.forget(REQUEST)
        relay_drain(&self.core, REQUEST, t)
        return relay_finish(&self.core, t)

    # what the C code asks

    def _edit(self, int side, int action):
        """Run a program over the frame that is held, and send what it gives."""
        cdef const HeldFrame* held = &self.core.streams[side].held
        cdef Py_ssize_t size = 0
        cdef uint8_t* made
        cdef bytes frame = PyBytes_FromStringAndSize(<const char*>held.frame, held.size)
        try:
            try:
                pieces = list(self.program(action).pieces(frame))
            except (WireError, EncodeError) as error:
                if side == RESPONSE and is_refused_version(held.api_key, frame):
                    self.send(side, NULL, 0, BY_PLAN)
                    return
                relay_close_api(&self.core, PROGRAM_FAILED, side, held.api_key, held.api_version)
                self.cause = str(error) if held.size <= MOST_EXPLAINED else None
                return
            made = self.gathered(pieces, &size)
            self.send(side, made, size, BY_PLAN)
        finally:
            self.forget(side)

    def _explain(self, int action, bytes frame):
        """Keep the error of a program that failed."""
        try:
            list(self.program(action).pieces(frame))
        except (WireError, EncodeError) as error:
            self.cause = str(error)

    cdef object raw_tokens(self):
        if self.tokens is None:
            self.tokens = RawTokens()
        return self.tokens

    def _is_token(self, bytes begin):
        """RequestSide._is_token."""
        tokens = self.raw_tokens()
        if not tokens.is_open:
            tokens.begins()
            if not self.plan.raw_gssapi:
                relay_close(&self.core, SASL_WITHOUT_HANDSHAKE, REQUEST, 0)
        found = tokens.is_token(begin)
        self.core.tokens_open = tokens.is_open
        return found

    def _client_token(self, bytes token):
        found = self.tokens.client_token(token)
        self.core.tokens_open = self.tokens.is_open
        return found

    def _server_token(self, bytes token):
        self.tokens.server_token(token)
        self.core.tokens_open = self.tokens.is_open

    def _handshake(self, bytes frame):
        if not self.raw_tokens().handshake(mechanism_of(frame)):
            relay_close(&self.core, SASL_UNKNOWN_MECHANISM, REQUEST, 0)
        self.core.tokens_open = self.tokens.is_open

    def _handshake_answered(self, int error):
        self.raw_tokens().handshake_answered(error)
        self.core.tokens_open = self.tokens.is_open
        if error and self.core.streams[REQUEST].parked.size:
            relay_close(&self.core, SASL_REFUSED, REQUEST, error)

    def _tokens_vary(self):
        return self.raw_tokens().sasl.expected is None

    # what every call gives

    cdef object moves(self, object data):
        """The moves of the current call as Python has them; `data` is what was given, or None."""
        cdef Py_buffer view
        if data is None:
            return self.moves_of(None, NULL, 0)
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self.moves_of(data, <Bytes>view.buf, view.len)
        finally:
            PyBuffer_Release(&view)

    cdef object moves_of(self, object data, Bytes given, Py_ssize_t size):
        cdef list held = []
        cdef int side
        for side in range(2):
            if self.core.streams[side].held.is_new:
                held.append(self.held_frame(side))
        return Moves(
            pieces_of(&self.core.out[REQUEST], data, given, size), pieces_of(&self.core.out[RESPONSE], data, given, size), held,
            bool(self.core.ends[REQUEST]), bool(self.core.ends[RESPONSE]), self.closing,
        )

    # state

    @property
    def closing(self):
        if self.core.reason == OPEN:
            return None
        has_api = self.core.reason in (REFUSED, UNKNOWN_API, PROGRAM_FAILED)
        version = self.core.api_version if has_api else None
        return Closing(REASONS[self.core.reason], DIRECTIONS[self.core.side], self.core.value, version, self.cause or "")

    @property
    def owed(self):
        return owed_count(&self.core.owed)

    @property
    def kept(self):
        return relay_kept(&self.core)

    @property
    def is_idle(self):
        return relay_is_idle(&self.core)

    @property
    def inside_request(self):
        return bool(is_inside(&self.core.streams[REQUEST]))

    @property
    def reads_client(self):
        return self.core.reason == OPEN and not self.core.streams[REQUEST].ended and not is_blocked(&self.core, REQUEST)

    @property
    def reads_server(self):
        return self.core.reason == OPEN and not self.core.streams[RESPONSE].ended and not is_blocked(&self.core, RESPONSE)


cdef PlanTable table_of(object plan):
    if plan.native is None:
        plan.native = PlanTable(plan)
    return plan.native


@cython.final
cdef class Lease:
    """Frames that pass without a call: `kwire.protocol.relay.lease.Lease`."""

    def __cinit__(self, plan, bytes client_id not None, tuple left not None, int64_t until):
        self.plan, self.table, self.client_id = plan, table_of(plan), client_id
        self.state.client, self.state.client_size = <Bytes>PyBytes_AS_STRING(client_id), PyBytes_GET_SIZE(client_id)
        self.state.until = until
        self.state.left[0], self.state.left[1], self.state.left[2] = left

    @property
    def is_on(self):
        return bool(self.state.is_on)

    @property
    def left(self):
        return self.state.left[0], self.state.left[1], self.state.left[2]


cdef list pieces_of(const Pieces* pieces, object data, Bytes given, Py_ssize_t size):
    """Pieces as Python objects: views of the data where they lie in it."""
    cdef list found = []
    cdef const Piece* piece
    cdef Py_ssize_t index
    cdef object view = None
    for index in range(pieces.count):
        piece = &pieces.items[index]
        if given is not NULL and given <= piece.base and piece.base + piece.size <= given + size:
            if <Py_ssize_t>piece.size == size and PyBytes_CheckExact(data):
                found.append(data)
                continue
            if view is None:
                view = memoryview(data).cast("B")
            found.append(view[piece.base - given:piece.base - given + <Py_ssize_t>piece.size])
        else:
            found.append(PyBytes_FromStringAndSize(<const char*>piece.base, <Py_ssize_t>piece.size))
    return found


cdef Turn** turn_of_relay(PyObject* self) noexcept:
    return &(<Relay>self).turn


one_at_a_time(Relay, turn_of_relay)
