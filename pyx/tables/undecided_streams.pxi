# Part of bulk.pyx: streams whose server is unknown or not proven to speak Kafka, and the state that the pure backend has of a stream.

from protocol.request_rows cimport no_int, no_long
from tables.series_rows cimport int_object, sums_objects, sums_take

from kwire.protocol._native.direction_detection cimport detector_of


cdef int begin_undecided(RowBatches self, TrackedStream stream, const uint8_t* packed, int64_t packet) except -1:
    """Track both readings of a connection that was joined late."""
    stream.detector = DirectionDetector(
        packed_port(packed, 0), packed_port(packed, 1), ports=self.ports or None, asked=self.target.asked
    )
    stream.begun = packet
    stream.tls_undecided = True
    return 0


cdef bint is_unproven(TrackedStream stream) noexcept:
    """Return whether the server of a stream is known and nothing proves yet that it speaks Kafka."""
    return stream.tracker is not None and not stream.tracker.state.proven and stream.tracker._protocol is None


cdef int begin_proof(RowBatches self, TrackedStream stream, TcpConnection connection) except -1:
    """Continue with a detector, which buffers the events of the stream."""
    cdef bint is_new = stream.tracker.state.first_seen == no_long()
    cdef int64_t begun = stream.tracker.state.begun
    tracked = None if is_new else plain_tracked(self, stream)
    slot_remove(&self.slots, &stream.slot)
    stream.slot.exchange = NULL
    stream.tracker.sink = NULL
    stream.tracker = None
    if not is_new:
        return import_tracked(self, stream, connection, tracked)
    begin_undecided(self, stream, <const uint8_t*>PyBytes_AS_STRING(connection.key), begun)
    stream.detector.opened(stream.slot.client_side, 0)
    return 0


cdef int take_undecided(
    RowBatches self, TrackedStream stream, TcpConnection connection, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """RowSink.data, of the next bytes of a side while rows of the stream have to wait."""
    cdef list events
    cdef int64_t place = self.packet_of(packet)
    cdef bint late = connection.tcp.opened_by < 0
    if not late and connection.tcp.flows[side].isn < 0:
        begin_late(stream, side)
    if stream.tls is not None:
        stream.tls.take(self.keys, side, data, size, time_ns, place)
    elif stream.tls_undecided:
        if late and stream.tls_opening is None and not begins_tls(data, size):
            stream.tls_undecided = False
        else:
            take_opening(self, stream, late, side, data, size, time_ns, place)
    events = stream.detector.take(side, <Bytes>data, size, time_ns, place)
    return take_decided_by_hello(self, stream, connection, events, True, time_ns, place)


cdef int begin_late(TrackedStream stream, int side) except -1:
    """RowSink._begin_late."""
    cdef int server = stream.detector.server
    if server >= 0 and not stream.detector.tracked(server).state.received[side == server]:
        stream.detector.begins_late(side)
        if stream.tls is not None:
            stream.tls.begin_late(side)
    return 0


cdef int lose_undecided(
    RowBatches self, TrackedStream stream, TcpConnection connection, int side, int64_t count, bint cut, int64_t time_ns, int64_t packet,
) except -1:
    """RowSink.lost, of bytes of a side while rows of the stream have to wait."""
    cdef int64_t place = self.packet_of(packet)
    stream.tls_undecided, stream.tls_opening = False, None
    cdef list events = stream.detector.lose(side, count, time_ns, cut)
    if stream.tls is not None:
        stream.tls.miss_bytes(self.keys, side, count, time_ns, place, cut)
    return take_decided_by_hello(self, stream, connection, events, False, time_ns, place)


cdef int take_decided_by_hello(
    RowBatches self, TrackedStream stream, TcpConnection connection, list events, bint of_data, int64_t time_ns, int64_t packet,
) except -1:
    """Take the sender of a ClientHello as the client, then make rows of the plaintext decrypted so far."""
    if stream.detector.server < 0 and stream.tls is not None and stream.tls.client >= 0:
        events = events + stream.detector.opened(stream.tls.client, time_ns, packet)
    take_decided(self, stream, connection, events, False, of_data)
    if stream.tls is not None and stream.tracker is not None:
        return take_plaintext(self, stream, connection)
    if stream.tls is not None:
        stream.tls.clear_pieces()
    return 0


cdef int take_decided(
    RowBatches self, TrackedStream stream, TcpConnection connection, list events, bint ended, bint of_data
) except -1:
    """Once it is known which side is the server, and that it speaks Kafka, the reading that is right makes rows.

    If the connection is neither over (`ended`) nor brought bytes (`of_data`), it lost some or was closed.
    """
    cdef DirectionDetector detector = stream.detector
    cdef Connection known
    cdef bint tls_undecided = stream.tls_undecided
    cdef Py_ssize_t before = self.rows.shared.rows.count
    if detector.server < 0:
        return 0
    known = detector.tracked(detector.server)
    if not (ended or known.state.proven or known._protocol is not None):
        return 0
    stream.detector = None
    self.begin(stream, connection, 1 - detector.server, detector.decided_by, stream.begun, known)
    stream.tls_undecided = tls_undecided
    if stream.tls is not None:
        take_tls(stream, stream.tls)
    if events and ((ended and not connection.tcp.flows[detector.server].packets) or (of_data and not stream.tracker.state.received[1])):
        from kwire.tables.row_sink import answers_unseen

        answers_unseen(events)
    self.take_events(stream, stream.tracker, events)
    return self.rows_added(before)


cdef int import_tracked(RowBatches self, TrackedStream stream, TcpConnection connection, object tracked) except -1:
    """Take over what the pure twin or a pickle has of a connection: a `kwire.tables.row_sink.Tracked`."""
    cdef ExchangeState* state
    detector = tracked.detector
    encrypted = isinstance(detector, EncryptedConnection)
    wire = detector.wire if encrypted else detector
    stream.begun = tracked.begun
    if wire.server_side is None or not (wire.connection._exchange.proven or wire.connection._protocol):
        stream.detector = detector_of(wire)
        stream.tls_undecided = tracked.tls_opening is not None
        if stream.tls_undecided and tracked.tls_opening.has_bytes:
            stream.tls_opening = tracked.tls_opening
        if encrypted:
            stream.tls = TlsConnection.import_state(detector.tls)
        return 0
    self.begin(stream, connection, 1 - wire.server_side, wire.decided_by, tracked.begun, wire.connection)
    stream.tls_opening, stream.tls_undecided = tracked.tls_opening, tracked.tls_opening is not None
    state = &stream.tracker.state
    if encrypted:
        take_tls(stream, TlsConnection.import_state(detector.tls))
        stream.subject = detector.subject
        if detector.plain is not None:
            begin_plaintext(self, stream, connection, detector.plain.connection)
            state = &stream.plaintext.state
    sums_take(&self.rows.shared, &state.topics, tracked.topics.plain())
    if tracked.refused is not None:
        state.refused_index = tracked.refused[0]
        state.refused_key, state.refused_version = [no_int() if each is None else each for each in tracked.refused[1:]]
    stream.unsupported = dict(tracked.unsupported) or None
    return 0


cdef object plain_tracked(RowBatches self, TrackedStream stream):
    """Return the pure backend's form of a connection, a `kwire.tables.row_sink.Tracked`."""
    from kwire.tables.row_sink import Tracked

    cdef ExchangeState* state = &stream.tracker.state
    ends = endpoints_of(stream.key)
    detector = PureDetector(ends[0].port, ends[1].port, ports=self.ports or None, asked=self.target.asked)
    detector.import_connection(1 - stream.slot.client_side, stream.decided_by, stream.tracker.export_state())
    made = Tracked(detector if stream.tls is None else encrypted_connection(self, stream, detector, ends), state.begun)
    if stream.tls_undecided:
        made.tls_opening = TlsOpening(bool(state.joined_late)) if stream.tls_opening is None else stream.tls_opening
    made.connection_id, made.server = text_object(&self.rows.connection_ids, state.connection), ends[1 - stream.slot.client_side]
    if stream.plaintext is not None:
        state = &stream.plaintext.state
    made.topics.put_back(sums_objects(&self.rows.shared, &state.topics))
    if state.refused_index != no_long():
        made.refused = state.refused_index, int_object(state.refused_key), int_object(state.refused_version)
    made.unsupported = dict(stream.unsupported or {})
    return made


cdef object plain_undecided(RowBatches self, TrackedStream stream):
    from kwire.tables.row_sink import Tracked

    wire = stream.detector.export_state()
    made = Tracked(wire if stream.tls is None else encrypted_connection(self, stream, wire, endpoints_of(stream.key)), stream.begun)
    if stream.tls_undecided:
        made.tls_opening = stream.tls_opening or TlsOpening(wire.decided_by != "syn")
    return made
