# Part of tls_connection.pyx: state and outputs as the pure twin has them.

cdef tuple SAME_NAMES = (
    "server", "version", "cipher", "alpn", "subject", "certificate_faults", "alerts", "resumed", "retried", "renegotiated", "lost",
    "unverified_bytes",
)


cdef object plain_direction(Direction direction):
    made = PureDirection()
    made.stream = direction.stream
    made.messages.pending = direction.pending
    made.epochs = [epoch.plain() for epoch in direction.epochs]
    made.encrypted, made.finished, made.stopped = bool(direction.encrypted), bool(direction.finished), bool(direction.stopped)
    made.padding = None if direction.padding == -2 else direction.padding
    made.doubtful = (direction.doubtful_ns, direction.doubtful_packet) if direction.is_doubtful else None
    made.opened, made.unopened = direction.opened, direction.unopened
    made.opened_bytes, made.opaque_bytes = direction.opened_bytes, direction.opaque_bytes
    made.protected, made.largest, made.failures = direction.protected, direction.largest, direction.failures
    made.tried, made.tried_bytes = direction.tried, direction.tried_bytes
    return made


cdef Direction direction_of_plain(object plain):
    cdef Direction made = Direction()
    cdef Epoch epoch
    if type(plain.stream) is RecordStream:
        made.stream = plain.stream
    else:
        made.stream = RecordStream(plain.stream.state())
    made.pending = plain.messages.pending
    for each in plain.epochs:
        known = each.cipher
        cipher = cipher_with_keys(each.suite, Keys(*known._keys), known._is_13, known._encrypt_then_mac)
        epoch = new_epoch(<EpochKind>KINDS.index(each.kind), each.suite, cipher)
        epoch.following, epoch.sequence = each.next_secret, each.sequence
        made.epochs.append(epoch)
    made.encrypted, made.finished, made.stopped = plain.encrypted, plain.finished, plain.stopped
    made.padding = -2 if plain.padding is None else plain.padding
    if plain.doubtful is not None:
        made.is_doubtful, (made.doubtful_ns, made.doubtful_packet) = True, plain.doubtful
    made.opened, made.unopened = plain.opened, plain.unopened
    made.opened_bytes, made.opaque_bytes = plain.opened_bytes, plain.opaque_bytes
    made.protected, made.largest, made.failures = plain.protected, plain.largest, plain.failures
    made.tried, made.tried_bytes = plain.tried, plain.tried_bytes
    return made


cdef object plain_connection(TlsConnection self):
    made = PureConnection()
    made._directions = (plain_direction(self.of(0)), plain_direction(self.of(1)))
    made._version, made._suite, made._session = self.version_number, self.suite, self.session
    made._transcript = None if self.transcript is None else b"".join(self.transcript)
    made._saw_certificate, made._completed = bool(self.saw_certificate), bool(self.completed)
    made._tried_late = [self.tried_late[0], self.tried_late[1]]
    made.client_side = self.client_side
    made.hello, made.key_use = self.hello, self.key_use
    for name in SAME_NAMES:
        setattr(made, name, getattr(self, name))
    return made


cdef TlsConnection connection_of_plain(object plain):
    if not (plain.server is None or isinstance(plain.server, ServerHello)):
        raise TypeError("a ServerHello is read by the places of its fields")
    cdef TlsConnection made = TlsConnection.__new__(TlsConnection)
    made.directions = (direction_of_plain(plain.direction(0)), direction_of_plain(plain.direction(1)))
    made.version_number, made.suite, made.session = plain._version, plain._suite, plain._session
    made.transcript = None if plain._transcript is None else [plain._transcript]
    made.transcript_bytes = 0 if plain._transcript is None else len(plain._transcript)
    made.saw_certificate, made.completed = plain._saw_certificate, plain._completed
    made.tried_late[0], made.tried_late[1] = plain._tried_late
    made.client = -1 if plain.client_side is None else plain.client_side
    made.client_hello, made.has_keys = hello_of_plain(plain.hello), plain.key_use == "found"
    made.server, made.version, made.cipher, made.alpn, made.subject = (
        plain.server, plain.version, plain.cipher, plain.alpn, plain.subject
    )
    made.certificate_faults = list(plain.certificate_faults)
    made.read_alerts = [(each.side, alert_bytes(each), each.time, each.packet) for each in plain.alerts]
    made.resumed, made.retried, made.renegotiated, made.lost = plain.resumed, plain.retried, plain.renegotiated, plain.lost
    made.unverified_bytes = plain.unverified_bytes
    return made


cdef list given_outputs(TlsConnection self):
    cdef list out = []
    cdef Py_ssize_t index
    cdef PlainPiece piece
    for index in range(self.piece_count):
        piece = self.pieces[index]
        if piece.owner is NULL:
            out.append(Missing(piece.side, None if piece.begin < 0 else piece.begin, bool(piece.cut), piece.time_ns, piece.packet))
        else:
            out.append(Plain(piece.side, memoryview(<object>piece.owner)[piece.begin:piece.end], piece.time_ns, piece.packet))
    self.clear_pieces()
    return out
