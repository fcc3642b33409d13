# Part of tls_connection.pyx: from what a key log has to the keys of both directions (kwire/capture/tls/handshakes.py).


cdef int add_epoch(Direction direction, EpochKind kind, object suite, object secret) except -1:
    if secret:
        direction.epochs.append(epoch_of_secret(kind, suite, secret))
    return 0


cdef int use_13(TlsConnection self, dict secrets, object suite) except -1:
    cdef Direction direction
    cdef int number
    for number in range(2):
        direction = self.of(self.client if number == 0 else 1 - self.client)
        if direction.opened and (<Epoch>direction.epochs[0]).suite == suite:
            continue  # early data came before the ServerHello
        direction.epochs = []
        if number == 0 and self.client_hello.early_data:
            add_epoch(direction, EARLY, suite, secrets.get("CLIENT_EARLY_TRAFFIC_SECRET"))
        add_epoch(
            direction, HANDSHAKE_KEYS, suite,
            secrets.get("SERVER_HANDSHAKE_TRAFFIC_SECRET" if number else "CLIENT_HANDSHAKE_TRAFFIC_SECRET"),
        )
        add_epoch(direction, DATA, suite, secrets.get("SERVER_TRAFFIC_SECRET_0" if number else "CLIENT_TRAFFIC_SECRET_0"))
        if direction.epochs:
            self.has_keys = True
    return 0


cdef int find_12(TlsConnection self, object keys, bytes exchange) except -1:
    cdef ClientHelloView hello = self.client_hello
    server, suite = self.server, self.suite
    if self.session is not None or hello is None or server is None or suite is None or self.version_number != TLS_1_2:
        return 0
    secrets = keys.find(hello.random)
    master, session = secrets.get("CLIENT_RANDOM", b""), new_tuple(Session, ("CLIENT_RANDOM", hello.random, b"", None))
    if not master and exchange is not None:
        premaster = secrets.get("PMS_CLIENT_RANDOM")
        if not premaster:
            premaster = keys.find(premaster_name(exchange)).get("RSA")
        if premaster:
            session_hash = None
            if field(server, SERVER_EXTENDED_MASTER):
                if self.transcript is None:
                    return 0
                session_hash = hashlib.new(suite.hash, b"".join(self.transcript)).digest()
            master = master_secret(premaster, hello.random, field(server, SERVER_RANDOM), suite, session_hash)
            session = new_tuple(Session, ("", b"", master, None))
    if not self.saw_certificate:
        resumed = resumed_session(self, keys)
        if resumed is not None:
            if not master:
                master, session = keys.master_of(resumed), resumed
            self.resumed = True
    name = field(server, SERVER_SESSION)
    if not master and name and name == hello.session_id:
        session = new_tuple(Session, ("SESSION_ID", name, b"", None))
        master = keys.master_of(session)
    if not master:
        return 0
    self.session, self.has_keys = session, True
    return add_ciphers_12(self, master, suite, server)


cdef int find_late(TlsConnection self, object keys, int side, Direction direction, const RecordView* record) except -1:
    cdef Epoch epoch
    cdef Direction each
    cdef int64_t sequence, most
    if self.client_hello is None or self.tried_late[side] >= LATE_RECORDS:
        return 0
    self.tried_late[side] += 1
    secrets = keys.find(self.client_hello.random)
    sample = secrets.get("SERVER_TRAFFIC_SECRET_0") or secrets.get("CLIENT_TRAFFIC_SECRET_0")
    if sample is None:
        return 0
    most = LATE_RECORDS if direction.stream.opaque or self.lost else self.tried_late[side]
    for number in self.client_hello.plain.ciphers:
        suite = SUITES.get(number)
        if suite is None or number >> 8 != 0x13 or hashlib.new(suite.hash).digest_size != len(sample):
            continue
        use_13(self, secrets, suite)
        for epoch in direction.epochs:
            for sequence in range(most):
                if direction.deciphers(epoch, sequence, record.kind, record.version, record.body, record.size):
                    self.version_number, self.suite = TLS_1_3, suite
                    self.version, self.cipher = VERSION_NAMES[TLS_1_3], suite.name
                    return 0
        for each in self.directions:
            each.epochs = []
    return 0
