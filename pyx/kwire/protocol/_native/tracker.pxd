"""C interface of pyx/protocol/tracker.pyx: the state of a tracked connection, and the receivers of its events."""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t

from protocol.exchange_state cimport ExchangeState, WaitingRequest
from protocol.field_plan cimport FieldPlan
from protocol.field_plans cimport FieldPlans
from protocol.frame_cutter cimport Cutter
from protocol.held_responses cimport HeldResponses, Outcomes
from protocol.openings cimport Opening
from protocol.series_state cimport SeriesState
from wire.cursor cimport Bytes
from wire.turns cimport Turn


cdef class EventSink:
    cdef int take_events(self, Connection connection, list events) except -1


@cython.final
cdef class Connection:
    cdef Turn* turn  # see wire/turns.pxd
    cdef ExchangeState state
    cdef SeriesState* series
    cdef SeriesState* own  # NULL where rows go to a series
    cdef PyObject* sink  # borrowed: the EventSink that owns this connection, NULL where events are given back
    cdef Cutter cutters[2]
    cdef Opening* openings[2]  # the first bytes of a direction while they do not say what is spoken; NULL for none
    cdef bint opened[2]
    cdef bint is_middle[2]  # they may lie in the middle of anything
    cdef uint8_t* ways  # KEYS of them, NULL where all bodies are read
    cdef bint busy
    cdef bint expecting  # the rules have added a request that waits
    cdef HeldResponses held  # responses that have not found their request
    cdef Outcomes outcomes  # of pairing, until they become rows
    cdef object asked, passing
    cdef public object _protocol  # a foreign protocol, once one is recognised
    cdef public int64_t _stray
    cdef public object _proxied
    cdef public dict _hellos
    cdef bint encrypted  # a reader of TLS has the bytes too, so that hellos need not be read here
    cdef list unheard  # violations that count once the server is heard; None for none

    cdef int open(self, bint joined_late, int64_t max_frame, object asked) except -1
    cdef object text(self, int32_t number)
    cdef list begin(self)
    cdef int done(self) except -1
    cdef int say(self, list events) except -1
    cdef list receive(self, int side, data, int64_t t, int64_t packet)
    cdef list receive_bytes(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet)
    cdef void see(self, int64_t t) noexcept
    cdef int take(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1
    cdef bint begins_kafka(self, int side, Bytes data, Py_ssize_t size) noexcept
    cdef bint begins_tls(self, int side, Bytes data, Py_ssize_t size) noexcept
    cdef bint needs_proof(self, int side, Bytes data, Py_ssize_t size) except -1
    cdef int spoken(self, int side, Bytes data, Py_ssize_t size) noexcept
    cdef int feed(self, int side, Bytes data, Py_ssize_t size, int64_t t, int64_t packet) except -1
    cdef int begin_late(self, int side) except -1
    cdef int lose_bytes(self, int side, int64_t n, int64_t t, bint cut) except -1
    cdef int close(self, int side, bint reset, int64_t t) except -1
    cdef int end_all(self, int64_t t) except -1
    cdef int give_up_waiting(self) except -1
    cdef object export_state(self)


cdef Connection row_connection(EventSink sink, SeriesState* series, bint joined_late, object asked, object known)
cdef FieldPlans* field_plans() noexcept
cdef bint begins_with_tls(const uint8_t* data, Py_ssize_t size) noexcept
