# Part of Worker in loop.pyx: a client comes, and its broker is reached.


cdef int accept_some(Worker self, int listener) except -1 nogil:
    cdef sockaddr_storage address
    cdef socklen_t size
    cdef int fd, _turn
    for _turn in range(MOST_ACCEPTED):
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
    cdef Connection made = Connection.__new__(Connection)
    cdef Sockets* sockets = &made.sockets
    cdef sockaddr_storage own
    cdef socklen_t size = sizeof(own)
    sockets.ends[CLIENT].fd, sockets.ends[BROKER].fd = fd, -1
    try:
        set_up(fd)
        getsockname(fd, <sockaddr*>&own, &size)
        made.proxied = self.calls.opened(listener, end_of(address), end_of(&own))
        if made.proxied is not None:
            made.relay = made.proxied.relay
    finally:
        if made.relay is None:
            close_end(self.epoll, &sockets.ends[CLIENT])
    if made.proxied is None:
        return 0
    sockets.core, sockets.tapped_as = &made.relay.core, self.calls.tapped(made.proxied)
    sockets.opened = now_ns()
    sockets.owner = <PyObject*>made
    Py_INCREF(made)
    sockets.next = self.every
    if self.every is not NULL:
        self.every.before = sockets
    self.every = sockets
    self.current = sockets
    set_deadline(self, sockets, sockets.opened + self.connect_ns)
    set_events(self.epoll, sockets, CLIENT, 0)  # it may be gone before the broker is reached
    addresses = self.calls.addresses(listener)
    if addresses is None:
        self.calls.resolve(listener, partial(call_found, self, made))
    else:
        found(self, made, addresses)
    return 0


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
    over(self, &made.sockets, BROKER_UNREACHABLE, 0)
    return 0


cdef int connected(Worker self, Sockets* sockets) except -1 nogil:
    """A connection to the broker stands, or failed."""
    cdef int error = error_at(sockets.ends[BROKER].fd)
    if error:
        with gil:
            close_end(self.epoll, &sockets.ends[BROKER])
            (<Connection>sockets.owner).failure = os.strerror(error)
            return try_next(self, <Connection>sockets.owner)
    sockets.state = PASSING
    set_deadline(self, sockets, now_ns() + self.first_frame_ns)
    watch(self.epoll, sockets)
    return 0
