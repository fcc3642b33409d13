# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""Direction detection, compiled: the native twin of `kwire.protocol.tracking.direction_detection.DirectionDetector`, which is the contract.

Both readings are native connections that make events. The one that wins stays as it is: who makes rows of it has it write rows from there
on (`row_connection`), so no state is copied.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from build_id cimport build_id
from wire.cursor cimport Bytes
from wire.turns cimport Turn, one_at_a_time, turn_leave, turn_share

from kwire.protocol._native.tracker cimport Connection

from kwire.protocol._native.tracker import import_state
from kwire.protocol.events import FrameSeen, RequestCompleted
from kwire.protocol.tracking import direction_detection as _pure
from kwire.protocol.tracking.frames import MAX_FRAME

__all__ = ["DirectionDetector"]
__build__ = build_id()

cdef int64_t MOST_UNDECIDED = _pure.MAX_UNDECIDED
cdef Py_ssize_t MOST_UNPROVEN = _pure.MAX_UNPROVEN
cdef tuple DIRECTIONS = ("request", "response")


cdef class DirectionDetector:
    """The bytes of two sides, 0 and 1."""

    def __init__(self, port_0, port_1, *, ports=None, max_frame=MAX_FRAME, frames=False, asked=None, proven=False):
        cdef bint first = ports is not None and port_0 in ports
        cdef bint second = ports is not None and port_1 in ports
        self.server = self.named = -1
        if first != second:
            self.named = 0 if first else 1
        self.proven = proven or first or second
        self.lower = 0 if port_0 < port_1 else 1
        self.max_frame, self.frames, self.asked = max_frame, bool(frames), asked
        self.readings = [None, None]
        self.kept = [[], []]
        self.weighed[0] = self.weighed[1] = self.taken = 0
        self.decided_by = None

    def __dealloc__(self):
        turn_leave(self.turn)

    @property
    def server_side(self):
        return None if self.server < 0 else self.server

    @property
    def connection(self):
        """The tracked connection, None while undecided."""
        return None if self.server < 0 else self.readings[self.server]

    def opened(self, int side, t, packet=0):
        if self.server >= 0:
            return []
        if self.readings[1 - side] is None:
            self.readings[1 - side] = self.new_reading(False)
        self.decide(1 - side, "syn")
        return self.given(False)

    def receive(self, int side, data, int64_t t, int64_t packet=0):
        cdef Py_buffer view
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            return self.take(side, <Bytes>view.buf, view.len, t, packet)
        finally:
            PyBuffer_Release(&view)

    def lost(self, int side, int64_t n, int64_t t, int64_t packet=0, *, cut=False):
        return self.lose(side, n, t, bool(cut))

    def begins_late(self, int side):
        if self.server >= 0:
            self.tracked(self.server).begins_late(DIRECTIONS[side == self.server])

    def closed(self, int side, reset, int64_t t, int64_t packet=0):
        return self.close(side, bool(reset), t)

    def finish(self, int64_t t):
        self.join_late()
        if self.server < 0:
            self.guess()
        self.kept[self.server] += self.tracked(self.server).finish(t)
        return self.given(True)

    def summary(self):
        self.join_late()
        return self.tracked(self.server if self.server >= 0 else self.likelier()[0]).summary()

    cdef Connection tracked(self, int server):
        return <Connection?>self.readings[server]

    cdef Connection new_reading(self, bint joined_late):
        cdef Connection made = self.owned(Connection(joined_late, max_frame=self.max_frame, frames=self.frames, asked=self.asked))
        made.state.proven = self.proven
        return made

    cdef Connection owned(self, Connection made):
        """Share the detector's turn with its connection, so that calls of one wait for the other."""
        turn_share(&made.turn, &self.turn)
        return made

    cdef int join_late(self) except -1:
        """The beginning was not seen."""
        if self.readings[0] is not None or self.readings[1] is not None:
            return 0
        self.readings = [self.new_reading(True), self.new_reading(True)]
        return self.decide(self.named, "port") if self.named >= 0 else 0

    cdef list take(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet):
        """DirectionDetector.receive."""
        cdef Py_ssize_t room
        cdef int server
        if size == 0:
            return []
        self.join_late()
        if self.server >= 0:
            self.give(self.server, side, data, size, t, packet)
            return self.given(False)
        room = <Py_ssize_t>min(max(MOST_UNDECIDED - self.taken, 0), <int64_t>size)
        self.taken += size
        for server in range(2):
            self.give(server, side, data, room, t, packet)
        self.weigh()
        if self.server < 0 and self.taken >= MOST_UNDECIDED:
            self.guess()
        if self.server >= 0:
            # The reading that won has seen the bytes up to the limit.
            self.give(self.server, side, data + room, size - room, t, packet)
        return self.given(False)

    cdef list lose(self, int side, int64_t n, int64_t t, bint cut):
        """DirectionDetector.lost."""
        cdef int server
        self.join_late()
        for server in range(2):
            if self.readings[server] is not None:
                self.kept[server] += self.tracked(server).lost(DIRECTIONS[side == server], n, t, cut=cut)
        self.weigh()
        return self.given(False)

    cdef list close(self, int side, bint reset, int64_t t):
        """DirectionDetector.closed."""
        cdef int server
        self.join_late()
        for server in range(2):
            if self.readings[server] is not None:
                self.kept[server] += self.tracked(server).closed(DIRECTIONS[side == server], reset, t)
        self.weigh()
        return self.given(False)

    cdef int give(self, int server, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1:
        cdef Connection reading = self.tracked(server)
        cdef list events = reading.begin()
        try:
            reading.take(side == server, data, size, t, packet)
        finally:
            reading.done()
        self.kept[server] += events
        return 0

    cdef int weigh(self) except -1:
        """A response that answers a request says which reading is right; each event is looked at once."""
        cdef int server
        cdef Py_ssize_t index
        cdef list kept
        if self.server >= 0:
            return 0
        for server in (self.lower, 1 - self.lower):
            kept = self.kept[server]
            for index in range(self.weighed[server], len(kept)):
                if isinstance(kept[index], RequestCompleted) and kept[index].state == "answered":
                    return self.decide(server, "response")
            self.weighed[server] = len(kept)
        return 0

    cdef list given(self, bint ended):
        """Return the buffered events once the protocol is known."""
        cdef Connection reading
        cdef list events
        if self.server < 0:
            return []
        reading, events = self.tracked(self.server), self.kept[self.server]
        if not reading.state.proven:
            if reading._protocol is None and not ended and len(events) <= MOST_UNPROVEN:
                return []
            if reading.state.frames[0] or reading.state.frames[1] or (reading._protocol is None and reading.protocol == "unknown"):
                self.readings[self.server] = _pure.not_kafka(reading, self.new_reading(reading.state.joined_late))
            events = [event for event in events if isinstance(event, FrameSeen) and event.kind == "proxy"]
        self.kept = [[], []]
        return events

    cdef tuple likelier(self):
        cdef bint first = self.tracked(0).state.requests != 0
        cdef bint second = self.tracked(1).state.requests != 0
        if first != second:
            return (0 if first else 1), "requests"
        return self.lower, "lower_port"

    cdef int guess(self) except -1:
        server, by = self.likelier()
        return self.decide(server, by)

    cdef int decide(self, int server, object by) except -1:
        self.server, self.decided_by = server, by
        self.readings[1 - server] = None
        self.kept[1 - server] = []
        return 0

    cdef object export_state(self):
        """The same detector as the pure twin has it."""
        cdef int server
        made = _pure.DirectionDetector(0, 1, max_frame=self.max_frame, frames=self.frames, asked=self.asked, proven=self.proven)
        made._named, made._lower, made._bytes = None if self.named < 0 else self.named, self.lower, self.taken
        made._readings = {server: self.tracked(server).export_state() for server in range(2) if self.readings[server] is not None}
        made._kept = {0: self.kept[0], 1: self.kept[1]}
        made.server_side, made.decided_by = self.server_side, self.decided_by
        return made

    def __reduce__(self):
        return _restored, (self.export_state(),)

    def __repr__(self):
        return f"DirectionDetector(server side {self.server_side}, by {self.decided_by})"


def _restored(pure):
    """A detector out of a pickle, which is that of the pure twin."""
    return detector_of(pure)


cdef DirectionDetector detector_of(object pure):
    """A detector in the state of one of the pure twin."""
    cdef DirectionDetector made = DirectionDetector(
        0, 1, max_frame=pure._max_frame, frames=pure._frames, asked=pure._asked, proven=pure._proven
    )
    made.named, made.lower, made.taken = -1 if pure._named is None else pure._named, pure._lower, pure._bytes
    for server, reading in pure._readings.items():
        made.readings[server] = made.owned(reading if isinstance(reading, Connection) else import_state(reading))
    made.kept = [list(pure._kept[0]), list(pure._kept[1])]
    made.server = -1 if pure.server_side is None else pure.server_side
    made.decided_by = pure.decided_by
    return made


cdef Turn** turn_of_direction_detector(PyObject* self) noexcept:
    return &(<DirectionDetector>self).turn


one_at_a_time(DirectionDetector, turn_of_direction_detector)
