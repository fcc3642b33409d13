"""Takes response frames: kwire/protocol/exchange.py for the response to a request that has waited.

Nothing is changed before it is sure that Python has no more to say about a frame than what is done here. What Python does with a response
beyond its row is asked of it once for each distinct answer (`answers.pxd`).
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cpython.object cimport PyObject

from protocol.answer_keys cimport ANSWER_SILENT, ANSWER_VERSIONS, MOST_KNOWN_BY, RESPONSE_CUT, key_add, key_begin, told_by
from protocol.answers cimport Answer, answer_add, answer_find, answer_seen, kept
from protocol.event_rows cimport last_row, say_frame, use_objects
from protocol.exchange_state cimport (
    FRAME_TAKEN, SAID_PARTIAL, SAID_REFUSED, ExchangeState,
    SeriesState, WaitingRequest, FALLBACK, sasl_known, sasl_object, waiting_free, waiting_remove,
)
from protocol.extracted_fields cimport MET_THROTTLE_TIME, Fields, Parts, fields_open, parts_add, parts_clear
from protocol.field_extraction cimport error_of, take_cut_fields, take_fields
from protocol.field_plan cimport NOT_ASKED, READY, TOKEN, FieldPlan
from protocol.field_plans cimport (
    FETCH, KEEPS_REQUEST, KEYS, LEARNS, PRODUCE, RESPONSE_HEADERS, SASL, STEPS, USES_TOPICS, VERSIONS, WATCHED, WATCHED_ON_ERROR,
    field_plan_ask,
)
from protocol.group_fields cimport group_clear
from protocol.group_step_rows cimport add_step, names_fit
from protocol.request_frames cimport (
    bytes_of, client_id_of, count_topics, forget_time,
    row_done, see_instance_id, show_frame, tell_trailing, uses_taken,
)
from protocol.request_rows cimport (
    ABANDONED, ANSWERED, BODY_DECODED, BODY_SKIPPED, UNANSWERED, UNSEEN, RequestRow, microseconds, no_int, no_long,
)
from protocol.text_table cimport TextTable, text_object
from protocol.topic_uses cimport TopicUses, uses_merge
from wire.cursor cimport Bytes, Cursor, cursor_open, load_32
from wire.raw_python cimport raw_xdecref

cdef enum:
    SHORTEST_RESPONSE = 4  # correlation id
    API_VERSIONS_KEY = 18
    UNSUPPORTED_VERSION = 35


cdef inline object long_object(int64_t value):
    return None if value == no_long() else value


cdef inline object int_object(int32_t value):
    return None if value == no_int() else value


cdef inline object completed(SeriesState* series, const WaitingRequest* waiting, int64_t response_ns):
    """The `RequestCompleted` of a row."""
    cdef const RequestRow* row = &waiting.row
    cdef const TextTable* texts = &series.texts
    callbacks = <object>series.callbacks
    return callbacks.completed(
        row.request_index, row.api_key, callbacks.api_name(row.api_key), row.api_version, int_object(row.header_version),
        long_object(row.correlation_id), text_object(texts, row.client_id), text_object(texts, row.client_instance_id),
        text_object(texts, row.software_name), text_object(texts, row.software_version), text_object(texts, row.principal),
        waiting.request_ns, long_object(response_ns), long_object(row.latency_us), long_object(row.request_bytes),
        long_object(row.response_bytes), int_object(row.error_code), long_object(row.throttle_time_ms), int_object(row.acks),
        text_object(texts, row.first_topic), int_object(row.topic_count), text_object(texts, row.group_id),
        text_object(texts, row.transactional_id), callbacks.states[row.state], callbacks.bodies[row.body], row.packet, row.stream_offset,
    )


cdef inline object payload_object(const uint8_t* payload, Py_ssize_t size):
    return None if payload is NULL else PyBytes_FromStringAndSize(<const char*>payload, size)


cdef inline int say(
    ExchangeState* exchange, SeriesState* series, int what, const RequestRow* row, int64_t offset, int64_t packet
) except -1:
    """Report what is said once a connection, if it has not been said."""
    if exchange.said & what:
        return 0
    exchange.said |= <uint8_t>what
    (<object>series.callbacks).once(
        (exchange.connection, row.request_index, packet, offset),
        (text_object(&series.texts, exchange.software_name), text_object(&series.texts, client_id_of(exchange))),
        "api_versions_refused" if what == SAID_REFUSED else "batch_partial", row.api_key, row.api_version,
    )
    return 0


cdef inline Answer* versions_answer(
    ExchangeState* exchange, SeriesState* series, Bytes payload, Py_ssize_t size, bint damaged, int version, int64_t time_ns
) except? NULL:
    """What an ApiVersions response says; NULL where Python has more to say about it."""
    cdef int32_t start = series.texts.offsets[exchange.server]
    cdef int32_t end = series.texts.offsets[exchange.server + 1]
    cdef Answer* answer
    if size > MOST_KNOWN_BY:
        return NULL
    key_begin(series, ANSWER_VERSIONS, version | RESPONSE_CUT * damaged, series.texts.bytes + start, end - start)
    key_add(series, payload + SHORTEST_RESPONSE, size - SHORTEST_RESPONSE)
    answer = answer_find(&series.answers, series.key.bytes, series.key.size)
    if answer is NULL:
        found = (<object>series.callbacks).versions_answer(
            text_object(&series.texts, exchange.server), payload_object(payload, size), bool(damaged), version, time_ns
        )
        if found is None:
            return NULL
        answer = answer_add(&series.answers, series.key.bytes, series.key.size)
        answer.error_code = no_int() if found[0] is None else found[0]
        answer.throttle_time_ms = no_long() if found[1] is None else found[1]
        answer.ranges = kept(found[2])
        answer.learned = kept(found[3])
    else:
        answer_seen(answer, microseconds(time_ns))
    return answer


cdef inline bint is_as_expected(const Answer* answer) except -1:
    """Whether what an answer teaches beside times would change nothing."""
    cdef tuple learned
    cdef tuple ranges
    cdef list seen
    cdef object expected
    cdef Py_ssize_t index
    if answer.ranges is NULL:
        return True
    learned, ranges = <tuple><object>answer.learned, <tuple><object>answer.ranges
    for index in range(len(learned)):
        expected = ranges[index]  # None for a list of times alone
        if expected is None:
            continue
        seen = learned[index]
        if (seen[0] is not expected[0] and seen[0] != expected[0]) or (seen[1] is not expected[1] and seen[1] != expected[1]):
            return False
    return True


cdef inline object frame_object(const uint8_t* payload, Py_ssize_t size, bint damaged):
    """A frame as the callbacks takes it, None for none."""
    return None if payload is NULL else (payload_object(payload, size), bool(damaged))


cdef inline int learn(
    SeriesState* series, const WaitingRequest* waiting, Bytes payload, Py_ssize_t size, bint damaged,
    int64_t time_ns
) except -1:
    """What a response teaches about the cluster: its nodes and the names of topics."""
    cdef const RequestRow* row = &waiting.row
    cdef Answer* answer
    request = frame_object(waiting.payload, waiting.size, waiting.damaged)
    response = frame_object(payload, size, damaged)
    if waiting.size + (size if damaged else series.parts.size) > MOST_KNOWN_BY:
        (<object>series.callbacks).learn(completed(series, waiting, time_ns), request, response)
        return 0
    if waiting.payload is NULL:
        key_begin(series, row.api_key, told_by(waiting, damaged), NULL, 0)
    else:
        key_begin(series, row.api_key, told_by(waiting, damaged), waiting.payload + waiting.body, waiting.size - waiting.body)
    if damaged:
        key_add(series, payload + SHORTEST_RESPONSE, size - SHORTEST_RESPONSE)
    else:
        key_add(series, series.parts.bytes, series.parts.size)
    answer = answer_find(&series.answers, series.key.bytes, series.key.size)
    if answer is not NULL and is_as_expected(answer):
        answer_seen(answer, microseconds(time_ns))
        return 0
    learned, expected = (<object>series.callbacks).learn(completed(series, waiting, time_ns), request, response)
    if answer is NULL:
        answer = answer_add(&series.answers, series.key.bytes, series.key.size)
    else:
        raw_xdecref(answer.learned)
        raw_xdecref(answer.ranges)
        answer.learned = answer.ranges = NULL
    answer.learned = kept(learned)
    answer.ranges = kept(expected)
    return 0


cdef inline int watch(
    ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting, Bytes payload, Py_ssize_t size, bint damaged,
    int64_t time_ns
) except -1:
    """What an exchange says beyond its row is said by Python, but for most steps of groups; of those that say nothing, such as heartbeats,
    it is asked once.

    Arguments:
        payload: of the response, NULL without one.
        damaged: bytes of it are lost.
        time_ns: of the response, NO_LONG without one.
    """
    cdef uint32_t traits = series.plans.requests[waiting.row.api_key * VERSIONS + waiting.row.api_version].traits
    cdef bint may_be_known = payload is not NULL and waiting.payload is not NULL and waiting.size + size <= MOST_KNOWN_BY
    if traits & STEPS:
        if payload is NULL:
            group_clear(&series.response_group)
        if add_step(exchange, series, waiting):
            return 0
    if may_be_known:
        key_begin(series, ANSWER_SILENT, told_by(waiting, damaged), waiting.payload + waiting.body, waiting.size - waiting.body)
        key_add(series, payload + SHORTEST_RESPONSE, size - SHORTEST_RESPONSE)
        key_add(series, <Bytes>&waiting.row.api_key, sizeof(waiting.row.api_key))
        if answer_find(&series.answers, series.key.bytes, series.key.size) is not NULL:
            return 0
    said = (<object>series.callbacks).observed(
        exchange.connection, exchange.begun, completed(series, waiting, time_ns),
        frame_object(waiting.payload, waiting.size, waiting.damaged), frame_object(payload, size, damaged),
    )
    if not said and may_be_known:
        answer_add(&series.answers, series.key.bytes, series.key.size)
    return 0


cdef inline const FieldPlan* response_field_plan(SeriesState* series, int key, int version) except? NULL:
    """How to read a response; NULL where Python reads it."""
    cdef FieldPlan* field_plan
    if not (0 <= key < KEYS and 0 <= version < VERSIONS):
        return NULL
    field_plan = &series.plans.responses[key * VERSIONS + version]
    if field_plan.state == NOT_ASKED:
        field_plan_ask(field_plan, "response", key, version)
    return field_plan if field_plan.state == READY and 0 <= field_plan.header_version < RESPONSE_HEADERS else NULL


cdef inline uint32_t traits_of(SeriesState* series, const WaitingRequest* waiting) except? 0:
    """What is to be done with an exchange; nothing for an api that the catalog does not have."""
    cdef int key = waiting.row.api_key
    cdef int version = waiting.row.api_version
    cdef FieldPlan* field_plan
    if not (0 <= key < KEYS and 0 <= version < VERSIONS):
        return 0
    field_plan = &series.plans.requests[key * VERSIONS + version]
    if field_plan.state == NOT_ASKED:
        field_plan_ask(field_plan, "request", key, version)
    return field_plan.traits & series.wanted


cdef inline object note_object(SeriesState* series, const WaitingRequest* waiting, uint32_t traits):
    """What `kwire.protocol.observation.note_request` keeps of the request."""
    if not waiting.noted:
        return None
    if traits & USES_TOPICS:
        return use_objects(series, waiting.uses, waiting.use_count)
    return frame_object(waiting.payload, waiting.size, waiting.damaged)


cdef inline int say_observed(
    ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting, uint32_t traits, object row, object payload, bint damaged
) except -1:
    """What an exchange of a tracked connection says beyond its row."""
    if waiting.row.body != BODY_SKIPPED:
        (<list>exchange.events).extend(
            (<object>series.callbacks).observe(row, note_object(series, waiting, traits), payload, bool(damaged))
        )
    return 0


cdef inline int give_up(ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting) except -1:
    """A request that waits no longer gets no response; it is let go of."""
    cdef uint32_t traits = traits_of(series, waiting)
    cdef TopicUses* uses = &series.merged
    if not waiting.is_token:
        if waiting.response_breaks < exchange.response_breaks or waiting.may_be_silent or exchange.is_unclear or exchange.server_unseen:
            waiting.row.state = UNSEEN
        else:
            waiting.row.state = ABANDONED if exchange.closed_by == 0 else UNANSWERED
        exchange.unanswered += waiting.row.state == UNANSWERED
        row_done(exchange, series, waiting)
        if traits & USES_TOPICS and not uses_merge(
            uses, waiting.uses, waiting.use_count, NULL, 0, waiting.row.api_key != 0, waiting.row.body == BODY_DECODED,
            waiting.row.state != UNSEEN,
        ):
            raise MemoryError
        if exchange.is_tracked:
            if traits & USES_TOPICS and waiting.row.body != BODY_SKIPPED:
                count_topics(exchange, series, uses, waiting, 0)
            elif traits & (KEEPS_REQUEST | WATCHED) and not traits & WATCHED_ON_ERROR:
                say_observed(exchange, series, waiting, traits, (<list>exchange.events)[-1], None, False)
        elif traits & USES_TOPICS:
            count_topics(exchange, series, uses, waiting, 0)
        elif traits & KEEPS_REQUEST and not traits & WATCHED_ON_ERROR:
            watch(exchange, series, waiting, NULL, 0, False, no_long())
        forget_time(exchange, series, waiting)
    waiting_free(exchange, waiting)
    return 0


cdef inline int give_up_all(ExchangeState* exchange, SeriesState* series) except -1:
    """Nothing that waits gets a response."""
    cdef WaitingRequest* waiting
    while exchange.waiting_count:
        waiting = exchange.waiting
        waiting_remove(exchange, waiting)
        give_up(exchange, series, waiting)
    return 0


cdef inline object nodes(SeriesState* series, const WaitingRequest* waiting, object payload, int start, int64_t time_ns):
    """The nodes of the cluster that a response names whose body, from `start` on, breaks no rule."""
    cdef const RequestRow* row = &waiting.row
    return (<object>series.callbacks).nodes(row.api_key, row.api_version, row.request_index, payload, start, time_ns)


cdef inline int take_skipped(
    ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting, Py_ssize_t length, int64_t offset, int64_t time_ns, bint ended,
    bint unfinished,
) except -1:
    """`take_answer` for a request whose body was passed over."""
    cdef RequestRow* row = &waiting.row
    row.state = ABANDONED if unfinished and exchange.closed_by == 0 else ANSWERED
    row.response_bytes = length + 4
    if ended and not waiting.is_untimed and exchange.losses == waiting.losses and time_ns >= waiting.request_ns:
        row.latency_us = <int64_t>((<uint64_t>time_ns - <uint64_t>waiting.request_ns) // 1000)
    if exchange.tells_frames:
        say_frame(exchange, series, "response", row, offset, length)
    row_done(exchange, series, waiting, time_ns)
    if not ended:
        last_row(<list>exchange.events, series.classes.row_type).response_time = None
    return forget_time(exchange, series, waiting)


cdef inline int take_answer(
    ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting, Bytes payload, Py_ssize_t size, Py_ssize_t length,
    int64_t offset, int64_t packet, int64_t time_ns, bint damaged, bint ended, bint unfinished, bint doubtful,
) except -1:
    """Take the response to a request; arguments and outcome as `take_request`.

    Arguments:
        payload: at least a correlation id.
        ended: its last byte was seen, so that its time is known.
        unfinished: the connection was over before it was.
        doubtful: borders were lost and found again a few frames ago.
    """
    cdef Cursor cursor
    cdef Fields fields
    cdef const FieldPlan* field_plan = NULL
    cdef RequestRow* row = &waiting.row
    cdef Answer* answer = NULL
    cdef TopicUses* uses = &series.merged
    cdef uint32_t traits = traits_of(series, waiting)
    cdef int32_t error = no_int()
    cdef int64_t throttle = no_long()
    cdef Py_ssize_t end = size
    cdef object frame = None
    cdef object learned = None
    if waiting.is_token or (waiting.overtaken_by and not doubtful) or (exchange.is_tracked and exchange.asks):
        return FALLBACK
    if row.body == BODY_SKIPPED:
        return take_skipped(exchange, series, waiting, length, offset, time_ns, ended, unfinished)
    fields_open(&fields, &series.parts, &series.uses, &series.response_group)
    if row.api_key == API_VERSIONS_KEY:
        if exchange.is_tracked:
            return FALLBACK
        answer = versions_answer(exchange, series, payload, size, damaged, row.api_version, time_ns)
        if answer is NULL:
            return FALLBACK
        error, throttle = answer.error_code, answer.throttle_time_ms
    else:
        field_plan = response_field_plan(series, row.api_key, row.api_version)
        if field_plan is NULL:
            return FALLBACK
        cursor_open(&cursor, payload, size, 0)
        if not take_fields(&series.plans.response_headers[field_plan.header_version], &cursor, &fields):
            return FALLBACK
        traits |= field_plan.traits & series.wanted
        if exchange.is_tracked and (traits & SASL or fields.instance_id is not NULL or (damaged and traits & LEARNS)):
            return FALLBACK
        if traits & STEPS:
            group_clear(&series.response_group)
        if damaged:
            if not take_cut_fields(field_plan, &cursor, &fields):
                return FALLBACK
        elif not take_fields(field_plan, &cursor, &fields):
            return FALLBACK
        else:
            end = cursor.p - payload
        error = error_of(field_plan, &fields)
        if damaged and traits & SASL and error == no_int():
            return FALLBACK  # what became of the token is not known
        if field_plan.has_throttle_time and (not damaged or fields.met & MET_THROTTLE_TIME):
            throttle = fields.throttle_time_ms
        if error == UNSUPPORTED_VERSION and not exchange.is_tracked:
            return FALLBACK
        if traits & PRODUCE and (error == 2 or error == 76 or error == 87):
            return FALLBACK
        if traits & STEPS and not damaged and waiting.noted and not names_fit(series, waiting, error):
            return FALLBACK
        if traits & USES_TOPICS and not uses_taken(series, &series.response_uses):
            return FALLBACK
        if exchange.is_tracked and not damaged:
            if end != size or fields.instance_id is not NULL or (fields.partial_batch and not exchange.said & SAID_PARTIAL):
                return FALLBACK

    # From here on nothing falls back.
    row.state = ABANDONED if unfinished and exchange.closed_by == 0 else ANSWERED
    row.response_us = microseconds(time_ns) if ended else no_long()
    row.response_bytes = length + 4
    row.error_code = error
    row.throttle_time_ms = throttle
    if ended and not waiting.is_untimed and exchange.losses == waiting.losses and time_ns >= waiting.request_ns:
        row.latency_us = <int64_t>((<uint64_t>time_ns - <uint64_t>waiting.request_ns) // 1000)
    if exchange.is_tracked:
        if exchange.tells_frames:
            say_frame(exchange, series, "response", row, offset, length)
        if traits & (LEARNS | WATCHED) or (traits & WATCHED_ON_ERROR and error != 0 and error != no_int()):
            frame = payload_object(payload, size)
            if traits & LEARNS:
                learned = nodes(series, waiting, frame, SHORTEST_RESPONSE + field_plan.header_version, time_ns)
                if learned is not None:
                    (<list>exchange.events).append(learned)
        row_done(exchange, series, waiting, time_ns)
        if traits & USES_TOPICS:
            if not uses_merge(
                uses, waiting.uses, waiting.use_count, series.response_uses.uses, series.response_uses.count, row.api_key != 0,
                row.body == BODY_DECODED, not damaged,
            ):
                raise MemoryError
            count_topics(exchange, series, uses, waiting, top_error(field_plan, &fields))
        elif frame is not None:
            say_observed(exchange, series, waiting, traits, (<list>exchange.events)[-1], frame, damaged)
        if not ended:
            last_row(<list>exchange.events, series.classes.row_type).response_time = None
        return forget_time(exchange, series, waiting)
    if end != size:
        tell_trailing(exchange, series, "response", row, offset, packet, end, size)
    if answer is not NULL:
        if error == UNSUPPORTED_VERSION:
            say(exchange, series, SAID_REFUSED, row, offset, packet)
        if answer.ranges is not NULL and answer.ranges is not exchange.advertised:
            raw_xdecref(exchange.advertised)
            exchange.advertised = kept(<object>answer.ranges)
    elif traits & FETCH and fields.partial_batch and not damaged:
        say(exchange, series, SAID_PARTIAL, row, offset, packet)
    if traits & SASL:
        sasl_known(
            exchange, series, (<object>series.callbacks).sasl_response(sasl_object(exchange), row.api_key, bytes_of(&fields, TOKEN), error)
        )
    see_instance_id(exchange, series, fields.instance_id)
    if row.api_key == series.asked_key and series.asks_responses:
        # of the api versions that end here only ApiVersions is ever answered in another version
        if series.asked_version == (0 if answer is not NULL and error == UNSUPPORTED_VERSION else row.api_version):
            show_frame(exchange, series, row, payload, size, offset, packet, time_ns)
    row_done(exchange, series, waiting)
    row.response_us = microseconds(time_ns)  # what the exchange says beyond its row has the time of what came
    if traits & USES_TOPICS:
        if not uses_merge(
            uses, waiting.uses, waiting.use_count, series.response_uses.uses, series.response_uses.count, row.api_key != 0,
            row.body == BODY_DECODED, not damaged,
        ):
            raise MemoryError
        count_topics(exchange, series, uses, waiting, 0)
    elif traits & WATCHED or (traits & WATCHED_ON_ERROR and error != 0 and error != no_int()):
        watch(exchange, series, waiting, payload, size, damaged, time_ns)
    elif traits & LEARNS:
        learn(series, waiting, payload, size, damaged, time_ns)
    return FRAME_TAKEN


cdef inline int32_t top_error(const FieldPlan* field_plan, const Fields* fields) noexcept nogil:
    """The error code that stands above the partitions, 0 without one."""
    return fields.error[0] if field_plan.has_top_error else 0
