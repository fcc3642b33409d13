"""Takes response frames: kwire/protocol/tracking/response_events.py for the response to a request that has waited.

Nothing is changed before it is sure that Python has no more to say about a frame than what is done here. What Python does with a response
beyond its row is asked of it once for each distinct answer (`answers.pxd`).
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from protocol.answer_callbacks cimport (
    SHORTEST_RESPONSE, group_fits, learn, nodes, payload_object, response_field_plan, say, say_observed, traits_of, versions_answer, watch,
)
from protocol.answers cimport Answer, kept
from protocol.event_rows cimport last_row, say_frame
from protocol.exchange_state cimport FALLBACK, FRAME_TAKEN, REPORTED_PARTIAL, REPORTED_REFUSED, ExchangeState, WaitingRequest, sasl_object
from protocol.extracted_fields cimport Fields, fields_open
from protocol.field_extraction cimport error_of, take_cut_fields, take_fields
from protocol.field_plan cimport TOKEN, FieldPlan
from protocol.field_plans cimport CHECKS_GROUP, FETCH, KEEPS_REQUEST, LEARNS, PRODUCE, SASL, USES_TOPICS, WATCHED, WATCHED_ON_ERROR
from protocol.finished_rows cimport count_topics, forget_time, row_done, uses_taken
from protocol.request_frames cimport show_frame, tell_trailing
from protocol.request_identity cimport bytes_of, columns_taken, see_instance_id
from protocol.request_rows cimport (
    ABANDONED, ANSWERED, BODY_DECODED, BODY_SKIPPED, MOST_COLUMNS, UNANSWERED, UNSEEN, RequestRow, microseconds, no_int, no_long,
)
from protocol.series_state cimport SeriesState, sasl_known
from protocol.topic_uses cimport TopicUses, uses_merge
from protocol.waiting_objects cimport columns_of_objects
from protocol.waiting_requests cimport waiting_free, waiting_remove
from protocol.wire_frame cimport DAMAGED, DOUBTFUL, UNENDED, UNFINISHED, WireFrame
from wire.cursor cimport Bytes, Cursor, cursor_open, unlikely
from wire.raw_python cimport raw_xdecref

cdef enum:
    API_VERSIONS_KEY = 18
    UNSUPPORTED_VERSION = 35


cdef inline int give_up(ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting) except -1:
    """A request that waits no longer gets no response; it is let go of."""
    cdef uint32_t traits = traits_of(series, waiting)
    cdef TopicUses* uses = &series.merged
    if not waiting.is_token and exchange.take_frame is NULL:
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
    waiting_free(&series.spare, waiting)
    return 0


cdef inline int give_up_all(ExchangeState* exchange, SeriesState* series) except -1:
    """Nothing that waits gets a response."""
    cdef WaitingRequest* waiting
    while exchange.waiting_count:
        waiting = exchange.waiting
        waiting_remove(exchange, waiting)
        give_up(exchange, series, waiting)
    return 0


cdef inline void answered_at(const ExchangeState* exchange, WaitingRequest* waiting, const WireFrame* frame) noexcept nogil:
    """The row of a request has a response: what is known of it without its body."""
    cdef RequestRow* row = &waiting.row
    row.state = ABANDONED if frame.flags & UNFINISHED and exchange.closed_by == 0 else ANSWERED
    row.response_bytes = frame.length + 4
    if not (frame.flags & UNENDED or waiting.is_untimed) and exchange.losses == waiting.losses and frame.end_ns >= waiting.request_ns:
        row.latency_us = <int64_t>((<uint64_t>frame.end_ns - <uint64_t>waiting.request_ns) // 1000)


cdef inline int take_skipped(ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting, const WireFrame* frame) except -1:
    """`take_answer` for a request whose body was passed over."""
    cdef RequestRow* row = &waiting.row
    answered_at(exchange, waiting, frame)
    if exchange.reports_frames:
        say_frame(exchange, series, True, row, frame)
    if exchange.take_frame is not NULL:
        return 0
    row_done(exchange, series, waiting, frame.end_ns)
    if frame.flags & UNENDED:
        last_row(<list>exchange.events, series.classes.row_type).response_time = None
    return forget_time(exchange, series, waiting)


cdef inline int take_answer(ExchangeState* exchange, SeriesState* series, WaitingRequest* waiting, const WireFrame* frame) except -1:
    """Take the response to a request, of which at least a correlation id is there; outcome as of `take_request`."""
    cdef Bytes payload = frame.payload
    cdef Py_ssize_t size = frame.size
    cdef int64_t time_ns = frame.end_ns
    cdef bint damaged
    cdef Cursor cursor
    cdef Fields fields
    cdef const FieldPlan* field_plan = NULL
    cdef RequestRow* row = &waiting.row
    cdef Answer* answer = NULL
    cdef TopicUses* uses = &series.merged
    cdef uint32_t traits = traits_of(series, waiting)
    cdef int32_t error = no_int()
    cdef int32_t columns[MOST_COLUMNS]
    cdef Py_ssize_t end = size
    cdef object response = None
    cdef object learned = None
    if unlikely(waiting.is_token or (waiting.overtaken_by and not frame.flags & DOUBTFUL)):
        return FALLBACK
    if unlikely(exchange.is_tracked and (exchange.asks or not exchange.proven)):
        return FALLBACK
    if row.body == BODY_SKIPPED:
        return take_skipped(exchange, series, waiting, frame)
    damaged = frame.flags & DAMAGED or size < frame.length
    memcpy(columns, row.columns, sizeof(columns))
    fields_open(&fields, &series.parts, &series.uses)
    if row.api_key == API_VERSIONS_KEY:
        if unlikely(exchange.is_tracked):
            return FALLBACK
        answer = versions_answer(exchange, series, payload, size, damaged, row.api_version, time_ns)
        if unlikely(answer is NULL):
            return FALLBACK
        error = answer.error_code
        columns_of_objects(columns, &series.texts, &series.plans.columns, <dict><object>answer.columns)
    else:
        field_plan = response_field_plan(series, row.api_key, row.api_version)
        if unlikely(field_plan is NULL):
            return FALLBACK
        cursor_open(&cursor, payload, size, 0)
        if unlikely(not take_fields(&series.plans.response_headers[field_plan.header_version], &cursor, &fields)):
            return FALLBACK
        traits |= field_plan.traits & series.wanted
        if unlikely(exchange.is_tracked and (traits & SASL or fields.instance_id is not NULL or (damaged and traits & LEARNS))):
            return FALLBACK
        if damaged:
            if unlikely(not take_cut_fields(field_plan, &cursor, &fields)):
                return FALLBACK
        elif unlikely(not take_fields(field_plan, &cursor, &fields)):
            return FALLBACK
        else:
            end = cursor.p - payload
        error = error_of(field_plan, &fields)
        if unlikely(damaged and traits & SASL and error == no_int()):
            return FALLBACK  # what became of the token is not known
        if unlikely(not columns_taken(series, &fields, columns)):
            return FALLBACK
        if unlikely(error == UNSUPPORTED_VERSION and not exchange.is_tracked):
            return FALLBACK
        if unlikely(traits & PRODUCE and (error == 2 or error == 76 or error == 87)):
            return FALLBACK
        if unlikely(traits & CHECKS_GROUP and not damaged and waiting.noted and not group_fits(series, waiting, payload, size, error)):
            return FALLBACK
        if unlikely(traits & USES_TOPICS and not uses_taken(series, &series.response_uses)):
            return FALLBACK
        if unlikely(exchange.is_tracked and fields.instance_id is not NULL):
            return FALLBACK  # of a response that was cut too
        if exchange.is_tracked and not damaged:
            if unlikely(end != size or (fields.partial_batch and not exchange.reported & REPORTED_PARTIAL)):
                return FALLBACK

    # From here on nothing falls back.
    answered_at(exchange, waiting, frame)
    if answer is not NULL and error == 0:
        exchange.named_name, exchange.named_version = exchange.software_name, exchange.software_version
    row.response_us = no_long() if frame.flags & UNENDED else microseconds(time_ns)
    row.error_code = error
    memcpy(row.columns, columns, sizeof(columns))
    if exchange.is_tracked:
        if exchange.reports_frames:
            say_frame(exchange, series, True, row, frame)
        if exchange.take_frame is not NULL:
            return FRAME_TAKEN
        if traits & (LEARNS | WATCHED) or (traits & WATCHED_ON_ERROR and error != 0 and error != no_int()):
            response = payload_object(payload, size)
            if traits & LEARNS:
                learned = nodes(series, waiting, response, SHORTEST_RESPONSE + field_plan.header_version, time_ns)
                if learned is not None:
                    (<list>exchange.events).append(learned)
        row_done(exchange, series, waiting, time_ns)
        if traits & USES_TOPICS:
            if not uses_merge(
                uses, waiting.uses, waiting.use_count, series.response_uses.uses, series.response_uses.count, row.api_key != 0,
                row.body == BODY_DECODED, not damaged,
            ):
                raise MemoryError
            count_topics(exchange, series, uses, waiting, fields.error)
        elif response is not None:
            say_observed(exchange, series, waiting, traits, (<list>exchange.events)[-1], response, damaged)
        if frame.flags & UNENDED:
            last_row(<list>exchange.events, series.classes.row_type).response_time = None
        return forget_time(exchange, series, waiting)
    if end != size:
        tell_trailing(exchange, series, "response", row, frame, end)
    if answer is not NULL:
        if error == UNSUPPORTED_VERSION:
            say(exchange, series, REPORTED_REFUSED, row, frame.offset, frame.packet)
        if answer.ranges is not NULL and answer.ranges is not exchange.advertised:
            raw_xdecref(exchange.advertised)
            exchange.advertised = kept(<object>answer.ranges)
    elif traits & FETCH and fields.partial_batch and not damaged:
        say(exchange, series, REPORTED_PARTIAL, row, frame.offset, frame.packet)
    if traits & SASL:
        sasl_known(
            exchange, series, (<object>series.callbacks).sasl_response(sasl_object(exchange), row.api_key, bytes_of(&fields, TOKEN), error)
        )
    see_instance_id(exchange, series, fields.instance_id)
    if row.api_key == series.asked_key and series.asks_responses:
        # of the api versions that end here only ApiVersions is ever answered in another version
        if series.asked_version == (0 if answer is not NULL and error == UNSUPPORTED_VERSION else row.api_version):
            show_frame(exchange, series, row, frame)
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
