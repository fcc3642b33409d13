"""Responses owed to the client of a relay: kwire/protocol/relay/owed.py as a ring of C structs."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum OwedKind:
    OWED_BROKER = 0
    OWED_TOKEN = 1
    OWED_ANSWER = 2

cdef enum:
    MAX_OWED = 4096  # kwire.protocol.relay.owed.MAX_OWED
    HANDSHAKE_KEY = 17
    VERSIONS_KEY = 18
    AUTHENTICATE_KEY = 36
    BY_PLAN = -128  # in place of an action: what the plan says

cdef struct Owed:
    int8_t kind
    int16_t api_key
    int16_t api_version
    int32_t correlation_id
    int32_t action
    int32_t software  # as counters have it
    int32_t client
    int64_t time_ns
    int64_t request_bytes
    uint8_t* frame  # of an own answer, with its length
    Py_ssize_t size

# The oldest lies at `first & (room - 1)`; both numbers only rise.
cdef struct OwedRing:
    Owed* items
    int64_t first
    int64_t end
    Py_ssize_t room
    Py_ssize_t kept  # bytes of own answers, without their lengths
    Py_ssize_t answers  # how many entries are own answers
    bint asked  # OwedQueue.asked
    bint served


cdef inline Py_ssize_t owed_count(const OwedRing* ring) noexcept nogil:
    return <Py_ssize_t>(ring.end - ring.first)


cdef inline Owed* owed_at(const OwedRing* ring, int64_t number) noexcept nogil:
    """The entry with this number, NULL where it is done."""
    if not ring.first <= number < ring.end:
        return NULL
    return &ring.items[number & (ring.room - 1)]


cdef inline Owed* owed_first(const OwedRing* ring) noexcept nogil:
    return owed_at(ring, ring.first)


cdef inline Owed* owed_add(OwedRing* ring, int kind) except NULL nogil:
    """A new entry behind all others."""
    cdef Owed* made
    cdef Py_ssize_t room, index
    cdef int64_t number
    if ring.end - ring.first == ring.room:
        room = max(2 * ring.room, <Py_ssize_t>4)
        made = <Owed*>malloc(room * sizeof(Owed))
        if made is NULL:
            with gil:
                raise MemoryError
        for number in range(ring.first, ring.end):
            made[number & (room - 1)] = ring.items[number & (ring.room - 1)]
        free(ring.items)
        ring.items, ring.room = made, room
    index = <Py_ssize_t>(ring.end & (ring.room - 1))
    made = &ring.items[index]
    memset(made, 0, sizeof(Owed))
    made.kind = <int8_t>kind
    made.action = BY_PLAN
    made.software, made.client = -3, -2  # TEXT_UNKNOWN, TEXT_OTHER
    ring.end += 1
    ring.answers += kind == OWED_ANSWER
    return made


cdef inline bint needs_authentication(const Owed* owed) noexcept nogil:
    """A request of the client that a broker does not answer before it is authenticated."""
    return owed.kind == OWED_BROKER and owed.api_key not in (HANDSHAKE_KEY, VERSIONS_KEY, AUTHENTICATE_KEY)


cdef inline bint is_sasl(int key) noexcept nogil:
    return key == HANDSHAKE_KEY or key == AUTHENTICATE_KEY


cdef inline bint ends_in_sasl(const OwedRing* ring) noexcept nogil:
    """OwedQueue.ends_in_sasl."""
    cdef const Owed* last = owed_at(ring, ring.end - 1)
    return last is not NULL and is_sasl(last.api_key)


cdef inline void owed_take(OwedRing* ring) noexcept nogil:
    """The oldest entry is done; its frame is the caller's."""
    cdef Owed* first = owed_first(ring)
    if first is not NULL:
        ring.served |= needs_authentication(first)
        if first.kind == OWED_ANSWER:
            ring.answers -= 1
            ring.kept -= first.size - 4
        ring.first += 1


cdef inline void owed_drop_last_token(OwedRing* ring, int32_t correlation_id) noexcept nogil:
    """OwedQueue.drop_last_token."""
    cdef int64_t end = ring.first
    cdef int64_t number
    cdef const Owed* follower
    while end < ring.end and owed_at(ring, end).kind == OWED_TOKEN:
        end += 1
    number = end
    while number < ring.end and owed_at(ring, number).kind == OWED_ANSWER:
        number += 1
    follower = owed_at(ring, number)
    if follower is not NULL and follower.correlation_id == correlation_id:
        ring.first = end


cdef inline int owed_answer(OwedRing* ring, int32_t correlation_id, const uint8_t* frame, Py_ssize_t size) except -1 nogil:
    """The relay's own answer: `frame`, without its length, whose correlation id is set."""
    cdef Owed* owed
    cdef uint8_t* made = <uint8_t*>malloc(size + 4)
    cdef int index
    if made is NULL:
        with gil:
            raise MemoryError
    memcpy(made + 4, frame, size)
    for index in range(4):
        made[index] = <uint8_t>((size >> (24 - 8 * index)) & 0xFF)
        made[4 + index] = <uint8_t>((correlation_id >> (24 - 8 * index)) & 0xFF)
    owed = owed_add(ring, OWED_ANSWER)
    owed.correlation_id = correlation_id
    owed.frame, owed.size = made, size + 4
    ring.kept += size
    return 0
