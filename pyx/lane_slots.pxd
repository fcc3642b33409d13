"""The connections of a series that are in lanes, in a list, so that the texts that they name can be found."""

from libc.stdlib cimport free

from lane_series cimport LaneExchange, exchange_free

cdef struct Slot:
    LaneExchange* exchange  # NULL for a connection that is in no lane, nor in the list then
    int client_side  # of a lane: the direction of requests
    int patience  # pieces of payload until it is tried again to go on without Python
    int departures  # how often it has left a lane
    Slot* before
    Slot* after

cdef struct SlotList:
    Slot* first


cdef inline void slot_append(SlotList* slots, Slot* slot) noexcept nogil:
    """Put a slot into the list; its owner keeps it where it is."""
    slot.before = NULL
    slot.after = slots.first
    if slots.first is not NULL:
        slots.first.before = slot
    slots.first = slot


cdef inline void slot_remove(SlotList* slots, Slot* slot) noexcept nogil:
    """Take a slot out of the list."""
    if slot.before is NULL:
        slots.first = slot.after
    else:
        slot.before.after = slot.after
    if slot.after is not NULL:
        slot.after.before = slot.before
    slot.before = slot.after = NULL


cdef inline void slot_free_exchange(Slot* slot) noexcept:
    """What a lane had is gone."""
    if slot.exchange is not NULL:
        exchange_free(slot.exchange)
        free(slot.exchange)
        slot.exchange = NULL
