# Part of bulk.pyx: streams behind TLS (kwire/tables/encrypted_connection.py, and what the sink does for it).


cdef bint begins_tls(const uint8_t* data, Py_ssize_t size) noexcept:
    """Whether the first bytes that were seen of a connection that was joined late may be a TLS record."""
    return 0x14 <= data[0] <= 0x17 and (size == 1 or data[1] == 3)


cdef int look_for_tls(
    RowBatches owner, TrackedStream stream, TcpConnection connection, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """RowSink._look_for_tls, of bytes that the tracker has already."""
    if stream.tls_opening is None:
        if stream.tracker.begins_kafka(0, <Bytes>data, size):
            stream.tls_undecided = False  # as a TlsOpening would say
            return 0
        stream.tls_opening = TlsOpening(connection.tcp.opened_by < 0)
    opening = stream.tls_opening
    verdict = opening.take(side, PyBytes_FromStringAndSize(<const char*>data, size), time_ns, owner.packet_of(packet))
    if verdict is None:
        return 0
    stream.tls_undecided, stream.tls_opening = False, None
    if verdict:
        take_tls(stream, TlsConnection.__new__(TlsConnection))
        for each, before, then, number in opening.before:
            outputs = stream.tls.take(owner.target.tls, each, <const uint8_t*>PyBytes_AS_STRING(before), len(before), then, number)
            take_plaintext(owner, stream, connection, outputs)
    return 0


cdef int encrypted_data(
    RowBatches owner, TrackedStream stream, TcpConnection connection, int side, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet,
) except -1:
    """EncryptedConnection.receive, of bytes that the tracker has already: Python sees them when a record is whole."""
    cdef list outputs = stream.tls.take(owner.target.tls, side, data, size, time_ns, owner.packet_of(packet))
    return take_plaintext(owner, stream, connection, outputs) if outputs else 0


cdef int take_tls(TrackedStream stream, TlsConnection tls) except -1:
    """From here on the stream is encrypted."""
    stream.tls = tls
    stream.tls_undecided = False
    stream.tracker.encrypted = True
    return 0


cdef int take_plaintext(RowBatches owner, TrackedStream stream, TcpConnection connection, list outputs) except -1:
    """EncryptedConnection._give."""
    cdef TlsConnection tls = stream.tls
    cdef bytes data
    cdef int64_t begin, end, time_ns, packet
    cdef int side
    if not outputs or tls.client < 0:
        return 0
    for output in outputs:
        if stream.plaintext is None:
            begin_plaintext(owner, stream, connection, None)
        if tls.subject is not None and tls.subject != stream.subject:
            stream.subject = tls.subject
            stream.plaintext.authenticated(owner.target.tls.principals.principal(tls.subject))
        if type(output) is Missing:
            side = output.side != tls.client
            stream.plaintext.lose_bytes(side, UNKNOWN_LOSS if output.size is None else output.size, output.time, output.cut)
            if output.size is None:
                stream.plaintext.lose_bytes(side, 1, output.time, False)
            continue
        side, data, begin, end, time_ns, packet = output
        side = side != tls.client
        stream.plaintext.state.server_unseen = not stream.tracker.state.received[1]
        stream.plaintext.take(side, <Bytes>PyBytes_AS_STRING(data) + begin, end - begin, time_ns, packet)
        stream.plaintext.state.server_unseen = False
    return 0


cdef int begin_plaintext(RowBatches owner, TrackedStream stream, TcpConnection connection, object known) except -1:
    """Begin to track what is decrypted; `known` is its connection as it was tracked before, None for nothing."""
    cdef bint late = False if known is None else known.joined_late
    cdef ExchangeState* state
    stream.plaintext = row_connection(stream, &owner.rows.shared, late, owner.message, known)
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
    if stream.plaintext is not None:
        told = stream.plaintext
        told.state.server_unseen = stream.tracker.state.server_unseen
        told.end_all(connection.tcp.last_ns)
    if stream.tls.is_flawless:
        return 0
    summary_of(told, &owner.rows.shared, &summary)
    ending = Ending(
        owner.words[2][state_of(&stream.tracker.state)],
        None if stream.tracker.state.closed_by < 0 else owner.words[3][stream.tracker.state.closed_by],
        text_object(&owner.rows.shared.texts, summary.software_name), text_object(&owner.rows.shared.texts, summary.client_id),
    )
    return owner.take_events(stream, told, tls_violations(stream.tls, ending, 1 - stream.slot.client_side, connection.tcp.last_ns))


cdef object encrypted_connection(RowBatches owner, TrackedStream stream, object wire, tuple ends):
    """The state of an encrypted stream, as the pure twin has it."""
    made = EncryptedConnection(wire, owner.target.tls, (ends[0].port, ends[1].port), owner.target.asked)
    made.tls, made.subject = stream.tls.export_state(), stream.subject
    if stream.plaintext is not None:
        made.plain = PureDetector(ends[0].port, ends[1].port, asked=owner.target.asked)
        made.plain.import_connection(1 - stream.plaintext_slot.client_side, "syn", stream.plaintext.export_state())
    return made
