# Part of Worker in loop.pyx: connections end.


cdef void broke(Worker self, Sockets* sockets, int side, int error) noexcept nogil:
    """An end's socket is of no use any more."""
    close_end(self.epoll, &sockets.ends[side])
    over(self, sockets, CLIENT_BROKE if side == CLIENT else BROKER_BROKE, error)


cdef void over(Worker self, Sockets* sockets, int cause, int error) noexcept nogil:
    """Nothing more is read; what was given to the sockets is still sent."""
    if sockets.state >= FLUSHING:
        return
    report(self, sockets, cause, error)
    sockets.state, sockets.core = FLUSHING, NULL
    set_deadline(self, sockets, now_ns() + FLUSH_SECONDS * <int64_t>SECOND)
    flush(self, sockets)


cdef void report(Worker self, Sockets* sockets, int cause, int error) noexcept with gil:
    cdef Connection connection = <Connection>sockets.owner
    cdef End* broken = &sockets.ends[CLIENT if cause == CLIENT_BROKE else BROKER]
    text = ""
    if error:
        text = os.strerror(error)
    elif cause == TLS_FAILED:
        text = tls_failure(sockets.ends[CLIENT if sockets.state == SHAKING else BROKER].tls)
    elif (cause == CLIENT_BROKE or cause == BROKER_BROKE) and broken.tls is not NULL:
        text = tls_failure(broken.tls) or "it does not read what TLS answers"
    elif cause == BROKER_UNREACHABLE:
        text = connection.failure or "no address"
    elif cause == STOPPED and sockets.state == PASSING and not is_idle(sockets):
        text = "owed"
    if sockets.tapped_as:
        tap_closed(self, sockets)
    proxied, connection.proxied, connection.relay, connection.addresses = connection.proxied, None, None, None
    if proxied is None:
        self.calls.left(connection.arrival, CAUSES[cause], text)
    else:
        self.calls.over(proxied, CAUSES[cause], text)
    connection.arrival = None


cdef void tap_closed(Worker self, Sockets* sockets) noexcept nogil:
    """The taps learn that a connection is over, and what they missed before."""
    cdef int64_t none = 0
    cdef int side
    for side in range(2):
        if sockets.missed[side]:
            tap_add(&self.tap_buffer, sockets.tapped_as, side, &sockets.missed[side], NULL, 0)
    tap_add(&self.tap_buffer, sockets.tapped_as, TAP_CLOSED, &none, NULL, 0)


cdef bint is_done(Worker self, Sockets* sockets, int side) noexcept nogil:
    """An end may be closed. Bytes that are not read then would make the kernel reset the connection, and drop answers on their way."""
    cdef End* end = &sockets.ends[side]
    cdef Py_ssize_t size
    if not send_unsent(end):
        return True
    if unsent_bytes(end) or side == BROKER or not sockets.lingers:
        return unsent_bytes(end) == 0
    if not end.is_shut:
        end.ends = True
        shut_if_done(end)
        set_deadline(self, sockets, now_ns() + LINGER)
    size = recv(end.fd, self.records, self.read_bytes, 0)
    return size == 0 or (size < 0 and errno != EAGAIN and errno != EINTR)


cdef void flush(Worker self, Sockets* sockets) noexcept nogil:
    """Close each end that has taken what it was given."""
    cdef int side
    for side in range(2):
        if sockets.ends[side].fd >= 0 and is_done(self, sockets, side):
            close_end(self.epoll, &sockets.ends[side])
    if sockets.ends[CLIENT].fd < 0 and sockets.ends[BROKER].fd < 0:
        closed(self, sockets)
    else:
        watch(self.epoll, sockets)


cdef void closed(Worker self, Sockets* sockets) noexcept nogil:
    """Both sockets are closed."""
    if sockets.state == CLOSED:
        return
    sockets.state = CLOSED
    set_deadline(self, sockets, 0)
    if sockets.before is NULL:
        self.every = sockets.next
    else:
        sockets.before.next = sockets.next
    if sockets.next is not NULL:
        sockets.next.before = sockets.before
    sockets.before, sockets.next = NULL, self.gone
    self.gone = sockets


cdef void forget_gone(Worker self) noexcept with gil:
    cdef Sockets* sockets
    while self.gone is not NULL:
        sockets = self.gone
        self.gone = sockets.next
        Py_DECREF(<object>sockets.owner)
