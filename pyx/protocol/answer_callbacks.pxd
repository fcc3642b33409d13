"""Callbacks to Python for a response, once for each distinct answer (`answers.pxd`)."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t

from protocol.answer_keys cimport ANSWER_SILENT, ANSWER_VERSIONS, MOST_KNOWN_BY, RESPONSE_CUT, key_add, key_begin, cut_version
from protocol.answers cimport Answer, answer_add, answer_find, answer_seen, kept
from protocol.event_rows cimport new_row, use_objects
from protocol.exchange_state cimport REPORTED_REFUSED, ExchangeState, WaitingRequest
from protocol.field_plan cimport FieldPlan
from protocol.field_plans cimport RESPONSE_HEADERS, USES_TOPICS, known_plan, ready_plan
from protocol.request_identity cimport client_id_of
from protocol.request_rows cimport BODY_SKIPPED, RequestRow, microseconds, no_int, no_long
from protocol.series_state cimport SeriesState
from protocol.text_table cimport TextTable, text_object
from wire.cursor cimport Bytes
from wire.raw_python cimport raw_xdecref

cdef enum:
    SHORTEST_RESPONSE = 4  # correlation id
    SYNC_GROUP = 14
    INCONSISTENT_GROUP_PROTOCOL = 23


cdef inline object payload_object(const uint8_t* payload, Py_ssize_t size):
    return None if payload is NULL else PyBytes_FromStringAndSize(<const char*>payload, size)


cdef inline int say(
    ExchangeState* exchange, SeriesState* series, int what, const RequestRow* row, int64_t offset, int64_t packet
) except -1:
    """Report a rule that is reported once per connection, unless it was."""
    if exchange.reported & what:
        return 0
    exchange.reported |= <uint8_t>what
    (<object>series.callbacks).once(
        (exchange.connection, row.request_index, packet, offset),
        (text_object(&series.texts, exchange.software_name), text_object(&series.texts, client_id_of(exchange))),
        "api_versions_refused" if what == REPORTED_REFUSED else "batch_partial", row.api_key, row.api_version,
    )
    return 0


cdef inline Answer* versions_answer(
    ExchangeState* exchange, SeriesState* series, Bytes payload, Py_ssize_t size, bint damaged, int version, int64_t time_ns
) except? NULL:
    """Return the cached facts of an ApiVersions response; NULL if Python must read it."""
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
        answer.columns = kept(found[1])
        answer.ranges = kept(found[2])
        answer.learned = kept(found[3])
    else:
        answer_seen(answer, microseconds(time_ns))
    return answer


cdef inline bint is_as_expected(const Answer* answer) except -1:
    """Return whether an answer would change nothing but times."""
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


cdef inline object learned_of(
    SeriesState* series, const WaitingRequest* waiting, Bytes payload, Py_ssize_t size, bint damaged, int64_t time_ns
):
    """Call Python for an answer; return the lists it fed and their expected values."""
    return (<object>series.callbacks).learn(
        new_row(series.classes, series, waiting, time_ns), frame_object(waiting.payload, waiting.size, waiting.damaged),
        frame_object(payload, size, damaged),
    )


cdef inline bint group_fits(SeriesState* series, const WaitingRequest* waiting, Bytes payload, Py_ssize_t size, int64_t error) except -1:
    """Return whether Python finds no fault between a request of a group and its whole response (groups/exchange_checks.py)."""
    cdef const RequestRow* row = &waiting.row
    if waiting.payload is NULL or waiting.damaged:
        return True
    # A SyncGroup has names from version 5 on. Without them, and in JoinGroup after an error, only the refusal of the names is a fault.
    if error != INCONSISTENT_GROUP_PROTOCOL and (row.api_version < 5 if row.api_key == SYNC_GROUP else error != 0):
        return True
    return (<object>series.callbacks).group_fits(
        row.api_key, row.api_version, payload_object(waiting.payload, waiting.size), payload_object(payload, size)
    )


cdef inline int learn(
    SeriesState* series, const WaitingRequest* waiting, Bytes payload, Py_ssize_t size, bint damaged,
    int64_t time_ns
) except -1:
    """Learn nodes and topic names of the cluster from a response."""
    cdef const RequestRow* row = &waiting.row
    cdef Answer* answer
    if waiting.size + (size if damaged else series.parts.size) > MOST_KNOWN_BY:
        learned_of(series, waiting, payload, size, damaged, time_ns)
        return 0
    if waiting.payload is NULL:
        key_begin(series, row.api_key, cut_version(waiting, damaged), NULL, 0)
    else:
        key_begin(series, row.api_key, cut_version(waiting, damaged), waiting.payload + waiting.body, waiting.size - waiting.body)
    if damaged:
        key_add(series, payload + SHORTEST_RESPONSE, size - SHORTEST_RESPONSE)
    else:
        key_add(series, series.parts.bytes, series.parts.size)
    answer = answer_find(&series.answers, series.key.bytes, series.key.size)
    if answer is not NULL and is_as_expected(answer):
        answer_seen(answer, microseconds(time_ns))
        return 0
    learned, expected = learned_of(series, waiting, payload, size, damaged, time_ns)
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
    """Let Python report what an exchange says beyond its row; of those that say nothing, such as heartbeats, it is asked once.

    Without a response `payload` is NULL and `time_ns` NO_LONG.
    """
    cdef bint may_be_known = payload is not NULL and waiting.payload is not NULL and waiting.size + size <= MOST_KNOWN_BY
    if may_be_known:
        key_begin(series, ANSWER_SILENT, cut_version(waiting, damaged), waiting.payload + waiting.body, waiting.size - waiting.body)
        key_add(series, payload + SHORTEST_RESPONSE, size - SHORTEST_RESPONSE)
        key_add(series, <Bytes>&waiting.row.api_key, sizeof(waiting.row.api_key))
        if answer_find(&series.answers, series.key.bytes, series.key.size) is not NULL:
            return 0
    events = (<object>series.callbacks).observed(
        exchange.connection, exchange.begun, new_row(series.classes, series, waiting, time_ns),
        frame_object(waiting.payload, waiting.size, waiting.damaged), frame_object(payload, size, damaged),
    )
    if not events and may_be_known:
        answer_add(&series.answers, series.key.bytes, series.key.size)
    return 0


cdef inline const FieldPlan* response_field_plan(SeriesState* series, int key, int version) except? NULL:
    """Return the plan for a response; NULL if Python must read it."""
    return ready_plan(series.plans.responses, "response", key, version, RESPONSE_HEADERS)


cdef inline uint32_t traits_of(SeriesState* series, const WaitingRequest* waiting) except? 0:
    """Return the traits of an exchange; 0 for an unknown api."""
    cdef const FieldPlan* known = known_plan(series.plans.requests, "request", waiting.row.api_key, waiting.row.api_version)
    return 0 if known is NULL else known.traits & series.wanted


cdef inline object note_object(SeriesState* series, const WaitingRequest* waiting, uint32_t traits):
    """Store the request as `kwire.protocol.tracking.observation.note_request` does."""
    if not waiting.noted:
        return None
    if traits & USES_TOPICS:
        return use_objects(series, waiting.uses, waiting.use_count)
    return frame_object(waiting.payload, waiting.size, waiting.damaged)


cdef inline int say_observed(
    ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting, uint32_t traits, object row, object payload, bint damaged
) except -1:
    """Report the events of a tracked connection's exchange besides its row."""
    if waiting.row.body != BODY_SKIPPED:
        (<list>exchange.events).extend(
            (<object>series.callbacks).observe(row, note_object(series, waiting, traits), payload, bool(damaged))
        )
    return 0


cdef inline object nodes(SeriesState* series, const WaitingRequest* waiting, object payload, int start, int64_t time_ns):
    """The nodes of the cluster that a response names whose body, from `start` on, breaks no rule."""
    cdef const RequestRow* row = &waiting.row
    return (<object>series.callbacks).nodes(row.api_key, row.api_version, row.request_index, payload, start, time_ns)
