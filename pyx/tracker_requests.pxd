"""Takes the ordinary requests of a tracked connection: kwire/protocol/exchange.py for those with a known client id that break no rule.

Nothing is changed before it is sure that Python has no more to say about a frame than what is done here.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from cursor cimport Bytes, unlikely
from event_slots cimport new_row, new_waiting, set_shared
from lane_recipe cimport Recipe
from python_slots cimport python_slots
from raw_python cimport raw_decref, raw_list_append, raw_none
from recipe_book cimport FETCH, KEEPS_REQUEST, USES_TOPICS
from request_heads cimport FIXED_HEAD, KEYS, NO_CLIENT_ID, PRODUCE_KEY, RequestHead, read_head
from tracker_apis cimport CLIENT, api_ask
from lane_taken cimport Fields
from tracker_bodies cimport Body, body_close, body_open, put_request_fields, read_request_body, recipe_of
from tracker_clients cimport client_find
from tracker_events cimport say_frame, say_topics
from tracker_state cimport LEFT, PASSED_OVER, READ, REQUEST, Tracked, Tracking, list_size
from tracker_streams cimport LENGTH
from tracker_topics cimport uses_of


cdef inline bint read_request(Tracking* tracking, const Tracked* tracked, RequestHead* head, Bytes data, Py_ssize_t have) except -1:
    """Whether an ordinary request begins here."""
    cdef int key
    if have < FIXED_HEAD or data[0] or data[1] >= KEYS:
        return False
    key = data[1]
    if tracked.ways[key] == LEFT:
        return False
    if unlikely(not tracking.apis.asked[key]):
        api_ask(&tracking.apis, key)
    return tracking.apis.roles[key] <= tracked.role and read_head(head, &tracking.apis.heads, data, have)


cdef inline Py_ssize_t request_head(Tracking* tracking, const Tracked* tracked, Bytes data, Py_ssize_t have) except -1:
    """How many bytes suffice of a request whose end has not come; 0 for all, and where that is not known yet."""
    cdef RequestHead head
    if have < FIXED_HEAD or data[1] >= KEYS or tracked.ways[data[1]] != PASSED_OVER:
        return 0
    return head.size if read_request(tracking, tracked, &head, data, have) else 0


cdef inline bint add_request(
    Tracking* tracking, Tracked* tracked, const RequestHead* head, Bytes data, const Recipe* recipe, const Fields* fields, note,
    int64_t kept, int64_t length, int64_t offset, t, packet, list events,
) except -1:
    """Add a request that breaks no rule; arguments and outcome as of `take_request`.

    Arguments:
        recipe, fields: what its body was read with, and says; NULL when it is passed over.
        note, kept: what is kept of it for its response, None for nothing, and how many bytes that stands for.
    """
    cdef PyObject* client_id = raw_none
    cdef int client = -1
    if head.client_size != NO_CLIENT_ID:
        client = client_find(&tracked.clients, <const char*>data + FIXED_HEAD, head.client_size)
        if client < 0:
            return False
        client_id = tracked.clients.clients[client].text

    # From here on nothing is odd.
    made = <object>new_row(
        &tracking.slots, tracked.shared, head, tracking.apis.heads.headers[head.key][head.version], tracked.requests,
        tracking.apis.names[head.key], client_id, <PyObject*>t, length + LENGTH, <PyObject*>packet, offset,
    )
    raw_decref(<PyObject*>made)
    if tracked.tells_frames:
        say_frame(tracking, tracked, "request", <PyObject*>made, offset, length, events)
    if recipe is not NULL:
        put_request_fields(&tracking.slots, <PyObject*>made, recipe, fields, tracking.decoded)
    if head.key == PRODUCE_KEY and head.acks == 0:
        set_shared(&python_slots(<PyObject*>made)[tracking.slots.state], tracking.no_response)
        events.append(made)
        if note is not None:
            say_topics(tracking, <PyObject*>made, note, 0, events)
    else:
        waits = <object>new_waiting(&tracking.slots, <PyObject*>made, tracked.losses, tracked.response_breaks, <PyObject*>note, kept)
        raw_decref(<PyObject*>waits)
        if raw_list_append(tracked.waiting, <PyObject*>waits) < 0:
            raise MemoryError
        tracked.kept += kept
    if client >= 0:
        tracked.clients.clients[client].count += 1
        tracked.last_client = client
    tracked.requests += 1
    tracked.last_key = head.key
    tracked.streams[REQUEST].frames += 1
    return True


cdef inline bint add_read_request(
    Tracking* tracking, Tracked* tracked, const RequestHead* head, const Recipe* recipe, const Body* body, Bytes data, Py_ssize_t size,
    int64_t offset, t, packet, list events,
) except -1:
    """`add_request` for one whose body was read."""
    cdef object note = None
    cdef int64_t kept = 0
    if recipe.traits & FETCH and body.fields.replica_id >= 0 and tracked.role == CLIENT:
        return False
    if recipe.traits & USES_TOPICS:
        note = uses_of(&body.uses, <object>tracking.partition_use)
        if note is None:
            return False
        kept = len(<list>note) * tracking.bytes_a_partition
    elif recipe.traits & KEEPS_REQUEST:
        note = PyBytes_FromStringAndSize(<const char*>data, size), False
        kept = size
    if tracked.kept + kept > tracking.most_waiting_bytes:
        return False
    return add_request(tracking, tracked, head, data, recipe, &body.fields, note, kept, size, offset, t, packet, events)


cdef inline bint take_request(
    Tracking* tracking, Tracked* tracked, Bytes data, Py_ssize_t have, int64_t length, int64_t offset, t, packet, list events
) except -1:
    """Take a request.

    Arguments:
        data, have: the frame without its length; of one that is passed over only its head.
        length: of the frame, without that of its length.
        offset, packet: of its first byte, that of its length.
        t: arrival of its last byte.

    Returns:
        False when it is not ordinary, and then nothing has changed.
    """
    cdef RequestHead head
    cdef const Recipe* recipe
    cdef Body body
    cdef bint done
    if not read_request(tracking, tracked, &head, data, have) or list_size(tracked.waiting) >= tracking.most_waiting:
        return False
    if tracked.ways[head.key] != READ:
        return add_request(tracking, tracked, &head, data, NULL, NULL, None, 0, length, offset, t, packet, events)
    recipe = recipe_of(&tracking.book, False, head.key, head.version)
    if recipe is NULL:
        return False
    body_open(&body, &tracking.spare)
    try:
        done = read_request_body(&body, recipe, data, have, head.body) and add_read_request(
            tracking, tracked, &head, recipe, &body, data, have, offset, t, packet, events
        )
    finally:
        body_close(&body, &tracking.spare)
    return done
