"""Rows of `group_steps` as C structs, of JoinGroup, SyncGroup and LeaveGroup: tracking/group_steps.py, tables/observed_rows.py.

A request waits as the frame that it was (`WaitingRequest.payload`) and is walked over again when its response is there. What members
subscribe to and are assigned is bytes inside the bytes: Python reads each once (`answers.pxd`), and the row has the number of the list.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT32_MIN, int32_t, int64_t, uint8_t
from libc.string cimport memcmp, memcpy

from protocol.answer_keys cimport ANSWER_ASSIGNMENT, ANSWER_SUBSCRIPTION, MOST_KNOWN_BY, key_add, key_begin
from protocol.answers cimport Answer, answer_add, answer_find, kept
from protocol.exchange_state cimport ExchangeState, WaitingRequest
from protocol.extracted_fields cimport Fields, fields_open
from protocol.field_extraction cimport take_cut_fields, take_fields
from protocol.field_plan cimport FieldPlan
from protocol.field_plans cimport VERSIONS
from protocol.group_fields cimport (
    EACH_INSTANCE, EACH_METADATA, EACH_NAME, EACH_REASON, GROUP_ASSIGNMENT, GROUP_INSTANCE, GROUP_LEADER, GROUP_MEMBER, GROUP_PROTOCOL,
    GROUP_REASON, GROUP_TYPE, GroupEntry, GroupFields, TextSpan, group_clear,
)
from protocol.request_rows cimport PACKET_BITS, RequestRow, no_int, no_long
from protocol.series_state cimport SeriesState
from protocol.text_table cimport NO_ROOM, TextTable, text_copied, text_intern, text_of, text_put
from protocol.wide_rows cimport wide_add
from wire.cursor cimport Bytes, Cursor, cursor_open
from wire.utf8 cimport is_utf8

cdef enum:
    JOIN_GROUP = 11
    SYNC_GROUP = 14
    SYNC_TYPE_SINCE = 5  # version of SyncGroup from which on it has protocol type and name (KIP-559)
    INCONSISTENT_GROUP_PROTOCOL = 23
    MOST_COMPARED = 1 << 20  # pairs of members that leave and answers; where there are more, Python finds the pairs

cdef enum:
    # Where a row has each column, as `step_cells` names them
    STEP_SERIES = 0
    STEP_CAPTURE = 1
    STEP_CONNECTION_ID = 2
    STEP_CLIENT_KEY = 3
    STEP_REQUEST_INDEX = 4
    STEP_CLIENT_ID = 5
    STEP_GROUP_ID = 6
    STEP_EVENT = 7
    STEP_PROTOCOL = 8
    STEP_MEMBER_ID = 9
    STEP_GROUP_INSTANCE_ID = 10
    STEP_GENERATION = 11
    STEP_PROTOCOL_TYPE = 12
    STEP_PROTOCOL_NAME = 13
    STEP_LEADER = 14
    STEP_SUBSCRIPTION = 15
    STEP_ASSIGNMENT = 16
    STEP_MEMBERS = 17
    STEP_SESSION_TIMEOUT_MS = 18
    STEP_REBALANCE_TIMEOUT_MS = 19
    STEP_ERROR_CODE = 20
    STEP_REASON = 21
    STEP_TIME = 22
    STEP_RESPONSE_TIME = 23
    STEP_COLUMNS = 24


cdef inline tuple step_cells():
    """The columns of `group_steps`, by the numbers above."""
    return (
        "series", "capture", "connection_id", "client_key", "request_index", "client_id", "group_id", "event", "protocol", "member_id",
        "group_instance_id", "generation", "protocol_type", "protocol_name", "leader", "subscription", "assignment", "members",
        "session_timeout_ms", "rebalance_timeout_ms", "error_code", "reason", "time", "response_time",
    )


cdef inline int64_t long_of_int(int32_t value) noexcept nogil:
    return no_long() if value == INT32_MIN else value


cdef inline const TextSpan* first_of(const TextSpan* one, const TextSpan* other) noexcept nogil:
    """The first that is neither null nor empty."""
    return one if one.size else other


cdef inline int64_t span_number(SeriesState* series, const TextSpan* span) except -3:
    """The number of a text that is UTF-8; -1 for null and for what is empty."""
    cdef int32_t number
    if span.size == 0:
        return -1
    number = text_intern(&series.row_texts, span.at, span.size)
    if number == NO_ROOM:
        raise MemoryError
    return number


cdef inline bint are_texts(const GroupFields* group) noexcept nogil:
    """Whether all texts are UTF-8."""
    cdef Py_ssize_t index
    cdef int each
    for each in range(GROUP_ASSIGNMENT):
        if not is_utf8(group.texts[each].at, group.texts[each].size):
            return False
    for index in range(group.count):
        for each in range(EACH_METADATA):
            if not is_utf8(group.entries[index].texts[each].at, group.entries[index].texts[each].size):
                return False
        if not is_utf8(group.entries[index].texts[EACH_REASON].at, group.entries[index].texts[EACH_REASON].size):
            return False
    return is_utf8(group.texts[GROUP_REASON].at, group.texts[GROUP_REASON].size)


cdef inline object span_object(const TextSpan* span, bint null_if_empty):
    """A text that is UTF-8, None for null."""
    if span.at is NULL or (null_if_empty and span.size == 0):
        return None
    return PyBytes_FromStringAndSize(<const char*>span.at, span.size).decode()


cdef inline int64_t list_number(SeriesState* series, object texts) except -3:
    """The number of a tuple of texts among the series' lists, null for None; each distinct one is kept once."""
    if texts is None:
        return no_long()
    if series.lists is NULL:
        series.lists = kept({})
    return (<dict>series.lists).setdefault(texts, len(<dict>series.lists))


cdef inline object read_inner(SeriesState* series, int kind, const TextSpan* protocol_type, const TextSpan* data):
    """What a subscription or an assignment holds, a tuple of texts; None where it cannot be read. Python reads each once."""
    cdef Answer* answer
    cdef bint may_be_known = protocol_type.size + data.size <= MOST_KNOWN_BY
    if may_be_known:
        key_begin(series, kind, 0, protocol_type.at, protocol_type.size)
        key_add(series, data.at, data.size)
        answer = answer_find(&series.answers, series.key.bytes, series.key.size)
        if answer is not NULL:
            return None if answer.ranges is NULL else <object>answer.ranges
    spoken = PyBytes_FromStringAndSize(<const char*>protocol_type.at, protocol_type.size).decode()
    content = PyBytes_FromStringAndSize(<const char*>data.at, data.size)
    if kind == ANSWER_SUBSCRIPTION:
        found = (<object>series.callbacks).subscription(spoken, content)
    else:
        found = (<object>series.callbacks).assignment(spoken, content)
    if may_be_known:
        answer = answer_add(&series.answers, series.key.bytes, series.key.size)
        answer.ranges = kept(found)
    return found


cdef inline tuple member_object(
    const TextSpan* name, const TextSpan* instance_id, object topics, const TextSpan* reason, int32_t error_code
):
    """An element of `members`; `topics` is a tuple of texts or None."""
    return span_object(name, False), span_object(instance_id, True), topics, span_object(reason, True), error_code


cdef inline int64_t members_number(SeriesState* series, list members) except -3:
    """The number of the text that members are written as; null for none."""
    return text_of(&series.row_texts, (<object>series.callbacks).members(members)) if members else -1


cdef inline int join_step(SeriesState* series, int64_t* made) except -1:
    """group_steps._join."""
    cdef const GroupFields* request = &series.request_group
    cdef const GroupFields* response = &series.response_group
    cdef const TextSpan* spoken = &request.texts[GROUP_TYPE]
    cdef const TextSpan* name = &response.texts[GROUP_PROTOCOL]
    cdef const GroupEntry* each
    cdef const GroupEntry* chosen = NULL
    cdef TextSpan none
    cdef list members = []
    cdef Py_ssize_t index
    none.at, none.size = NULL, 0
    made[STEP_PROTOCOL_TYPE] = span_number(series, spoken)
    made[STEP_SESSION_TIMEOUT_MS] = made[STEP_REBALANCE_TIMEOUT_MS] = long_of_int(request.session_timeout_ms)
    if request.rebalance_timeout_ms != INT32_MIN and request.rebalance_timeout_ms != -1:
        made[STEP_REBALANCE_TIMEOUT_MS] = request.rebalance_timeout_ms
    made[STEP_MEMBER_ID] = span_number(series, first_of(&response.texts[GROUP_MEMBER], &request.texts[GROUP_MEMBER]))
    made[STEP_GENERATION] = long_of_int(response.generation)
    made[STEP_LEADER] = span_number(series, &response.texts[GROUP_LEADER])
    made[STEP_PROTOCOL_NAME] = span_number(series, name)
    for index in range(request.count):
        each = &request.entries[index]
        if each.texts[EACH_NAME].at is NULL or each.texts[EACH_METADATA].at is NULL:
            continue
        if chosen is NULL:
            chosen = each
        if name.size and each.texts[EACH_NAME].size == name.size and memcmp(each.texts[EACH_NAME].at, name.at, name.size) == 0:
            chosen = each
            break
    if chosen is not NULL:
        made[STEP_SUBSCRIPTION] = list_number(series, read_inner(series, ANSWER_SUBSCRIPTION, spoken, &chosen.texts[EACH_METADATA]))
    for index in range(response.count):
        each = &response.entries[index]
        if each.texts[EACH_NAME].at is not NULL and each.texts[EACH_METADATA].at is not NULL:
            topics = read_inner(series, ANSWER_SUBSCRIPTION, spoken, &each.texts[EACH_METADATA])
            members.append(member_object(&each.texts[EACH_NAME], &each.texts[EACH_INSTANCE], topics, &none, 0))
    made[STEP_MEMBERS] = members_number(series, members)
    return 0


cdef inline int sync_step(SeriesState* series, int64_t* made) except -1:
    """group_steps._sync."""
    cdef const GroupFields* request = &series.request_group
    cdef const GroupFields* response = &series.response_group
    cdef const TextSpan* spoken = first_of(&response.texts[GROUP_TYPE], &request.texts[GROUP_TYPE])
    made[STEP_GENERATION] = long_of_int(request.generation)
    made[STEP_PROTOCOL_TYPE] = span_number(series, spoken)
    made[STEP_PROTOCOL_NAME] = span_number(series, first_of(&response.texts[GROUP_PROTOCOL], &request.texts[GROUP_PROTOCOL]))
    made[STEP_ASSIGNMENT] = list_number(series, read_inner(series, ANSWER_ASSIGNMENT, spoken, &response.texts[GROUP_ASSIGNMENT]))
    return 0


cdef inline bint is_same(const TextSpan* one, const TextSpan* other) noexcept nogil:
    """Whether two texts are equal; null is not empty."""
    if one.at is NULL or other.at is NULL:
        return one.at is other.at
    return one.size == other.size and memcmp(one.at, other.at, one.size) == 0


cdef inline int32_t answer_to(const GroupFields* response, const GroupEntry* leaving) noexcept nogil:
    """The error code that a member which leaves was answered, the last one; 0 for none."""
    cdef const GroupEntry* each
    cdef Py_ssize_t index
    for index in range(response.count - 1, -1, -1):
        each = &response.entries[index]
        if (
            each.error_code != INT32_MIN
            and is_same(&each.texts[EACH_NAME], &leaving.texts[EACH_NAME])
            and is_same(&each.texts[EACH_INSTANCE], &leaving.texts[EACH_INSTANCE])
        ):
            return each.error_code
    return 0


cdef inline int leave_step(SeriesState* series, int64_t* made) except -1:
    """group_steps._leave."""
    cdef const GroupFields* request = &series.request_group
    cdef const GroupEntry* each
    cdef const GroupEntry* only = NULL
    cdef TextSpan none
    cdef list members = []
    cdef Py_ssize_t index
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t failed = 0
    cdef int32_t error
    none.at, none.size = NULL, 0
    for index in range(request.count):
        each = &request.entries[index]
        if each.texts[EACH_NAME].at is not NULL:
            only = each
            count += 1
            error = answer_to(&series.response_group, each)
            failed += error != 0
            members.append(member_object(&each.texts[EACH_NAME], &each.texts[EACH_INSTANCE], None, &each.texts[EACH_REASON], error))
    if 0 < failed < count:
        made[STEP_ERROR_CODE] = 0
    if count == 1:
        # its id may be empty, but is not null
        made[STEP_MEMBER_ID] = text_put(&series.row_texts, <const char*>only.texts[EACH_NAME].at, only.texts[EACH_NAME].size)
        made[STEP_GROUP_INSTANCE_ID] = span_number(series, &only.texts[EACH_INSTANCE])
        made[STEP_REASON] = span_number(series, &only.texts[EACH_REASON])
    elif count == 0 and request.texts[GROUP_MEMBER].size:
        members.append(member_object(&request.texts[GROUP_MEMBER], &none, None, &none, 0))
        made[STEP_GROUP_INSTANCE_ID] = made[STEP_REASON] = -1
    made[STEP_MEMBERS] = members_number(series, members)
    return 0


cdef inline bint read_request(SeriesState* series, const WaitingRequest* waiting) noexcept nogil:
    """Read a request that has waited once more; False where Python has to."""
    cdef const FieldPlan* field_plan = &series.plans.requests[waiting.row.api_key * VERSIONS + waiting.row.api_version]
    cdef Cursor cursor
    cdef Fields fields
    if waiting.payload is NULL:
        return False
    group_clear(&series.request_group)
    fields_open(&fields, &series.parts, &series.uses, &series.request_group)
    cursor_open(&cursor, waiting.payload, waiting.size, waiting.body)
    return take_cut_fields(field_plan, &cursor, &fields) if waiting.damaged else take_fields(field_plan, &cursor, &fields)


cdef inline bint names_fit(SeriesState* series, const WaitingRequest* waiting, int32_t error) noexcept nogil:
    """Whether types and names of a whole exchange fit, the response in `response_group`: groups/exchange_checks.py finds nothing."""
    cdef const GroupFields* request = &series.request_group
    cdef const GroupFields* response = &series.response_group
    cdef const TextSpan* name = &response.texts[GROUP_PROTOCOL]
    cdef Py_ssize_t index
    if waiting.row.api_key != JOIN_GROUP and waiting.row.api_key != SYNC_GROUP:
        return True
    if waiting.payload is NULL or waiting.damaged:
        return True
    if error == INCONSISTENT_GROUP_PROTOCOL or not read_request(series, waiting):
        return False
    if waiting.row.api_key == SYNC_GROUP:
        if waiting.row.api_version >= SYNC_TYPE_SINCE and (
            request.texts[GROUP_TYPE].at is NULL or request.texts[GROUP_PROTOCOL].at is NULL
        ):
            return False
        if error == 0 and name.at is not NULL and not is_same(name, &request.texts[GROUP_PROTOCOL]):
            return False
    elif error == 0 and name.size:
        for index in range(request.count):
            if is_same(name, &request.entries[index].texts[EACH_NAME]):
                break
        else:
            return False
    return error != 0 or response.texts[GROUP_TYPE].at is NULL or is_same(&response.texts[GROUP_TYPE], &request.texts[GROUP_TYPE])


cdef inline bint add_step(const ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting) except -1:
    """Add the row of an exchange whose response, if any, is in `response_group`; False where Python has to.

    A group without an id takes no step, as in Python.
    """
    cdef const RequestRow* row = &waiting.row
    cdef TextTable* row_texts = &series.row_texts
    cdef const TextTable* texts = &series.texts
    cdef int32_t group_id = row.columns[series.plans.columns.group_id]
    cdef int64_t made[STEP_COLUMNS]
    cdef int column
    if not read_request(series, waiting) or not are_texts(&series.request_group) or not are_texts(&series.response_group):
        return False
    if series.request_group.count > MOST_COMPARED // (series.response_group.count + 1):
        return False
    if group_id < 0 or texts.offsets[group_id + 1] == texts.offsets[group_id]:
        return True
    for column in range(STEP_COLUMNS):
        made[column] = no_long()
    callbacks = <object>series.callbacks
    made[STEP_SERIES] = text_of(row_texts, callbacks.series)
    made[STEP_CAPTURE] = text_of(row_texts, callbacks.files[exchange.begun >> PACKET_BITS])
    made[STEP_CONNECTION_ID] = text_copied(row_texts, series.connection_ids, exchange.connection)
    made[STEP_REQUEST_INDEX] = row.request_index
    made[STEP_CLIENT_ID], made[STEP_GROUP_ID] = text_copied(row_texts, texts, row.client_id), text_copied(row_texts, texts, group_id)
    made[STEP_PROTOCOL] = text_put(row_texts, b"classic", 7)
    made[STEP_MEMBER_ID] = span_number(series, &series.request_group.texts[GROUP_MEMBER])
    made[STEP_GROUP_INSTANCE_ID] = span_number(series, &series.request_group.texts[GROUP_INSTANCE])
    made[STEP_REASON] = span_number(series, &series.request_group.texts[GROUP_REASON])
    made[STEP_ERROR_CODE] = 0 if row.error_code == no_int() else row.error_code
    made[STEP_TIME], made[STEP_RESPONSE_TIME] = row.request_us, row.response_us
    if row.api_key == JOIN_GROUP:
        made[STEP_EVENT] = text_put(row_texts, b"join", 4)
        join_step(series, made)
    elif row.api_key == SYNC_GROUP:
        made[STEP_EVENT] = text_put(row_texts, b"sync", 4)
        sync_step(series, made)
    else:
        made[STEP_EVENT] = text_put(row_texts, b"leave", 5)
        leave_step(series, made)
    memcpy(wide_add(&series.steps), made, sizeof(made))
    return True
