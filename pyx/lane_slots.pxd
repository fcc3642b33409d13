"""The connections of a series that are open or linger, in the order in which they began, as C structs.

A slot is *free* of Python objects but for its key while a lane has it; it holds the `TcpConnection` as soon as Python needs one.
"""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc, qsort

from lane_series cimport LaneExchange, exchange_free
from lane_tcp cimport TcpState
from raw_python cimport raw_incref, raw_xdecref

cdef enum SlotMode:
    IN_PYTHON = 0  # `connection` has the state, and the SeriesCarry holds it
    STREAMS_ONLY = 1  # TCP is native, the bytes go to the Conversation that hangs on `connection`
    IN_LANE = 2  # no Python at all

cdef struct Slot:
    PyObject* key  # bytes, as in PacketColumns.keys
    PyObject* connection  # TcpConnection or NULL; its TCP state is old unless IN_PYTHON
    TcpState tcp
    int64_t n  # how many connections of the same endpoints the series had before
    SlotMode mode
    LaneExchange* exchange  # NULL unless IN_LANE
    int client_side  # of a lane: the direction of requests
    bint ignored
    int patience  # packets with payload until it is tried again to go on without Python
    int departures  # how often it has left a lane
    int64_t begun  # its place among the slots, by which they stand in order
    Slot* before
    Slot* after
    bint is_watched  # a sweep has to look at it
    Slot* watched_before
    Slot* watched_after

cdef struct SlotList:
    Slot* first
    Slot* last
    Slot* watched  # the latest of those that are watched
    Py_ssize_t count
    Py_ssize_t watched_count
    int64_t begun  # how many slots there were


cdef inline Slot* slot_append(SlotList* slots) noexcept nogil:
    """A zeroed slot at the end; NULL without memory."""
    cdef Slot* slot = <Slot*>calloc(1, sizeof(Slot))
    if slot is NULL:
        return NULL
    slot.before = slots.last
    if slots.last is NULL:
        slots.first = slot
    else:
        slots.last.after = slot
    slots.last = slot
    slots.count += 1
    slot.begun = slots.begun
    slots.begun += 1
    return slot


cdef inline Slot* slot_open(SlotList* slots, dict numbers, object key) except NULL:
    """A slot for a connection; `numbers` holds the addresses of slots by the keys of connections.

    Raises:
        MemoryError: no room.
    """
    cdef Slot* slot = slot_append(slots)
    if slot is NULL:
        raise MemoryError
    raw_incref(<PyObject*>key)
    slot.key = <PyObject*>key
    numbers[key] = <size_t>slot
    return slot


cdef inline Slot* slot_of(dict numbers, object key) except? NULL:
    """The slot of a connection, NULL for none."""
    cdef PyObject* found = PyDict_GetItem(numbers, key)
    return NULL if found is NULL else <Slot*><size_t><object>found


cdef inline int slot_close(SlotList* slots, dict numbers, Slot* slot) except -1:
    """The connection is forgotten."""
    del numbers[<object>slot.key]
    slot_remove(slots, slot)
    return 0


cdef inline bint slot_expires(const Slot* slot) except -1:
    """TcpConnection.expires."""
    if slot.mode == IN_PYTHON:
        return (<object>slot.connection).expires
    return slot.tcp.closed or not slot.tcp.answered


cdef inline void slot_watch(SlotList* slots, Slot* slot) noexcept nogil:
    """Have sweeps look at a slot."""
    if slot.is_watched:
        return
    slot.is_watched = True
    slot.watched_after = NULL
    slot.watched_before = slots.watched
    if slots.watched is not NULL:
        slots.watched.watched_after = slot
    slots.watched = slot
    slots.watched_count += 1


cdef inline void slot_unwatch(SlotList* slots, Slot* slot) noexcept nogil:
    """Have sweeps pass by a slot."""
    if not slot.is_watched:
        return
    slot.is_watched = False
    if slot.watched_before is not NULL:
        slot.watched_before.watched_after = slot.watched_after
    if slot.watched_after is NULL:
        slots.watched = slot.watched_before
    else:
        slot.watched_after.watched_before = slot.watched_before
    slots.watched_count -= 1


cdef inline int compare_begun(const void* one, const void* other) noexcept nogil:
    cdef int64_t a = (<const Slot* const*>one)[0].begun
    cdef int64_t b = (<const Slot* const*>other)[0].begun
    return (a > b) - (a < b)


cdef inline Slot** slots_watched(const SlotList* slots) noexcept nogil:
    """The slots that are watched, in their order, and a NULL behind them: to be freed; NULL without memory."""
    cdef Slot** found = <Slot**>malloc((slots.watched_count + 1) * sizeof(Slot*))
    cdef Slot* slot = slots.watched
    cdef Py_ssize_t place = slots.watched_count
    if found is NULL:
        return NULL
    found[place] = NULL
    while slot is not NULL:
        place -= 1
        found[place] = slot
        slot = slot.watched_before
    qsort(found, slots.watched_count, sizeof(Slot*), compare_begun)
    return found


cdef inline void slot_free_exchange(Slot* slot) noexcept:
    """What a lane had is gone."""
    if slot.exchange is not NULL:
        exchange_free(slot.exchange)
        free(slot.exchange)
        slot.exchange = NULL


cdef inline void slot_remove(SlotList* slots, Slot* slot) noexcept:
    if slot.before is NULL:
        slots.first = slot.after
    else:
        slot.before.after = slot.after
    if slot.after is NULL:
        slots.last = slot.before
    else:
        slot.after.before = slot.before
    slots.count -= 1
    slot_unwatch(slots, slot)
    slot_free_exchange(slot)
    raw_xdecref(slot.key)
    raw_xdecref(slot.connection)
    free(slot)
