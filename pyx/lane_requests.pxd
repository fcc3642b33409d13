"""Takes the request frames of a lane: kwire/protocol/exchange.py and identity.py for requests that break no rule, whole or damaged.

Nothing is changed before it is sure that Python has no more to say about a frame than what is done here.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport malloc
from libc.string cimport memcmp, memcpy, memset

from cursor cimport TRUNCATED, Bytes, Cursor, cursor_open, load_16, load_32
from lane_fields cimport take_cut_fields, take_fields
from lane_plain cimport plain_block
from lane_recipe cimport (
    CLIENT_ID, GROUP_ID, MECHANISM, NOT_ASKED, READY, SOFTWARE_NAME, SOFTWARE_VERSION, TOKEN, TOPIC_NAME, TRANSACTIONAL_ID, Recipe,
)
from lane_rows cimport (
    ANSWERED, BODY_DECODED, BODY_TRUNCATED, NO_RESPONSE_EXPECTED, NO_TEXT, UNANSWERED, UNSEEN, RequestRow, microseconds, no_int, no_long,
    rows_add,
)
from lane_series cimport (
    BROKER, CLIENT, CONTROLLER, FROM_API_VERSIONS, LANE_OK, LANE_ODD, MAX_WAITING, MOST_CLIENT_IDS, NOT_OBSERVED, NOT_SENT, ODD_API,
    ODD_BATCH, ODD_BODY, ODD_CORRELATION, ODD_HEADER, ODD_IDENTITY, ODD_LENGTH, ODD_PAIRING, ODD_PLAIN, ODD_TEXT, ODD_WAITING, LaneExchange,
    LaneSeries, LaneWaiting, odd, sasl_known, sasl_object, text_facts, waiting_add,
)
from lane_taken cimport MET_ACKS, Fields, Use, UseList, fields_open
from lane_texts cimport IS_BROKER_CLIENT, IS_SOFTWARE, NO_ROOM, UNKNOWN_TEXT, TextTable, text_intern, text_object
from lane_topics cimport FETCHED, PRODUCED, TopicUse, TopicUses, sums_add, uses_add
from recipe_book cimport (
    API_VERSIONS, BROKER_API, CONTROLLER_API, FETCH, KEEPS_REQUEST, KEYS, PRODUCE, REQUEST_HEADERS, SASL, STEPS, USES_TOPICS, VERSIONS,
    recipe_ask,
)
from utf8 cimport is_utf8
from uuid_text cimport put_uuid

cdef enum:
    SHORTEST_REQUEST = 8  # api key, version, correlation id
    KERBEROS = 0x60  # the first byte of a GSSAPI token


cdef inline int32_t text_taken(LaneSeries* series, Bytes text, Py_ssize_t size) noexcept nogil:
    """The number of a text of the wire, NO_TEXT for null, NO_ROOM for what is not UTF-8."""
    if text is NULL:
        return NO_TEXT
    if not is_utf8(text, size):
        return NO_ROOM
    return text_intern(&series.texts, text, size)


cdef inline int32_t field_taken(LaneSeries* series, const Fields* fields, int mark) noexcept nogil:
    """The number of a marked text, as `text_taken`."""
    return text_taken(series, fields.text[mark], fields.text_size[mark])


cdef inline int32_t uuid_taken(LaneSeries* series, Bytes value) noexcept nogil:
    """The number of a UUID's text."""
    cdef uint8_t text[22]
    if value is NULL:
        return NO_TEXT
    put_uuid(text, value)
    return text_intern(&series.texts, text, 22)


cdef inline bint uses_taken(LaneSeries* series, TopicUses* taken) except -1:
    """Turn the partitions that were read into uses; False for a text that is odd, or without memory."""
    cdef const UseList* list = &series.uses
    cdef const Use* use
    cdef TopicUse* made
    cdef Bytes topic = NULL
    cdef Bytes topic_id = NULL
    cdef int32_t topic_text = NO_TEXT
    cdef int32_t id_text = NO_TEXT
    cdef int32_t index
    taken.count = 0
    for index in range(list.count):
        use = list.uses + index
        if use.topic is not topic or use.topic_id is not topic_id or index == 0:
            topic, topic_id = use.topic, use.topic_id
            topic_text = text_taken(series, topic, use.topic_size) if use.topic_size else NO_TEXT
            id_text = uuid_taken(series, topic_id)
            if topic_text == NO_ROOM or id_text == NO_ROOM:
                return False
        made = uses_add(taken)
        if made is NULL:
            return False
        made.topic = topic_text
        made.topic_id = id_text
        made.number = use.number
        made.error_code = use.error_code
        made.weight = use.weight
        made.unseen = use.unseen
        if use.weight.packed:
            made.weight.records = (<object>series.desk).count_records(PyBytes_FromStringAndSize(<const char*>use.records, use.records_size))
    return True


cdef inline int count_topics(LaneExchange* exchange, const TopicUses* uses, const RequestRow* row, int64_t request_ns) except -1:
    """Add an exchange to the sums of its connection."""
    cdef int direction = PRODUCED if row.api_key == 0 else FETCHED
    if uses.count and not sums_add(&exchange.topics, direction, uses, row.client_id, row.acks, request_ns):
        raise MemoryError
    return 0


cdef inline int row_done(LaneExchange* exchange, LaneSeries* series, const RequestRow* row) except -1:
    """The outcome of a request is known: its row, and what kwire.tables.conversation_sink keeps of it."""
    cdef RequestRow* added = rows_add(&series.rows)
    if added is NULL:
        raise MemoryError
    added[0] = row[0]
    added.connection = exchange.connection  # it may have another number than when the request came
    if row.state == ANSWERED:
        if exchange.refused_index != no_long() and row.request_index > exchange.refused_index:
            exchange.refused_index = no_long()
    elif row.state != UNSEEN and (exchange.refused_index == no_long() or row.request_index < exchange.refused_index):
        exchange.refused_index = row.request_index
        exchange.refused_key = row.api_key
        exchange.refused_version = row.api_version
    return 0


cdef inline int client_id_of(const LaneExchange* exchange) noexcept nogil:
    """ClientIdentity.client_id: the most frequent one, the first of equals."""
    cdef int index
    cdef int best = 0
    for index in range(1, exchange.client_id_count):
        if exchange.client_ids[index].count > exchange.client_ids[best].count:
            best = index
    return exchange.client_ids[best].client_id if exchange.client_id_count else -1


cdef inline int tell_trailing(
    LaneExchange* exchange, LaneSeries* series, str kind, const RequestRow* row, int64_t offset, int64_t packet, Py_ssize_t end,
    Py_ssize_t size,
) except -1:
    """Report bytes behind a body: its frame is read all the same."""
    (<object>series.desk).trailing(
        (exchange.connection, row.request_index, packet, offset),
        (text_object(&series.texts, exchange.software_name), text_object(&series.texts, client_id_of(exchange))),
        kind, row.api_key, row.api_version, size - end, end,
    )
    return 0


cdef inline int client_id_place(const LaneExchange* exchange, int32_t client_id) noexcept nogil:
    """Where the requests with this client id are counted; -1 without room."""
    cdef int index
    for index in range(exchange.client_id_count):
        if exchange.client_ids[index].client_id == client_id:
            return index
    return exchange.client_id_count if exchange.client_id_count < MOST_CLIENT_IDS else -1


cdef inline void see_instance_id(LaneExchange* exchange, LaneSeries* series, Bytes value) noexcept nogil:
    """ClientIdentity._see_instance_id."""
    cdef int32_t text
    cdef uint8_t zeros[16]
    if value is NULL or (exchange.instance_id >= 0 and memcmp(exchange.instance_bytes, value, 16) == 0):
        return
    memset(zeros, 0, 16)
    if memcmp(value, zeros, 16) == 0:
        return
    text = uuid_taken(series, value)
    if text >= 0:
        exchange.instance_id = text
        memcpy(exchange.instance_bytes, value, 16)


cdef inline void not_sent(LaneExchange* exchange) noexcept nogil:
    if exchange.source == NOT_OBSERVED:
        exchange.source = NOT_SENT
        exchange.software_name = exchange.software_version = UNKNOWN_TEXT


cdef inline int see_role(
    LaneExchange* exchange, LaneSeries* series, const Recipe* recipe, const Fields* fields, int32_t client_id
) except -1:
    """ClientIdentity._see_role."""
    if exchange.role == CONTROLLER:
        return 0
    if recipe.traits & CONTROLLER_API:
        exchange.role = CONTROLLER
    elif exchange.role == CLIENT and (
        recipe.traits & BROKER_API
        or (recipe.traits & FETCH and fields.replica_id >= 0)
        or text_facts(series, client_id) & IS_BROKER_CLIENT
    ):
        exchange.role = BROKER
    return 0


cdef inline object bytes_of(const Fields* fields, int mark):
    """A marked value, None where there is none."""
    return None if fields.text[mark] is NULL else PyBytes_FromStringAndSize(<const char*>fields.text[mark], fields.text_size[mark])


cdef inline int authenticate(LaneExchange* exchange, LaneSeries* series, const Fields* fields, int version) except -1:
    """A SaslHandshake or SaslAuthenticate request."""
    sasl = sasl_object(exchange)
    sasl = (<object>series.desk).sasl_request(sasl, bytes_of(fields, MECHANISM), bytes_of(fields, TOKEN), version)
    return sasl_known(exchange, series, sasl)


cdef inline int keep_request(
    LaneSeries* series, LaneWaiting* waiting, uint32_t traits, Bytes payload, Py_ssize_t size, int32_t body
) except -1:
    """Keep of a request what its response will need."""
    cdef const TopicUses* uses = &series.request_uses
    if traits & USES_TOPICS and uses.count:
        waiting.uses = <TopicUse*>malloc(uses.count * sizeof(TopicUse))
        if waiting.uses is NULL:
            raise MemoryError
        memcpy(waiting.uses, uses.uses, uses.count * sizeof(TopicUse))
        waiting.use_count = uses.count
    if traits & KEEPS_REQUEST:
        waiting.payload = <uint8_t*>malloc(size)
        if waiting.payload is NULL:
            raise MemoryError
        memcpy(waiting.payload, payload, size)
        waiting.size = size
        waiting.body = body
    return 0


cdef inline int show_frame(
    LaneExchange* exchange, LaneSeries* series, const RequestRow* row, Bytes payload, Py_ssize_t size, int64_t offset, int64_t packet,
    int64_t time_ns,
) except -1:
    """Give a frame of the message that is asked for; arguments as of `take_request`, with the row of the frame's request."""
    cdef const TextTable* texts = &series.texts
    (<object>series.desk).message(
        exchange.connection,
        (
            row.request_index, row.correlation_id, text_object(texts, row.client_id), text_object(texts, row.software_name),
            text_object(texts, row.software_version), text_object(texts, row.principal), time_ns, packet, offset,
            PyBytes_FromStringAndSize(<const char*>payload, size),
        ),
    )
    return 0


cdef inline int take_request(
    LaneExchange* exchange, LaneSeries* series, Bytes payload, Py_ssize_t size, Py_ssize_t length, int64_t offset, int64_t packet,
    int64_t time_ns,
) except -1:
    """Take the next frame of the client.

    Arguments:
        payload, size: the frame without its length; of a damaged one the bytes before the cut.
        length: of the frame, without that of its length.
        offset, packet: of its first byte, that of its length.
        time_ns: arrival of its last byte.

    Returns:
        LANE_OK, or LANE_ODD with nothing changed.
    """
    cdef Cursor cursor
    cdef Fields fields
    cdef Recipe* recipe
    cdef LaneWaiting* waiting
    cdef LaneWaiting silent
    cdef RequestRow* row
    cdef int key, version, place
    cdef uint32_t traits
    cdef int32_t client_id, group_id, transactional_id, topic, name, software_version, body
    cdef Cursor again
    cdef bint damaged = size < length
    cdef bint headless = False
    if size < SHORTEST_REQUEST:
        return odd(series, ODD_LENGTH)
    if exchange.requests == 0 and payload[0] == KERBEROS:
        return odd(series, ODD_API)
    key = <int16_t>load_16(payload)
    version = <int16_t>load_16(payload + 2)
    if not (0 <= key < KEYS and 0 <= version < VERSIONS):
        return odd(series, ODD_API)
    recipe = &series.book.requests[key * VERSIONS + version]
    if recipe.state == NOT_ASKED:
        recipe_ask(recipe, "request", key, version)
    if recipe.state != READY or not 0 <= recipe.header_version < REQUEST_HEADERS:
        return odd(series, ODD_API)
    cursor_open(&cursor, payload, size, 0)
    fields_open(&fields, &series.parts, &series.uses, &series.request_group)
    if not take_fields(&series.book.request_headers[recipe.header_version], &cursor, &fields):
        if not damaged or cursor.code != TRUNCATED or fields.odd:
            return odd(series, ODD_HEADER)
        # nothing of it is known but how it begins
        fields_open(&fields, &series.parts, &series.uses, &series.request_group)
        fields.cut = headless = True
    body = <int32_t>(cursor.p - payload)
    if damaged:
        if recipe.traits & SASL or not (headless or take_cut_fields(recipe, &cursor, &fields)):
            return odd(series, ODD_BODY)
        if recipe.traits & PRODUCE and not fields.met & MET_ACKS:
            return odd(series, ODD_PAIRING)  # it may have no response
    elif not take_fields(recipe, &cursor, &fields):
        return odd(series, ODD_BODY)
    if fields.topics_null and not damaged:
        cursor_open(&again, payload, size, body)
        if not plain_block(&recipe.program, &again, recipe.program.blocks):
            return odd(series, ODD_PLAIN)
    if fields.partial_batch:
        return odd(series, ODD_BATCH)
    if <int32_t>load_32(payload + 4) < 0:
        return odd(series, ODD_CORRELATION)
    if exchange.waiting_count >= MAX_WAITING:
        return odd(series, ODD_WAITING)
    client_id = field_taken(series, &fields, CLIENT_ID)
    group_id = field_taken(series, &fields, GROUP_ID)
    transactional_id = field_taken(series, &fields, TRANSACTIONAL_ID)
    topic = field_taken(series, &fields, TOPIC_NAME)
    name = field_taken(series, &fields, SOFTWARE_NAME)
    software_version = field_taken(series, &fields, SOFTWARE_VERSION)
    if min(client_id, group_id, transactional_id, topic, name, software_version) == NO_ROOM:
        return odd(series, ODD_TEXT)
    if recipe.traits & series.wanted & USES_TOPICS and not uses_taken(series, &series.request_uses):
        return odd(series, ODD_TEXT)
    place = client_id_place(exchange, client_id) if fields.text_size[CLIENT_ID] else 0
    if place < 0:
        return odd(series, ODD_IDENTITY)
    if min(name, software_version) >= 0 and not text_facts(series, name) & text_facts(series, software_version) & IS_SOFTWARE:
        return odd(series, ODD_IDENTITY)

    if recipe.traits & API_VERSIONS and exchange.sasl_pending and exchange.sasl_counts:
        return odd(series, ODD_IDENTITY)
    if fields.text[MECHANISM] is not NULL and not is_utf8(fields.text[MECHANISM], fields.text_size[MECHANISM]):
        return odd(series, ODD_TEXT)

    # From here on nothing is odd.
    if recipe.traits & SASL:
        authenticate(exchange, series, &fields, version)
    elif exchange.sasl_pending:
        sasl_known(exchange, series, (<object>series.desk).sasl_went_on(sasl_object(exchange)))
    if fields.text_size[CLIENT_ID]:
        exchange.client_ids[place].client_id = client_id
        exchange.client_ids[place].count += 1
        exchange.client_id_count = max(exchange.client_id_count, place + 1)
    exchange.settled = exchange.settled or not recipe.traits & (API_VERSIONS | SASL)
    if recipe.traits & API_VERSIONS:
        if damaged and version >= 3 and min(name, software_version) < 0:
            exchange.observed = False  # they were sent, and cut off
            exchange.doubted = True
            if exchange.source == NOT_SENT:
                exchange.source = NOT_OBSERVED
                exchange.software_name = exchange.software_version = NO_TEXT
        elif name >= 0:
            exchange.software_name = name
            exchange.software_version = software_version
            exchange.source = FROM_API_VERSIONS
        elif not exchange.doubted or version >= 3:
            not_sent(exchange)
    if exchange.observed:
        not_sent(exchange)
    see_instance_id(exchange, series, fields.instance_id)
    see_role(exchange, series, recipe, &fields, client_id)
    if client_id >= 0:
        exchange.judge_client_id = client_id
    if not recipe.traits & API_VERSIONS:
        exchange.named_name = exchange.software_name
        exchange.named_version = exchange.software_version
    exchange.last_api = key
    exchange.is_kafka = True
    if recipe.traits & PRODUCE and fields.acks == 0:
        waiting = &silent
        memset(waiting, 0, sizeof(LaneWaiting))
    else:
        waiting = waiting_add(exchange)
        if waiting is NULL:
            raise MemoryError
    row = &waiting.row
    row.request_index = exchange.requests
    row.api_key = key
    row.api_version = version
    row.header_version = recipe.header_version
    row.correlation_id = <int32_t>load_32(payload + 4)
    row.client_id = client_id
    row.client_instance_id = exchange.instance_id
    row.software_name = exchange.named_name
    row.software_version = exchange.named_version
    row.principal = exchange.principal
    row.request_us = microseconds(time_ns)
    row.response_us = row.latency_us = row.response_bytes = row.throttle_time_ms = no_long()
    row.request_bytes = length + 4
    row.error_code = no_int()
    row.acks = fields.acks if recipe.has_acks and (not damaged or fields.met & MET_ACKS) else no_int()
    row.first_topic = topic
    row.topic_count = no_int()
    if damaged:
        if fields.topics_claimed >= 0 and not fields.topics_null:
            row.topic_count = fields.topics_claimed
    elif recipe.has_topics and not fields.topics_null:
        row.topic_count = fields.topic_count
    row.group_id = group_id
    row.transactional_id = transactional_id
    row.state = UNANSWERED
    row.body = BODY_TRUNCATED if damaged else BODY_DECODED
    row.packet = packet
    row.stream_offset = offset
    exchange.requests += 1
    if cursor.p != cursor.end and not damaged:
        tell_trailing(exchange, series, "request", row, offset, packet, cursor.p - payload, size)
    if key == series.asked_key and version == series.asked_version and not series.asks_responses:
        show_frame(exchange, series, row, payload, size, offset, packet, time_ns)
    waiting.request_ns = time_ns
    waiting.losses = exchange.losses
    waiting.response_breaks = exchange.response_breaks
    waiting.damaged = damaged
    if waiting is &silent:
        row.state = NO_RESPONSE_EXPECTED
        row_done(exchange, series, row)
        if series.wanted & USES_TOPICS:
            count_topics(exchange, &series.request_uses, row, time_ns)
    else:
        traits = recipe.traits & series.wanted
        if recipe.traits & STEPS:
            traits |= recipe.traits & KEEPS_REQUEST  # violations are told whatever is wanted
        keep_request(series, waiting, 0 if headless else traits, payload, size, body)
    return LANE_OK
