# Part of Worker in loop.pyx: deadlines, draining, and what other threads ask.


cdef void set_deadline(Worker self, Sockets* sockets, int64_t deadline) noexcept nogil:
    """Be reminded of these sockets then; 0 for never."""
    if sockets.deadline == 0 and deadline:
        sockets.before_timed, sockets.next_timed = NULL, self.timed
        if self.timed is not NULL:
            self.timed.before_timed = sockets
        self.timed = sockets
    elif sockets.deadline and deadline == 0:
        if sockets.before_timed is NULL:
            self.timed = sockets.next_timed
        else:
            sockets.before_timed.next_timed = sockets.next_timed
        if sockets.next_timed is not NULL:
            sockets.next_timed.before_timed = sockets.before_timed
    sockets.deadline = deadline
    remind(self, deadline)


cdef void remind(Worker self, int64_t deadline) noexcept nogil:
    if deadline and (self.next_deadline == 0 or deadline < self.next_deadline):
        self.next_deadline = deadline


cdef void look_at_clock(Worker self) noexcept nogil:
    cdef int64_t now
    cdef Sockets* sockets
    cdef Sockets* following
    if self.stop_at == 0 and self.next_deadline == 0:
        return
    now = now_ns()
    if self.stop_at:
        drain(self, now)
    if self.next_deadline == 0 or now < self.next_deadline:
        return
    self.next_deadline = 0
    if self.paused_until and self.paused_until <= now and not self.stop_at:
        self.paused_until = 0
        with gil:
            accept_again(self)
    remind(self, self.paused_until)
    sockets = self.timed
    while sockets is not NULL:
        following = sockets.next_timed
        if sockets.deadline <= now:
            late(self, sockets)
        else:
            remind(self, sockets.deadline)
        sockets = following


cdef void late(Worker self, Sockets* sockets) noexcept nogil:
    """A deadline is over."""
    if sockets.state == CONNECTING:
        over(self, sockets, BROKER_UNREACHABLE, ETIMEDOUT)
    elif sockets.state == SHAKING:
        over(self, sockets, TLS_FAILED, ETIMEDOUT)
    elif sockets.state == PASSING and is_delayed(sockets):
        settle_delayed(self, sockets)
    elif sockets.state == PASSING:
        over(self, sockets, FIRST_FRAME_LATE, 0)
    else:
        give_up(self, sockets)


cdef void settle_delayed(Worker self, Sockets* sockets) noexcept nogil:
    """The delay of an outcome is over."""
    set_deadline(self, sockets, 0)
    if sockets.ends[BROKER].has_ended:
        over(self, sockets, ENDED, 0)  # the client was told so, and gets nothing more
        return
    self.current = sockets
    with gil:
        try:
            self.settle(sockets, now_ns(), (<Connection>sockets.owner).proxied.take_delayed())
        except Exception as error:  # as in `run`
            self.failed(error)
    self.settled(sockets)


cdef void give_up(Worker self, Sockets* sockets) noexcept nogil:
    """Close both ends, whatever waits."""
    close_end(self.epoll, &sockets.ends[CLIENT])
    close_end(self.epoll, &sockets.ends[BROKER])
    closed(self, sockets)


cdef void drain(Worker self, int64_t now) noexcept nogil:
    """Begin no more requests, close connections that are owed nothing, and all of them at the end."""
    cdef Sockets* sockets = self.every
    cdef Sockets* following
    cdef bint is_late = now >= self.stop_at
    if self.accepting:
        with gil:
            accept_no_more(self)
    while sockets is not NULL:
        following = sockets.next
        if sockets.state == PASSING and not sockets.core.requests_ended:
            sockets.core.requests_ended = True
            watch(self.epoll, sockets)
        if sockets.state < FLUSHING and (is_late or sockets.state <= CONNECTING or is_idle(sockets)):
            sockets.lingers = True
            over(self, sockets, STOPPED, 0)
        if is_late and sockets.state == FLUSHING:
            give_up(self, sockets)
        sockets = following


cdef void take_calls(Worker self) noexcept with gil:
    self.woken = False
    while self.inbox:
        try:
            self.inbox.popleft()()
        except Exception as error:  # as in `run`
            self.calls.fault(error)


cdef void pause(Worker self, int error) noexcept with gil:
    """No file is left for a further client: those that wait at the port keep waiting."""
    self.calls.cannot_accept(os.strerror(error))
    accept_no_more(self)
    self.paused_until = now_ns() + PAUSE_SECONDS * <int64_t>SECOND
    remind(self, self.paused_until)


cdef void accept_again(Worker self):
    cdef int number
    for number in range(len(self.listeners)):
        listen_for(self, self.listeners[number], LISTENER | <uint64_t>number)
    self.accepting = True


cdef void accept_no_more(Worker self):
    for fd in self.listeners:
        epoll_ctl(self.epoll, EPOLL_CTL_DEL, fd, NULL)
    self.accepting = False


cdef void listen_for(Worker self, int fd, uint64_t number):
    cdef epoll_event wanted
    wanted.events, wanted.data.u64 = EPOLLIN, number
    epoll_ctl(self.epoll, EPOLL_CTL_ADD, fd, &wanted)
