"""A request that waits as Python's rules make it, `kwire.protocol.tracking.pairing.Waiting`, as a C struct."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport INT64_MIN, int8_t, int32_t, int64_t, uint32_t, uint8_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

from protocol.exchange_state cimport WaitingRequest
from protocol.field_plans cimport BodyColumns
from protocol.request_rows cimport RequestRow, microseconds, no_int, no_long
from protocol.series_state cimport SeriesState
from protocol.text_table cimport TextTable, text_of
from protocol.topic_uses cimport TopicUse


cdef inline int64_t long_or_none(object value) except? -1:
    return no_long() if value is None else value


cdef inline int32_t int_or_none(object value) except? -1:
    return no_int() if value is None else value


cdef inline int uses_of_objects(WaitingRequest* waiting, SeriesState* series, list uses) except -1:
    """`PartitionUse`s."""
    cdef int32_t index
    cdef TopicUse* use
    if not uses:
        return 0
    waiting.uses = <TopicUse*>malloc(len(uses) * sizeof(TopicUse))
    if waiting.uses is NULL:
        raise MemoryError
    for index in range(<int32_t>len(uses)):
        use = waiting.uses + index
        memset(use, 0, sizeof(TopicUse))
        known = uses[index]
        use.topic, use.topic_id = text_of(&series.texts, known[0]), text_of(&series.texts, known[1])
        use.number, use.error_code = known[2], int_or_none(known[3])
        use.weight.records, use.weight.batches, use.weight.bytes, use.weight.largest = known[4], known[5], known[6], known[7]
        use.weight.magics, use.weight.codecs, use.unseen = known[8], known[9], known[10]
        waiting.use_count = index + 1
    return 0


cdef inline int columns_of_objects(int32_t* columns, TextTable* texts, const BodyColumns* of, dict values) except -1:
    """Fill in the columns that bodies feed, by their names; those that are not there stay."""
    cdef int slot
    for slot, name in enumerate(<tuple><object>of.names):
        if name in values:
            value = values[name]
            columns[slot] = text_of(texts, value) if of.texts >> <uint32_t>slot & 1 else int_or_none(value)
    return 0


cdef inline int row_of_object(RequestRow* made, TextTable* texts, const BodyColumns* columns, object row) except -1:
    """Fill in what a `RequestCompleted` says."""
    from kwire.protocol.tracking.callbacks import ROW_BODIES, ROW_STATES

    made.request_index = row.request_index if row.request_index >= 0 else no_long()
    made.correlation_id = long_or_none(row.correlation_id)
    made.api_key, made.api_version, made.header_version = (
        int_or_none(row.api_key), int_or_none(row.api_version), int_or_none(row.header_version)
    )
    made.client_id, made.client_instance_id = text_of(texts, row.client_id), text_of(texts, row.client_instance_id)
    made.software_name, made.software_version = text_of(texts, row.software_name), text_of(texts, row.software_version)
    made.principal, made.first_topic = text_of(texts, row.principal), text_of(texts, row.first_topic)
    made.request_us, made.response_us = microseconds(long_or_none(row.request_time)), microseconds(long_or_none(row.response_time))
    made.latency_us = long_or_none(row.latency_us)
    made.request_bytes, made.response_bytes = long_or_none(row.request_bytes), long_or_none(row.response_bytes)
    made.error_code, made.topic_count = int_or_none(row.error_code), int_or_none(row.topic_count)
    columns_of_objects(made.columns, texts, columns, {name: getattr(row, name) for name in <tuple><object>columns.names})
    made.packet, made.stream_offset = row.packet_number, row.stream_offset
    made.state, made.body = <int8_t>ROW_STATES.index(row.state), <int8_t>ROW_BODIES.index(row.body)
    return 0


cdef inline int waiting_of_object(WaitingRequest* made, SeriesState* series, object waiting) except -1:
    """Fill one that is zeroed."""
    cdef object row = waiting.row
    cdef object note = waiting.note
    cdef bytes payload
    made.losses, made.response_breaks, made.overtaken_by = waiting.losses, waiting.response_breaks, waiting.overtaken_by
    made.may_be_silent, made.kept, made.is_token = waiting.may_be_silent, waiting.kept, row is None
    made.is_untimed, made.is_lost = not waiting.is_timed, waiting.is_lost
    if row is None:
        return 0
    row_of_object(&made.row, &series.texts, &series.plans.columns, row)
    made.request_ns = long_or_none(row.request_time)
    made.noted = note is not None
    if isinstance(note, list):
        return uses_of_objects(made, series, note)
    if note is None:
        return 0
    payload, made.damaged = note[0], note[1]
    made.payload = <uint8_t*>malloc(PyBytes_GET_SIZE(payload) + 1)
    if made.payload is NULL:
        raise MemoryError
    memcpy(made.payload, PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload))
    made.size = PyBytes_GET_SIZE(payload)
    made.body = (<object>series.callbacks).body_of(payload)
    return 0
