"""The connections of a series, in a list, so that the texts that they name can be found."""

from protocol.exchange_state cimport ExchangeState

cdef struct Slot:
    ExchangeState* exchange  # NULL while there is no native state, and the slot is not in the list then
    int client_side  # the direction of requests
    Slot* before
    Slot* after

cdef struct SlotList:
    Slot* first


cdef inline void slot_append(SlotList* slots, Slot* slot) noexcept nogil:
    slot.before = NULL
    slot.after = slots.first
    if slots.first is not NULL:
        slots.first.before = slot
    slots.first = slot


cdef inline void slot_remove(SlotList* slots, Slot* slot) noexcept nogil:
    if slot.before is NULL:
        slots.first = slot.after
    else:
        slot.before.after = slot.after
    if slot.after is not NULL:
        slot.after.before = slot.before
    slot.before = slot.after = NULL
