"""Rows of requests and the records of those that wait, made and finished in C: `RequestCompleted` of `kwire.protocol.events` and `Waiting`
of `kwire.protocol.pairing`, the objects that Python makes too.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t

from python_slots cimport python_new, python_slots, slot_index
from raw_python cimport raw_false, raw_incref, raw_long, raw_long_long, raw_none, raw_xdecref, raw_true
from request_heads cimport PRODUCE_KEY, RequestHead

cdef extern from "Python.h":
    bint is_int "PyLong_CheckExact"(PyObject* number) noexcept
    long long int_value "PyLong_AsLongLongAndOverflow"(PyObject* number, int* overflow) noexcept

cdef enum:
    ROW_SLOTS = 27
    WAITING_SLOTS = 10

# Where the slots of both classes lie.
cdef struct EventSlots:
    PyTypeObject* row_type
    PyTypeObject* waiting_type
    PyObject* zero  # the one 0 of CPython
    PyObject* unplaced
    Py_ssize_t request_index, api_key, api_name, api_version, header_version, correlation_id, client_id, request_time, response_time
    Py_ssize_t latency_us, request_bytes, response_bytes, error_code, throttle_time_ms, acks, first_topic, topic_count, group_id
    Py_ssize_t transactional_id, state, body, packet_number, stream_offset
    Py_ssize_t row, losses, response_breaks, may_be_silent, overtaken_by, note, kept, place, is_timed, is_lost


cdef inline int find_slots(EventSlots* slots, row_type, waiting_type) except -1:
    """Ask the classes, which the caller keeps alive."""
    slots.row_type, slots.waiting_type = <PyTypeObject*>row_type, <PyTypeObject*>waiting_type
    slots.zero = raw_long(0)
    slots.unplaced = raw_long(-1)  # kwire.protocol.waiting_index.UNPLACED
    slots.request_index = slot_index(row_type, "request_index", ROW_SLOTS)
    slots.api_key = slot_index(row_type, "api_key", ROW_SLOTS)
    slots.api_name = slot_index(row_type, "api_name", ROW_SLOTS)
    slots.api_version = slot_index(row_type, "api_version", ROW_SLOTS)
    slots.header_version = slot_index(row_type, "header_version", ROW_SLOTS)
    slots.correlation_id = slot_index(row_type, "correlation_id", ROW_SLOTS)
    slots.client_id = slot_index(row_type, "client_id", ROW_SLOTS)
    slots.request_time = slot_index(row_type, "request_time", ROW_SLOTS)
    slots.response_time = slot_index(row_type, "response_time", ROW_SLOTS)
    slots.latency_us = slot_index(row_type, "latency_us", ROW_SLOTS)
    slots.request_bytes = slot_index(row_type, "request_bytes", ROW_SLOTS)
    slots.response_bytes = slot_index(row_type, "response_bytes", ROW_SLOTS)
    slots.error_code = slot_index(row_type, "error_code", ROW_SLOTS)
    slots.throttle_time_ms = slot_index(row_type, "throttle_time_ms", ROW_SLOTS)
    slots.acks = slot_index(row_type, "acks", ROW_SLOTS)
    slots.first_topic = slot_index(row_type, "first_topic", ROW_SLOTS)
    slots.topic_count = slot_index(row_type, "topic_count", ROW_SLOTS)
    slots.group_id = slot_index(row_type, "group_id", ROW_SLOTS)
    slots.transactional_id = slot_index(row_type, "transactional_id", ROW_SLOTS)
    slots.state = slot_index(row_type, "state", ROW_SLOTS)
    slots.body = slot_index(row_type, "body", ROW_SLOTS)
    slots.packet_number = slot_index(row_type, "packet_number", ROW_SLOTS)
    slots.stream_offset = slot_index(row_type, "stream_offset", ROW_SLOTS)
    slots.row = slot_index(waiting_type, "row", WAITING_SLOTS)
    slots.losses = slot_index(waiting_type, "losses", WAITING_SLOTS)
    slots.response_breaks = slot_index(waiting_type, "response_breaks", WAITING_SLOTS)
    slots.may_be_silent = slot_index(waiting_type, "may_be_silent", WAITING_SLOTS)
    slots.overtaken_by = slot_index(waiting_type, "overtaken_by", WAITING_SLOTS)
    slots.note = slot_index(waiting_type, "note", WAITING_SLOTS)
    slots.kept = slot_index(waiting_type, "kept", WAITING_SLOTS)
    slots.place = slot_index(waiting_type, "place", WAITING_SLOTS)
    slots.is_timed = slot_index(waiting_type, "is_timed", WAITING_SLOTS)
    slots.is_lost = slot_index(waiting_type, "is_lost", WAITING_SLOTS)
    return 0


cdef inline void put_shared(PyObject** place, PyObject* value) noexcept:
    """Put another reference into an empty slot."""
    raw_incref(value)
    place[0] = value


cdef inline void replace(PyObject** place, PyObject* value) noexcept:
    """Put an owned reference where there may be another one."""
    cdef PyObject* before = place[0]
    place[0] = value
    raw_xdecref(before)


cdef inline void set_shared(PyObject** place, PyObject* value) noexcept:
    """Put another reference to a value where there may be one to something else."""
    raw_incref(value)
    replace(place, value)


cdef inline bint int_of(PyObject* number, int64_t* value) noexcept:
    """Whether a slot holds an integer of 64 bits."""
    cdef int overflow = 0
    if number is NULL or not is_int(number):
        return False
    value[0] = int_value(number, &overflow)
    return not overflow


cdef inline void shared_slots(const EventSlots* slots, PyObject** shared, PyObject* row) noexcept:
    """What the rows of an identity share: the slots of a first one, NULL where each row has its own."""
    cdef Py_ssize_t index
    for index in range(ROW_SLOTS):
        shared[index] = python_slots(row)[index]
    shared[slots.request_index] = shared[slots.api_key] = shared[slots.api_name] = shared[slots.api_version] = NULL
    shared[slots.header_version] = shared[slots.correlation_id] = shared[slots.client_id] = shared[slots.request_time] = NULL
    shared[slots.request_bytes] = shared[slots.packet_number] = shared[slots.stream_offset] = NULL


cdef inline PyObject* new_row(
    const EventSlots* slots, PyObject** shared, const RequestHead* head, int header_version, int64_t request_index, PyObject* api_name,
    PyObject* client_id, PyObject* time, int64_t frame_bytes, PyObject* packet, int64_t offset
) except NULL:
    """The row of a request; a new reference. Integers that cannot be made for want of memory are not looked for: the row says so then."""
    cdef Py_ssize_t index
    cdef PyObject** own
    cdef PyObject* row = python_new(slots.row_type)
    if row is NULL:
        raise MemoryError
    own = python_slots(row)
    for index in range(ROW_SLOTS):
        if shared[index] is not NULL:
            put_shared(&own[index], shared[index])
    own[slots.request_index] = raw_long_long(request_index)
    own[slots.api_key] = raw_long(head.key)
    put_shared(&own[slots.api_name], api_name)
    own[slots.api_version] = raw_long(head.version)
    own[slots.header_version] = raw_long(header_version)
    own[slots.correlation_id] = raw_long(head.correlation_id)
    put_shared(&own[slots.client_id], client_id)
    put_shared(&own[slots.request_time], time)
    own[slots.request_bytes] = raw_long_long(frame_bytes)
    put_shared(&own[slots.packet_number], packet)
    own[slots.stream_offset] = raw_long_long(offset)
    if head.key == PRODUCE_KEY:
        replace(&own[slots.acks], raw_long(head.acks))
    return row


cdef inline PyObject* new_waiting(
    const EventSlots* slots, PyObject* row, PyObject* losses, PyObject* response_breaks, PyObject* note, int64_t kept
) except NULL:
    """What waits for a response, with a row whose texts are ordinary; a new reference.

    Arguments:
        note: what is kept of the request, None for nothing.
        kept: bytes that the note stands for.
    """
    cdef PyObject** own
    cdef PyObject* waits = python_new(slots.waiting_type)
    if waits is NULL:
        raise MemoryError
    own = python_slots(waits)
    put_shared(&own[slots.row], row)
    put_shared(&own[slots.losses], losses)
    put_shared(&own[slots.response_breaks], response_breaks)
    put_shared(&own[slots.may_be_silent], raw_false)
    put_shared(&own[slots.is_timed], raw_true)
    put_shared(&own[slots.is_lost], raw_false)
    put_shared(&own[slots.overtaken_by], slots.zero)
    put_shared(&own[slots.note], note)
    own[slots.kept] = raw_long_long(kept)
    put_shared(&own[slots.place], slots.unplaced)
    return waits


cdef inline PyObject* waiting_row(const EventSlots* slots, PyObject* waits, int32_t correlation_id, PyObject* state) noexcept:
    """The row of what waits, borrowed, when it has this correlation id and state and nothing about it is odd; else NULL."""
    cdef PyObject** own = python_slots(waits)
    cdef PyObject* row
    cdef int64_t number
    if waits.ob_type != slots.waiting_type or own[slots.overtaken_by] != slots.zero or own[slots.is_timed] != raw_true:
        return NULL
    row = own[slots.row]
    if row is NULL or row.ob_type != slots.row_type or python_slots(row)[slots.state] != state:
        return NULL
    return row if int_of(python_slots(row)[slots.correlation_id], &number) and number == correlation_id else NULL


cdef inline bint is_without_loss(const EventSlots* slots, PyObject* waits, int64_t losses) noexcept:
    """Whether nothing was lost since the request of what waits."""
    cdef int64_t before
    return int_of(python_slots(waits)[slots.losses], &before) and before == losses


cdef inline bint answer_row(
    const EventSlots* slots, PyObject* row, PyObject* state, PyObject* time, int64_t time_ns, int64_t frame_bytes, bint with_latency
) noexcept:
    """Finish the row of a request whose response came; False, and nothing done, where a time is beyond 62 bits."""
    cdef PyObject** own = python_slots(row)
    cdef int64_t elapsed
    if not int_of(own[slots.request_time], &elapsed):
        return False
    if not (INT64_MIN // 2 < elapsed < INT64_MAX // 2 and INT64_MIN // 2 < time_ns < INT64_MAX // 2):
        return False
    elapsed = time_ns - elapsed
    if with_latency and elapsed >= 0:
        replace(&own[slots.latency_us], raw_long_long(elapsed // 1000))
    set_shared(&own[slots.state], state)
    set_shared(&own[slots.response_time], time)
    replace(&own[slots.response_bytes], raw_long_long(frame_bytes))
    return True
