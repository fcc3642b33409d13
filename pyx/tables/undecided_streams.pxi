# Part of bulk.pyx: streams of which it is not known yet which side is the server, and what the pure twin has of a stream.

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


cdef int take_by_python(
    RowBatches self, TrackedStream stream, TcpConnection connection, Piece piece, int direction, const uint8_t* data, int64_t size,
    bint flag, int64_t time_ns, int64_t packet
) except -1:
    """What may be TLS, before it is known which end is the server: Python detects it.

    Arguments:
        size: of the data, or of what is lost.
        flag: `cut` of what is lost, `reset` of an end.
    """
    connection.attachment = stream.kept
    try:
        if piece == DATA:
            StreamSink.data(self, connection, direction, data, <Py_ssize_t>size, time_ns, packet)
        elif piece == LOST:
            StreamSink.lost(self, connection, direction, size, flag, time_ns, packet)
        else:
            StreamSink.closed(self, connection, direction, flag, time_ns, packet)
    finally:
        connection.attachment = stream
    self.pieces_in_python += piece != CLOSED
    return import_tracked(self, stream, connection)


cdef int leave_to_python(RowBatches self, TrackedStream stream) except -1:
    """The first bytes may be TLS, which the pure twin finds out."""
    stream.kept = plain_undecided(self, stream)
    stream.detector = None
    return 0


cdef int take_decided(RowBatches self, TrackedStream stream, TcpConnection connection, list events, bint server_unseen=False) except -1:
    """Once it is known which side is the server the reading that is right makes rows; what it said so far is in `events`."""
    cdef DirectionDetector detector = stream.detector
    cdef bint tls_undecided = stream.tls_undecided
    cdef Py_ssize_t before = self.rows.shared.rows.count
    if detector.server < 0:
        return 0
    stream.detector = None
    self.begin(stream, connection, 1 - detector.server, detector.decided_by, stream.begun, detector.tracked(detector.server))
    stream.tls_undecided = tls_undecided
    if events and (server_unseen or not stream.tracker.state.received[1]):
        from kwire.tables.row_sink import answers_unseen

        answers_unseen(events)
    self.take_events(stream, stream.tracker, events)
    return self.rows_added(before)


cdef int import_tracked(RowBatches self, TrackedStream stream, TcpConnection connection) except -1:
    """Begin the native state as soon as it is known which side is the server, or that the bytes are not TLS."""
    cdef ExchangeState* state
    tracked = stream.kept
    if tracked is None:
        return 0
    if tracked.connection_id is None:
        if type(tracked.detector) is PureDetector and (tracked.tls_opening is None or not tracked.tls_opening.has_bytes):
            stream.detector, stream.begun, stream.kept = detector_of(tracked.detector), tracked.begun, None
            stream.tls_undecided = tracked.tls_opening is not None
        return 0
    detector = tracked.detector
    self.begin(
        stream, connection, 1 - detector.server_side, detector.decided_by, tracked.begun, detector.connection
    )
    stream.tls_opening, stream.tls_undecided = tracked.tls_opening, tracked.tls_opening is not None
    state = &stream.tracker.state
    if isinstance(detector, EncryptedConnection):
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
    stream.kept = None
    return 0


cdef object plain_tracked(RowBatches self, TrackedStream stream):
    """What the pure twin has of a connection: a `kwire.tables.row_sink.Tracked`."""
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
    """What the pure twin has of a connection of which it is not known which side is the server."""
    from kwire.tables.row_sink import Tracked

    made = Tracked(stream.detector.export_state(), stream.begun)
    if stream.tls_undecided:
        made.tls_opening = TlsOpening(True)
    return made
