"""A request whose response is there, or will never be: its row, the topics that it used, what the connection counts."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport INT64_MIN, int32_t, int64_t

from protocol.event_rows cimport last_row, say_row, say_topics
from protocol.exchange_state cimport ExchangeState, WaitingRequest
from protocol.extracted_fields cimport Use, UseList
from protocol.request_identity cimport text_taken, uuid_taken
from protocol.request_rows cimport ANSWERED, NO_TEXT, ORPHAN_RESPONSE, UNSEEN, RequestRow, no_long, rows_add
from protocol.series_state cimport SeriesState
from protocol.text_table cimport NO_ROOM
from protocol.topic_uses cimport FETCHED, PRODUCED, TopicUse, TopicUses, sums_add, uses_add
from wire.cursor cimport Bytes


cdef inline bint uses_taken(SeriesState* series, TopicUses* taken) except -1:
    """Turn the partitions that were read into uses; False for a text that is or without memory."""
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
        made.unseen = use.unseen
        made.weight = use.weight
        if use.weight.packed:
            made.weight.records = (<object>series.callbacks).count_records(
                PyBytes_FromStringAndSize(<const char*>use.records, use.records_size)
            )
    return True


cdef inline int count_topics(
    ExchangeState* exchange, SeriesState* series, const TopicUses* uses, const WaitingRequest* waiting, int32_t error_code
) except -1:
    """Add an exchange to the sums of its connection, or say what it does with topics."""
    cdef const RequestRow* row = &waiting.row
    cdef int direction = PRODUCED if row.api_key == 0 else FETCHED
    if exchange.is_tracked:
        return say_topics(exchange, series, uses, waiting, error_code)
    if uses.count and not sums_add(
        &exchange.topics, direction, uses, row.client_id, row.columns[series.plans.columns.acks], waiting.request_ns
    ):
        raise MemoryError
    return 0


cdef inline int row_done(
    ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting, int64_t response_ns=INT64_MIN
) except -1:
    """The outcome of a request is known: its row, and what kwire.tables.row_sink keeps of it; or its `RequestCompleted`."""
    cdef const RequestRow* row = &waiting.row
    cdef RequestRow* added
    if exchange.is_tracked:
        return say_row(exchange, series, waiting, response_ns)
    added = rows_add(&series.rows)
    if added is NULL:
        raise MemoryError
    added[0] = row[0]
    if waiting.is_untimed:
        added.request_us = no_long()
    added.connection = exchange.connection  # it may have another number than when the request came
    if row.state != ORPHAN_RESPONSE:
        refused_by(exchange, row)
    return 0


cdef inline int forget_time(ExchangeState* exchange, SeriesState* series, const WaitingRequest* waiting) except -1:
    """Clear the request time of the row if the request's last byte was not captured; its events keep their times."""
    if exchange.is_tracked and waiting.is_untimed:
        last_row(<list>exchange.events, series.classes.row_type).request_time = None
    return 0


cdef inline void refused_by(ExchangeState* exchange, const RequestRow* row) noexcept nogil:
    """Note the first request that nothing came back for, since the last answer: kwire.tables.row_sink, `Tracked.refused`."""
    if row.state == ANSWERED:
        if exchange.refused_index != no_long() and row.request_index > exchange.refused_index:
            exchange.refused_index = no_long()
    elif row.state != UNSEEN and (exchange.refused_index == no_long() or row.request_index < exchange.refused_index):
        exchange.refused_index = row.request_index
        exchange.refused_key = row.api_key
        exchange.refused_version = row.api_version
