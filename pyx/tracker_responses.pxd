"""Takes the ordinary responses of a tracked connection: kwire/protocol/exchange.py for those to the request that has waited longest.

What an exchange says beyond its row and the use of topics is said by `kwire.protocol.observation` and `brokers`, as in Python.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport INT32_MIN, int32_t, int64_t

from cursor cimport Bytes, load_32
from event_slots cimport answer_row, int_of, is_without_loss
from lane_fields cimport error_of
from lane_recipe cimport Recipe
from python_slots cimport python_slots
from recipe_book cimport LEARNS, STEPS, USES_TOPICS, WATCHED, WATCHED_ON_ERROR
from request_heads cimport KEYS, VERSIONS
from tracker_bodies cimport CORRELATION_ID, Body, body_close, body_open, put_response_fields, read_response_body, recipe_of
from tracker_events cimport say_frame, say_topics
from tracker_state cimport READ, RESPONSE, Tracked, Tracking, asked_row, list_item
from tracker_streams cimport LENGTH
from tracker_topics cimport uses_of, uses_together

cdef extern from "Python.h":
    int list_cut "PyList_SetSlice"(PyObject* items, Py_ssize_t low, Py_ssize_t high, PyObject* instead) except -1


cdef inline Py_ssize_t response_head(const Tracking* tracking, const Tracked* tracked, Bytes data, Py_ssize_t have) noexcept:
    """How many bytes suffice of a response whose end has not come; 0 for all, and where that is not known yet."""
    cdef PyObject* row
    if have < CORRELATION_ID:
        return 0
    row = asked_row(tracking, tracked, <int32_t>load_32(data))
    return CORRELATION_ID if row is not NULL and python_slots(row)[tracking.slots.body] == tracking.skipped else 0


cdef inline object nodes(const Tracking* tracking, PyObject* row, bytes payload, int start, t):
    """The nodes of the cluster that a response names whose body, from `start` on, breaks no rule."""
    cdef PyObject** own = python_slots(row)
    _, decoder = (<object>tracking.response_decoders)(<object>own[tracking.slots.api_key], <object>own[tracking.slots.api_version])
    message, _ = decoder.decode(payload, start, True)
    return (<object>tracking.nodes_of)(<object>own[tracking.slots.api_name], <object>own[tracking.slots.request_index], t, message)


cdef inline const Recipe* response_recipe(Tracking* tracking, const Tracked* tracked, PyObject* row) except? NULL:
    """How to read the response to a request whose body was read; NULL where Python reads it."""
    cdef int64_t key, version
    cdef PyObject** own = python_slots(row)
    if own[tracking.slots.body] != tracking.decoded:
        return NULL
    if not int_of(own[tracking.slots.api_key], &key) or not int_of(own[tracking.slots.api_version], &version):
        return NULL
    if not (0 <= key < KEYS and 0 <= version < VERSIONS) or tracked.ways[key] != READ:
        return NULL
    return recipe_of(&tracking.book, True, <int>key, <int>version)


cdef inline bint answer(
    const Tracking* tracking, const Tracked* tracked, row, note, const Recipe* recipe, const Body* body, Bytes data, Py_ssize_t size,
    int64_t offset, t, int64_t time_ns, bint is_lossless, list events,
) except -1:
    """Finish the row of a request, and say what its response says whose body was read; outcome as of `take_response`.

    Arguments:
        note: what was kept of the request.
        recipe, body: of the response.
        data, size, offset: its frame.
        is_lossless: nothing was lost since the request.
    """
    cdef object payload = None
    cdef object learned = None
    cdef list uses = None
    cdef int32_t error = error_of(recipe, &body.fields)
    if recipe.traits & USES_TOPICS:
        uses = uses_of(&body.uses, <object>tracking.partition_use)
        if uses is None or type(note) is not list:
            return False
        uses = uses_together(note, uses, <object>tracking.partition_use)
    elif recipe.traits & (LEARNS | WATCHED) or (recipe.traits & WATCHED_ON_ERROR and error != 0 and error != INT32_MIN):
        payload = PyBytes_FromStringAndSize(<const char*>data, size)
        if recipe.traits & STEPS and (<object>tracking.group_faults)(row, note, payload, False):
            return False
        if recipe.traits & LEARNS:
            learned = nodes(tracking, <PyObject*>row, payload, CORRELATION_ID + recipe.header_version, t)
    if not answer_row(&tracking.slots, <PyObject*>row, tracking.answered, <PyObject*>t, time_ns, size + LENGTH, is_lossless):
        return False
    put_response_fields(&tracking.slots, <PyObject*>row, recipe, &body.fields)
    if tracked.tells_frames:
        say_frame(tracking, tracked, "response", <PyObject*>row, offset, size, events)
    if learned is not None:
        events.append(learned)
    events.append(row)
    if uses is not None:
        say_topics(tracking, <PyObject*>row, uses, body.fields.error[0] if recipe.has_top_error else 0, events)
    elif payload is not None:
        events.extend((<object>tracking.observe)(row, note, payload))
    return True


cdef inline bint read_answer(
    Tracking* tracking, const Tracked* tracked, PyObject* row, Bytes data, Py_ssize_t size, int64_t offset, t, int64_t time_ns,
    bint is_lossless, list events,
) except -1:
    """`answer` to the request that has waited longest, if its body was read and that of the response breaks no rule."""
    cdef const Recipe* recipe = response_recipe(tracking, tracked, row)
    cdef Body body
    cdef bint done
    if recipe is NULL:
        return False
    note = <object>python_slots(list_item(tracked.waiting, 0))[tracking.slots.note]
    body_open(&body, &tracking.spare)
    try:
        done = read_response_body(&body, recipe, data, size, tracked.partial_said) and answer(
            tracking, tracked, <object>row, note, recipe, &body, data, size, offset, t, time_ns, is_lossless, events
        )
    finally:
        body_close(&body, &tracking.spare)
    return done


cdef inline bint take_response(
    Tracking* tracking, Tracked* tracked, Bytes data, Py_ssize_t have, int64_t length, int64_t offset, t, int64_t time_ns, list events
) except -1:
    """Take a response.

    Arguments:
        data, have: the frame without its length; of one that is passed over only its correlation id.
        length: of the frame, without that of its length.
        offset: of its first byte, that of its length.
        t, time_ns: arrival of its last byte.

    Returns:
        False when it is not ordinary, and then nothing has changed.
    """
    cdef PyObject* waits
    cdef PyObject* row
    cdef bint is_lossless
    cdef int64_t kept
    if have < CORRELATION_ID:
        return False
    row = asked_row(tracking, tracked, <int32_t>load_32(data))
    if row is NULL:
        return False
    waits = list_item(tracked.waiting, 0)
    if not int_of(python_slots(waits)[tracking.slots.kept], &kept):
        return False
    is_lossless = is_without_loss(&tracking.slots, waits, tracked.losses_now)
    if python_slots(row)[tracking.slots.body] == tracking.skipped:
        if not answer_row(&tracking.slots, row, tracking.answered, <PyObject*>t, time_ns, length + LENGTH, is_lossless):
            return False
        if tracked.tells_frames:
            say_frame(tracking, tracked, "response", row, offset, length, events)
        events.append(<object>row)
    elif have < length or not read_answer(tracking, tracked, row, data, have, offset, t, time_ns, is_lossless, events):
        return False
    list_cut(tracked.waiting, 0, 1, NULL)
    tracked.kept -= kept
    tracked.last_answered = <int32_t>load_32(data)
    tracked.streams[RESPONSE].frames += 1
    return True
