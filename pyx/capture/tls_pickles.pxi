# Part of tls_connection.pyx: state and outputs as the pure backend has them.


cdef object plain_direction(Direction direction):
    made = PureDirection()
    for name in PureDirection.__slots__:
        setattr(made, name, getattr(direction, name))
    made.epochs = []
    for each in direction.epochs:
        epoch = PureEpoch(each.kind, each.suite, each.cipher.plain(), each.next_secret)
        epoch.sequence = each.sequence
        made.epochs.append(epoch)
    return made


cdef Direction direction_of_plain(object plain):
    cdef Direction made = Direction()
    cdef Epoch epoch
    for name in PureDirection.__slots__:
        if name != "stream":
            setattr(made, name, getattr(plain, name))
    made.stream = plain.stream if type(plain.stream) is RecordStream else RecordStream(plain.stream.state())
    made.epochs = []
    for each in plain.epochs:
        known = each.cipher
        epoch = new_epoch(each.kind, each.suite, cipher_with_keys(each.suite, known._keys, known._is_13, known._encrypt_then_mac))
        epoch.following, epoch.sequence = each.next_secret, each.sequence
        made.epochs.append(epoch)
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
