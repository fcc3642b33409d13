"""What tracked connections say beside rows: where a frame lies, and what an exchange does with topics."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from event_slots cimport int_of
from python_slots cimport python_slots
from request_heads cimport PRODUCE_KEY
from tracker_state cimport Tracked, Tracking


cdef inline int say_frame(
    const Tracking* tracking, const Tracked* tracked, str direction, PyObject* row, int64_t offset, int64_t length, list events
) except -1:
    """The `FrameSeen` of a request or a response, for who asked for it.

    Arguments:
        row: of the request.
        offset, length: of the frame; the length as its prefix says.
    """
    cdef PyObject** own = python_slots(row)
    events.append((<object>tracking.frame_seen)(
        direction, direction, offset, length, <object>own[tracking.slots.request_index], <object>own[tracking.slots.api_key],
        <object>own[tracking.slots.api_version], <object>tracked.mechanism,
    ))
    return 0


cdef inline int say_topics(const Tracking* tracking, PyObject* row, list uses, error_code, list events) except -1:
    """What an exchange does with topics, once its row is complete."""
    cdef PyObject** own = python_slots(row)
    cdef int64_t key = 0
    if uses:
        int_of(own[tracking.slots.api_key], &key)
        events.append((<object>tracking.topics_used)(
            <object>own[tracking.slots.request_index], <object>own[tracking.slots.request_time],
            "produce" if key == PRODUCE_KEY else "fetch", <object>own[tracking.slots.client_id], <object>own[tracking.slots.acks],
            error_code, uses,
        ))
    return 0
