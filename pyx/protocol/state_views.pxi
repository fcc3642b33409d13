# Part of tracker.pyx: the state of a connection under the names that kwire/protocol/tracking has, for its rules, which run on it.

cdef enum:
    # What a member is in C, and in Python
    FLAG = 0  # bint
    INT = 1  # int32_t
    LONG = 2  # int64_t
    OPTIONAL_LONG = 3  # int64_t; None for no_long()
    TEXT = 4  # number of a text
    TWO_TEXTS = 5  # two of them: a tuple
    WORD = 6  # int8_t: one of some words, None for what is negative
    OBJECT = 7  # PyObject*; None for NULL
    LONG_BY_SIDE = 8  # two of int64_t: a dict by direction
    FLAG_BY_SIDE = 9

# Only their layout is used
cdef ExchangeState STATE_LAYOUT
cdef Cutter CUTTER_LAYOUT


@cython.final
cdef class Member:
    """A member of `ExchangeState`, or of the `Cutter` of a `Splitter`, as an attribute of a connection or of a view of it."""

    cdef Py_ssize_t offset
    cdef int kind
    cdef bint is_of_cutter
    cdef tuple words

    def __get__(self, of, _kind):
        cdef const char* at
        cdef Connection connection
        if of is None:
            return self
        at, connection = self.find(of), owner_of(of)
        if self.kind == FLAG:
            return bool((<const bint*>at)[0])
        if self.kind == INT:
            return (<const int32_t*>at)[0]
        if self.kind == LONG:
            return (<const int64_t*>at)[0]
        if self.kind == OPTIONAL_LONG:
            return None if (<const int64_t*>at)[0] == no_long() else (<const int64_t*>at)[0]
        if self.kind == TEXT:
            return connection.text((<const int32_t*>at)[0])
        if self.kind == TWO_TEXTS:
            return connection.text((<const int32_t*>at)[0]), connection.text((<const int32_t*>at)[1])
        if self.kind == WORD:
            return None if (<const int8_t*>at)[0] < 0 else self.words[(<const int8_t*>at)[0]]
        if self.kind == OBJECT:
            return None if (<PyObject**>at)[0] is NULL else <object>(<PyObject**>at)[0]
        if self.kind == LONG_BY_SIDE:
            return {"request": (<const int64_t*>at)[0], "response": (<const int64_t*>at)[1]}
        return {"request": bool((<const bint*>at)[0]), "response": bool((<const bint*>at)[1])}

    def __set__(self, of, value):
        cdef char* at = self.find(of)
        cdef TextTable* texts = &owner_of(of).series.texts
        if self.kind == FLAG:
            (<bint*>at)[0] = value
        elif self.kind == INT:
            (<int32_t*>at)[0] = value
        elif self.kind == LONG:
            (<int64_t*>at)[0] = value
        elif self.kind == OPTIONAL_LONG:
            (<int64_t*>at)[0] = no_long() if value is None else value
        elif self.kind == TEXT:
            (<int32_t*>at)[0] = text_of(texts, value)
        elif self.kind == TWO_TEXTS:
            (<int32_t*>at)[0], (<int32_t*>at)[1] = text_of(texts, value[0]), text_of(texts, value[1])
        elif self.kind == WORD:
            (<int8_t*>at)[0] = -1 if value is None else <int8_t>self.words.index(value)
        elif self.kind == OBJECT:
            raw_xdecref((<PyObject**>at)[0])
            (<PyObject**>at)[0] = NULL
            if value is not None:
                raw_incref(<PyObject*>value)
                (<PyObject**>at)[0] = <PyObject*>value
        elif self.kind == LONG_BY_SIDE:
            (<int64_t*>at)[0], (<int64_t*>at)[1] = value["request"], value["response"]
        else:
            (<bint*>at)[0], (<bint*>at)[1] = value["request"], value["response"]

    cdef char* find(self, of) except NULL:
        """Return the address of the member."""
        return (<char*>(<Splitter?>of).cutter() if self.is_of_cutter else <char*>&owner_of(of).state) + self.offset


cdef Connection owner_of(of):
    return <Connection>of if isinstance(of, Connection) else <Connection?>(<View?>of).of


cdef Member of_state(const void* member, int kind, tuple words=None):
    """An attribute for a member of STATE_LAYOUT."""
    cdef Member made = Member.__new__(Member)
    made.offset, made.kind, made.words = <const char*>member - <const char*>&STATE_LAYOUT, kind, words
    return made


cdef Member of_cutter(const void* member, int kind):
    """An attribute for a member of CUTTER_LAYOUT."""
    cdef Member made = Member.__new__(Member)
    made.offset, made.kind, made.is_of_cutter = <const char*>member - <const char*>&CUTTER_LAYOUT, kind, True
    return made


cdef class View:
    cdef Connection of

    def __init__(self, Connection of not None):
        self.of = of


cdef class Identity(View):
    """`kwire.protocol.tracking.identity.ClientIdentity` of a connection."""

    see = _identity.ClientIdentity.see
    assigned = _identity.ClientIdentity.assigned
    _not_sent = _identity.ClientIdentity._not_sent
    _see_api_versions = _identity.ClientIdentity._see_api_versions
    _see_instance_id = _identity.ClientIdentity._see_instance_id
    _see_role = _identity.ClientIdentity._see_role
    lost_requests = _identity.ClientIdentity.lost_requests
    _unsay = _identity.ClientIdentity._unsay

    _doubted = of_state(&STATE_LAYOUT.doubted, FLAG)
    _introduced = of_state(&STATE_LAYOUT.introduced, FLAG)
    _observed = of_state(&STATE_LAYOUT.observed, FLAG)
    software = of_state(&STATE_LAYOUT.software_name, TWO_TEXTS)
    source = of_state(&STATE_LAYOUT.source, WORD, SOURCES)
    role = of_state(&STATE_LAYOUT.role, WORD, ROLES)

    def count_client_id(self, client_id, times=1):
        count_client_id(&self.of.state, &self.of.series.texts, text_of(&self.of.series.texts, client_id), times)

    @property
    def client_id(self):
        return self.of.text(client_id_of(&self.of.state))

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
    def instance_id(self):
        return self.of.text(self.of.state.instance_id)

    @instance_id.setter
    def instance_id(self, value):
        self.of.state.instance_id = text_of(&self.of.series.texts, value)
        memset(self.of.state.instance_bytes, 0, 16)


cdef class Waitings(View):
    """`kwire.protocol.tracking.pairing.Pairing` of a connection."""

    last_answered = of_state(&STATE_LAYOUT.last_answered, OPTIONAL_LONG)
    is_unclear = of_state(&STATE_LAYOUT.is_unclear, FLAG)
    losses = of_state(&STATE_LAYOUT.losses, INT)

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
    def holds(self):
        return self.of.held.count != 0


cdef class ClientJudge(View):
    """`kwire.protocol.tracking.resync.RequestJudge` of a connection."""

    accepts = _resync.RequestJudge.accepts
    _reads = _resync.RequestJudge._reads
    judge = _resync.RequestJudge.judge
    salvage = _resync.RequestJudge.salvage
    client_id = of_state(&STATE_LAYOUT.judge_client_id, TEXT)


cdef class Exchange(View):
    """`kwire.protocol.tracking.exchange.Exchange` of a connection."""

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

    frames = of_state(&STATE_LAYOUT.reports_frames, FLAG)
    requests = of_state(&STATE_LAYOUT.requests, LONG)
    unanswered = of_state(&STATE_LAYOUT.unanswered, LONG)
    is_kafka = of_state(&STATE_LAYOUT.is_kafka, FLAG)
    proven = of_state(&STATE_LAYOUT.proven, FLAG)
    advertised = of_state(&STATE_LAYOUT.advertised, OBJECT)
    named = of_state(&STATE_LAYOUT.named_name, TWO_TEXTS)
    losses = of_state(&STATE_LAYOUT.losses, INT)
    response_breaks = of_state(&STATE_LAYOUT.response_breaks, INT)
    missing = of_state(&STATE_LAYOUT.missing, FLAG)
    seeks_responses = of_state(&STATE_LAYOUT.seeks_responses, FLAG)
    requests_lost = of_state(&STATE_LAYOUT.requests_lost, FLAG)

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
        return object_at(&self.of.state.sasl, SaslState)

    @property
    def pairing(self):
        return Waitings(self.of)

    @property
    def judge(self):
        return ClientJudge(self.of)

    @property
    def last_api_name(self):
        return None if self.of.state.last_api == no_int() else catalog().api_name(self.of.state.last_api)

    @last_api_name.setter
    def last_api_name(self, value):
        if not KEYS_OF_NAMES:
            KEYS_OF_NAMES.update({catalog().api_name(key): key for key in range(-1, KEYS) if catalog().api_name(key) is not None})
        self.of.state.last_api = KEYS_OF_NAMES.get(value, no_int())

    @property
    def left(self):
        return self.of.state.closed_by == REQUEST

    @property
    def _unheard(self):
        if self.of.unheard is None:
            self.of.unheard = []
        return self.of.unheard

    @_unheard.setter
    def _unheard(self, value):
        self.of.unheard = value

    @property
    def _reported(self):
        return object_at(&self.of.state.reported_rules, set)

    @_reported.setter
    def _reported(self, value):
        raw_incref(<PyObject*>value)
        raw_xdecref(self.of.state.reported_rules)
        self.of.state.reported_rules = <PyObject*>value

    def authenticated(self):
        """Authentication has been changed."""
        authenticated(self.of)


cdef object object_at(PyObject** at, make):
    """Return the object that is kept here, made when it is first asked for."""
    if at[0] is NULL:
        made = make()
        raw_incref(<PyObject*>made)
        at[0] = <PyObject*>made
    return <object>at[0]


cdef class Splitter(View):
    """`kwire.protocol.tracking.frames.FrameSplitter` of a direction."""

    cdef int side

    seeking = of_cutter(&CUTTER_LAYOUT.seeking, FLAG)
    bytes_opaque = of_cutter(&CUTTER_LAYOUT.bytes_opaque, LONG)
    max_frame = of_cutter(&CUTTER_LAYOUT.max_frame, LONG)
    _base = of_cutter(&CUTTER_LAYOUT.base, LONG)
    _need = of_cutter(&CUTTER_LAYOUT.need, LONG)
    _skip = of_cutter(&CUTTER_LAYOUT.skip, LONG)
    _skipped_time = of_cutter(&CUTTER_LAYOUT.skipped_ns, LONG)
    _sought_from = of_cutter(&CUTTER_LAYOUT.sought_from, LONG)
    _candidates = of_cutter(&CUTTER_LAYOUT.candidates, LONG)
    _unproven = of_cutter(&CUTTER_LAYOUT.unproven, INT)
    _scanned = of_cutter(&CUTTER_LAYOUT.scanned, LONG)

    def __init__(self, Connection of not None, bint side):
        self.of, self.side = of, side

    cdef Cutter* cutter(self) except NULL:
        return &(<Connection?>self.of).cutters[self.side]

    @property
    def _buffer(self):
        cdef Cutter* cutter = self.cutter()
        return bytearray() if cutter.is_broken else bytearray(PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size))

    @_buffer.setter
    def _buffer(self, value):
        cdef bytes data = bytes(value)
        self.cutter().size = 0
        cutter_add(self.cutter(), <Bytes>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))

    @property
    def _marks(self):
        cdef Cutter* cutter = self.cutter()
        cdef Py_ssize_t index
        return [
            (cutter.arrivals[index].offset, cutter.arrivals[index].time_ns, cutter.arrivals[index].packet)
            for index in range(cutter.arrival_count)
        ]

    @_marks.setter
    def _marks(self, value):
        self.cutter().arrival_count = 0
        for offset, time, packet in value:
            cutter_arrived(self.cutter(), offset, time, packet)

    @property
    def _broken(self):
        cdef Cutter* cutter = self.cutter()
        if not cutter.is_broken:
            return None
        return Frame(
            PyBytes_FromStringAndSize(<const char*>cutter.bytes, cutter.size), cutter.broken_length, cutter.broken_offset,
            cutter.broken_packet, cutter.broken_ns, cutter.broken_ns, bool(cutter.is_damaged), bool(cutter.is_ended),
            bool(cutter.is_doubtful),
        )

    @_broken.setter
    def _broken(self, value):
        cdef Cutter* cutter = self.cutter()
        cutter.is_broken = value is not None
        if value is not None:
            self._buffer = value.payload
            cutter.broken_length, cutter.broken_offset, cutter.broken_packet = value.length, value.offset, value.packet
            cutter.broken_ns, cutter.is_damaged, cutter.is_ended = value.begin_time, value.damaged, value.ended
            cutter.is_doubtful = value.doubtful

    @property
    def _pending(self):
        cdef Cutter* cutter = self.cutter()
        cdef int index
        return [(cutter.pending[index].offset, cutter.pending[index].need) for index in range(cutter.pending_count)]

    @_pending.setter
    def _pending(self, value):
        self.cutter().pending_count = 0
        for offset, need in value:
            cutter_wait(self.cutter(), offset, need)
