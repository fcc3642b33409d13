# Part of tracker.pyx: the state of a connection as kwire/protocol/tracking/exchange.py, identity.py, pairing.py and resync.py have it.


cdef class Identity:
    """The identity of a connection as `kwire.protocol.tracking.identity.ClientIdentity` has it, for that class's functions."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    see = _identity.ClientIdentity.see
    assigned = _identity.ClientIdentity.assigned
    _not_sent = _identity.ClientIdentity._not_sent
    _see_api_versions = _identity.ClientIdentity._see_api_versions
    _see_instance_id = _identity.ClientIdentity._see_instance_id
    _see_role = _identity.ClientIdentity._see_role

    def count_client_id(self, client_id, times=1):
        count_client_id(&self.of.state, &self.of.series.texts, text_of(&self.of.series.texts, client_id), times)

    lost_requests = _identity.ClientIdentity.lost_requests
    _unsay = _identity.ClientIdentity._unsay

    @property
    def _doubted(self):
        return bool(self.of.state.doubted)

    @_doubted.setter
    def _doubted(self, value):
        self.of.state.doubted = value

    @property
    def _introduced(self):
        return bool(self.of.state.introduced)

    @_introduced.setter
    def _introduced(self, value):
        self.of.state.introduced = value

    @property
    def client_id(self):
        return self.of.text(client_id_of(&self.of.state))

    @property
    def _observed(self):
        return bool(self.of.state.observed)

    @_observed.setter
    def _observed(self, value):
        self.of.state.observed = value

    @property
    def _client_ids(self):
        cdef int index
        return {self.of.text(self.of.state.client_ids[index].client_id): self.of.state.client_ids[index].count
                for index in range(self.of.state.client_id_count)}

    @_client_ids.setter
    def _client_ids(self, value):
        self.of.state.client_id_count = self.of.state.client_id_text = 0
        for client_id, times in value.items():
            self.count_client_id(client_id, times)

    @property
    def software(self):
        return self.of.text(self.of.state.software_name), self.of.text(self.of.state.software_version)

    @software.setter
    def software(self, value):
        self.of.state.software_name = text_of(&self.of.series.texts, value[0])
        self.of.state.software_version = text_of(&self.of.series.texts, value[1])

    @property
    def source(self):
        return SOURCES[self.of.state.source]

    @source.setter
    def source(self, value):
        self.of.state.source = SOURCES.index(value)

    @property
    def instance_id(self):
        return self.of.text(self.of.state.instance_id)

    @instance_id.setter
    def instance_id(self, value):
        self.of.state.instance_id = text_of(&self.of.series.texts, value)
        memset(self.of.state.instance_bytes, 0, 16)

    @property
    def role(self):
        return ROLES[self.of.state.role]

    @role.setter
    def role(self, value):
        self.of.state.role = ROLES.index(value)


cdef class Waitings:
    """The requests that wait as `kwire.protocol.tracking.pairing.Pairing` has them, for the rules."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    def expect(self, waiting):
        """A request was sent that will be answered; what becomes of others by that is seen to when the rules are done."""
        cdef WaitingRequest* made = waiting_new(&self.of.series.spare)
        if made is NULL:
            raise MemoryError
        memset(&made.row, 0, sizeof(made.row))
        waiting_of_object(made, self.of.series, waiting)
        waiting_add(&self.of.state, made)
        self.of.expecting = True
        return []

    @property
    def waiting(self):
        cdef WaitingRequest* each = self.of.state.waiting
        made = []
        while each is not NULL:
            made.append(waiting_object(self.of, each, overtakes(&self.of.state, each)))
            each = each.after[SENT]
        return made

    @waiting.setter
    def waiting(self, value):
        for each in value:
            self.expect(each)

    @property
    def _held(self):
        cdef Py_ssize_t index
        return [
            _pairing._Held(
                frame_object(&self.of.held.each[index].frame),
                None if self.of.held.each[index].correlation_id == no_long() else self.of.held.each[index].correlation_id,
            )
            for index in range(self.of.held.count)
        ]

    @_held.setter
    def _held(self, value):
        cdef WireFrame facts
        held_free(&self.of.held)
        for each in value:
            frame = each.frame
            payload = frame.payload
            facts.payload, facts.size = <Bytes>PyBytes_AS_STRING(payload), PyBytes_GET_SIZE(payload)
            facts.length, facts.offset, facts.packet = frame.length, frame.offset, frame.packet
            facts.begin_ns, facts.end_ns, facts.flags = frame.begin_time, frame.end_time, flags_of(frame)
            held_add(&self.of.held, held_new(&facts, facts.size))

    @property
    def last_answered(self):
        return None if self.of.state.last_answered == no_long() else self.of.state.last_answered

    @last_answered.setter
    def last_answered(self, value):
        self.of.state.last_answered = no_long() if value is None else value

    @property
    def is_unclear(self):
        return bool(self.of.state.is_unclear)

    @is_unclear.setter
    def is_unclear(self, value):
        self.of.state.is_unclear = value

    @property
    def losses(self):
        return self.of.state.losses

    @losses.setter
    def losses(self, value):
        self.of.state.losses = value

    @property
    def holds(self):
        return self.of.held.count != 0


cdef class ClientJudge:
    """`kwire.protocol.tracking.resync.RequestJudge` of a connection, for the rules."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    accepts = _resync.RequestJudge.accepts
    _reads = _resync.RequestJudge._reads
    judge = _resync.RequestJudge.judge
    salvage = _resync.RequestJudge.salvage

    @property
    def client_id(self):
        return self.of.text(self.of.state.judge_client_id)

    @client_id.setter
    def client_id(self, value):
        self.of.state.judge_client_id = text_of(&self.of.series.texts, value)


cdef class Exchange:
    """The state of a connection as `kwire.protocol.tracking.exchange.Exchange` has it, for that class's functions."""

    cdef Connection of

    def __init__(self, Connection of):
        self.of = of

    violation = _rows.Exchange.violation
    _violations = _rows.Exchange._violations
    seen = _rows.Exchange.seen
    _shown = _rows.Exchange._shown
    _read = _rows.Exchange._read
    _proves = _rows.Exchange._proves
    _is_token = _rows.Exchange._is_token
    _authenticate = _rows.Exchange._authenticate
    _row = _rows.Exchange._row
    _identity_changed = _rows.Exchange._identity_changed
    _outcomes = _rows.Exchange._outcomes
    _answered = _rows.Exchange._answered
    _observe = _rows.Exchange._observe
    _learn = _rows.Exchange._learn
    _orphan = _rows.Exchange._orphan
    _too_short = _rows.Exchange._too_short
    heard = _rows.Exchange.heard
    unbroken = _rows.Exchange.unbroken
    lost_requests = _rows.Exchange.lost_requests
    request = _rows.Exchange.request

    @property
    def passing(self):
        return self.of.passing

    @property
    def asked(self):
        return self.of.asked

    @property
    def identity(self):
        return Identity(self.of)

    @property
    def sasl(self):
        if self.of.state.sasl is NULL:
            made = SaslState()
            raw_incref(<PyObject*>made)
            self.of.state.sasl = <PyObject*>made
        return <object>self.of.state.sasl

    @property
    def pairing(self):
        return Waitings(self.of)

    @property
    def judge(self):
        return ClientJudge(self.of)

    @property
    def frames(self):
        return bool(self.of.state.reports_frames)

    @property
    def requests(self):
        return self.of.state.requests

    @requests.setter
    def requests(self, value):
        self.of.state.requests = value

    @property
    def unanswered(self):
        return self.of.state.unanswered

    @unanswered.setter
    def unanswered(self, value):
        self.of.state.unanswered = value

    @property
    def is_kafka(self):
        return bool(self.of.state.is_kafka)

    @is_kafka.setter
    def is_kafka(self, value):
        self.of.state.is_kafka = value

    @property
    def proven(self):
        return bool(self.of.state.proven)

    @proven.setter
    def proven(self, value):
        self.of.state.proven = value

    @property
    def last_api_name(self):
        return None if self.of.state.last_api == no_int() else catalog().api_name(self.of.state.last_api)

    @last_api_name.setter
    def last_api_name(self, value):
        if not KEYS_OF_NAMES:
            KEYS_OF_NAMES.update({catalog().api_name(key): key for key in range(-1, KEYS) if catalog().api_name(key) is not None})
        self.of.state.last_api = KEYS_OF_NAMES.get(value, no_int())

    @property
    def advertised(self):
        return None if self.of.state.advertised is NULL else <object>self.of.state.advertised

    @advertised.setter
    def advertised(self, value):
        raw_xdecref(self.of.state.advertised)
        self.of.state.advertised = NULL
        if value is not None:
            raw_incref(<PyObject*>value)
            self.of.state.advertised = <PyObject*>value

    @property
    def named(self):
        return self.of.text(self.of.state.named_name), self.of.text(self.of.state.named_version)

    @named.setter
    def named(self, value):
        self.of.state.named_name = text_of(&self.of.series.texts, value[0])
        self.of.state.named_version = text_of(&self.of.series.texts, value[1])

    @property
    def losses(self):
        return self.of.state.losses

    @losses.setter
    def losses(self, value):
        self.of.state.losses = value

    @property
    def response_breaks(self):
        return self.of.state.response_breaks

    @response_breaks.setter
    def response_breaks(self, value):
        self.of.state.response_breaks = value

    @property
    def left(self):
        return self.of.state.closed_by == REQUEST

    @property
    def missing(self):
        return bool(self.of.state.missing)

    @missing.setter
    def missing(self, value):
        self.of.state.missing = value

    @property
    def seeks_responses(self):
        return bool(self.of.state.seeks_responses)

    @seeks_responses.setter
    def seeks_responses(self, value):
        self.of.state.seeks_responses = value

    @property
    def _unheard(self):
        if self.of.unheard is None:
            self.of.unheard = []
        return self.of.unheard

    @_unheard.setter
    def _unheard(self, value):
        self.of.unheard = value

    @property
    def requests_lost(self):
        return bool(self.of.state.requests_lost)

    @requests_lost.setter
    def requests_lost(self, value):
        self.of.state.requests_lost = value

    @property
    def _reported(self):
        if self.of.state.reported_rules is NULL:
            made = set()
            raw_incref(<PyObject*>made)
            self.of.state.reported_rules = <PyObject*>made
        return <object>self.of.state.reported_rules

    @_reported.setter
    def _reported(self, value):
        raw_xdecref(self.of.state.reported_rules)
        raw_incref(<PyObject*>value)
        self.of.state.reported_rules = <PyObject*>value

    def authenticated(self):
        """Authentication has been changed."""
        authenticated(self.of)
