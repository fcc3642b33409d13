"""The state of lanes: what a series has once, and what each connection in a lane has, C structs all.

A *lane* is a connection of which nothing is in Python: kwire.protocol's Conversation, Connection, Exchange and the rest, as long as all is
regular. At anything else it is handed over to Python (`lane_handover.pxd`) in exactly the state that Python would have come to.

Bounded: each direction keeps at most one unfinished frame (`lane_frames.pxd`); at most `MAX_WAITING` requests wait, with what is kept of
them, as in Python; a connection has at most `MOST_CLIENT_IDS` client ids here.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from cursor cimport Bytes
from lane_answers cimport AnswerTable, answers_free, answers_settle
from lane_frames cimport FrameBuffer, buffer_free
from lane_groups cimport GroupFields
from lane_rows cimport RequestRow, RequestRows, no_int, rows_free
from lane_taken cimport Parts, UseList
from lane_texts cimport (
    IS_ASKED, NO_TEXT, UNKNOWN_TEXT, TextTable, text_keep, text_object, text_of, text_renamed, texts_free, texts_open,
)
from lane_topics cimport TopicRows, TopicSums, TopicUse, TopicUses, sums_free, topic_rows_free
from raw_python cimport raw_incref, raw_xdecref
from recipe_book cimport KEEPS_REQUEST, USES_TOPICS, WATCHED, WATCHED_ON_ERROR, RecipeBook
from row_columns cimport WideRows

cdef enum LaneOutcome:
    LANE_OK = 0
    LANE_ODD = 1

cdef enum:
    MAX_WAITING = 4096  # kwire.protocol.pairing.MAX_WAITING
    MOST_CLIENT_IDS = 4

cdef enum:
    # Why a lane was handed over; the places of kwire.tables.lane_desk.ODDITIES
    ODD_OPENING = 0
    ODD_LENGTH = 1
    ODD_API = 2
    ODD_HEADER = 3
    ODD_BODY = 4
    ODD_TRAILING = 5
    ODD_TEXT = 6
    ODD_CORRELATION = 7
    ODD_PAIRING = 8
    ODD_WAITING = 9
    ODD_IDENTITY = 10
    ODD_BATCH = 11
    ODD_REFUSED = 12
    ODD_UNFINISHED = 13
    ODD_PLAIN = 14
    ODD_GAP = 15
    ODD_REASONS = 16

cdef enum LaneSource:
    # The places of kwire.tables.lane_desk.SOURCES
    NOT_OBSERVED = 0
    NOT_SENT = 1
    FROM_API_VERSIONS = 2

cdef enum LaneRole:
    # The places of kwire.tables.lane_desk.ROLES
    CLIENT = 0
    BROKER = 1
    CONTROLLER = 2

cdef enum Said:
    # What is said once a connection, and is in Exchange._said then
    SAID_REFUSED = 1
    SAID_PARTIAL = 2

cdef struct LaneSeries:
    PyObject* desk  # a kwire.tables.lane_desk.LaneDesk
    RecipeBook* book
    TextTable texts
    RequestRows rows
    TopicRows topic_rows
    AnswerTable answers
    uint32_t wanted  # traits that matter to the tables that are asked for
    int32_t asked_key  # of the message whose frames are wanted, -1 for none
    int32_t asked_version
    bint asks_responses
    int64_t odd[ODD_REASONS]  # how often a lane was handed over, by reason
    Parts parts
    Parts key
    UseList uses
    TopicUses request_uses
    TopicUses response_uses
    TopicUses merged
    GroupFields request_group
    GroupFields response_group
    WideRows steps  # rows of `group_steps`
    TextTable said  # their texts, and those of `topic_rows`
    const TextTable* places  # ids of connections
    Parts json

# A request that waits for its response.
cdef struct LaneWaiting:
    RequestRow row  # times are missing
    int64_t request_ns
    int32_t losses
    int32_t response_breaks
    int32_t use_count
    int32_t body  # where the body begins in the payload
    bint damaged  # bytes of the request are lost behind the payload
    Py_ssize_t size
    TopicUse* uses
    uint8_t* payload  # NULL where nothing is kept

cdef struct ClientIdCount:
    int32_t client_id
    int64_t count

cdef struct LaneExchange:
    int32_t connection  # ordinal in the series
    int32_t server  # text: its address and port
    int64_t begun  # packet, with the number of its file
    PyObject* tracked  # what Python had of the connection before it came into a lane, NULL for nothing
    FrameBuffer buffers[2]  # of requests and of responses
    int64_t received[2]
    int64_t gaps
    int64_t bytes_lost
    int64_t frames[2]
    bint closed[2]
    int64_t first_seen  # NO_LONG before the first byte
    int64_t last_seen
    int8_t closed_by  # -1 nobody, 0 client, 1 server
    bint reset
    bint is_kafka
    bint observed
    uint8_t said
    int8_t source
    int8_t role
    int32_t software_name
    int32_t software_version
    int32_t named_name
    int32_t named_version
    int32_t instance_id
    uint8_t instance_bytes[16]
    int32_t principal
    PyObject* sasl  # a kwire.protocol.sasl.SaslState, NULL before the first exchange
    bint sasl_pending
    bint sasl_counts  # the tokens of its mechanism are so many
    int32_t judge_client_id
    int32_t last_api  # api key, NO_INT before the first request
    int64_t requests
    int64_t unanswered
    bint settled  # as in ClientIdentity
    bint doubted
    bint server_unseen  # no packet of the server is in the capture
    int64_t last_answered  # NO_LONG for none
    int32_t losses
    int32_t response_breaks
    ClientIdCount client_ids[MOST_CLIENT_IDS]
    int32_t client_id_count
    int64_t refused_index  # NO_LONG for none; see Tracked.refused
    int32_t refused_key
    int32_t refused_version
    PyObject* advertised
    LaneWaiting* waiting  # a ring
    int32_t waiting_first
    int32_t waiting_count
    int32_t waiting_room
    TopicSums topics


cdef inline int series_open(LaneSeries* series, RecipeBook* book, const TextTable* places, object desk) except -1:
    """Begin a series.

    Arguments:
        book: must stay as long as the series does.
        places: ids of connections, by the numbers that lanes have.
        desk: a `kwire.tables.lane_desk.LaneDesk`.

    Raises:
        MemoryError: no room.
    """
    memset(series, 0, sizeof(LaneSeries))
    texts_open(&series.texts, desk.seed)
    texts_open(&series.said, desk.seed)
    series.answers.seed = desk.seed
    series.wanted = <uint32_t>~0
    if not desk.observing:
        series.wanted &= ~<uint32_t>(KEEPS_REQUEST | WATCHED | WATCHED_ON_ERROR | USES_TOPICS)
    series.asked_key = -1
    if desk.asked is not None:
        series.asks_responses = desk.asked.direction == "response"
        series.asked_key, series.asked_version = desk.asked.api_key, desk.asked.api_version
    series.book = book
    series.places = places
    raw_incref(<PyObject*>desk)
    series.desk = <PyObject*>desk
    return 0


cdef inline int series_settle(LaneSeries* series) except -1:
    """Bring the series' facts up to date: before they are read, pickled or added to by a merge."""
    answers_settle(&series.answers)
    return 0


cdef inline void series_close(LaneSeries* series) noexcept:
    """Free all, without bringing anything up to date."""
    texts_free(&series.texts)
    rows_free(&series.rows)
    topic_rows_free(&series.topic_rows)
    answers_free(&series.answers)
    free(series.parts.bytes)
    free(series.key.bytes)
    free(series.uses.uses)
    free(series.request_uses.uses)
    free(series.response_uses.uses)
    free(series.merged.uses)
    free(series.request_group.entries)
    free(series.response_group.entries)
    free(series.steps.values)
    free(series.json.bytes)
    texts_free(&series.said)
    raw_xdecref(series.desk)
    memset(series, 0, sizeof(LaneSeries))


cdef inline int odd(LaneSeries* series, int reason) noexcept nogil:
    """Count why a lane is left."""
    series.odd[reason] += 1
    return LANE_ODD


cdef inline int text_facts(LaneSeries* series, int32_t text) except -1:
    """What is known of a text, `TextFact` bits; Python is asked once."""
    cdef int facts
    if text < 0:
        return 0
    facts = series.texts.facts[text]
    if not facts & IS_ASKED:
        facts = IS_ASKED | <int>(<object>series.desk).text_facts(text_object(&series.texts, text))
        series.texts.facts[text] = <uint8_t>facts
    return facts


cdef inline int sasl_known(LaneExchange* exchange, LaneSeries* series, object sasl) except -1:
    """Take over what a kwire.protocol.sasl.SaslState says now."""
    if <PyObject*>sasl is not exchange.sasl:
        raw_incref(<PyObject*>sasl)
        raw_xdecref(exchange.sasl)
        exchange.sasl = <PyObject*>sasl
    exchange.sasl_pending = sasl.pending
    exchange.sasl_counts = sasl.expected is not None
    exchange.principal = text_of(&series.texts, sasl.principal)
    return 0


cdef inline object sasl_object(const LaneExchange* exchange):
    return None if exchange.sasl is NULL else <object>exchange.sasl


cdef inline LaneWaiting* waiting_at(const LaneExchange* exchange, int32_t place) noexcept nogil:
    """The request that is answered after `place` others."""
    return exchange.waiting + ((exchange.waiting_first + place) & (exchange.waiting_room - 1))


cdef inline LaneWaiting* waiting_add(LaneExchange* exchange) noexcept nogil:
    """The next one that waits, zeroed; NULL without memory."""
    cdef int32_t room = exchange.waiting_room
    cdef int32_t index
    cdef LaneWaiting* grown
    cdef LaneWaiting* added
    if exchange.waiting_count == room:
        room = room * 2 if room else 2
        grown = <LaneWaiting*>realloc(exchange.waiting, room * sizeof(LaneWaiting))
        if grown is NULL:
            return NULL
        exchange.waiting = grown
        # those that stood before the first one follow the old end now
        for index in range(exchange.waiting_first):
            grown[exchange.waiting_room + index] = grown[index]
        exchange.waiting_room = room
    exchange.waiting_count += 1
    added = waiting_at(exchange, exchange.waiting_count - 1)
    memset(added, 0, sizeof(LaneWaiting))
    return added


cdef inline void waiting_done(LaneExchange* exchange) noexcept nogil:
    """The first one waits no longer."""
    cdef LaneWaiting* first = waiting_at(exchange, 0)
    free(first.uses)
    free(first.payload)
    exchange.waiting_first = (exchange.waiting_first + 1) & (exchange.waiting_room - 1)
    exchange.waiting_count -= 1


cdef inline void exchange_free(LaneExchange* exchange) noexcept:
    """Free what a lane has; it is as if it had never been."""
    while exchange.waiting_count:
        waiting_done(exchange)
    free(exchange.waiting)
    buffer_free(&exchange.buffers[0])
    buffer_free(&exchange.buffers[1])
    sums_free(&exchange.topics)
    raw_xdecref(exchange.tracked)
    raw_xdecref(exchange.advertised)
    raw_xdecref(exchange.sasl)
    memset(exchange, 0, sizeof(LaneExchange))
