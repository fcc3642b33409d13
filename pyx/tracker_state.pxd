"""The state of tracked connections, C structs all: what all of them share, and what each has.

What an object of `kwire.protocol.connection` has is here in another form as long as all is ordinary; counts run ahead of those of the
object.
"""

from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t
from libc.string cimport memset

from event_slots cimport ROW_SLOTS, EventSlots, find_slots, shared_slots, waiting_row
from raw_python cimport raw_incref
from recipe_book cimport RecipeBook, book_open
from request_heads cimport KEYS
from tracker_apis cimport ApiTable, role_number
from tracker_bodies cimport LONGEST_TEXT, Body
from tracker_clients cimport KnownClients, client_know, clients_free, clients_settle
from tracker_streams cimport Stream, stream_free

cdef extern from "Python.h":
    Py_ssize_t list_size "PyList_GET_SIZE"(PyObject* items) noexcept
    PyObject* list_item "PyList_GET_ITEM"(PyObject* items, Py_ssize_t index) noexcept

cdef enum:
    REQUEST = 0
    RESPONSE = 1
    PUSH_TELEMETRY = 72

cdef enum Way:
    # What is done with the bodies of an api
    PASSED_OVER = 0
    READ = 1
    LEFT = 2  # to Python

# What all connections share.
cdef struct Tracking:
    EventSlots slots
    ApiTable apis
    RecipeBook book
    Body spare
    int64_t most_waiting
    int64_t most_waiting_bytes
    int64_t bytes_a_partition  # by which a request that waits is weighed
    # Objects of Python, never released. These texts are known by identity: a row that was pickled meanwhile is finished by Python.
    PyObject* skipped
    PyObject* decoded
    PyObject* unanswered
    PyObject* answered
    PyObject* no_response
    PyObject* partition_use
    PyObject* topics_used
    PyObject* frame_seen
    PyObject* observe
    PyObject* group_faults
    PyObject* nodes_of
    PyObject* response_decoders

cdef struct Tracked:
    Stream streams[2]
    KnownClients clients
    uint8_t ways[KEYS]
    int64_t max_frame
    int64_t first_seen  # INT64_MAX for none since the counts were brought home
    int64_t last_seen
    int64_t requests
    int64_t requests_before
    int64_t kept  # bytes that the requests keep that wait
    int64_t last_answered  # INT64_MIN for none since the counts were brought home
    int64_t losses_now
    int last_key
    int last_client  # index; -1 for none since the counts were brought home
    int role
    bint tells_frames  # where they lie
    bint partial_said  # that a record batch was cut, which is said once
    PyObject* shared[ROW_SLOTS]  # slots that rows share, NULL where each has its own; borrowed, as the following
    PyObject* waiting  # the list of the requests that wait
    PyObject* losses
    PyObject* response_breaks
    PyObject* mechanism  # of SASL


cdef inline PyObject* lasting(value) noexcept:
    """A reference that is never released."""
    raw_incref(<PyObject*>value)
    return <PyObject*>value


cdef inline int tracking_open(Tracking* tracking) except -1:
    """Fill what is shared; once."""
    from kwire.protocol.brokers import nodes_of
    from kwire.protocol.events import FrameSeen, PartitionUse, RequestCompleted, TopicsUsed
    from kwire.protocol.observation import group_faults, observe
    from kwire.protocol.pairing import MAX_WAITING, MAX_WAITING_BYTES, Waiting, kept_bytes
    from kwire.protocol.reading import response_decoders

    memset(tracking, 0, sizeof(Tracking))
    lasting(RequestCompleted)
    lasting(Waiting)
    find_slots(&tracking.slots, RequestCompleted, Waiting)
    book_open(&tracking.book)
    tracking.most_waiting, tracking.most_waiting_bytes = MAX_WAITING, MAX_WAITING_BYTES
    tracking.bytes_a_partition = kept_bytes(RequestCompleted(0), [None])
    tracking.skipped, tracking.decoded = lasting("skipped"), lasting("decoded")
    tracking.unanswered, tracking.answered = lasting("unanswered"), lasting("answered")
    tracking.no_response = lasting("no_response_expected")
    tracking.partition_use, tracking.topics_used = lasting(PartitionUse), lasting(TopicsUsed)
    tracking.frame_seen = lasting(FrameSeen)
    tracking.observe, tracking.group_faults = lasting(observe), lasting(group_faults)
    tracking.nodes_of, tracking.response_decoders = lasting(nodes_of), lasting(response_decoders)
    return 0


cdef inline int tracked_open(Tracked* tracked, bodies, needed, int64_t max_frame, bint tells_frames) except -1:
    """Begin a connection.

    Arguments:
        bodies: api keys whose bodies are read, None for all.
        needed: those that are read in any case, for more than what a row has.
        max_frame: longest frame that is believed.
        tells_frames: each is to be told of.
    """
    memset(tracked, 0, sizeof(Tracked))
    tracked.max_frame, tracked.tells_frames = max_frame, tells_frames
    if bodies is None:
        memset(tracked.ways, READ, sizeof(tracked.ways))
        tracked.ways[PUSH_TELEMETRY] = LEFT
    else:
        for key in bodies:
            if isinstance(key, int) and 0 <= key < KEYS:
                tracked.ways[<int>key] = LEFT if key == PUSH_TELEMETRY else READ
    for key in needed:
        tracked.ways[<int>key] = LEFT
    return 0


cdef inline void tracked_free(Tracked* tracked) noexcept:
    clients_free(&tracked.clients)
    stream_free(&tracked.streams[REQUEST])
    stream_free(&tracked.streams[RESPONSE])


cdef inline int tracked_resume(Tracked* tracked, exchange) except -1:
    """Take up the counts of a `kwire.protocol.exchange.Exchange`, and what may have changed in it."""
    pairing, losses = exchange.pairing, exchange.losses
    waiting = pairing.waiting
    mechanism = exchange.sasl.mechanism
    tracked.waiting, tracked.losses = <PyObject*>waiting, <PyObject*>losses
    tracked.mechanism = <PyObject*>mechanism
    tracked.losses_now = losses
    tracked.kept = pairing._kept
    tracked.first_seen, tracked.last_seen = INT64_MAX, INT64_MIN
    tracked.requests = tracked.requests_before = exchange.requests
    tracked.last_answered, tracked.last_client = INT64_MIN, -1
    tracked.role = role_number(exchange.identity.role)
    tracked.partial_said = "batch_partial" in exchange._said
    client_know(&tracked.clients, exchange.judge.client_id, LONGEST_TEXT)
    return 0


cdef inline int tracked_settle(const Tracking* tracking, Tracked* tracked, exchange) except -1:
    """Bring the counts home."""
    if tracked.requests != tracked.requests_before:
        exchange.requests = tracked.requests
        exchange.is_kafka = True
        exchange.identity._settled = True
        exchange.named = exchange.identity.software
        exchange.last_api_name = <object>tracking.apis.names[tracked.last_key]
    if tracked.last_answered != INT64_MIN:
        exchange.pairing.last_answered = tracked.last_answered
    exchange.pairing._kept = tracked.kept
    if tracked.last_client >= 0:
        exchange.judge.client_id = <object>tracked.clients.clients[tracked.last_client].text
    clients_settle(&tracked.clients, exchange.identity)
    return 0


cdef inline void tracked_see(Tracked* tracked, int64_t time_ns) noexcept nogil:
    """Something came."""
    if time_ns < tracked.first_seen:
        tracked.first_seen = time_ns
    if time_ns > tracked.last_seen:
        tracked.last_seen = time_ns


cdef inline void rows_begin(const Tracking* tracking, Tracked* tracked, row) noexcept:
    """Rows share from now on what this one has, which the caller keeps alive."""
    shared_slots(&tracking.slots, tracked.shared, <PyObject*>row)


cdef inline PyObject* asked_row(const Tracking* tracking, const Tracked* tracked, int32_t correlation_id) noexcept:
    """The row of the request that has waited longest, borrowed, when it has this id and nothing about it is odd; else NULL."""
    if not list_size(tracked.waiting):
        return NULL
    return waiting_row(&tracking.slots, list_item(tracked.waiting, 0), correlation_id, tracking.unanswered)
