# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""A tracked connection whose ordinary frames cost little or no Python code.

The readable contract is `kwire.protocol.connection`. An object of it is inside and does whatever is not ordinary: openings, strangers, who
the client is, faults, losses. What is done here, or rather in `tracker_frames.pxd` and what that uses, is the request with a known client
id that breaks no rule, and the response to the request that has waited longest. Counts run ahead of those of the object inside; `settle`
brings them home before that object works, `resume` takes up its state again.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, int64_t

from build_id cimport build_id
from cursor cimport Bytes
from event_slots cimport int_of
from tracker_frames cimport take_bytes
from tracker_state cimport (
    REQUEST, RESPONSE, Tracked, Tracking, rows_begin, tracked_free, tracked_open, tracked_resume, tracked_settle, tracking_open,
)
from tracker_streams cimport Stream, frame_left, stream_resume, stream_settle
from uuid_text cimport fill_pairs

from operator import attrgetter

from kwire.protocol import connection as pure
from kwire.protocol.events import RequestCompleted
from kwire.protocol.frames import MAX_FRAME, Frame
from kwire.protocol.passing import NEEDED_BODIES

__all__ = ["Connection"]
__build__ = build_id()

cdef extern from "Python.h":
    bint PyBytes_CheckExact(object data)

cdef tuple DIRECTIONS = ("request", "response")
cdef Tracking TRACKING

tracking_open(&TRACKING)
fill_pairs()


@cython.final
cdef class Connection:
    """A connection whose client side is known; arguments and methods are those of `kwire.protocol.connection.Connection`."""

    cdef object inner, exchange
    cdef bint able  # nothing is asked for that only Python gives
    cdef bint counting  # the counts run ahead of those inside
    cdef bint busy
    cdef Tracked tracked
    cdef tuple identity  # that is in force
    # What `tracked` borrows: a row with all that rows of this identity share, and values of the object inside.
    cdef object beginning, waiting, losses, response_breaks, mechanism

    def __init__(self, joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None, asked=None):
        self.take_up(pure.Connection(joined_late, max_frame=max_frame, frames=frames, bodies=bodies, asked=asked))

    def __dealloc__(self):
        tracked_free(&self.tracked)

    cdef int take_up(self, inner) except -1:
        if self.inner is not None:
            raise TypeError("a connection begins once")
        self.inner, self.exchange = inner, inner._exchange
        self.able = self.exchange.asked is None
        tracked_open(
            &self.tracked, self.exchange.passing.bodies, NEEDED_BODIES, inner._splitters["request"].max_frame, self.exchange.frames
        )
        self.resume()
        return 0

    def __reduce__(self):
        return _taken_up, (self.of_inner(as_it_is),)

    # the way between the counts here and those inside

    cdef int settle(self) except -1:
        """Bring all counts home: from here on the object inside says what is."""
        cdef int index
        cdef Stream* stream
        if not self.counting:
            return 0
        self.counting = False
        inner = self.inner
        for index in range(2):
            stream = &self.tracked.streams[index]
            if stream.ready and stream.received:
                direction = DIRECTIONS[index]
                inner.received[direction] += stream.received
                inner._frames[direction] += stream.frames
                inner._splitters[direction].prove(stream.frames)
                stream_settle(stream, inner._splitters[direction], Frame)
        if self.tracked.first_seen != INT64_MAX:
            inner._see(self.tracked.first_seen)
            inner._see(self.tracked.last_seen)
        tracked_settle(&TRACKING, &self.tracked, self.exchange)
        return 0

    cdef int resume(self) except -1:
        """Take up the state of the object inside, where it is ordinary."""
        cdef int index
        cdef bint ready = False
        self.counting = False
        inner, exchange = self.inner, self.exchange
        identity, sasl, pairing = exchange.identity, exchange.sasl, exchange.pairing
        if not self.able or inner._protocol is not None or sasl.raw or sasl.pending or pairing.holds:
            return 0
        if identity.source == "not_observed" and identity._observed:
            return 0
        if exchange._unheard or pairing.is_unclear or (
            pairing.waiting and pairing.waiting[0].response_breaks < exchange.response_breaks
        ):
            return 0
        exchange.seeks_responses = inner._splitters["response"].seeking
        for index in range(2):
            direction = DIRECTIONS[index]
            if stream_resume(&self.tracked.streams[index], inner._splitters[direction], inner._openings[direction] is None):
                ready = True
        if not ready:
            return 0
        self.waiting, self.losses, self.response_breaks = pairing.waiting, exchange.losses, exchange.unbroken
        self.mechanism = sasl.mechanism
        tracked_resume(&self.tracked, exchange)
        self.tracked.response_breaks = <PyObject*>self.response_breaks
        self.begin_rows(identity, sasl.principal)
        self.counting = True
        return 0

    cdef int begin_rows(self, identity, principal) except -1:
        if self.identity == (identity.software, identity.instance_id, principal):
            return 0
        self.identity = (identity.software, identity.instance_id, principal)
        self.beginning = RequestCompleted(
            0, software_name=identity.software[0], software_version=identity.software[1], client_instance_id=identity.instance_id,
            principal=principal, body="skipped", state="unanswered",
        )
        rows_begin(&TRACKING, &self.tracked, self.beginning)
        return 0

    cdef int enter(self) except -1:
        """Begin a call of a method; what Python code it calls, and which threads run meanwhile, must not begin another."""
        if self.busy:
            raise RuntimeError(pure.TWO_THREADS)
        self.busy = True
        return 0

    cdef object of_inner(self, ask):
        """What the object inside says once it has all counts."""
        self.enter()
        try:
            self.settle()
            found = ask(self.inner)
            self.resume()
        finally:
            self.busy = False
        return found

    # bytes

    def receive_request_bytes(self, data, t, packet=0):
        return self.receive(REQUEST, data, t, packet)

    def receive_response_bytes(self, data, t, packet=0):
        return self.receive(RESPONSE, data, t, packet)

    cdef list receive(self, int direction, data, t, packet):
        cdef Py_buffer view
        cdef list events = []
        self.enter()
        try:
            if PyBytes_CheckExact(data):
                self.walk(direction, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), t, packet, events)
                return events
            PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
            try:
                self.walk(direction, <Bytes>view.buf, view.len, t, packet, events)
            finally:
                PyBuffer_Release(&view)
        finally:
            self.busy = False
        return events

    cdef int walk(self, int direction, Bytes data, Py_ssize_t size, t, packet, list events) except -1:
        """Take all bytes: frame after frame the quick way, each that is not ordinary the other way, and so what follows a torn one."""
        cdef Stream* stream = &self.tracked.streams[direction]
        cdef Py_ssize_t at = 0
        cdef Py_ssize_t piece
        cdef int64_t time_ns = 0
        cdef bint timed = int_of(<PyObject*>t, &time_ns)
        while at < size:
            piece = size - at
            if self.counting and stream.ready and timed:
                at += take_bytes(&TRACKING, &self.tracked, direction, data + at, piece, t, time_ns, packet, events)
                if at == size:
                    break
                piece = frame_left(stream, data + at, size - at)
            self.settle()
            events.extend(self.inner._receive(DIRECTIONS[direction], PyBytes_FromStringAndSize(<char*>data + at, piece), t, packet))
            self.resume()
            at += piece
        return 0

    # what the object inside says and does

    def lost(self, direction, n, t, packet=0, *, cut=False):
        return self.of_inner(lambda inner: inner.lost(direction, n, t, packet, cut=cut))

    def begins_late(self, direction):
        self.settle()
        self.inner.begins_late(direction)
        self.resume()

    def closed(self, direction, reset, t, packet=0):
        return self.of_inner(lambda inner: inner.closed(direction, reset, t, packet))

    def finish(self, t):
        return self.of_inner(lambda inner: inner.finish(t))

    def summary(self):
        return self.of_inner(pure.Connection.summary)

    @property
    def protocol(self):
        return self.of_inner(attrgetter("protocol"))

    @property
    def joined_late(self):
        return self.inner.joined_late

    @property
    def gaps(self):
        return self.inner.gaps

    @property
    def bytes_lost(self):
        return self.inner.bytes_lost

    @property
    def received(self):
        return self.of_inner(attrgetter("received"))

    def __repr__(self):
        return self.of_inner(repr)


def as_it_is(inner):
    return inner


def _taken_up(inner):
    cdef Connection made = Connection.__new__(Connection)
    made.take_up(inner)
    return made
