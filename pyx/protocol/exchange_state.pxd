"""The native state of a connection, and what the connections of a series share: C structs all.

The readable contract is kwire/protocol: Connection, Exchange, ClientIdentity, Pairing and Waiting have the same attributes.

Bounded: each direction keeps at most one unfinished frame; at most `MAX_WAITING` requests wait, with what is kept of them, and at most
`MOST_CLIENT_IDS` client ids are counted, as in Python.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from protocol.answers cimport AnswerTable, answers_free, answers_write_back
from protocol.event_classes cimport EventClasses
from protocol.extracted_fields cimport Parts, UseList
from protocol.field_plans cimport KEEPS_REQUEST, USES_TOPICS, WATCHED, WATCHED_ON_ERROR, FieldPlans
from protocol.group_fields cimport GroupFields
from protocol.request_rows cimport RequestRow, RequestRows, no_int, no_long, rows_free
from protocol.text_table cimport (
    IS_ASKED, NO_TEXT, UNKNOWN_TEXT, TextTable, text_keep, text_object, text_of, text_renamed, texts_free, texts_open,
)
from protocol.topic_uses cimport TopicRows, TopicSums, TopicUse, TopicUses, sums_free, topic_rows_free
from protocol.wide_rows cimport WideRows
from wire.cursor cimport Bytes
from wire.raw_python cimport raw_incref, raw_xdecref

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define kwire_bits_of(word) __builtin_popcountll(word)
    #else
    static inline int kwire_bits_of(unsigned long long word) {
        int count = 0;
        for (; word; word &= word - 1) count++;
        return count;
    }
    #endif
    """
    int bits_of "kwire_bits_of"(uint64_t word) noexcept nogil

cdef enum FrameOutcome:
    FRAME_TAKEN = 0
    FALLBACK = 1  # nothing was changed: Python's rules take the frame

cdef enum:
    MAX_WAITING = 4096  # kwire.protocol.pairing.MAX_WAITING
    MOST_CLIENT_IDS = 256  # kwire.protocol.identity.MOST_CLIENT_IDS
    MOST_CLIENT_ID_TEXT = 1 << 16  # kwire.protocol.identity.MOST_CLIENT_ID_TEXT, in characters
    FEW_WAITING = 12  # that are looked through for an id
    MOST_PLACES = 1 << 14

cdef enum SoftwareSource:
    # The places of kwire.tables.row_callbacks.SOURCES
    NOT_OBSERVED = 0
    NOT_SENT = 1
    FROM_API_VERSIONS = 2

cdef enum PeerRole:
    # The places of kwire.tables.row_callbacks.ROLES
    CLIENT = 0
    BROKER = 1
    CONTROLLER = 2

cdef enum Said:
    # What is said once a connection, and is in Exchange._said then
    SAID_REFUSED = 1
    SAID_PARTIAL = 2

cdef struct SeriesState:
    PyObject* callbacks  # a kwire.tables.row_callbacks.RowCallbacks
    FieldPlans* plans
    TextTable texts
    RequestRows rows
    TopicRows topic_rows
    AnswerTable answers
    uint32_t wanted  # traits that matter to the tables that are asked for
    int32_t asked_key  # of the message whose frames are wanted, -1 for none
    int32_t asked_version
    bint asks_responses
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
    EventClasses* classes  # of events, NULL where they are not made
    PyObject** objects  # by text: its Python text, NULL where it was not asked for
    int32_t objects_room

# A request that waits for its response: kwire.protocol.pairing.Waiting.
cdef struct WaitingRequest:
    RequestRow row  # times are missing; of a raw SASL token nothing is filled in
    int64_t request_ns
    int64_t kept  # bytes that it keeps beyond what every request keeps
    int32_t losses
    int32_t response_breaks
    int32_t overtaken_by  # less those in the bits of the connection (`overtakes`)
    int32_t use_count
    int32_t body  # where the body begins in the payload
    bint damaged  # bytes of the request are lost behind the payload
    bint is_token  # a raw SASL token, which is answered by a frame without correlation id
    bint may_be_silent  # a Produce whose acks could not be read
    bint is_untimed  # the request's last byte was not seen
    bint is_lost  # its response is among bytes that are missing
    bint noted  # `uses` or `payload` say what is to be said of the exchange
    Py_ssize_t size
    TopicUse* uses
    uint8_t* payload  # NULL where nothing is kept
    int64_t place  # in the order of sending
    # in the order of sending, and among those with the same bits of their id
    WaitingRequest* before
    WaitingRequest* after
    WaitingRequest* same_before
    WaitingRequest* same_after

# Those that wait, by the bits of their correlation ids: the first and the last one sent.
cdef struct WaitingSlot:
    WaitingRequest* first
    WaitingRequest* last

cdef struct ClientIdCount:
    int32_t client_id
    int64_t count

cdef struct ExchangeState:
    int32_t connection  # ordinal in the series
    int32_t server  # text: its address and port
    int64_t begun  # packet, with the number of its file
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
    ClientIdCount* client_ids
    int32_t client_id_count
    int32_t client_id_room
    int32_t client_id_text  # characters of all of them
    int32_t last_client  # the place of the one that was counted last
    int64_t refused_index  # NO_LONG for none; see Tracked.refused
    int32_t refused_key
    int32_t refused_version
    PyObject* advertised
    WaitingRequest* waiting  # the first that was sent
    WaitingRequest* waiting_last
    WaitingRequest* waiting_spare  # one that was answered, for the next request
    int32_t waiting_count
    int64_t waiting_kept
    int32_t waiting_uneven  # raw tokens, and requests that may be silent
    int64_t waiting_next  # the place of the next one
    uint64_t* overtaking  # a bit at the place of each request that was answered before an earlier one; MOST_PLACES of them, NULL for none
    WaitingSlot* slots  # by id; NULL while few wait
    uint32_t slot_mask
    TopicSums topics
    # what follows is of a kwire.protocol.Connection
    bint is_tracked  # what exchanges say becomes events
    bint joined_late
    bint requests_lost
    bint missing  # bytes of the connection were not seen, or its beginning
    bint seeks_responses  # the border of responses is not known now
    bint is_unclear  # as in kwire.protocol.pairing.Pairing
    bint sasl_raw
    bint tells_frames
    bint asks  # frames of a message are asked for
    const uint8_t* ways  # by api key, what is done with its bodies; NULL where all are read
    PyObject* events  # the list that they are added to; borrowed
    PyObject* said_rules  # a set: rules of severity info that were reported; NULL for none


cdef inline void objects_forget(SeriesState* series) noexcept:
    """Let go of the Python texts: before numbers change, and at the end."""
    cdef int32_t number
    for number in range(series.objects_room):
        raw_xdecref(series.objects[number])
    free(series.objects)
    series.objects = NULL
    series.objects_room = 0


cdef inline int series_open(
    SeriesState* series, FieldPlans* plans, const TextTable* places, object callbacks, int32_t texts=1024
) except -1:
    """Begin a series.

    Arguments:
        plans: must stay as long as the series does.
        places: ids of connections, by the numbers that shared have.
        callbacks: a `kwire.tables.row_callbacks.RowCallbacks`.
        texts: room for so many texts at first.

    Raises:
        MemoryError: no room.
    """
    memset(series, 0, sizeof(SeriesState))
    texts_open(&series.texts, callbacks.seed, texts)
    texts_open(&series.said, callbacks.seed, texts)
    series.answers.seed = callbacks.seed
    series.wanted = <uint32_t>~0
    if not callbacks.observing:
        series.wanted &= ~<uint32_t>(KEEPS_REQUEST | WATCHED | WATCHED_ON_ERROR | USES_TOPICS)
    series.asked_key = -1
    if callbacks.asked is not None:
        series.asks_responses = callbacks.asked.direction == "response"
        series.asked_key, series.asked_version = callbacks.asked.api_key, callbacks.asked.api_version
    series.plans = plans
    series.places = places
    raw_incref(<PyObject*>callbacks)
    series.callbacks = <PyObject*>callbacks
    return 0


cdef inline int series_write_back(SeriesState* series) except -1:
    """Bring the series' facts up to date: before they are read, pickled or added to by a merge."""
    answers_write_back(&series.answers)
    return 0


cdef inline void series_close(SeriesState* series) noexcept:
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
    objects_forget(series)
    texts_free(&series.said)
    raw_xdecref(series.callbacks)
    memset(series, 0, sizeof(SeriesState))


cdef inline int text_facts(SeriesState* series, int32_t text) except -1:
    """What is known of a text, `TextFact` bits; Python is asked once."""
    cdef int facts
    if text < 0:
        return 0
    facts = series.texts.facts[text]
    if not facts & IS_ASKED:
        facts = IS_ASKED | <int>(<object>series.callbacks).text_facts(text_object(&series.texts, text))
        series.texts.facts[text] = <uint8_t>facts
    return facts


cdef inline int sasl_known(ExchangeState* exchange, SeriesState* series, object sasl) except -1:
    """Take over what a kwire.protocol.sasl.SaslState says now."""
    if <PyObject*>sasl is not exchange.sasl:
        raw_incref(<PyObject*>sasl)
        raw_xdecref(exchange.sasl)
        exchange.sasl = <PyObject*>sasl
    exchange.sasl_pending = sasl.pending
    exchange.sasl_counts = sasl.expected is not None
    exchange.principal = text_of(&series.texts, sasl.principal)
    return 0


cdef inline object sasl_object(const ExchangeState* exchange):
    return None if exchange.sasl is NULL else <object>exchange.sasl


cdef inline WaitingSlot* slot_of_id(const ExchangeState* exchange, int32_t correlation_id) noexcept nogil:
    return exchange.slots + ((<uint32_t>correlation_id * <uint32_t>0x9E3779B1u) >> 8 & exchange.slot_mask)


cdef inline void slot_link(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """Find a request by its id from now on."""
    cdef WaitingSlot* slot
    if waiting.is_token or waiting.row.correlation_id == no_long():
        return
    slot = slot_of_id(exchange, <int32_t>waiting.row.correlation_id)
    waiting.same_before = slot.last
    waiting.same_after = NULL
    if slot.last is NULL:
        slot.first = waiting
    else:
        slot.last.same_after = waiting
    slot.last = waiting


cdef inline void slot_unlink(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    cdef WaitingSlot* slot
    if waiting.is_token or waiting.row.correlation_id == no_long():
        return
    slot = slot_of_id(exchange, <int32_t>waiting.row.correlation_id)
    if waiting.same_before is NULL:
        slot.first = waiting.same_after
    else:
        waiting.same_before.same_after = waiting.same_after
    if waiting.same_after is NULL:
        slot.last = waiting.same_before
    else:
        waiting.same_after.same_before = waiting.same_before


cdef inline bint waiting_index(ExchangeState* exchange) noexcept nogil:
    """Give each that waits its slot, where there are too few slots; whether that was done. Without memory they are looked through."""
    cdef uint32_t size = 64
    cdef WaitingRequest* each = exchange.waiting
    if exchange.waiting_count <= FEW_WAITING or (
        exchange.slots is not NULL and <uint32_t>exchange.waiting_count * 2 <= exchange.slot_mask + 1
    ):
        return False
    while size < <uint32_t>exchange.waiting_count * 4:
        size *= 2
    free(exchange.slots)
    exchange.slots = <WaitingSlot*>calloc(size, sizeof(WaitingSlot))
    if exchange.slots is NULL:
        return True
    exchange.slot_mask = size - 1
    while each is not NULL:
        slot_link(exchange, each)
        each = each.after
    return True


cdef inline WaitingRequest* waiting_new(ExchangeState* exchange) noexcept nogil:
    """One to be filled in and added, zeroed; NULL without memory."""
    cdef WaitingRequest* made = exchange.waiting_spare
    exchange.waiting_spare = NULL
    if made is NULL:
        made = <WaitingRequest*>malloc(sizeof(WaitingRequest))
    if made is not NULL:
        memset(made, 0, sizeof(WaitingRequest))
    return made


cdef inline int32_t overtakes(const ExchangeState* exchange, const WaitingRequest* waiting) noexcept nogil:
    """How many later requests were answered before this one."""
    cdef int32_t found = waiting.overtaken_by
    cdef int64_t word = (waiting.place + 1) // 64
    if exchange.overtaking is NULL:
        return found
    found += bits_of(exchange.overtaking[word] >> <uint64_t>((waiting.place + 1) % 64)) if word * 64 < exchange.waiting_next else 0
    word += 1
    while word * 64 < exchange.waiting_next:
        found += bits_of(exchange.overtaking[word])
        word += 1
    return found


cdef inline int overtake(ExchangeState* exchange, const WaitingRequest* waiting) except -1 nogil:
    """It is answered, and others wait that were sent before."""
    if exchange.overtaking is NULL:
        exchange.overtaking = <uint64_t*>calloc(MOST_PLACES // 64, sizeof(uint64_t))
        if exchange.overtaking is NULL:
            with gil:
                raise MemoryError
    exchange.overtaking[waiting.place // 64] |= <uint64_t>1 << <uint64_t>(waiting.place % 64)
    return 0


cdef inline void places_again(ExchangeState* exchange) noexcept nogil:
    """Number those that wait from 0 again, and count home what the bits say."""
    cdef WaitingRequest* each = exchange.waiting
    cdef int64_t place = 0
    while each is not exchange.waiting_last:  # which is being added, and has no place yet
        each.overtaken_by = overtakes(exchange, each)
        each = each.after
    each = exchange.waiting
    while each is not NULL:
        each.place = place
        place += 1
        each = each.after
    exchange.waiting_next = place - 1
    if exchange.overtaking is not NULL:
        memset(exchange.overtaking, 0, MOST_PLACES // 8)


cdef inline void waiting_add(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """It waits from now on, behind the others."""
    waiting.before = exchange.waiting_last
    waiting.after = NULL
    if exchange.waiting_last is NULL:
        exchange.waiting = waiting
    else:
        exchange.waiting_last.after = waiting
    exchange.waiting_last = waiting
    exchange.waiting_count += 1
    if exchange.waiting_next == MOST_PLACES:
        places_again(exchange)
    waiting.place = exchange.waiting_next
    exchange.waiting_next += 1
    exchange.waiting_uneven += waiting.is_token or waiting.may_be_silent
    exchange.waiting_kept += waiting.kept
    if not waiting_index(exchange) and exchange.slots is not NULL:
        slot_link(exchange, waiting)


cdef inline void waiting_remove(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """It waits no longer; it is the caller's now, to be let go of by `waiting_free`."""
    if waiting.before is NULL:
        exchange.waiting = waiting.after
    else:
        waiting.before.after = waiting.after
    if waiting.after is NULL:
        exchange.waiting_last = waiting.before
    else:
        waiting.after.before = waiting.before
    if exchange.slots is not NULL:
        slot_unlink(exchange, waiting)
    exchange.waiting_count -= 1
    exchange.waiting_kept -= waiting.kept
    exchange.waiting_uneven -= waiting.is_token or waiting.may_be_silent
    if exchange.waiting_count == 0:
        free(exchange.slots)
        free(exchange.overtaking)
        exchange.slots = NULL
        exchange.overtaking = NULL
        exchange.waiting_next = 0


cdef inline WaitingRequest* waiting_with(const ExchangeState* exchange, int32_t correlation_id) noexcept nogil:
    """The first that was sent with this id, NULL for none."""
    cdef WaitingRequest* each = exchange.waiting
    if exchange.slots is NULL:
        while each is not NULL and (each.is_token or each.row.correlation_id != correlation_id):
            each = each.after
        return each
    each = slot_of_id(exchange, correlation_id).first
    while each is not NULL and each.row.correlation_id != correlation_id:
        each = each.same_after
    return each


cdef inline WaitingRequest* waiting_open(const ExchangeState* exchange, int32_t correlation_id, bint* several) noexcept nogil:
    """The first with this id whose response is not lost, NULL for none; `several`, if given: whether there is another."""
    cdef WaitingRequest* each = exchange.waiting if exchange.slots is NULL else slot_of_id(exchange, correlation_id).first
    cdef WaitingRequest* found = NULL
    while each is not NULL:
        if not each.is_token and not each.is_lost and each.row.correlation_id == correlation_id:
            if found is not NULL:
                several[0] = True
                return found
            found = each
            if several is NULL:
                return found
        each = each.after if exchange.slots is NULL else each.same_after
    return found


cdef inline void waiting_free(ExchangeState* exchange, WaitingRequest* waiting) noexcept nogil:
    """Let go of one that does not wait."""
    free(waiting.uses)
    free(waiting.payload)
    if exchange.waiting_spare is NULL:
        exchange.waiting_spare = waiting
    else:
        free(waiting)


cdef inline void waiting_done(ExchangeState* exchange) noexcept nogil:
    """The first one waits no longer."""
    cdef WaitingRequest* first = exchange.waiting
    waiting_remove(exchange, first)
    waiting_free(exchange, first)


cdef inline void exchange_free(ExchangeState* exchange) noexcept:
    """Free what a connection has; it is as if it had never been."""
    while exchange.waiting_count:
        waiting_done(exchange)
    free(exchange.waiting_spare)
    free(exchange.slots)
    free(exchange.overtaking)
    free(exchange.client_ids)
    raw_xdecref(exchange.said_rules)
    sums_free(&exchange.topics)
    raw_xdecref(exchange.advertised)
    raw_xdecref(exchange.sasl)
    memset(exchange, 0, sizeof(ExchangeState))
