"""From a lane to Python and back: `exchange_export` gives the `Tracked` that ConversationSink would have, `exchange_import` takes one.

A lane's state travels as a dict of plain values; kwire/tables/lane_handover.py makes the objects of kwire.protocol of it, and it of them.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT32_MIN, int8_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

from cursor cimport Bytes
from lane_answers cimport kept
from lane_exchange cimport exchange_begin
from lane_frames cimport FrameBuffer, buffer_add
from lane_recipe cimport NOT_ASKED, READY
from lane_responses cimport completed, frame_object, long_object, payload_object
from lane_rows cimport BODY_DECODED, BODY_TRUNCATED, NO_TEXT, UNANSWERED, RequestRow, microseconds, no_int, no_long
from lane_series cimport (
    MOST_CLIENT_IDS, LaneExchange, LaneSeries, LaneWaiting, exchange_free, sasl_known, sasl_object, waiting_add, waiting_at,
)
from lane_texts cimport text_object, text_of
from lane_topics cimport (
    FETCHED, PRODUCED, IntSet, TopicSum, TopicSums, TopicUse, ints_add, ints_of, sum_of,
)
from recipe_book cimport KEYS, VERSIONS, recipe_ask


cdef inline int64_t long_of(object value) except? -1:
    return no_long() if value is None else value


cdef inline int32_t int_of(object value) except? -1:
    return no_int() if value is None else value


cdef inline list ints_object(const IntSet* ints):
    cdef int32_t index
    return [ints_of(ints)[index] for index in range(ints.count)]


cdef inline tuple use_object(LaneSeries* series, const TopicUse* use):
    """As the fields of a `PartitionUse`."""
    return (
        text_object(&series.texts, use.topic), text_object(&series.texts, use.topic_id), use.number,
        None if use.error_code == INT32_MIN else use.error_code, use.weight.records, use.weight.batches, use.weight.bytes,
        use.weight.largest, use.weight.magics, use.weight.codecs, bool(use.unseen),
    )


cdef inline int use_of(LaneSeries* series, TopicUse* use, tuple known) except -1:
    memset(use, 0, sizeof(TopicUse))
    use.topic, use.topic_id = text_of(&series.texts, known[0]), text_of(&series.texts, known[1])
    use.number, use.error_code = known[2], int_of(known[3])
    use.weight.records, use.weight.batches, use.weight.bytes, use.weight.largest = known[4], known[5], known[6], known[7]
    use.weight.magics, use.weight.codecs, use.unseen = known[8], known[9], known[10]
    return 0


cdef inline tuple sum_object(LaneSeries* series, const TopicSum* each):
    """As kwire.tables.observed_rows.TopicSums.plain has it."""
    return (
        "fetch" if each.direction == FETCHED else "produce", text_object(&series.texts, each.topic),
        text_object(&series.texts, each.topic_id), text_object(&series.texts, each.client_id), each.requests, each.errors, each.records,
        each.batches, each.bytes, each.largest, each.first_ns, each.last_ns, each.magics, each.codecs, each.seen,
        each.unseen, ints_object(&each.acks), ints_object(&each.partitions), ints_object(&each.refused),
    )


cdef inline int ints_take(IntSet* ints, object values) except -1:
    for value in values:
        if not ints_add(ints, value):
            raise MemoryError
    return 0


cdef inline int sums_take(LaneSeries* series, TopicSums* sums, object known) except -1:
    """Add sums as kwire.tables.observed_rows.TopicSums.plain gives them."""
    cdef TopicUse use
    cdef TopicSum* made
    cdef int direction
    memset(&use, 0, sizeof(TopicUse))
    for each in known:
        direction = FETCHED if each[0] == "fetch" else PRODUCED
        use.topic, use.topic_id = text_of(&series.texts, each[1]), text_of(&series.texts, each[2])
        made = sum_of(sums, direction, &use, text_of(&series.texts, each[3]), each[10])
        if made is NULL:
            raise MemoryError
        made.requests, made.errors, made.records, made.batches = each[4], each[5], each[6], each[7]
        made.bytes, made.largest, made.first_ns, made.last_ns = each[8], each[9], each[10], each[11]
        made.magics, made.codecs, made.seen, made.unseen = each[12], each[13], each[14], each[15]
        ints_take(&made.acks, each[16])
        ints_take(&made.partitions, each[17])
        ints_take(&made.refused, each[18])
    return 0


cdef inline tuple buffer_object(const FrameBuffer* buffer):
    skipped = buffer.skip, buffer.skipped_ns
    return buffer.offset, payload_object(buffer.bytes, buffer.size) or b"", buffer.time_ns, buffer.packet, bool(buffer.undecided), skipped


cdef inline list pieces_object(const FrameBuffer* buffer):
    """The bytes of a direction of which it is not known what it speaks, as they came."""
    cdef int32_t index
    cdef int32_t end
    cdef list pieces = []
    for index in range(buffer.piece_count if buffer.undecided else 0):
        end = <int32_t>buffer.size if index + 1 == buffer.piece_count else buffer.pieces[index + 1].start
        piece = payload_object(buffer.bytes + buffer.pieces[index].start, end - buffer.pieces[index].start)
        pieces.append((piece, buffer.pieces[index].time_ns, buffer.pieces[index].packet))
    return pieces


cdef inline tuple waiting_object(LaneSeries* series, const LaneWaiting* waiting):
    cdef int32_t index
    uses = [use_object(series, &waiting.uses[index]) for index in range(waiting.use_count)]
    row = completed(series, waiting, no_long())
    return row, waiting.losses, waiting.response_breaks, uses, frame_object(waiting.payload, waiting.size, waiting.damaged)


cdef inline object exchange_export(
    LaneExchange* exchange, LaneSeries* series, int client_side, int port_0, int port_1, object connection_id, object server
):
    """The `Tracked` of a connection; the lane is empty afterwards.

    Arguments:
        client_side: direction of what the client sends, 0 or 1.
        port_0, port_1: of the connection's two sides.
        connection_id, server: as `Tracked` has them; server is an `Endpoint`.
    """
    from kwire.tables.lane_handover import tracked_of

    cdef int32_t index
    cdef TopicSums* topics = &exchange.topics
    state = {
        "received": (exchange.received[0], exchange.received[1]),
        "frames": (exchange.frames[0], exchange.frames[1]),
        "closed": (bool(exchange.closed[0]), bool(exchange.closed[1])),
        "first_seen": long_object(exchange.first_seen),
        "last_seen": long_object(exchange.last_seen),
        "closed_by": None if exchange.closed_by < 0 else exchange.closed_by,
        "reset": bool(exchange.reset),
        "gaps": exchange.gaps,
        "bytes_lost": exchange.bytes_lost,
        "observed": bool(exchange.observed),
        "settled": bool(exchange.settled),
        "doubted": bool(exchange.doubted),
        "is_kafka": bool(exchange.is_kafka),
        "said": exchange.said,
        "source": exchange.source,
        "role": exchange.role,
        "software": (text_object(&series.texts, exchange.software_name), text_object(&series.texts, exchange.software_version)),
        "named": (text_object(&series.texts, exchange.named_name), text_object(&series.texts, exchange.named_version)),
        "instance_id": text_object(&series.texts, exchange.instance_id),
        "judge_client_id": text_object(&series.texts, exchange.judge_client_id),
        "last_api": None if exchange.last_api == no_int() else exchange.last_api,
        "requests": exchange.requests,
        "unanswered": exchange.unanswered,
        "last_answered": long_object(exchange.last_answered),
        "client_ids": [
            (text_object(&series.texts, exchange.client_ids[index].client_id), exchange.client_ids[index].count)
            for index in range(exchange.client_id_count)
        ],
        "advertised": None if exchange.advertised is NULL else <object>exchange.advertised,
        "buffers": (buffer_object(&exchange.buffers[0]), buffer_object(&exchange.buffers[1])),
        "pieces": (pieces_object(&exchange.buffers[0]), pieces_object(&exchange.buffers[1])),
        "waiting": [waiting_object(series, waiting_at(exchange, index)) for index in range(exchange.waiting_count)],
        "refused": None
        if exchange.refused_index == no_long()
        else (exchange.refused_index, exchange.refused_key, exchange.refused_version),
        "topics": [sum_object(series, &topics.sums[index]) for index in range(topics.count)],
        "begun": exchange.begun,
        "sasl": sasl_object(exchange),
    }
    tracked = None if exchange.tracked is NULL else <object>exchange.tracked
    made = tracked_of(state, tracked, (port_0, port_1), client_side, connection_id, server, (<object>series.desk).asked)
    exchange_free(exchange)
    return made


cdef inline int buffer_take(FrameBuffer* buffer, tuple known) except -1:
    cdef bytes data = known[1]
    buffer.offset, buffer.undecided = known[0], known[4]
    buffer.skip, buffer.skipped_ns = known[5]
    if not buffer_add(buffer, <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), known[2], known[3]):
        raise MemoryError
    return 0


cdef inline bint waiting_take(LaneExchange* exchange, LaneSeries* series, tuple known) except -1:
    """Add a request that waits; False for one of an api that Python reads."""
    cdef object row = known[0]
    cdef int key = row.api_key
    cdef int version = row.api_version
    cdef LaneWaiting* waiting
    cdef RequestRow* made
    cdef bytes payload = None
    cdef list uses = known[3]
    cdef int32_t index
    if key >= KEYS or version >= VERSIONS:
        return False
    if series.book.requests[key * VERSIONS + version].state == NOT_ASKED:
        recipe_ask(&series.book.requests[key * VERSIONS + version], "request", key, version)
    if series.book.requests[key * VERSIONS + version].state != READY:
        return False
    waiting = waiting_add(exchange)
    if waiting is NULL:
        raise MemoryError
    waiting.request_ns, waiting.losses, waiting.response_breaks = row.request_time, known[1], known[2]
    made = &waiting.row
    made.request_index, made.correlation_id = row.request_index, long_of(row.correlation_id)
    made.api_key, made.api_version, made.header_version = key, version, int_of(row.header_version)
    made.client_id, made.client_instance_id = text_of(&series.texts, row.client_id), text_of(&series.texts, row.client_instance_id)
    made.software_name, made.software_version = text_of(&series.texts, row.software_name), text_of(&series.texts, row.software_version)
    made.principal, made.first_topic = text_of(&series.texts, row.principal), text_of(&series.texts, row.first_topic)
    made.group_id, made.transactional_id = text_of(&series.texts, row.group_id), text_of(&series.texts, row.transactional_id)
    made.request_us = microseconds(waiting.request_ns)
    made.response_us = made.latency_us = made.response_bytes = made.throttle_time_ms = no_long()
    made.request_bytes = long_of(row.request_bytes)
    made.error_code, made.acks, made.topic_count = no_int(), int_of(row.acks), int_of(row.topic_count)
    made.packet, made.stream_offset = row.packet_number, row.stream_offset
    made.state, made.body = UNANSWERED, BODY_TRUNCATED if row.body == "truncated" else BODY_DECODED
    waiting.damaged = made.body == BODY_TRUNCATED
    if uses:
        waiting.uses = <TopicUse*>malloc(len(uses) * sizeof(TopicUse))
        if waiting.uses is NULL:
            raise MemoryError
        for index in range(<int32_t>len(uses)):
            use_of(series, &waiting.uses[index], uses[index])
            waiting.use_count = index + 1
    if known[4] is not None:
        payload = known[4][0]
        waiting.payload = <uint8_t*>malloc(PyBytes_GET_SIZE(payload))
        if waiting.payload is NULL:
            raise MemoryError
        memcpy(waiting.payload, PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload))
        waiting.size = PyBytes_GET_SIZE(payload)
        waiting.body = (<object>series.desk).body_of(payload)
    return True


cdef inline bint take_state(LaneExchange* exchange, LaneSeries* series, dict state) except -1:
    cdef int index
    exchange.received[0], exchange.received[1] = state["received"]
    exchange.frames[0], exchange.frames[1] = state["frames"]
    exchange.closed[0], exchange.closed[1] = state["closed"]
    exchange.first_seen, exchange.last_seen = long_of(state["first_seen"]), long_of(state["last_seen"])
    exchange.closed_by = -1 if state["closed_by"] is None else <int8_t>state["closed_by"]
    exchange.gaps, exchange.bytes_lost = state["gaps"], state["bytes_lost"]
    exchange.reset, exchange.is_kafka, exchange.observed = state["reset"], state["is_kafka"], state["observed"]
    exchange.settled, exchange.doubted = state["settled"], state["doubted"]
    exchange.said, exchange.source, exchange.role = state["said"], state["source"], state["role"]
    exchange.software_name, exchange.software_version = [text_of(&series.texts, text) for text in state["software"]]
    exchange.named_name, exchange.named_version = [text_of(&series.texts, text) for text in state["named"]]
    exchange.instance_id = text_of(&series.texts, state["instance_id"])
    sasl_known(exchange, series, state["sasl"])
    exchange.judge_client_id = text_of(&series.texts, state["judge_client_id"])
    exchange.last_api = int_of(state["last_api"])
    exchange.requests, exchange.unanswered = state["requests"], state["unanswered"]
    exchange.last_answered = long_of(state["last_answered"])
    exchange.losses, exchange.response_breaks = state["losses"], state["response_breaks"]
    for index, (client_id, count) in enumerate(state["client_ids"]):
        if index == MOST_CLIENT_IDS:
            return False
        exchange.client_ids[index].client_id = text_of(&series.texts, client_id)
        exchange.client_ids[index].count = count
        exchange.client_id_count = index + 1
    exchange.advertised = kept(state["advertised"])
    if state["refused"] is not None:
        exchange.refused_index, exchange.refused_key, exchange.refused_version = state["refused"]
    sums_take(series, &exchange.topics, state["topics"])
    for waiting in state["waiting"]:
        if not waiting_take(exchange, series, waiting):
            return False
    buffer_take(&exchange.buffers[0], state["buffers"][0])
    buffer_take(&exchange.buffers[1], state["buffers"][1])
    return True


cdef inline bint exchange_import(LaneExchange* exchange, LaneSeries* series, object tracked, int32_t connection, int32_t server) except -1:
    """Go on with a connection that Python had; False, with nothing changed, unless all is regular.

    Arguments:
        tracked: the `Tracked` that hangs on the connection; the lane keeps it, and nobody else may use it.
        connection, server: as for `exchange_begin`.
    """
    from kwire.tables.lane_handover import state_of

    cdef object state = state_of(tracked)
    if state is None:
        return False
    exchange_begin(exchange, connection, server, state["begun"])
    try:
        taken = take_state(exchange, series, state)
    except BaseException:
        exchange_free(exchange)
        raise
    if not taken:
        exchange_free(exchange)
        return False
    exchange.tracked = kept(tracked)
    return True
