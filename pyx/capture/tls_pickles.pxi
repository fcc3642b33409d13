# Part of tls_connection.pyx: the state of a direction from and to that of the pure twin.

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
    cdef RecordCipher cipher
    if type(plain.stream) is RecordStream:
        made.stream = plain.stream
    else:
        made.stream = RecordStream(plain.stream.state())
    made.pending = plain.messages.pending
    for each in plain.epochs:
        suite, keys, is_13, encrypt_then_mac = each.cipher.__reduce__()[1]
        cipher = new_cipher(each.suite, None, is_13, encrypt_then_mac)
        cipher.key, cipher.iv, cipher.mac_key = keys
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
