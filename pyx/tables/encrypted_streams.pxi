# Part of bulk.pyx: streams behind TLS (kwire/tables/encrypted_connection.py, and what the sink does for it).


cdef bint begins_tls(const uint8_t* data, Py_ssize_t size) noexcept:
    """Return whether the first bytes of a connection joined late may be a TLS record."""
    return 0x14 <= data[0] <= 0x17 and (size == 1 or data[1] == 3)


cdef int look_for_tls(
    RowBatches owner, TrackedStream stream, TcpConnection connection, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """RowSink._look_for_tls, of bytes that the tracker has already."""
    if stream.tls_opening is None:  # as a TlsOpening would say
        if stream.tracker.begins_kafka(0, <Bytes>data, size):
            stream.tls_undecided = False
            return 0
        if stream.tracker.begins_tls(0, <Bytes>data, size):
            take_tls(stream, TlsConnection.__new__(TlsConnection))
            return encrypted_data(owner, stream, connection, side, data, size, time_ns, packet)
    take_opening(owner, stream, connection.tcp.opened_by < 0, side, data, size, time_ns, owner.packet_of(packet))
    return 0 if stream.tls is None else take_plaintext(owner, stream, connection)


cdef int take_opening(
    RowBatches owner, TrackedStream stream, bint joined_late, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """Show the next bytes to a TlsOpening; where it says that this is TLS, all that it has is deciphered."""
    if stream.tls_opening is None:
        stream.tls_opening = TlsOpening(bool(joined_late))
    opening = stream.tls_opening
    verdict = opening.take(side, PyBytes_FromStringAndSize(<const char*>data, size), time_ns, packet)
    if verdict is None:
        return 0
    stream.tls_undecided, stream.tls_opening = False, None
    if verdict:
        take_tls(stream, TlsConnection.__new__(TlsConnection))
        for each, before, then, number in opening.before:
            stream.tls.take(owner.keys, each, <const uint8_t*>PyBytes_AS_STRING(before), len(before), then, number)
    return 0


cdef int encrypted_data(
    RowBatches owner, TrackedStream stream, TcpConnection connection, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """EncryptedConnection.receive, of bytes that the tracker has already: Python sees them when a record is whole."""
    stream.tls.take(owner.keys, side, data, size, time_ns, owner.packet_of(packet))
    return take_plaintext(owner, stream, connection) if stream.tls.piece_count else 0


cdef int take_tls(TrackedStream stream, TlsConnection tls) except -1:
    stream.tls = tls
    stream.tls_undecided = False
    if stream.tracker is not None:
        stream.tracker.encrypted = True
    return 0


cdef int take_plaintext(RowBatches owner, TrackedStream stream, TcpConnection connection) except -1:
    """EncryptedConnection._give, of what came out of a TLS connection."""
    cdef TlsConnection tls = stream.tls
    cdef Py_ssize_t index
    try:
        if tls.client >= 0:
            for index in range(tls.piece_count):
                take_piece(owner, stream, connection, &tls.pieces[index])
    finally:
        tls.clear_pieces()
    return 0


cdef int take_piece(RowBatches owner, TrackedStream stream, TcpConnection connection, const PlainPiece* piece) except -1:
    cdef TlsConnection tls = stream.tls
    cdef int side = piece.side != tls.client
    if stream.plaintext is None:
        begin_plaintext(owner, stream, connection, None)
    if tls.subject is not None and tls.subject != stream.subject:
        stream.subject = tls.subject
        stream.plaintext.authenticated(owner.keys.principals.principal(tls.subject))
    if piece.owner is NULL:
        stream.plaintext.lose_bytes(side, UNKNOWN_LOSS if piece.begin < 0 else piece.begin, piece.time_ns, piece.cut)
        return stream.plaintext.lose_bytes(side, 1, piece.time_ns, False) if piece.begin < 0 else 0
    stream.plaintext.state.server_unseen = not stream.tracker.state.received[1]
    stream.plaintext.take(
        side, <Bytes>PyBytes_AS_STRING(<object>piece.owner) + piece.begin, piece.end - piece.begin, piece.time_ns, piece.packet
    )
    stream.plaintext.state.server_unseen = False
    return 0


cdef int begin_plaintext(RowBatches owner, TrackedStream stream, TcpConnection connection, object known) except -1:
    """Begin to track what is decrypted; `known` is its connection as it was tracked before, None for nothing."""
    cdef bint late = False if known is None else known.joined_late
    cdef ExchangeState* state
    stream.plaintext = row_connection(stream, &owner.rows.shared, late, owner.message, known)
    turn_share(&stream.plaintext.turn, &owner.turn)
    state = &stream.plaintext.state
    server_text(&owner.rows, state, connection.key, connection.n, 1 - stream.slot.client_side, _address_of)
    state.begun = stream.tracker.state.begun
    stream.plaintext_slot.client_side = stream.tls.client
    stream.plaintext_slot.exchange = state
    slot_append(&owner.slots, &stream.plaintext_slot)
    return 0


cdef int end_encrypted(RowBatches owner, TrackedStream stream, TcpConnection connection) except -1:
    """EncryptedConnection.finish, behind that of the tracker of the wire."""
    cdef ConnectionTotals summary
    cdef Connection told = stream.tracker
    stream.tls.finish(owner.keys)
    if stream.plaintext is not None:
        told = stream.plaintext
        told.state.server_unseen = stream.tracker.state.server_unseen
        told.end_all(connection.tcp.last_ns)
    if stream.tls.rules.is_flawless:
        return 0
    summary_of(told, &owner.rows.shared, &summary)
    ending = Ending(
        owner.words[2][state_of(&stream.tracker.state)],
        None if stream.tracker.state.closed_by < 0 else owner.words[3][stream.tracker.state.closed_by],
        text_object(&owner.rows.shared.texts, summary.software_name), text_object(&owner.rows.shared.texts, summary.client_id),
    )
    events = tls_violations(stream.tls, ending, 1 - stream.slot.client_side, connection.tcp.last_ns)
    return owner.take_events(stream, told, events) if events else 0


cdef object encrypted_connection(RowBatches owner, TrackedStream stream, object wire, tuple ends):
    """The state of an encrypted stream, as the pure twin has it."""
    made = EncryptedConnection(wire, owner.keys, (ends[0].port, ends[1].port), owner.target.asked)
    made.tls, made.subject = stream.tls.export_state(), stream.subject
    if stream.plaintext is not None:
        made.plain = PureDetector(ends[0].port, ends[1].port, asked=owner.target.asked)
        made.plain.import_connection(1 - stream.plaintext_slot.client_side, "syn", stream.plaintext.export_state())
    return made
