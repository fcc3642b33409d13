# Part of tracker.pyx: requests, responses and which belong together (tracking/exchange.py, response_events.py, pairing.py).


cdef int take_request_frame(
    Connection self, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns,
    int flags,
) except -1:
    """Exchange.request."""
    cdef ExchangeState* state = &self.state
    cdef WaitingRequest* last = state.waiting_last
    cdef Py_ssize_t before = state.waiting_count
    if take_request(
        state, self.series, payload, size, <Py_ssize_t>length, offset, packet, end_ns, flags & DAMAGED, not flags & UNENDED
    ) != FRAME_TAKEN:
        self.expecting = False
        self.say(Exchange(self).request(frame_of(self, payload, size, length, offset, packet, begin_ns, end_ns, flags)))
        authenticated(self)
        if not self.expecting:
            return 0
    elif state.waiting_count == before:
        return 0
    if self.held and state.waiting_last.losses:
        # Where packets are missing, a response that came before is that to a request that was not seen, even if the id is the same.
        held, self.held = self.held, NONE_HELD
        for frame, _ in held:
            say_orphan(self, frame)
    if state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
        while state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
            last = state.waiting
            waiting_remove(state, last)
            give_up(state, self.series, last)
    if self.held:
        finish_held(self)
    return 0


cdef int authenticated(Connection self) except -1:
    """Take over what authentication has come to."""
    self.state.is_unheard_full = self.unheard is not None and len(self.unheard) >= MOST_UNHEARD
    if self.state.sasl is not NULL:
        sasl = <object>self.state.sasl
        self.state.sasl_pending, self.state.sasl_raw = sasl.pending, sasl.raw
        self.state.sasl_counts = sasl.expected is not None
        self.state.principal = text_of(&self.series.texts, sasl.principal)
    return 0


cdef int take_response_frame(
    Connection self, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet, int64_t begin_ns, int64_t end_ns,
    int flags,
) except -1:
    """Exchange.response, Pairing.answer."""
    cdef ExchangeState* state = &self.state
    cdef WaitingRequest* found = state.waiting
    cdef Py_ssize_t keep
    if length < SHORTEST_RESPONSE and (found is NULL or not found.is_token):
        hear_server(self)
        return self.say(Exchange(self)._too_short(
            "response", frame_of(self, payload, size, length, offset, packet, begin_ns, end_ns, flags)
        ))
    if found is not NULL:
        if size >= SHORTEST_RESPONSE:
            found = waiting_for(self, <int32_t>load_32(payload), length, state.response_breaks)
        if found is not NULL and not self.held:
            hear_server(self)
            pass_by(self, found, state.response_breaks, None)
            waiting_remove(state, found)
            state.last_answered = no_long() if found.is_token else found.row.correlation_id
            return say_answered(self, found, None, payload, size, length, offset, packet, begin_ns, end_ns, flags)
    frame = frame_of(self, payload, size, length, offset, packet, begin_ns, end_ns, flags)
    if found is not NULL:
        outcomes = pair_response(self, len(self.held), frame, found, state.response_breaks)
        hear_server(self)
        return say_outcomes(self, outcomes)
    # Of what a server says while authentication is under way, which may be a token, nothing is kept.
    keep = SHORTEST_RESPONSE if state.sasl_pending or state.sasl_raw else MOST_HELD_BYTES
    if size > keep:
        frame.payload, frame.damaged = frame.payload[:keep], True
    if self.held is NONE_HELD:
        self.held = []
    self.held.append((frame, <int32_t>load_32(payload) if size >= SHORTEST_RESPONSE else None))
    hear_server(self)
    if len(self.held) > MOST_HELD:
        say_orphan(self, self.held.pop(0)[0])
    return 0


cdef int hear_server(Connection self) except -1:
    """Exchange.heard."""
    if self.unheard:
        self.say(Exchange(self).heard())
        self.state.is_unheard_full = False
    return 0


cdef int lose_responses(Connection self) except -1:
    """Exchange.lost_responses, Pairing.broke: when a single request waited, the bytes that are lost were its response's."""
    cdef WaitingRequest* last = self.state.waiting_last
    self.state.response_breaks += 1
    if last is not NULL and (last.before[SENT] is NULL or last.before[SENT].is_lost):
        last.is_lost = True
    return 0


cdef int lose_requests(Connection self) except -1:
    """Exchange.lost_requests, ClientIdentity.lost_requests."""
    cdef ExchangeState* state = &self.state
    state.requests_lost = state.doubted = True
    state.observed = False
    if not state.introduced:
        unsay(state)
    if state.named_name == UNKNOWN_TEXT and state.named_version == UNKNOWN_TEXT and state.source != NOT_SENT:
        state.named_name = state.named_version = NO_TEXT
    return 0


cdef int say_orphan(Connection self, object frame) except -1:
    """Exchange._orphan: a response has no request."""
    cdef WaitingRequest alone
    cdef bytes payload = frame.payload
    if self.sink is NULL or (
        not self.state.requests_lost and not self.state.response_breaks and PyBytes_GET_SIZE(payload) >= SHORTEST_RESPONSE
    ):
        return self.say(Exchange(self)._orphan(frame))
    memset(&alone, 0, sizeof(WaitingRequest))
    alone.row.request_index = alone.row.request_us = alone.row.latency_us = alone.row.request_bytes = no_long()
    alone.row.correlation_id = no_long()
    if PyBytes_GET_SIZE(payload) >= SHORTEST_RESPONSE:
        alone.row.correlation_id = <int32_t>load_32(<Bytes>PyBytes_AS_STRING(payload))
    alone.row.response_us = microseconds(frame.end_time) if frame.ended else no_long()
    alone.row.response_bytes = frame.length + LENGTH
    alone.row.packet, alone.row.stream_offset = frame.packet, frame.offset
    alone.row.api_key = alone.row.api_version = alone.row.header_version = alone.row.error_code = no_int()
    alone.row.topic_count = no_int()
    alone.row.client_id = alone.row.first_topic = NO_TEXT
    memcpy(alone.row.columns, self.series.plans.columns.nulls, sizeof(alone.row.columns))
    alone.row.client_instance_id, alone.row.principal = self.state.instance_id, self.state.principal
    alone.row.software_name, alone.row.software_version = self.state.software_name, self.state.software_version
    alone.row.state, alone.row.body = ORPHAN_RESPONSE, BODY_SKIPPED
    return row_done(&self.state, self.series, &alone)


cdef WaitingRequest* waiting_for(Connection self, int32_t correlation_id, int64_t length, int32_t response_breaks) noexcept:
    """Pairing._find: the request that a response answers, NULL for none; one at least waits."""
    cdef WaitingRequest* first = self.state.waiting
    cdef WaitingRequest* follower = first
    cdef bint several = False
    if not first.is_token:
        if first.response_breaks >= response_breaks:
            return first if first.row.correlation_id == correlation_id else waiting_with(&self.state, correlation_id)
        # Some clients give all their requests one id (pykafka). Then a response is that of the first request whose response is not
        # lost; where it may be, the request that is answered is unknown.
        first = waiting_open(&self.state, correlation_id, &several)
        if first is NULL:
            return NULL
        if correlation_id == self.state.last_answered and first.losses != self.state.losses:
            several = True
        if several and first.response_breaks < response_breaks:
            self.state.is_unclear = True
            return NULL
        return first
    # A raw token is answered by whatever comes next. Only the last token of GSSAPI may get no answer; then the response to the Kafka
    # request behind it comes.
    while follower is not NULL and follower.is_token:
        follower = follower.after[SENT]
    if follower is not NULL and length >= 6 and follower.row.correlation_id == correlation_id:
        return follower
    return first


cdef int pass_by(Connection self, WaitingRequest* found, int32_t response_breaks, list outcomes) except -1:
    """What becomes of the requests that have waited longer than the one that is answered.

    Arguments:
        outcomes: where those are put down that are given up, None to give them up at once.
    """
    cdef WaitingRequest* each = self.state.waiting
    cdef WaitingRequest* after
    while each is not found:
        after = each.after[SENT]
        if response_breaks > each.response_breaks or each.may_be_silent or each.is_token:
            waiting_remove(&self.state, each)
            if outcomes is None:
                give_up(&self.state, self.series, each)
            else:
                outcomes.append((<size_t>each, None))
        elif not self.state.waiting_uneven:
            break  # those behind it were sent later, so nothing was lost since
        each = after
    if self.state.waiting is not found:
        overtake(&self.state, found)
    found.overtaken_by = overtakes(&self.state, found)
    return 0


cdef list pair_response(Connection self, Py_ssize_t at, object frame, WaitingRequest* found, int32_t response_breaks):
    """Pairing._pair: the response at index `at` of those held, or behind them, answers a request. Gives what has become of all."""
    # The broker answers in order, so what came before this response and found no request will find none.
    cdef list outcomes = [(0, earlier) for earlier, _ in self.held[:at]]
    del self.held[:at + 1]
    pass_by(self, found, response_breaks, outcomes)
    waiting_remove(&self.state, found)
    self.state.last_answered = no_long() if found.is_token else found.row.correlation_id
    outcomes.append((<size_t>found, frame))
    return outcomes


cdef int finish_held(Connection self) except -1:
    """Pairing.expect: a new request may be the one that a response was held for; of those with other ids nothing new is known."""
    cdef WaitingRequest* found
    cdef WaitingRequest* newest = self.state.waiting_last
    cdef object number_of_newest = None if newest is NULL or newest.is_token else newest.row.correlation_id
    cdef Py_ssize_t at
    cdef list outcomes = []
    while self.held and self.state.waiting is not NULL:
        at = 0
        if not self.state.waiting.is_token:
            while at < len(self.held) and self.held[at][1] is not None and self.held[at][1] != number_of_newest:
                at += 1
            if at == len(self.held):
                break
        frame, number = self.held[at]
        found = self.state.waiting if number is None else waiting_for(self, number, frame.length, 0)
        if found is NULL:
            break
        outcomes += pair_response(self, at, frame, found, 0)
    return say_outcomes(self, outcomes)


cdef int say_outcomes(Connection self, list outcomes) except -1:
    """Say what has become of requests and responses."""
    cdef WaitingRequest* found
    for number, frame in outcomes:
        found = <WaitingRequest*><size_t>number
        if found is NULL:
            say_orphan(self, frame)
        elif frame is None:
            give_up(&self.state, self.series, found)
        else:
            payload = frame.payload
            say_answered(
                self, found, frame, <Bytes>PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload), frame.length, frame.offset, frame.packet,
                frame.begin_time, frame.end_time,
                DAMAGED * frame.damaged | UNENDED * (not frame.ended) | DOUBTFUL * frame.doubtful | UNFINISHED * frame.unfinished,
            )
    return 0


cdef int say_answered(
    Connection self, WaitingRequest* waiting, object frame, Bytes payload, Py_ssize_t size, int64_t length, int64_t offset, int64_t packet,
    int64_t begin_ns, int64_t end_ns,
    int flags,
) except -1:
    """Exchange._answered for a request that waits no longer."""
    cdef ExchangeState* state = &self.state
    cdef object waits
    try:
        if size < SHORTEST_RESPONSE or take_answer(
            state, self.series, waiting, payload, size, <Py_ssize_t>length, offset, packet, end_ns,
            flags & DAMAGED or (size < length and waiting.row.body != BODY_SKIPPED), not flags & UNENDED, flags & UNFINISHED,
            flags & DOUBTFUL,
        ) != FRAME_TAKEN:
            if frame is None:
                frame = frame_of(self, payload, size, length, offset, packet, begin_ns, end_ns, flags)
            waits = waiting_object(self, waiting, waiting.overtaken_by)
            self.say(Exchange(self)._answered(_pairing.Outcome("answered", waits, frame)))
            authenticated(self)
    finally:
        waiting_free(state, waiting)
    return 0


cdef object waiting_object(Connection self, WaitingRequest* waiting, int32_t overtaken_by):
    """As `kwire.protocol.tracking.pairing.Waiting`."""
    row = None if waiting.is_token else new_row(&CLASSES, self.series, waiting, INT64_MIN)
    note = None if waiting.is_token else note_object(self.series, waiting, traits_of(self.series, waiting))
    return _pairing.Waiting(
        row, waiting.losses, waiting.response_breaks, bool(waiting.may_be_silent), overtaken_by, note, waiting.kept,
        is_timed=not waiting.is_untimed, is_lost=bool(waiting.is_lost),
    )
