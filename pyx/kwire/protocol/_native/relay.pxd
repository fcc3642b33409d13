"""C interface of pyx/protocol/relay.pyx: a relay that a loop feeds without the GIL (protocol/relay_feed.pxd)."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from protocol.relay_counters cimport Counters
from protocol.relay_state cimport Budget, RelayCore
from protocol.relay_state cimport Lease as LeaseState
from protocol.relay_table cimport RelayTable
from wire.cursor cimport Bytes
from wire.turns cimport Turn, WaitingTurn


cdef class PlanTable:
    cdef RelayTable table
    cdef list programs  # keeps alive what the table points to

    cdef int lower_programs(self, plan) except -1


cdef class HeldBudget:
    cdef Budget budget


cdef class Lease:
    cdef LeaseState state
    cdef object plan
    cdef PlanTable table
    cdef bytes client_id  # keeps state.client alive


cdef class RelayCounters:
    cdef Counters counters
    cdef WaitingTurn waiting  # of the relays that count in it


cdef class Relay:
    cdef Turn* turn  # see wire/turns.pxd
    cdef RelayCore core
    cdef readonly object plan
    cdef PlanTable table  # keeps core.table alive
    cdef Lease lease  # keeps core.lease alive
    cdef HeldBudget budget  # keeps core.budget alive
    cdef RelayCounters counters  # keeps core.counters alive
    cdef object tokens  # RawTokens
    cdef object held_request  # the Held of core.streams[...].held, once it was asked for
    cdef object held_response
    cdef str cause  # why a program failed, else None

    cdef object held_frame(self, int side)
    cdef int let_go(self, object held) except -1
    cdef int release_held(self, object held, object pieces, int64_t t, object response) except -1
    cdef int answer_held(self, object held, object frame, int64_t t) except -1
    cdef object take(self, int side, data, int64_t t)
    cdef int begin(self) except -1
    cdef void over(self) noexcept
    cdef object end(self, int side, int64_t t)
    cdef uint8_t* gathered(self, list pieces, Py_ssize_t* size) except NULL
    cdef int send(self, int side, uint8_t* frame, Py_ssize_t size, int32_t action) except -1
    cdef int forget(self, int side) except -1
    cdef object program(self, int action)
    cdef object raw_tokens(self)
    cdef object moves(self, object data)
    cdef object moves_of(self, object data, Bytes given, Py_ssize_t size)
