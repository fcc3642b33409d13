# Part of tls_connection.pyx: handshake messages (kwire/capture/tls/handshakes.py).


cdef int feed_messages(
    TlsConnection self, object keys, int side, Direction direction, const uint8_t* data, Py_ssize_t size, int64_t time_ns, int64_t packet
) except -1:
    """Messages.feed, and Handshakes._message for each."""
    cdef Py_ssize_t length
    cdef bytes joined = None
    if PyBytes_GET_SIZE(direction.pending):
        joined = direction.pending + PyBytes_FromStringAndSize(<const char*>data, size)
        data, size = <const uint8_t*>PyBytes_AS_STRING(joined), PyBytes_GET_SIZE(joined)
        direction.pending = b""
    while size >= 4:
        length = 4 + (data[1] << 16 | data[2] << 8 | data[3])
        if length > MOST_MESSAGE:
            size = 0
            break
        if length > size:
            break
        take_message(self, keys, side, direction, data[0], data, length, time_ns, packet)
        data += length
        size -= length
    if size:
        direction.pending = PyBytes_FromStringAndSize(<const char*>data, size)
    return 0


cdef int take_message(
    TlsConnection self, object keys, int side, Direction direction, int number, const uint8_t* data, Py_ssize_t size, int64_t time_ns,
    int64_t packet
) except -1:
    cdef Epoch epoch
    cdef bytes message = PyBytes_FromStringAndSize(<const char*>data, size)
    if self.transcript is not None and number != FINISHED and not self.completed:
        if self.version_number >= TLS_1_3 or self.transcript_bytes >= MOST_TRANSCRIPT:
            self.transcript = None  # only a premaster secret of TLS 1.2 needs it
        else:
            self.transcript.append(message)
            self.transcript_bytes += size
    if number == CLIENT_HELLO:
        take_client_hello(self, side, data, size)
    elif number == SERVER_HELLO:
        take_server_hello(self, keys, side, message)
    elif number == ENCRYPTED_EXTENSIONS:
        agree_alpn(self, chosen_alpn(message))
    elif number == CERTIFICATE:
        take_certificate(self, side, message, time_ns, packet)
    elif number == CLIENT_KEY_EXCHANGE:
        find_12(self, keys, message)
        self.transcript = None
    elif number == NEW_SESSION_TICKET:
        if (self.subject if self.version_number >= TLS_1_3 else self.session) is not None:
            ticket = read_ticket(message, self.version_number >= TLS_1_3)
            if ticket:
                remember_session(self, keys, ticket)
    elif number == END_OF_EARLY_DATA:
        direction.drop_epoch(EARLY)
    elif number == KEY_UPDATE:
        if direction.epochs:
            epoch = direction.epochs[0]
            if epoch.next_secret():
                direction.epochs = [epoch_of_secret(DATA, epoch.suite, epoch.next_secret())]
    elif number == FINISHED:
        direction.finished = True
        if self.version_number >= TLS_1_3:
            direction.drop_epoch(EARLY)
            direction.drop_epoch(HANDSHAKE_KEYS)
        elif self.session is not None and self.server is not None and field(self.server, SERVER_SESSION):
            remember_session(self, keys, field(self.server, SERVER_SESSION))
        self.completed = self.completed or (self.of(0).finished and self.of(1).finished)
    return 0


cdef int remember_session(TlsConnection self, object keys, object name) except -1:
    session = self.session
    if session is None:
        session = new_tuple(Session, ("", b"", b"", self.subject))
    elif self.subject is not None or session.subject is not None:
        session = new_tuple(Session, (session.label, session.name, session.derived, self.subject))
    sessions = keys.sessions
    key = session_key(name)
    if len(sessions) >= MOST_SESSIONS:
        keys.keep(key, session)
        return 0
    if key in sessions:
        sessions.move_to_end(key)
    sessions[key] = session
    return 0


cdef int take_client_hello(TlsConnection self, int side, const uint8_t* data, Py_ssize_t size) except -1:
    cdef ClientHelloView read = client_hello_of(data, size)
    if read is None:
        return 0
    if self.completed:
        self.renegotiated = True
        self.transcript, self.transcript_bytes = [PyBytes_FromStringAndSize(<const char*>data, size)], size
        self.session, self.saw_certificate, self.completed = None, False, False
    elif self.client < 0:
        self.client = side
    self.client_hello = read
    return 0


cdef int take_server_hello(TlsConnection self, object keys, int side, bytes message) except -1:
    read = read_server_hello(message)
    if read is None:
        return 0
    if self.client < 0:
        self.client = 1 - side
    version, cipher = field(read, SERVER_VERSION), field(read, SERVER_CIPHER)
    self.version_number = version
    self.version = VERSION_NAMES.get(version)
    self.suite = SUITES.get(cipher)
    self.cipher = suite_name(cipher) if self.suite is None else self.suite.name
    if field(read, SERVER_IS_RETRY):
        self.retried = True
        return 0
    self.server = read
    agree_alpn(self, field(read, SERVER_ALPN))
    if self.client_hello is None:
        return 0
    if self.version_number < TLS_1_3:
        return find_12(self, keys, None)
    self.resumed = field(read, SERVER_RESUMES)
    if self.resumed:
        resumed_session(self, keys)
    if self.suite is not None:
        use_13(self, keys.find(self.client_hello.random), self.suite)
    return 0


cdef int agree_alpn(TlsConnection self, object name) except -1:
    if name is not None:
        self.alpn = name.decode("ascii", "replace")
    return 0


cdef object resumed_session(TlsConnection self, object keys):
    sessions = keys.sessions
    if not sessions:
        return None
    for name in (*self.client_hello.tickets, self.client_hello.session_id):
        session = sessions.get(session_key(name)) if name else None
        if session is not None:
            self.subject = self.subject or session.subject
            return session
    return None


cdef int take_certificate(TlsConnection self, int side, bytes message, int64_t time_ns, int64_t packet) except -1:
    self.saw_certificate = True
    der = first_certificate(message, self.version_number >= TLS_1_3)
    read = None if der is None else read_certificate(der)
    if read is None:
        return 0
    if side == self.client:
        self.subject = field(read, CERTIFICATE_SUBJECT)
    not_before, not_after = field(read, CERTIFICATE_BEGIN), field(read, CERTIFICATE_END)
    if not not_before <= time_ns // 1_000_000_000 <= not_after and len(self.certificate_faults) < MOST_FAULTS:
        self.certificate_faults.append((side, not_before, not_after, time_ns, packet))
    return 0
