"""Responses that have not found their request, in the order in which they came: what tracking/pairing.py holds, as C structs."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from protocol.exchange_state cimport WaitingRequest
from protocol.request_rows cimport no_long
from protocol.wire_frame cimport WireFrame
from wire.cursor cimport Bytes, load_32
from wire.grown cimport grown

cdef enum:
    ID_SIZE = 4

# A frame of the server, with the first bytes of its payload behind this struct.
cdef struct HeldResponse:
    WireFrame frame
    int64_t correlation_id  # NO_LONG where its bytes were lost

cdef struct HeldResponses:
    HeldResponse** each
    Py_ssize_t count
    Py_ssize_t room

# What pairing comes to: a request that is answered (both), one that is given up, or a response without request.
cdef struct Outcome:
    WaitingRequest* waiting
    HeldResponse* response

cdef struct Outcomes:
    Outcome* each
    Py_ssize_t count
    Py_ssize_t room


cdef inline HeldResponse* held_new(const WireFrame* frame, Py_ssize_t size) except NULL:
    """A response with a copy of its first `size` bytes."""
    cdef HeldResponse* made = <HeldResponse*>malloc(sizeof(HeldResponse) + size)
    if made is NULL:
        raise MemoryError
    made.frame = frame[0]
    made.frame.size = size
    made.frame.payload = <Bytes>(made + 1)
    memcpy(made + 1, frame.payload, size)
    made.correlation_id = <int64_t><int32_t>load_32(frame.payload) if size >= ID_SIZE else no_long()
    return made


cdef inline int held_add(HeldResponses* held, HeldResponse* response) except -1:
    """Put a response behind the others, which own it from here on."""
    cdef HeldResponse** made = <HeldResponse**>grown(held.each, &held.room, held.count + 1, 4, sizeof(HeldResponse*))
    if made is NULL:
        free(response)
        raise MemoryError
    held.each = made
    made[held.count] = response
    held.count += 1
    return 0


cdef inline void held_remove(HeldResponses* held, Py_ssize_t count) noexcept nogil:
    """The first `count` responses belong to the caller."""
    held.count -= count
    if held.count:  # without a response there may be no memory, and C moves nothing from or to NULL
        memmove(held.each, held.each + count, held.count * sizeof(HeldResponse*))


cdef inline void held_free(HeldResponses* held) noexcept nogil:
    cdef Py_ssize_t index
    for index in range(held.count):
        free(held.each[index])
    free(held.each)
    held.each = NULL
    held.count = held.room = 0


cdef inline int outcome_add(Outcomes* outcomes, WaitingRequest* waiting, HeldResponse* response) except -1:
    cdef Outcome* made = <Outcome*>grown(outcomes.each, &outcomes.room, outcomes.count + 1, 4, sizeof(Outcome))
    if made is NULL:
        raise MemoryError
    outcomes.each = made
    made[outcomes.count].waiting, made[outcomes.count].response = waiting, response
    outcomes.count += 1
    return 0
