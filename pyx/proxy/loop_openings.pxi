# Part of Worker in loop.pyx: a client comes, and its broker is reached.


cdef int accept_some(Worker self, int listener) except -1 nogil:
    cdef sockaddr_storage address
    cdef socklen_t size
    cdef int fd, _turn
    for _turn in range(MOST_ACCEPTED):
        if not self.accepting:
            return 0
        size = sizeof(address)
        fd = accept4(listener_fd(self, listener), <sockaddr*>&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)
        if fd >= 0:
            opened(self, listener, fd, &address)
        elif errno == EAGAIN:
            return 0
        elif errno != EINTR and errno != ECONNABORTED:
            pause(self, errno)
            return 0
    return 0


cdef int listener_fd(Worker self, int listener) noexcept with gil:
    return self.listeners[listener]


cdef int opened(Worker self, int listener, int fd, const sockaddr_storage* address) except -1 with gil:
    """A client has come."""
    cdef sockaddr_storage own
    cdef socklen_t size = sizeof(own)
    arrival = None
    try:
        getsockname(fd, <sockaddr*>&own, &size)
        arrival = self.calls.arrived(listener, end_of(address), end_of(&own))
    finally:
        if arrival is None:
            close(fd)
    return 0 if arrival is None else arrived(self, fd, arrival)


cdef int arrived(Worker self, int fd, object arrival) except -1:
    """A client may be served."""
    cdef Connection made = Connection.__new__(Connection)
    cdef Sockets* sockets = &made.sockets
    set_up(fd)
    sockets.ends[CLIENT].fd, sockets.ends[BROKER].fd = fd, -1
    made.arrival = arrival
    sockets.opened = now_ns()
    sockets.owner = <PyObject*>made
    Py_INCREF(made)
    sockets.next = self.every
    if self.every is not NULL:
        self.every.before = sockets
    self.every = sockets
    self.current = sockets
    made.tls = self.calls.client_tls(made.arrival)
    if made.tls is None:
        return admitted(self, made, None, None)
    sockets.ends[CLIENT].tls = made.tls.session(&self.sealed, "")
    set_deadline(self, sockets, sockets.opened + self.first_frame_ns)
    set_events(self.epoll, sockets, CLIENT, EPOLLIN)
    return 0


cdef int admitted(Worker self, Connection made, str name, bytes certificate) except -1:
    """A client is there, behind its handshake."""
    cdef Sockets* sockets = &made.sockets
    made.proxied = self.calls.opened(made.arrival, name, certificate)
    made.relay, sockets.state = made.proxied.relay, CONNECTING
    sockets.core, sockets.tapped_as = &made.relay.core, self.calls.tapped(made.proxied)
    set_deadline(self, sockets, now_ns() + self.connect_ns)
    set_events(self.epoll, sockets, CLIENT, 0)  # it may be gone before the broker is reached
    addresses = self.calls.addresses(made.arrival)
    if addresses is None:
        self.calls.resolve(made.arrival, partial(call_found, self, made))
    else:
        found(self, made, addresses)
    return 0


cdef int shake(Worker self, Sockets* sockets, int side) except -1 nogil:
    """Go on with the handshake of an end."""
    cdef End* end = &sockets.ends[side]
    cdef Py_ssize_t size
    cdef int done
    if not send_unsent(end):
        broke(self, sockets, side, errno)
        return 0
    size = recv(end.fd, self.records, self.read_bytes, 0)
    if size < 0 and (errno == EAGAIN or errno == EINTR):
        done = 0
    elif size <= 0:
        over(self, sockets, TLS_FAILED, errno if size else 0)
        return 0
    else:
        done = tls_shake(end.tls, self.records, size)
        if not send_sealed(end) or done < 0:
            over(self, sockets, TLS_FAILED, 0)
            return 0
    if done == 0:
        set_events(self.epoll, sockets, side, EPOLLIN | (EPOLLOUT if unsent_bytes(end) else 0))
        return 0
    if side == BROKER:
        return passing(self, sockets)
    with gil:
        return admitted(self, <Connection>sockets.owner, tls_name(end.tls), tls_certificate(end.tls))


def call_found(Worker self, made, addresses):
    """Addresses of the broker, or why there are none; any thread may call it."""
    self.call(partial(found_later, self, made, addresses))


def found_later(Worker self, Connection made, addresses):
    if made.sockets.state == CONNECTING and made.sockets.core is not NULL:
        found(self, made, addresses)


cdef int found(Worker self, Connection made, object addresses) except -1:
    if isinstance(addresses, str):
        made.failure, made.addresses = addresses, []
    else:
        made.addresses = list(addresses)
    return try_next(self, made)


cdef int try_next(Worker self, Connection made) except -1:
    """Connect to the next address of the broker."""
    cdef sockaddr_storage address
    cdef socklen_t size
    cdef End* end = &made.sockets.ends[BROKER]
    cdef int fd
    while made.addresses:
        family, to = made.addresses.pop(0)
        size = address_at(&address, family, to)
        fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
        if fd >= 0:
            set_up(fd)
            if connect(fd, <const sockaddr*>&address, size) == 0 or errno == EINPROGRESS:
                end.fd = fd
                set_events(self.epoll, &made.sockets, BROKER, EPOLLOUT)
                return 0
            made.failure = os.strerror(errno)
            close(fd)
        else:
            made.failure = os.strerror(errno)
            if errno == EMFILE or errno == ENFILE:
                pause(self, errno)  # else every client that waits would be closed in turn
    over(self, &made.sockets, BROKER_UNREACHABLE, 0)
    return 0


cdef int connected(Worker self, Sockets* sockets) except -1 nogil:
    """A connection to the broker stands, or failed."""
    cdef int error = error_at(sockets.ends[BROKER].fd)
    if reached(self, sockets, error):
        return passing(self, sockets)
    return 0


cdef bint reached(Worker self, Sockets* sockets, int error) except -1 with gil:
    """Return whether bytes can go to the broker: a handshake comes first, or the next address."""
    cdef Connection made = <Connection>sockets.owner
    cdef End* end = &sockets.ends[BROKER]
    cdef TlsContext tls
    cdef bytes header
    cdef Piece first
    if error:
        close_end(self.epoll, end)
        made.failure = os.strerror(error)
        try_next(self, made)
        return False
    header = self.calls.header(made.arrival)
    first.base, first.size = <Bytes><const char*>header, len(header)
    if header and send_pieces(end.fd, &first, 1) != <Py_ssize_t>first.size:
        broke(self, sockets, BROKER, errno)
        return False
    tls, host = self.calls.broker_tls(made.arrival)
    if tls is None:
        return True
    end.tls = tls.session(&self.sealed, host)
    tls_shake(end.tls, NULL, 0)  # it begins
    if send_sealed(end):
        set_events(self.epoll, sockets, BROKER, EPOLLIN)
    else:
        broke(self, sockets, BROKER, errno)
    return False


cdef int passing(Worker self, Sockets* sockets) except -1 nogil:
    """Both ends are there."""
    cdef End* end
    cdef int side
    cdef Py_ssize_t size
    sockets.state = PASSING
    set_deadline(self, sockets, now_ns() + self.first_frame_ns)
    watch(self.epoll, sockets)
    for side in range(2):
        end = &sockets.ends[side]
        if sockets.state == PASSING and end.tls is not NULL and end.tls.early_size:
            size, end.tls.early_size = end.tls.early_size, 0
            memcpy(self.records, end.tls.early, size)
            free(end.tls.early)
            end.tls.early = NULL
            self.take_records(sockets, side, size)
    return 0
