# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""One thread of the proxy's native loop: epoll, and relays that are fed without the GIL.

Python is called when a connection opens and when it is over, for frames that a rule asks for, and for each read of a connection with a tap.
kwire/proxy/loop_native.py is what it calls; the loop on asyncio is the contract of what clients and brokers see.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EAGAIN, ECONNABORTED, EINPROGRESS, EINTR, ETIMEDOUT, errno
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from build_id cimport build_id
from kwire.protocol._native.relay cimport Relay
from protocol.relay_feed cimport relay_begin, relay_feed, relay_finish
from protocol.relay_owed cimport owed_count
from protocol.relay_pieces cimport Pieces
from protocol.relay_state cimport OPEN, REQUEST, RESPONSE, RelayCore, is_inside
from proxy.linux_sockets cimport (
    EFD_CLOEXEC, EFD_NONBLOCK, EPOLL_CLOEXEC, EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, SOCK_CLOEXEC,
    SOCK_NONBLOCK, SOCK_STREAM, accept4, address_at, close, connect, end_of, epoll_create1, epoll_ctl, epoll_event, epoll_wait, error_at,
    eventfd, eventfd_read, eventfd_write, getsockname, now_ns, recv, set_up, sockaddr, sockaddr_storage, socket, socklen_t,
)
from proxy.proxied_sockets cimport (
    BROKER, BROKER_BROKE, BROKER_UNREACHABLE, BY_RELAY, BY_RULE, CLIENT, CLIENT_BROKE, CLOSED, CONNECTING, ENDED, FAULT, FIRST_FRAME_LATE,
    FLUSHING, PASSING, STOPPED, End, Sockets, close_end, send_all, send_unsent, set_events, shut_if_done, unsent_bytes, unwatch, watch,
)

import os
from collections import deque
from functools import partial

from kwire.proxy.rules.rule import Answer

__all__ = ["Worker"]

__build__ = build_id()

cdef enum:
    MOST_EVENTS = 128  # of one epoll_wait
    MOST_ACCEPTED = 64  # before others have their turn
    SMALL_READ = 16 << 10  # from an end whose other end did not take all: what it leaves is kept
    DRAIN_MILLISECONDS = 50

cdef enum:
    SECOND = 1000000000  # nanoseconds
    FLUSH_SECONDS = 10  # for an end to take what it was given before the connection was over
    PAUSE_SECONDS = 1  # in which nothing is accepted when the process has no more files

cdef uint64_t LISTENER = <uint64_t>1 << 63  # in an event's number, with the listener's; no address has this bit
cdef uint64_t WAKE = <uint64_t>1 << 62
cdef tuple CAUSES = (
    "ended", "client_broke", "broker_broke", "broker_unreachable", "first_frame_late", "stopped", "rule", "relay", "fault",
)


@cython.final
cdef class Connection:
    """What Python has of one client and its broker, beside their sockets."""

    cdef Sockets sockets
    cdef object proxied  # ProxiedConnection; None when it is over
    cdef Relay relay
    cdef list addresses  # of the broker that were not tried
    cdef object failure  # of the address that was tried last

    cdef list held(self):
        """Frames that the relay's latest call held."""
        cdef int side
        return [self.relay.held_frame(side) for side in range(2) if self.sockets.core.streams[side].held.is_new]


@cython.final
cdef class Worker:
    """The loop of one thread.

    Arguments:
        calls: what is asked of Python, see `kwire.proxy.loop_native.WorkerCalls`.
        listeners: file numbers of sockets that listen; they stay the caller's.
        read_bytes: of the buffer into which all connections of the thread are read.

    Attributes:
        first_frame_ns, connect_ns: limits for connections that open from now on.
        accepting: False once `stop` was taken up: the sockets that listen may be closed.
    """

    cdef object calls
    cdef list listeners
    cdef object inbox  # of other threads: callables for this one
    cdef int epoll
    cdef int wake
    cdef uint8_t* buffer
    cdef Py_ssize_t read_bytes
    cdef Sockets* every
    cdef Sockets* timed
    cdef Sockets* gone  # closed, and freed when no event of the same turn can name it
    cdef Sockets* current  # whose event is handled
    cdef int64_t next_deadline  # 0 for none
    cdef int64_t paused_until
    cdef int64_t stop_at  # 0 while it shall not stop
    cdef bint woken
    cdef readonly bint accepting
    cdef public int64_t first_frame_ns
    cdef public int64_t connect_ns

    def __cinit__(self, calls, listeners, Py_ssize_t read_bytes):
        self.epoll = self.wake = -1
        self.calls, self.listeners, self.inbox = calls, list(listeners), deque()
        self.read_bytes = max(read_bytes, <Py_ssize_t>SMALL_READ)
        self.buffer = <uint8_t*>malloc(self.read_bytes)
        if self.buffer is NULL:
            raise MemoryError
        self.epoll, self.wake = epoll_create1(EPOLL_CLOEXEC), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
        if self.epoll < 0 or self.wake < 0:
            raise OSError(errno, os.strerror(errno))
        self.listen_for(self.wake, WAKE)
        self.first_frame_ns, self.connect_ns = 30 * <int64_t>SECOND, 10 * <int64_t>SECOND

    def __dealloc__(self):
        free(self.buffer)
        if self.epoll >= 0:
            close(self.epoll)
        if self.wake >= 0:
            close(self.wake)

    # what other threads call

    def call(self, what):
        """Have this called by the loop's thread."""
        self.inbox.append(what)
        eventfd_write(self.wake, 1)

    def stop(self, int64_t until):
        """Accept no more; close connections when they are owed nothing, and all of them at `until` (`time.monotonic_ns`)."""
        self.stop_at = max(until, <int64_t>1)
        eventfd_write(self.wake, 1)

    # the loop

    def run(self):
        """Serve until `stop`."""
        self.accept_again()
        while True:
            self.current = NULL
            try:
                with nogil:
                    self.turns()
                return
            except Exception as error:  # any fault of a rule or of the relay: one connection ends, the others stay. It is logged whole.
                self.failed(error)

    cdef void failed(self, object error):
        cdef Sockets* sockets = self.current
        self.calls.fault(error)
        if sockets is not NULL and sockets.state < FLUSHING:
            self.over(sockets, FAULT, 0)

    cdef int turns(self) except -1 nogil:
        cdef epoll_event events[MOST_EVENTS]
        cdef int count, index
        while True:
            count = epoll_wait(self.epoll, events, MOST_EVENTS, self.milliseconds())
            for index in range(count):
                self.happened(events[index].data.u64, events[index].events)
            self.current = NULL
            if self.woken:
                self.take_calls()
            self.look_at_clock()
            if self.gone is not NULL:
                self.forget_gone()
            if self.stop_at and self.every is NULL:
                return 0

    cdef int milliseconds(self) noexcept nogil:
        """How long epoll may wait."""
        cdef int64_t left
        if self.stop_at:
            return DRAIN_MILLISECONDS
        if self.next_deadline == 0:
            return -1
        left = (self.next_deadline - now_ns()) // 1000000 + 1
        return <int>min(max(left, <int64_t>0), <int64_t>60000)

    cdef int happened(self, uint64_t number, uint32_t events) except -1 nogil:
        cdef uint64_t woken
        cdef Sockets* sockets
        cdef int side
        if number & LISTENER:
            self.current = NULL
            return self.accept_some(<int>(number & ~LISTENER))
        if number == WAKE:
            eventfd_read(self.wake, &woken)
            self.woken = True
            return 0
        sockets, side = <Sockets*><size_t>(number & ~<uint64_t>1), <int>(number & 1)
        self.current = sockets
        if sockets.ends[side].fd < 0 or not sockets.ends[side].is_watched:
            return 0  # closed by an event before it in this turn
        if sockets.state == FLUSHING:
            self.flush(sockets)
            return 0
        if sockets.state == CONNECTING and side == BROKER:
            return self.connected(sockets)
        if events & (EPOLLERR | EPOLLHUP) and not sockets.ends[side].events & (EPOLLIN | EPOLLOUT):
            if events & EPOLLERR:
                self.broke(sockets, side, error_at(sockets.ends[side].fd))
            else:
                unwatch(self.epoll, &sockets.ends[side])
            return 0
        if unsent_bytes(&sockets.ends[side]):
            if not send_unsent(&sockets.ends[side]):
                self.broke(sockets, side, errno)
                return 0
            if not sockets.ends[side].events & EPOLLIN:
                self.go_on(sockets)
                return 0
        if events & (EPOLLIN | EPOLLERR | EPOLLHUP) and sockets.ends[side].events & EPOLLIN:
            return self.received(sockets, side)
        self.go_on(sockets)
        return 0

    # bytes

    cdef int received(self, Sockets* sockets, int side) except -1 nogil:
        """Read an end, and send on what the relay gives."""
        cdef End* end = &sockets.ends[side]
        cdef RelayCore* core = sockets.core
        cdef Py_ssize_t most = SMALL_READ if sockets.ends[1 - side].was_full else self.read_bytes
        cdef Py_ssize_t size = recv(end.fd, self.buffer, most, 0)
        cdef int64_t t
        if size < 0:
            if errno != EAGAIN and errno != EINTR:
                self.broke(sockets, side, errno)
            return 0
        t = now_ns()
        relay_begin(core)
        if size:
            if sockets.is_tapped and side == CLIENT:
                self.tap_request(sockets, size)
            relay_feed(core, side, self.buffer, size, t)
        else:
            end.has_ended = core.streams[side].ended = True
        relay_finish(core, t)
        if not self.send_out(sockets):
            return 0
        if core.streams[REQUEST].held.is_new or core.streams[RESPONSE].held.is_new:
            self.settle(sockets, t)
            if sockets.state != PASSING:
                return 0
        if core.reason != OPEN:
            self.over(sockets, BY_RELAY, 0)
            return 0
        relay_begin(core)  # pieces are sent: their memory is given back, for this connection may be idle from now on
        if sockets.deadline and sockets.has_passed and not is_inside(&core.streams[REQUEST]):
            self.set_deadline(sockets, 0)
        self.go_on(sockets)
        return 0

    cdef bint send_out(self, Sockets* sockets) except -1 nogil:
        """Send what the relay's latest call gave; False where the connection is over."""
        cdef RelayCore* core = sockets.core
        cdef int side
        if sockets.is_tapped and core.out[RESPONSE].count:
            self.tap_answer(sockets)
        for side in range(2):
            if core.out[side].count:
                sockets.has_passed = True
                if not send_all(&sockets.ends[1 - side], &core.out[side]):
                    self.broke(sockets, 1 - side, errno)
                    return False
            if core.ends[side]:
                sockets.ends[1 - side].ends = True
        return True

    cdef int settle(self, Sockets* sockets, int64_t t) except -1 with gil:
        """Have rules settle the frames that are held, and those behind them."""
        cdef Connection connection = <Connection>sockets.owner
        cdef Relay relay = connection.relay
        cdef list waiting = connection.held()
        while waiting:
            held = waiting.pop(0)
            outcome = connection.proxied.outcome(held)
            if connection.proxied.refusal:
                self.over(sockets, BY_RULE, 0)
                return 0
            relay.begin()
            try:
                if isinstance(outcome, Answer):
                    relay.answer_held(held, outcome.frame, t)
                else:
                    relay.release_held(held, None if outcome is None or outcome is held.frame else [outcome], t, None)
            finally:
                sockets.core.busy = False
            waiting += connection.held()
            if not self.send_out(sockets):
                return 0
        return 0

    cdef int tap_request(self, Sockets* sockets, Py_ssize_t size) except -1 with gil:
        (<Connection>sockets.owner).proxied.seen_from_client(PyBytes_FromStringAndSize(<const char*>self.buffer, size))
        return 0

    cdef int tap_answer(self, Sockets* sockets) except -1 with gil:
        cdef const Pieces* pieces = &sockets.core.out[RESPONSE]
        cdef Py_ssize_t index
        (<Connection>sockets.owner).proxied.seen_by_client(
            [PyBytes_FromStringAndSize(<const char*>pieces.items[index].base, pieces.items[index].size) for index in range(pieces.count)]
        )
        return 0

    cdef void go_on(self, Sockets* sockets) noexcept nogil:
        """End what ends, and watch for what is wanted next."""
        cdef int side
        for side in range(2):
            shut_if_done(&sockets.ends[side])
        for side in range(2):
            if sockets.ends[side].is_shut and sockets.ends[side].has_ended:
                self.over(sockets, ENDED, 0)
                return
        watch(self.epoll, sockets)

    # connections begin

    cdef int accept_some(self, int listener) except -1 nogil:
        cdef sockaddr_storage address
        cdef socklen_t size
        cdef int fd, turn
        for turn in range(MOST_ACCEPTED):
            size = sizeof(address)
            fd = accept4(self.listener_fd(listener), <sockaddr*>&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)
            if fd >= 0:
                self.opened(listener, fd, &address)
            elif errno == EAGAIN:
                return 0
            elif errno != EINTR and errno != ECONNABORTED:
                self.pause(errno)
                return 0
        return 0

    cdef int listener_fd(self, int listener) noexcept with gil:
        return self.listeners[listener]

    cdef int opened(self, int listener, int fd, const sockaddr_storage* address) except -1 with gil:
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
                close_end(&sockets.ends[CLIENT])
        if made.proxied is None:
            return 0
        sockets.core, sockets.is_tapped = &made.relay.core, made.proxied.is_tapped
        sockets.opened = now_ns()
        sockets.owner = <PyObject*>made
        Py_INCREF(made)
        sockets.next = self.every
        if self.every is not NULL:
            self.every.before = sockets
        self.every = sockets
        self.current = sockets
        self.set_deadline(sockets, sockets.opened + self.connect_ns)
        set_events(self.epoll, sockets, CLIENT, 0)  # it may be gone before the broker is reached
        addresses = self.calls.addresses(listener)
        if addresses is None:
            self.calls.resolve(listener, partial(self.call_found, made))
        else:
            self.found(made, addresses)
        return 0

    def call_found(self, made, addresses):
        """Addresses of the broker, or why there are none; any thread may call it."""
        self.call(partial(self.found_later, made, addresses))

    def found_later(self, Connection made, addresses):
        if made.sockets.state == CONNECTING and made.sockets.core is not NULL:
            self.found(made, addresses)

    cdef int found(self, Connection made, object addresses) except -1:
        if isinstance(addresses, str):
            made.failure, made.addresses = addresses, []
        else:
            made.addresses = list(addresses)
        return self.try_next(made)

    cdef int try_next(self, Connection made) except -1:
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
        self.over(&made.sockets, BROKER_UNREACHABLE, 0)
        return 0

    cdef int connected(self, Sockets* sockets) except -1 nogil:
        """A connection to the broker stands, or failed."""
        cdef int error = error_at(sockets.ends[BROKER].fd)
        if error:
            with gil:
                close_end(&sockets.ends[BROKER])
                (<Connection>sockets.owner).failure = os.strerror(error)
                return self.try_next(<Connection>sockets.owner)
        sockets.state = PASSING
        self.set_deadline(sockets, now_ns() + self.first_frame_ns)
        watch(self.epoll, sockets)
        return 0

    # connections end

    cdef void broke(self, Sockets* sockets, int side, int error) noexcept nogil:
        """An end's socket is of no use any more."""
        close_end(&sockets.ends[side])
        self.over(sockets, CLIENT_BROKE if side == CLIENT else BROKER_BROKE, error)

    cdef void over(self, Sockets* sockets, int cause, int error) noexcept nogil:
        """Nothing more is read; what was given to the sockets is still sent."""
        if sockets.state >= FLUSHING:
            return
        self.report(sockets, cause, error)
        sockets.state, sockets.core = FLUSHING, NULL
        self.set_deadline(sockets, now_ns() + FLUSH_SECONDS * <int64_t>SECOND)
        self.flush(sockets)

    cdef void report(self, Sockets* sockets, int cause, int error) noexcept with gil:
        cdef Connection connection = <Connection>sockets.owner
        text = ""
        if error:
            text = os.strerror(error)
        elif cause == BROKER_UNREACHABLE:
            text = connection.failure or "no address"
        elif cause == STOPPED and sockets.state == PASSING and not is_idle(sockets):
            text = "owed"
        proxied, connection.proxied, connection.relay, connection.addresses = connection.proxied, None, None, None
        self.calls.over(proxied, CAUSES[cause], text)

    cdef void flush(self, Sockets* sockets) noexcept nogil:
        """Close each end that has taken what it was given."""
        cdef int side
        for side in range(2):
            if sockets.ends[side].fd >= 0 and (not send_unsent(&sockets.ends[side]) or unsent_bytes(&sockets.ends[side]) == 0):
                close_end(&sockets.ends[side])
        if sockets.ends[CLIENT].fd < 0 and sockets.ends[BROKER].fd < 0:
            self.closed(sockets)
        else:
            watch(self.epoll, sockets)

    cdef void closed(self, Sockets* sockets) noexcept nogil:
        """Both sockets are closed."""
        if sockets.state == CLOSED:
            return
        sockets.state = CLOSED
        self.set_deadline(sockets, 0)
        if sockets.before is NULL:
            self.every = sockets.next
        else:
            sockets.before.next = sockets.next
        if sockets.next is not NULL:
            sockets.next.before = sockets.before
        sockets.before, sockets.next = NULL, self.gone
        self.gone = sockets

    cdef void forget_gone(self) noexcept with gil:
        cdef Sockets* sockets
        while self.gone is not NULL:
            sockets = self.gone
            self.gone = sockets.next
            Py_DECREF(<object>sockets.owner)

    # time, and other threads

    cdef void set_deadline(self, Sockets* sockets, int64_t deadline) noexcept nogil:
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
        self.remind(deadline)

    cdef void remind(self, int64_t deadline) noexcept nogil:
        if deadline and (self.next_deadline == 0 or deadline < self.next_deadline):
            self.next_deadline = deadline

    cdef void look_at_clock(self) noexcept nogil:
        cdef int64_t now
        cdef Sockets* sockets
        cdef Sockets* following
        if self.stop_at == 0 and self.next_deadline == 0:
            return
        now = now_ns()
        if self.stop_at:
            self.drain(now)
        if self.next_deadline == 0 or now < self.next_deadline:
            return
        self.next_deadline = 0
        if self.paused_until and self.paused_until <= now and not self.stop_at:
            self.paused_until = 0
            with gil:
                self.accept_again()
        self.remind(self.paused_until)
        sockets = self.timed
        while sockets is not NULL:
            following = sockets.next_timed
            if sockets.deadline <= now:
                self.late(sockets)
            else:
                self.remind(sockets.deadline)
            sockets = following

    cdef void late(self, Sockets* sockets) noexcept nogil:
        """A deadline is over."""
        if sockets.state == CONNECTING:
            self.over(sockets, BROKER_UNREACHABLE, ETIMEDOUT)
        elif sockets.state == PASSING:
            self.over(sockets, FIRST_FRAME_LATE, 0)
        else:
            self.give_up(sockets)

    cdef void give_up(self, Sockets* sockets) noexcept nogil:
        """Close both ends, whatever waits."""
        close_end(&sockets.ends[CLIENT])
        close_end(&sockets.ends[BROKER])
        self.closed(sockets)

    cdef void drain(self, int64_t now) noexcept nogil:
        """Close connections that are owed nothing, all of them at the end."""
        cdef Sockets* sockets = self.every
        cdef Sockets* following
        cdef bint is_late = now >= self.stop_at
        if self.accepting:
            with gil:
                self.accept_no_more()
        while sockets is not NULL:
            following = sockets.next
            if sockets.state < FLUSHING and (is_late or sockets.state == CONNECTING or is_idle(sockets)):
                self.over(sockets, STOPPED, 0)
            if is_late and sockets.state == FLUSHING:
                self.give_up(sockets)
            sockets = following

    cdef void take_calls(self) noexcept with gil:
        self.woken = False
        while self.inbox:
            try:
                self.inbox.popleft()()
            except Exception as error:  # as in `run`
                self.calls.fault(error)

    cdef void pause(self, int error) noexcept with gil:
        """No file is left for a further client: those that wait at the port keep waiting."""
        self.calls.cannot_accept(os.strerror(error))
        self.accept_no_more()
        self.paused_until = now_ns() + PAUSE_SECONDS * <int64_t>SECOND
        self.remind(self.paused_until)

    cdef void accept_again(self):
        cdef int number
        for number in range(len(self.listeners)):
            self.listen_for(self.listeners[number], LISTENER | <uint64_t>number)
        self.accepting = True

    cdef void accept_no_more(self):
        for fd in self.listeners:
            epoll_ctl(self.epoll, EPOLL_CTL_DEL, fd, NULL)
        self.accepting = False

    cdef void listen_for(self, int fd, uint64_t number):
        cdef epoll_event wanted
        wanted.events, wanted.data.u64 = EPOLLIN, number
        epoll_ctl(self.epoll, EPOLL_CTL_ADD, fd, &wanted)


cdef inline bint is_idle(const Sockets* sockets) noexcept nogil:
    """Nothing is under way: Relay.is_idle, and nothing waits to be sent."""
    cdef const RelayCore* core = sockets.core
    cdef int side
    for side in range(2):
        if is_inside(&core.streams[side]) or core.streams[side].held.frame is not NULL or unsent_bytes(&sockets.ends[side]):
            return False
    return owed_count(&core.owed) == 0 and core.asks is NULL
