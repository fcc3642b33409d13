"""The protocol part of a lane: bytes of both directions and a clock value in, rows out. kwire/protocol/connection.py while all is regular.

    exchange_begin     a SYN was seen, so that the client is known and the beginning too
    exchange_bytes     the next bytes of a direction; rows go to the series
    exchange_cut       the next bytes of a direction were cut off by snaplen
    exchange_closed    a direction ended
    exchange_finish    nothing more will come
    exchange_summary   for the connection's row

What says LANE_ODD has changed nothing but what lies before `consumed`: hand the exchange over (`lane_handover.pxd`) and give the rest to
Python.
"""

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memset

from cursor cimport Bytes
from lane_frames cimport LENGTH_BYTES, MOST_PIECES, FrameBuffer, buffer_add, buffer_clear, frame_length, opening_bytes, opens_kafka
from lane_requests cimport client_id_of, take_request
from lane_responses cimport SHORTEST_RESPONSE, give_up_waiting, take_response, tell_unfinished
from lane_rows cimport NO_TEXT, no_int, no_long
from lane_series cimport (
    LANE_ODD, LANE_OK, NOT_OBSERVED, ODD_GAP, ODD_LENGTH, ODD_OPENING, ODD_UNFINISHED, LaneExchange, LaneSeries, odd, sasl_known,
    sasl_object,
)
from lane_texts cimport UNKNOWN_TEXT, text_copied, text_of
from lane_topics cimport topic_rows_add

cdef enum:
    OPENING_BYTES = 9  # no more of the first bytes of the client are needed to know what is spoken

cdef enum LaneState:
    # The places of kwire.tables.lane_desk.STATES
    STATE_OPEN = 0
    STATE_JOINED_LATE = 1
    STATE_RESET = 2
    STATE_COMPLETE = 3

cdef enum LaneProtocol:
    # The places of kwire.tables.lane_desk.PROTOCOLS
    SPEAKS_KAFKA = 0
    SILENT = 1
    SPEAKS_UNKNOWN = 2

# What the row of a connection needs of the protocol.
cdef struct LaneSummary:
    int64_t request_frames
    int64_t response_frames
    int64_t request_bytes
    int64_t response_bytes
    int64_t bytes_opaque
    int64_t auth_failures
    int64_t refused_index  # as in Tracked.refused; NO_LONG for none
    int32_t refused_key
    int32_t refused_version
    int32_t last_api  # api key, NO_INT for none
    int32_t proxied_address  # texts from here on
    int32_t software_name
    int32_t software_version
    int32_t client_id
    int32_t client_instance_id
    int32_t sasl_mechanism
    int32_t attempted_principal
    int32_t principal
    int8_t state
    int8_t closed_by  # -1, or 0 for the client, 1 for the server
    int8_t protocol
    int8_t source
    int8_t role


cdef inline void exchange_begin(LaneExchange* exchange, int32_t connection, int32_t server, int64_t begun) noexcept nogil:
    """Begin a lane whose SYN was seen.

    Arguments:
        connection: ordinal in the series.
        server: number of the text of its address and port.
        begun: packet, with the number of its file, as `Tracked.begun`.
    """
    memset(exchange, 0, sizeof(LaneExchange))
    exchange.connection = connection
    exchange.server = server
    exchange.begun = begun
    exchange.buffers[0].undecided = exchange.buffers[1].undecided = True
    exchange.first_seen = exchange.last_seen = no_long()
    exchange.closed_by = -1
    exchange.observed = True
    exchange.source = NOT_OBSERVED
    exchange.software_name = exchange.software_version = NO_TEXT
    exchange.named_name = exchange.named_version = UNKNOWN_TEXT
    exchange.instance_id = exchange.principal = exchange.judge_client_id = NO_TEXT
    exchange.last_api = no_int()
    exchange.last_answered = exchange.refused_index = no_long()


cdef inline void see_time(LaneExchange* exchange, int64_t time_ns) noexcept nogil:
    if exchange.first_seen == no_long() or time_ns < exchange.first_seen:
        exchange.first_seen = time_ns
    if exchange.last_seen == no_long() or time_ns > exchange.last_seen:
        exchange.last_seen = time_ns


cdef inline int take_opening(LaneExchange* exchange, LaneSeries* series, bint from_client, Bytes p, Py_ssize_t n, int64_t time_ns,
                             int64_t packet) except -1:
    """The first bytes of a direction; LANE_OK with `undecided` still set when they wait for more."""
    cdef FrameBuffer* buffer = &exchange.buffers[0 if from_client else 1]
    cdef unsigned char first[OPENING_BYTES]
    cdef Py_ssize_t have = buffer.size
    cdef Py_ssize_t index
    for index in range(OPENING_BYTES):
        if index < have:
            first[index] = buffer.bytes[index]
        elif index - have < n:
            first[index] = p[index - have]
    have += n
    if have < (opening_bytes(first, have) if from_client else LENGTH_BYTES):
        if first[0] != 0 or (have >= LENGTH_BYTES and frame_length(first) < LENGTH_BYTES) or buffer.piece_count == MOST_PIECES:
            return odd(series, ODD_OPENING)
        if not buffer_add(buffer, p, n, time_ns, packet):
            raise MemoryError
        buffer.pieces[buffer.piece_count].time_ns = time_ns
        buffer.pieces[buffer.piece_count].packet = packet
        buffer.pieces[buffer.piece_count].start = <int32_t>(have - n)
        buffer.piece_count += 1
        return LANE_OK
    if not opens_kafka(first, min(have, <Py_ssize_t>OPENING_BYTES), from_client):
        return odd(series, ODD_OPENING)
    buffer.undecided = False
    return LANE_OK


cdef inline int take_frame(LaneExchange* exchange, LaneSeries* series, bint from_client, Bytes payload, Py_ssize_t size, Py_ssize_t length,
                           int64_t packet, int64_t time_ns) except -1:
    """A frame that has ended, without its length; of a damaged one `size` is less than its `length`."""
    cdef int side = 0 if from_client else 1
    cdef FrameBuffer* buffer = &exchange.buffers[side]
    cdef int outcome
    if from_client:
        outcome = take_request(exchange, series, payload, size, length, buffer.offset, packet, time_ns)
    else:
        outcome = take_response(exchange, series, payload, size, length, buffer.offset, packet, time_ns, False)
    if outcome == LANE_OK:
        buffer.offset += LENGTH_BYTES + length
        exchange.frames[side] += 1
    return outcome


cdef inline int pass_over(LaneExchange* exchange, LaneSeries* series, bint from_client, int64_t n, int64_t time_ns) except -1:
    """The next `n` bytes of a damaged frame; it is taken when they are its last. LANE_ODD, with nothing changed, as `take_request`."""
    cdef FrameBuffer* buffer = &exchange.buffers[0 if from_client else 1]
    cdef Py_ssize_t length = frame_length(buffer.bytes)
    if n < buffer.skip:
        buffer.skip -= n
        buffer.skipped_ns = time_ns
        return LANE_OK
    if take_frame(
        exchange, series, from_client, buffer.bytes + LENGTH_BYTES, buffer.size - LENGTH_BYTES, length, buffer.packet, time_ns
    ) == LANE_ODD:
        return LANE_ODD
    buffer_clear(buffer)
    return LANE_OK


cdef inline int fill_frame(LaneExchange* exchange, LaneSeries* series, bint from_client, Bytes p, Py_ssize_t n, int64_t time_ns,
                           int64_t packet, Py_ssize_t* taken) except -1:
    """Go on with the frame whose beginning waits; `taken` counts the bytes that belong to it."""
    cdef FrameBuffer* buffer = &exchange.buffers[0 if from_client else 1]
    cdef Py_ssize_t before = buffer.size
    cdef Py_ssize_t needed = LENGTH_BYTES
    cdef Py_ssize_t size
    cdef int outcome
    taken[0] = 0
    if before < LENGTH_BYTES:
        size = min(LENGTH_BYTES - before, n)
        if not buffer_add(buffer, p, size, time_ns, packet):
            raise MemoryError
        taken[0] = size
        if buffer.size < LENGTH_BYTES:
            return LANE_OK
    if frame_length(buffer.bytes) < LENGTH_BYTES:
        buffer.size = before
        taken[0] = 0
        return odd(series, ODD_LENGTH)
    needed += frame_length(buffer.bytes)
    size = min(needed - buffer.size, n - taken[0])
    if not buffer_add(buffer, p + taken[0], size, time_ns, packet):
        raise MemoryError
    taken[0] += size
    if buffer.size < needed:
        return LANE_OK
    size = needed - LENGTH_BYTES
    outcome = take_frame(exchange, series, from_client, buffer.bytes + LENGTH_BYTES, size, size, buffer.packet, time_ns)
    if outcome == LANE_OK:
        buffer_clear(buffer)
    else:
        buffer.size = before
        taken[0] = 0
    return outcome


cdef inline int exchange_bytes(LaneExchange* exchange, LaneSeries* series, bint from_client, Bytes p, Py_ssize_t n, int64_t time_ns,
                               int64_t packet, Py_ssize_t* consumed) except -1:
    """Take the next bytes of a direction.

    Arguments:
        p, n: the bytes, at least one.
        time_ns: when they came.
        packet: that brought them, with the number of its file.
        consumed: with LANE_ODD, how many of them are done.

    Returns:
        LANE_OK or LANE_ODD.
    """
    cdef int side = 0 if from_client else 1
    cdef FrameBuffer* buffer = &exchange.buffers[side]
    cdef Py_ssize_t at = 0
    cdef int32_t length
    cdef bint is_odd = False
    consumed[0] = 0
    if n == 0:
        return LANE_OK
    if buffer.undecided:
        if take_opening(exchange, series, from_client, p, n, time_ns, packet) == LANE_ODD:
            return LANE_ODD
        if buffer.undecided:
            consumed[0] = n
            exchange.received[side] += n
            see_time(exchange, time_ns)
            return LANE_OK
    if buffer.skip:
        at = <Py_ssize_t>min(<int64_t>n, buffer.skip)
        if pass_over(exchange, series, from_client, at, time_ns) == LANE_ODD:
            return LANE_ODD
    elif buffer.size:
        if fill_frame(exchange, series, from_client, p, n, time_ns, packet, &at) == LANE_ODD:
            return LANE_ODD
    while not is_odd and n - at >= LENGTH_BYTES:
        length = frame_length(p + at)
        if length < LENGTH_BYTES:
            odd(series, ODD_LENGTH)
            is_odd = True
        elif n - at - LENGTH_BYTES < length:
            break
        elif take_frame(exchange, series, from_client, p + at + LENGTH_BYTES, length, length, packet, time_ns) == LANE_ODD:
            is_odd = True
        else:
            at += LENGTH_BYTES + length
    if is_odd:
        consumed[0] = at
        exchange.received[side] += at
        if at:
            see_time(exchange, time_ns)
        return LANE_ODD
    if at < n and not buffer_add(buffer, p + at, n - at, time_ns, packet):
        raise MemoryError
    consumed[0] = n
    exchange.received[side] += n
    see_time(exchange, time_ns)
    return LANE_OK


cdef inline int exchange_cut(LaneExchange* exchange, LaneSeries* series, bint from_client, int64_t n, int64_t time_ns) except -1:
    """The next `n` bytes of a direction were cut off by snaplen: kwire/protocol/frames.py, FrameSplitter.lose.

    Returns:
        LANE_OK; LANE_ODD, with nothing changed, where the next border of frames is lost with them, or the beginning of the direction.
    """
    cdef FrameBuffer* buffer = &exchange.buffers[0 if from_client else 1]
    cdef int64_t skip = buffer.skip
    if buffer.undecided or buffer.size < LENGTH_BYTES or frame_length(buffer.bytes) < LENGTH_BYTES:
        return odd(series, ODD_GAP)
    if skip == 0:
        buffer.skip = LENGTH_BYTES + <int64_t>frame_length(buffer.bytes) - buffer.size
    if n > buffer.skip:
        buffer.skip = skip
        return odd(series, ODD_GAP)
    if pass_over(exchange, series, from_client, n, time_ns) == LANE_ODD:
        buffer.skip = skip
        return LANE_ODD
    exchange.gaps += 1
    exchange.bytes_lost += n
    see_time(exchange, time_ns)
    return LANE_OK


cdef inline int end_direction(LaneExchange* exchange, LaneSeries* series, bint from_client) except -1:
    """No more bytes of a direction will come: kwire/protocol/frames.py, FrameSplitter.end, and what Connection makes of it.

    Returns:
        LANE_OK; LANE_ODD, with nothing changed, before it is known what is spoken, behind a cut, and as `take_response`.
    """
    cdef FrameBuffer* buffer = &exchange.buffers[0 if from_client else 1]
    cdef Py_ssize_t have = buffer.size
    cdef Py_ssize_t length = -1
    if have == 0:
        return LANE_OK
    if buffer.undecided or buffer.skip:
        return odd(series, ODD_UNFINISHED)
    if have >= LENGTH_BYTES:
        length = frame_length(buffer.bytes)
        if length < LENGTH_BYTES:
            return odd(series, ODD_UNFINISHED)
    if from_client or exchange.waiting_count == 0 or have < LENGTH_BYTES + SHORTEST_RESPONSE:
        tell_unfinished(exchange, series, have, -1 if length < 0 else LENGTH_BYTES + length, buffer.offset, buffer.packet)
    elif take_response(
        exchange, series, buffer.bytes + LENGTH_BYTES, have - LENGTH_BYTES, length, buffer.offset, buffer.packet, buffer.time_ns, True
    ) == LANE_ODD:
        return LANE_ODD
    buffer.offset += have
    buffer_clear(buffer)
    return LANE_OK


cdef inline int exchange_closed(LaneExchange* exchange, LaneSeries* series, bint from_client, bint reset, int64_t time_ns) except -1:
    """A direction ended, by FIN or by RST; LANE_ODD, with nothing changed, as `end_direction`."""
    cdef int side = 0 if from_client else 1
    if not reset and not exchange.closed[side] and exchange.buffers[side].size:
        if exchange.sasl_pending:
            return odd(series, ODD_UNFINISHED)
        if end_direction(exchange, series, from_client) == LANE_ODD:
            return LANE_ODD
    see_time(exchange, time_ns)
    if exchange.closed_by < 0:
        exchange.closed_by = <int8_t>side
        if exchange.sasl_pending and not from_client:
            sasl_known(exchange, series, (<object>series.desk).sasl_closed(sasl_object(exchange)))
    if reset:
        exchange.reset = True
    elif not exchange.closed[side]:
        exchange.closed[side] = True
        if exchange.closed[0] and exchange.closed[1] and not exchange.reset:
            give_up_waiting(exchange, series)
    return LANE_OK


cdef inline int exchange_finish(LaneExchange* exchange, LaneSeries* series) except -1:
    """Nothing more will come; LANE_ODD, with nothing changed, in the middle of two frames, and as `end_direction`."""
    cdef int32_t connection
    cdef int side
    if exchange.buffers[0].size and exchange.buffers[1].size and not exchange.closed[0] and not exchange.closed[1]:
        return odd(series, ODD_UNFINISHED)
    for side in range(2):
        if not exchange.closed[side] and end_direction(exchange, series, side == 0) == LANE_ODD:
            return LANE_ODD
    give_up_waiting(exchange, series)
    if exchange.topics.count:
        connection = text_copied(&series.said, series.places, exchange.connection)
        topic_rows_add(&series.topic_rows, &series.said, &series.texts, connection, &exchange.topics)
    return LANE_OK


cdef inline int exchange_summary(const LaneExchange* exchange, LaneSeries* series, LaneSummary* summary) except -1:
    """What the connection's row needs."""
    memset(summary, 0, sizeof(LaneSummary))
    summary.request_frames, summary.response_frames = exchange.frames[0], exchange.frames[1]
    summary.request_bytes, summary.response_bytes = exchange.received[0], exchange.received[1]
    summary.refused_index = exchange.refused_index
    summary.refused_key, summary.refused_version = exchange.refused_key, exchange.refused_version
    summary.last_api = exchange.last_api
    summary.software_name, summary.software_version = exchange.software_name, exchange.software_version
    summary.client_id, summary.client_instance_id = client_id_of(exchange), exchange.instance_id
    summary.proxied_address = summary.sasl_mechanism = summary.attempted_principal = NO_TEXT
    summary.principal = exchange.principal
    summary.closed_by, summary.source, summary.role = exchange.closed_by, exchange.source, exchange.role
    summary.protocol = SPEAKS_KAFKA if exchange.is_kafka else SPEAKS_UNKNOWN if exchange.received[0] or exchange.received[1] else SILENT
    summary.state = STATE_RESET if exchange.reset else STATE_COMPLETE if exchange.closed[0] and exchange.closed[1] else STATE_OPEN
    if exchange.tracked is not NULL or exchange.sasl is not NULL:
        tracked = None if exchange.tracked is NULL else <object>exchange.tracked
        late, opaque, failures, texts = (<object>series.desk).summary_of(tracked, sasl_object(exchange))
        if late:
            summary.state = STATE_JOINED_LATE
        summary.bytes_opaque, summary.auth_failures = opaque, failures
        summary.proxied_address = text_of(&series.texts, texts[0])
        summary.sasl_mechanism = text_of(&series.texts, texts[1])
        summary.attempted_principal = text_of(&series.texts, texts[2])
    return 0
