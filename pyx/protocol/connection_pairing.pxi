# Part of tracker.pyx: requests, responses and which belong together (tracking/exchange.py, response_events.py, pairing.py).


cdef int take_request_frame(Connection self, const WireFrame* frame) except -1:
    """Exchange.request."""
    cdef ExchangeState* state = &self.state
    cdef WaitingRequest* last = state.waiting_last
    cdef Py_ssize_t before = state.waiting_count
    if take_request(state, self.series, frame) != FRAME_TAKEN:
        self.expecting = False
        self.say(Exchange(self).request(frame_object(frame)))
        authenticated(self)
        if not self.expecting:
            return 0
    elif state.waiting_count == before:
        return 0
    if self.held.count and state.waiting_last.losses:
        # Where packets are missing, a response that came before is that to a request that was not seen, even if the id is the same.
        give_up_held(self)
    if state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
        while state.waiting_count > MAX_WAITING or (state.waiting_kept > MOST_WAITING_BYTES and state.waiting_count > 1):
            last = state.waiting
            waiting_remove(state, last)
            give_up(state, self.series, last)
    if self.held.count:
        finish_held(self)
    return 0


cdef int authenticated(Connection self) except -1:
    """Take over what authentication has come to."""
    self.state.is_unheard_full = self.unheard is not None and len(self.unheard) >= MOST_UNHEARD
    if self.state.sasl is not NULL:
        sasl = <object>self.state.sasl
        self.state.sasl_pending, self.state.sasl_raw = sasl.pending, sasl.raw
        self.state.sasl_counts = not sasl.ends_unsaid
        self.state.principal = text_of(&self.series.texts, sasl.principal)
    return 0


cdef int take_response_frame(Connection self, const WireFrame* frame) except -1:
    """Exchange.response, Pairing.answer."""
    cdef ExchangeState* state = &self.state
    cdef WaitingRequest* found = state.waiting
    cdef HeldResponse* first
    if frame.length < SHORTEST_RESPONSE and (found is NULL or not found.is_token):
        hear_server(self)
        return self.say(Exchange(self)._too_short("response", frame_object(frame)))
    if found is not NULL:
        if frame.size >= SHORTEST_RESPONSE:
            found = waiting_for(self, <int32_t>load_32(frame.payload), frame.length, state.response_breaks)
        if found is not NULL and self.held.count == 0:
            hear_server(self)
            pass_by(self, found, state.response_breaks, False)
            waiting_remove(state, found)
            state.last_answered = no_long() if found.is_token else found.row.correlation_id
            return say_answered(self, found, frame)
    if found is not NULL:
        pair_response(self, self.held.count, held_new(frame, frame.size), found, state.response_breaks)
        hear_server(self)
        return say_outcomes(self)
    # Of what a server says while authentication is under way, which may be a token, nothing is kept.
    first = held_new(frame, min(frame.size, SHORTEST_RESPONSE if state.sasl_pending or state.sasl_raw else MOST_HELD_BYTES))
    first.frame.flags |= DAMAGED * (first.frame.size < frame.size)
    held_add(&self.held, first)
    hear_server(self)
    if self.held.count > MOST_HELD:
        first = self.held.each[0]
        held_remove(&self.held, 1)
        outcome_add(&self.outcomes, NULL, first)
        say_outcomes(self)
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


cdef int say_orphan(Connection self, const HeldResponse* held) except -1:
    """Exchange._orphan: a response has no request."""
    cdef WaitingRequest alone
    cdef ExchangeState* state = &self.state
    if state.reports_frames or (not state.requests_lost and not state.response_breaks and held.correlation_id != no_long()):
        return self.say(Exchange(self)._orphan(frame_object(&held.frame)))
    memset(&alone, 0, sizeof(WaitingRequest))
    alone.request_ns = no_long()
    alone.row.request_index = -1 if state.is_tracked else no_long()
    alone.row.request_us = alone.row.latency_us = alone.row.request_bytes = no_long()
    alone.row.correlation_id = held.correlation_id
    alone.row.response_us = no_long() if held.frame.flags & UNENDED else microseconds(held.frame.end_ns)
    alone.row.response_bytes = held.frame.length + LENGTH
    alone.row.packet, alone.row.stream_offset = held.frame.packet, held.frame.offset
    alone.row.api_key = alone.row.api_version = alone.row.header_version = alone.row.error_code = no_int()
    alone.row.topic_count = no_int()
    alone.row.client_id = alone.row.first_topic = NO_TEXT
    memcpy(alone.row.columns, self.series.plans.columns.nulls, sizeof(alone.row.columns))
    alone.row.client_instance_id, alone.row.principal = state.instance_id, state.principal
    alone.row.software_name, alone.row.software_version = state.software_name, state.software_version
    alone.row.state, alone.row.body = ORPHAN_RESPONSE, BODY_SKIPPED
    return row_done(state, self.series, &alone, no_long() if held.frame.flags & UNENDED else held.frame.end_ns)


cdef int give_up_held(Connection self) except -1:
    """No response that is held has a request."""
    cdef Py_ssize_t index
    for index in range(self.held.count):
        outcome_add(&self.outcomes, NULL, self.held.each[index])
    held_remove(&self.held, self.held.count)
    return say_outcomes(self)


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


cdef int pass_by(Connection self, WaitingRequest* found, int32_t response_breaks, bint is_collected) except -1:
    """Settle the requests that have waited longer than the answered one; their outcomes are collected or given up at once."""
    cdef WaitingRequest* each = self.state.waiting
    cdef WaitingRequest* after
    while each is not found:
        after = each.after[SENT]
        if response_breaks > each.response_breaks or each.may_be_silent or each.is_token:
            waiting_remove(&self.state, each)
            if is_collected:
                outcome_add(&self.outcomes, each, NULL)
            else:
                give_up(&self.state, self.series, each)
        elif not self.state.waiting_uneven:
            break  # those behind it were sent later, so nothing was lost since
        each = after
    if self.state.waiting is not found:
        overtake(&self.state, found)
    found.overtaken_by = overtakes(&self.state, found)
    return 0


cdef int pair_response(Connection self, Py_ssize_t at, HeldResponse* response, WaitingRequest* found, int32_t response_breaks) except -1:
    """Pairing._pair: a response, that at index `at` of those held or one behind them, answers a request."""
    cdef Py_ssize_t index
    # The broker answers in order, so what came before this response and found no request will find none.
    for index in range(at):
        outcome_add(&self.outcomes, NULL, self.held.each[index])
    held_remove(&self.held, min(at + 1, self.held.count))
    pass_by(self, found, response_breaks, True)
    waiting_remove(&self.state, found)
    self.state.last_answered = no_long() if found.is_token else found.row.correlation_id
    return outcome_add(&self.outcomes, found, response)


cdef int finish_held(Connection self) except -1:
    """Pairing.expect: a new request may be the one that a response was held for; of those with other ids nothing new is known."""
    cdef WaitingRequest* found
    cdef WaitingRequest* newest = self.state.waiting_last
    cdef int64_t number_of_newest = no_long() if newest is NULL or newest.is_token else newest.row.correlation_id
    cdef int64_t number = no_long()
    cdef Py_ssize_t at
    while self.held.count and self.state.waiting is not NULL:
        at = 0
        if not self.state.waiting.is_token:
            while at < self.held.count:
                number = self.held.each[at].correlation_id
                if number == no_long() or number == number_of_newest:
                    break
                at += 1
            if at == self.held.count:
                break
        number = self.held.each[at].correlation_id
        found = self.state.waiting
        if number != no_long():
            found = waiting_for(self, <int32_t>number, self.held.each[at].frame.length, 0)
        if found is NULL:
            break
        pair_response(self, at, self.held.each[at], found, 0)
    return say_outcomes(self)


cdef int say_outcomes(Connection self) except -1:
    """Say what has become of requests and responses."""
    cdef Outcomes outcomes = self.outcomes
    cdef Outcome* each
    cdef Py_ssize_t index
    memset(&self.outcomes, 0, sizeof(Outcomes))
    try:
        for index in range(outcomes.count):
            each = &outcomes.each[index]
            if each.waiting is NULL:
                say_orphan(self, each.response)
            elif each.response is NULL:
                give_up(&self.state, self.series, each.waiting)
            else:
                say_answered(self, each.waiting, &each.response.frame)
    finally:
        for index in range(outcomes.count):
            free(outcomes.each[index].response)
        free(outcomes.each)
    return 0


cdef int say_answered(Connection self, WaitingRequest* waiting, const WireFrame* frame) except -1:
    """Exchange._answered for a request that waits no longer."""
    cdef ExchangeState* state = &self.state
    cdef object waits
    try:
        if frame.size < SHORTEST_RESPONSE or take_answer(state, self.series, waiting, frame) != FRAME_TAKEN:
            waits = waiting_object(self, waiting, waiting.overtaken_by)
            self.say(Exchange(self)._answered(_pairing.Outcome("answered", waits, frame_object(frame))))
            authenticated(self)
    finally:
        waiting_free(&self.series.spare, waiting)
    return 0


cdef object waiting_object(Connection self, WaitingRequest* waiting, int32_t overtaken_by):
    """As `kwire.protocol.tracking.pairing.Waiting`."""
    row = None if waiting.is_token else new_row(&CLASSES, self.series, waiting, INT64_MIN)
    note = None if waiting.is_token else note_object(self.series, waiting, traits_of(self.series, waiting))
    return _pairing.Waiting(
        row, waiting.losses, waiting.response_breaks, bool(waiting.may_be_silent), overtaken_by, note, waiting.kept,
        is_timed=not waiting.is_untimed, is_lost=bool(waiting.is_lost),
    )
