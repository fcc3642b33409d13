"""Takes request frames: kwire/protocol/tracking/exchange.py and identity.py for requests that break no rule, whole or damaged.

Nothing is changed before it is sure that Python has no more to say about a frame than what is done here.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint8_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy

from protocol.canonical_encoding cimport plain_block
from protocol.event_rows cimport say_frame
from protocol.exchange_state cimport FALLBACK, FRAME_TAKEN, FROM_API_VERSIONS, NOT_OBSERVED, ExchangeState, WaitingRequest, sasl_object
from protocol.extracted_fields cimport Fields, fields_open
from protocol.field_extraction cimport take_cut_fields, take_fields
from protocol.field_plan cimport (
    CLIENT_ID, MECHANISM, SOFTWARE_NAME, SOFTWARE_VERSION, TOPIC_NAME, FieldPlan,
)
from protocol.field_plans cimport (
    API_VERSIONS, CHECKS_GROUP, KEEPS_REQUEST, KEYS, PRODUCE, REQUEST_HEADERS, SASL, USES_TOPICS, acks_plan, ready_plan,
)
from protocol.finished_rows cimport count_topics, forget_time, row_done, uses_taken
from protocol.request_identity cimport (
    authenticate, client_id_of, client_id_taken, columns_taken, count_client_id, field_taken, not_sent, see_instance_id, see_role,
    text_characters, unsay,
)
from protocol.request_rows cimport (
    BODY_DECODED, BODY_SKIPPED, BODY_TRUNCATED, MOST_COLUMNS, NO_RESPONSE_EXPECTED, UNANSWERED, RequestRow, microseconds, no_int, no_long,
)
from protocol.series_state cimport SeriesState, sasl_known, text_facts
from protocol.text_table cimport IS_SOFTWARE, NO_ROOM, TextTable, text_intern, text_object
from protocol.topic_uses cimport TopicUse, TopicUses
from protocol.waiting_requests cimport waiting_add, waiting_free, waiting_new
from protocol.wire_frame cimport DAMAGED, UNENDED, WireFrame
from wire.cursor cimport TRUNCATED, Bytes, Cursor, cursor_open, load_16, load_32, unlikely
from wire.utf8 cimport is_utf8

cdef enum:
    SHORTEST_REQUEST = 8  # api key, version, correlation id
    KERBEROS = 0x60  # the first byte of a GSSAPI token
    ORDINARY_TEXT = 255  # kwire.protocol.tracking.pairing.ORDINARY_TEXT
    BYTES_OF_USE = 256  # what a partition weighs in kwire.protocol.tracking.pairing.kept_bytes
    HANDSHAKE_KEY = 17
    PUSH_TELEMETRY_KEY = 72
    GET_TELEMETRY_KEY = 71

cdef enum Way:
    # What is done with the bodies of an api
    READ = 0
    PASSED_OVER = 1

cdef enum:
    SOME_HEADER = 64  # bytes; most request headers are shorter


cdef inline int tell_trailing(
    ExchangeState* exchange, SeriesState* series, str kind, const RequestRow* row, const WireFrame* frame, Py_ssize_t end
) except -1:
    """Report bytes behind a body: its frame is read all the same."""
    (<object>series.callbacks).trailing(
        (exchange.connection, row.request_index, frame.packet, frame.offset),
        (text_object(&series.texts, exchange.software_name), text_object(&series.texts, client_id_of(exchange))),
        kind, row.api_key, row.api_version, frame.size - end, end,
    )
    return 0


cdef inline int64_t kept_of(SeriesState* series, const WaitingRequest* waiting) noexcept nogil:
    """kwire.protocol.tracking.pairing.kept_bytes: what a request keeps beyond what every request keeps."""
    cdef const TextTable* texts = &series.texts
    cdef uint32_t columns = series.plans.columns.texts & series.plans.columns.of_requests
    cdef int64_t kept = waiting.size + <int64_t>waiting.use_count * BYTES_OF_USE
    cdef int slot = 0
    if waiting.row.request_bytes <= ORDINARY_TEXT:
        return kept  # no text of the frame is longer than that
    kept += long_text(texts, waiting.row.client_id) + long_text(texts, waiting.row.first_topic)
    while columns:
        if columns & 1:
            kept += long_text(texts, waiting.row.columns[slot])
        columns >>= 1
        slot += 1
    return kept


cdef inline int64_t long_text(const TextTable* texts, int32_t text) noexcept nogil:
    cdef int count
    if text < 0 or texts.offsets[text + 1] - texts.offsets[text] <= ORDINARY_TEXT:
        return 0
    count = text_characters(texts, text)
    return count if count > ORDINARY_TEXT else 0


cdef inline int keep_request(
    SeriesState* series, WaitingRequest* waiting, uint32_t traits, Bytes payload, Py_ssize_t size, int32_t body
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
    ExchangeState* exchange, SeriesState* series, const RequestRow* row, const WireFrame* frame
) except -1:
    """Give a frame of the message that is asked for, with the row of its request."""
    cdef const TextTable* texts = &series.texts
    (<object>series.callbacks).message(
        exchange.connection,
        (
            row.request_index, row.correlation_id, text_object(texts, row.client_id), text_object(texts, row.software_name),
            text_object(texts, row.software_version), text_object(texts, row.principal), frame.end_ns, frame.packet,
            frame.offset, PyBytes_FromStringAndSize(<const char*>frame.payload, frame.size),
        ),
    )
    return 0


cdef inline bint is_for_rule(const ExchangeState* exchange, const FieldPlan* field_plan, int key) noexcept nogil:
    """Return whether tracking/exchange.py has to read a request: it may change the identity, the authentication or the proof."""
    if field_plan.traits & (API_VERSIONS | SASL) or key == GET_TELEMETRY_KEY or key == PUSH_TELEMETRY_KEY or not exchange.proven:
        return True
    return exchange.asks or exchange.sasl_pending or (exchange.observed and exchange.source == NOT_OBSERVED)


cdef inline const FieldPlan* request_field_plan(SeriesState* series, Bytes payload, Py_ssize_t size) except? NULL:
    """Return the plan for a request; NULL if Python must read it."""
    if size < SHORTEST_REQUEST:
        return NULL
    return ready_plan(series.plans.requests, "request", <int16_t>load_16(payload), <int16_t>load_16(payload + 2), REQUEST_HEADERS)


cdef inline Py_ssize_t request_head(ExchangeState* exchange, SeriesState* series, Bytes payload, Py_ssize_t have) except -1:
    """kwire.protocol.tracking.passing.Passing.request_head: how many bytes suffice of a request whose end has not come, 0 for all."""
    cdef Cursor cursor
    cdef Fields fields
    cdef const FieldPlan* field_plan
    cdef int key
    if exchange.ways is NULL or exchange.sasl_raw:
        return 0
    if have < SHORTEST_REQUEST:
        return SHORTEST_REQUEST
    key = <int16_t>load_16(payload)
    if not 0 <= key < KEYS or exchange.ways[key] != PASSED_OVER:
        return 0
    field_plan = request_field_plan(series, payload, have)
    if field_plan is NULL:
        return 0
    cursor_open(&cursor, payload, have, 0)
    fields_open(&fields, &series.parts, &series.uses)
    if not take_fields(&series.plans.request_headers[field_plan.header_version], &cursor, &fields):
        return 0 if cursor.code != TRUNCATED else max(2 * have, <Py_ssize_t>SOME_HEADER)
    if not field_plan.traits & PRODUCE:
        return cursor.p - payload
    if not take_fields(acks_plan(series.plans, <int16_t>load_16(payload + 2)), &cursor, &fields):
        return max(2 * have, <Py_ssize_t>SOME_HEADER)
    return cursor.p - payload


cdef inline int take_request(ExchangeState* exchange, SeriesState* series, const WireFrame* frame) except -1:
    """Take the next frame of the client; gives FRAME_TAKEN, or FALLBACK with nothing changed."""
    cdef Bytes payload = frame.payload
    cdef Py_ssize_t size = frame.size
    cdef bint damaged = frame.flags & DAMAGED
    cdef Cursor cursor
    cdef Fields fields
    cdef const FieldPlan* field_plan
    cdef WaitingRequest* waiting
    cdef RequestRow* row
    cdef int key, version
    cdef uint32_t traits
    cdef int32_t client_id, topic, name, software_version, body
    cdef int32_t columns[MOST_COLUMNS]
    cdef int acks_slot = series.plans.columns.acks
    cdef bint has_acks
    cdef Cursor again
    cdef bint headless = False
    cdef bint is_skipped, is_silent, may_be_silent
    if unlikely(size < SHORTEST_REQUEST):
        return FALLBACK
    if unlikely(exchange.sasl_raw or (exchange.requests == 0 and payload[0] == KERBEROS)):
        return FALLBACK
    field_plan = request_field_plan(series, payload, size)
    if unlikely(field_plan is NULL):
        return FALLBACK
    key = <int16_t>load_16(payload)
    version = <int16_t>load_16(payload + 2)
    if unlikely(exchange.is_tracked and is_for_rule(exchange, field_plan, key)):
        return FALLBACK
    is_skipped = exchange.ways is not NULL and exchange.ways[key] == PASSED_OVER
    cursor_open(&cursor, payload, size, 0)
    fields_open(&fields, &series.parts, &series.uses)
    if not take_fields(&series.plans.request_headers[field_plan.header_version], &cursor, &fields):
        if unlikely(not damaged or cursor.code != TRUNCATED or fields.needs_fallback):
            return FALLBACK
        # nothing of it is known but how it begins
        fields_open(&fields, &series.parts, &series.uses)
        fields.cut = headless = True
    body = <int32_t>(cursor.p - payload)
    if is_skipped:
        if headless:
            is_skipped = False
        elif field_plan.traits & PRODUCE:
            take_fields(acks_plan(series.plans, version), &cursor, &fields)
    elif damaged:
        if unlikely(key == HANDSHAKE_KEY or not (headless or take_cut_fields(field_plan, &cursor, &fields))):
            return FALLBACK
    elif unlikely(not take_fields(field_plan, &cursor, &fields)):
        return FALLBACK
    has_acks = fields.columns_met >> <uint32_t>acks_slot & 1
    may_be_silent = field_plan.traits & PRODUCE and not has_acks
    if fields.topics_null and not damaged:
        cursor_open(&again, payload, size, body)
        if unlikely(not plain_block(&field_plan.program, &again, field_plan.program.blocks)):
            return FALLBACK
    if unlikely(fields.partial_batch and not damaged):
        return FALLBACK
    if unlikely(<int32_t>load_32(payload + 4) < 0):
        return FALLBACK
    client_id = client_id_taken(series, exchange, &fields)
    if field_plan.header_version == 0 and not headless:
        client_id = text_intern(&series.texts, payload, 0)  # the header has no client id, and the codec gives the default of the field
    memcpy(columns, series.plans.columns.nulls, sizeof(columns))
    topic = field_taken(series, &fields, TOPIC_NAME)
    name = field_taken(series, &fields, SOFTWARE_NAME)
    software_version = field_taken(series, &fields, SOFTWARE_VERSION)
    if unlikely(min(client_id, topic, name, software_version) == NO_ROOM or not columns_taken(series, &fields, columns)):
        return FALLBACK
    if unlikely(field_plan.traits & series.wanted & USES_TOPICS and not is_skipped and not uses_taken(series, &series.request_uses)):
        return FALLBACK
    if unlikely(min(name, software_version) >= 0 and not text_facts(series, name) & text_facts(series, software_version) & IS_SOFTWARE):
        return FALLBACK
    if field_plan.traits & API_VERSIONS and exchange.sasl_pending and exchange.sasl_counts and not exchange.missing:
        if unlikely(not exchange.is_unheard_full or exchange.last_answered != no_long()):
            return FALLBACK
    if unlikely(fields.text[MECHANISM] is not NULL and not is_utf8(fields.text[MECHANISM], fields.text_size[MECHANISM])):
        return FALLBACK
    if unlikely(exchange.is_tracked and not damaged and not is_skipped and cursor.p != cursor.end):
        return FALLBACK

    # From here on nothing falls back.
    if field_plan.traits & SASL:
        authenticate(exchange, series, &fields, version)
    elif exchange.sasl_pending and not exchange.sasl_counts:  # else only a server says that it is over
        sasl_known(exchange, series, (<object>series.callbacks).sasl_went_on(sasl_object(exchange)))
    if fields.text[CLIENT_ID] is not NULL and fields.text_size[CLIENT_ID]:
        count_client_id(exchange, &series.texts, client_id, 1)
    exchange.introduced = exchange.introduced or not field_plan.traits & (API_VERSIONS | SASL)
    if field_plan.traits & API_VERSIONS:
        if damaged and version >= 3 and min(name, software_version) < 0:
            exchange.observed = False  # they were sent, and cut off
            exchange.doubted = True
            unsay(exchange)
        elif name >= 0:
            exchange.software_name = name
            exchange.software_version = software_version
            exchange.source = FROM_API_VERSIONS
        elif not exchange.doubted or version >= 3:
            not_sent(exchange)
    if exchange.observed:
        not_sent(exchange)
    see_instance_id(exchange, series, fields.instance_id)
    see_role(exchange, series, field_plan, &fields, client_id)
    if client_id >= 0:
        exchange.judge_client_id = client_id
    if not field_plan.traits & API_VERSIONS:
        exchange.named_name = exchange.software_name
        exchange.named_version = exchange.software_version
    exchange.last_api = key
    exchange.is_kafka = True
    is_silent = field_plan.traits & PRODUCE and has_acks and columns[acks_slot] == 0
    waiting = waiting_new(&series.spare)
    if waiting is NULL:
        raise MemoryError
    row = &waiting.row
    row.request_index = exchange.requests
    row.api_key = key
    row.api_version = version
    row.header_version = field_plan.header_version
    row.correlation_id = <int32_t>load_32(payload + 4)
    row.client_id = client_id
    row.client_instance_id = exchange.instance_id
    row.software_name = exchange.named_name
    row.software_version = exchange.named_version
    row.principal = exchange.principal
    row.request_us = microseconds(frame.end_ns)
    row.response_us = row.latency_us = row.response_bytes = no_long()
    row.request_bytes = frame.length + 4
    row.error_code = no_int()
    row.first_topic = topic
    row.topic_count = no_int()
    if damaged and not is_skipped:
        if fields.topics_claimed >= 0 and not fields.topics_null:
            row.topic_count = fields.topics_claimed
    elif field_plan.has_topics and not is_skipped and not fields.topics_null:
        row.topic_count = fields.topic_count
    memcpy(row.columns, columns, sizeof(columns))
    row.state = NO_RESPONSE_EXPECTED if is_silent else UNANSWERED
    row.body = BODY_SKIPPED if is_skipped else BODY_TRUNCATED if damaged else BODY_DECODED
    row.packet = frame.packet
    row.stream_offset = frame.offset
    exchange.requests += 1
    if exchange.is_tracked:
        if exchange.reports_frames:
            say_frame(exchange, series, False, row, frame)
    else:
        if cursor.p != cursor.end and not damaged:
            tell_trailing(exchange, series, "request", row, frame, cursor.p - payload)
        if key == series.asked_key and version == series.asked_version and not series.asks_responses:
            show_frame(exchange, series, row, frame)
    waiting.request_ns = frame.end_ns
    waiting.losses = exchange.losses
    waiting.response_breaks = exchange.response_breaks - exchange.seeks_responses
    waiting.is_untimed = frame.flags & UNENDED
    waiting.damaged = damaged
    waiting.may_be_silent = may_be_silent
    traits = field_plan.traits & series.wanted
    if field_plan.traits & CHECKS_GROUP:
        traits |= field_plan.traits & KEEPS_REQUEST  # violations are reported whatever is wanted
    if is_silent:
        if exchange.take_frame is NULL:
            row_done(exchange, series, waiting)
            if series.wanted & USES_TOPICS and not is_skipped:
                count_topics(exchange, series, &series.request_uses, waiting, 0)
            forget_time(exchange, series, waiting)
        waiting_free(&series.spare, waiting)
    else:
        if not headless and not is_skipped:
            keep_request(series, waiting, traits, payload, size, body)
            waiting.noted = True
        waiting.kept = kept_of(series, waiting)
        waiting_add(exchange, waiting)
    return FRAME_TAKEN
