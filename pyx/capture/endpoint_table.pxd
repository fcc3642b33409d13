"""Distinct endpoint pairs of a chunk: an open-addressed table from a packed pair to its number, in order of first sight.

The owner zeroes the struct, sets `seed` to a secret number (endpoints come from the wire, and may be made to collide), and frees
`pairs` and `slots` in the end. The packets of the chunk bound its memory.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy

cdef enum:
    PAIR_BYTES = 40
    PAIR_WORDS = 5

cdef struct EndpointPair:
    uint8_t name[PAIR_BYTES]  # as in PacketColumns.keys, then zeros

cdef struct EndpointTable:
    uint64_t seed
    EndpointPair* pairs
    Py_ssize_t count
    Py_ssize_t room
    int32_t* slots  # number of the pair plus one, 0 where free; twice as many as room
    uint64_t slot_mask


cdef inline uint64_t hash_pair(const EndpointTable* table, const EndpointPair* pair) noexcept nogil:
    cdef uint64_t mixed = table.seed
    cdef uint64_t word
    cdef int index
    for index in range(PAIR_WORDS):
        memcpy(&word, &pair.name[8 * index], 8)
        mixed = (mixed ^ word) * <uint64_t>0x9E3779B97F4A7C15u
        mixed ^= mixed >> 32
    return mixed


cdef inline bint is_same_pair(const EndpointPair* one, const EndpointPair* other) noexcept nogil:
    cdef uint64_t[PAIR_WORDS] first
    cdef uint64_t[PAIR_WORDS] second
    cdef uint64_t different = 0
    cdef int index
    memcpy(first, one, PAIR_BYTES)
    memcpy(second, other, PAIR_BYTES)
    for index in range(PAIR_WORDS):
        different |= first[index] ^ second[index]
    return different == 0


cdef inline bint grow_endpoints(EndpointTable* table) noexcept nogil:
    """Twice the room; False without memory."""
    cdef Py_ssize_t room = table.room * 2 if table.room else 64
    cdef EndpointPair* pairs = <EndpointPair*>realloc(table.pairs, room * sizeof(EndpointPair))
    cdef int32_t* slots
    cdef uint64_t slot
    cdef Py_ssize_t index
    if pairs == NULL:
        return False
    table.pairs = pairs
    table.room = room
    slots = <int32_t*>calloc(2 * room, sizeof(int32_t))
    if slots == NULL:
        return False
    free(table.slots)
    table.slots = slots
    table.slot_mask = 2 * room - 1
    for index in range(table.count):
        slot = hash_pair(table, &pairs[index]) & table.slot_mask
        while slots[slot]:
            slot = (slot + 1) & table.slot_mask
        slots[slot] = <int32_t>index + 1
    return True


cdef inline int32_t find_endpoints(EndpointTable* table, const EndpointPair* pair, int32_t guess) noexcept nogil:
    """Return the number of a pair, new or known; -1 without memory. `guess` is that of the packet before, or -1."""
    cdef uint64_t slot
    cdef int32_t found
    if guess >= 0 and is_same_pair(&table.pairs[guess], pair):
        return guess
    if table.count == table.room and not grow_endpoints(table):
        return -1
    slot = hash_pair(table, pair) & table.slot_mask
    while table.slots[slot]:
        found = table.slots[slot] - 1
        if is_same_pair(&table.pairs[found], pair):
            return found
        slot = (slot + 1) & table.slot_mask
    found = <int32_t>table.count
    table.pairs[found] = pair[0]
    table.count += 1
    table.slots[slot] = found + 1
    return found
