# cython: language_level=3, binding=False, embedsignature=True, embedsignature.format=clinic
"""One thread of the proxy's native loop: epoll, and relays that are fed without the GIL.

Python is called when a connection opens and when it is over, and for frames that a rule asks for. What taps look at is copied for a thread
of theirs (proxy/tap_buffer.pxd). kwire/proxy/loop_native.py is what the loop calls; the loop on asyncio is the contract of what clients and
brokers see.
"""

# The names that the included parts use are imported here, where the linter does not see their use.
cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EAGAIN, ECONNABORTED, EINPROGRESS, EINTR, EMFILE, ENFILE, ETIMEDOUT, errno
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from build_id cimport build_id
from capture.exported_talk cimport Packets, packets_free
from kwire.protocol._native.relay cimport Relay
from kwire.proxy._native.tapped_connection cimport TappedConnection, packets_offer
from kwire.proxy._native.tls_session cimport RECORD, Sealed, TlsContext, tls_certificate, tls_failure, tls_name, tls_open, tls_shake
from protocol.relay_feed cimport relay_begin, relay_feed, relay_finish
from protocol.relay_pieces cimport Piece
from protocol.relay_state cimport OPEN, REQUEST, RESPONSE, RelayCore, is_inside, relay_is_idle
from proxy.linux_sockets cimport (
    EFD_CLOEXEC, EFD_NONBLOCK, EPOLL_CLOEXEC, EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, epoll_create1, epoll_event, epoll_wait, error_at,
    eventfd, eventfd_read, eventfd_write, now_ns, recv,
)
from proxy.linux_sockets cimport EPOLL_CTL_ADD, EPOLL_CTL_DEL, epoll_ctl
from proxy.linux_sockets cimport SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, accept4, address_at, close, connect, end_of
from proxy.linux_sockets cimport getsockname, set_up, sockaddr, sockaddr_storage, socket, socklen_t
from proxy.proxied_sockets cimport BROKER, CLIENT, CONNECTING, FLUSHING, PASSING, SHAKING, End, Sockets
from proxy.proxied_sockets cimport BROKER_BROKE, BROKER_UNREACHABLE, CLIENT_BROKE, FIRST_FRAME_LATE, STOPPED, TLS_FAILED
from proxy.proxied_sockets cimport BY_RELAY, BY_RULE, CLOSED, ENDED, FAULT, close_end, set_events
from proxy.proxied_sockets cimport send_all, send_pieces, send_sealed, send_unsent, shut_if_done, unsent_bytes, unwatch, watch
from proxy.tap_buffer cimport TAP_CLOSED, TapBuffer, TapRecord, pthread_mutex_init, tap_add, tap_free, tap_next
from wire.cursor cimport Bytes

import os
from collections import deque
from functools import partial

from kwire.protocol.relay import CALL
from kwire.proxy.rules.rule import Answer, Watched

__all__ = ["Worker"]

__build__ = build_id()

cdef enum:
    MOST_EVENTS = 128  # of one epoll_wait
    MOST_ACCEPTED = 64  # before others have their turn
    SMALL_READ = 16 << 10  # from an end whose other end did not take all: what it leaves is kept
    DRAIN_MILLISECONDS = 50
    MOST_UNREAD = 1 << 20  # bytes that wait for a peer whose records ask for answers of TLS itself

cdef enum:
    SECOND = 1000000000  # nanoseconds
    FLUSH_SECONDS = 10  # for an end to take what it was given before the connection was over
    LINGER = 500000000  # nanoseconds for a client to close after the proxy has
    TAP_WORK = 1000000  # in one go: the loops need Python when a connection opens and for some frames
    TAP_RECORDS = 16  # after which the time is looked at
    PAUSE_SECONDS = 1  # in which nothing is accepted when the process has no more files

cdef uint64_t LISTENER = <uint64_t>1 << 63  # in an event's number, with the listener's; no address has this bit
cdef uint64_t WAKE = <uint64_t>1 << 62
cdef tuple CAUSES = (
    "ended", "client_broke", "broker_broke", "broker_unreachable", "first_frame_late", "stopped", "rule", "relay", "fault",
    "tls_failed",
)


@cython.final
cdef class Connection:
    """Python objects of one client and its broker, besides their sockets."""

    cdef Sockets sockets
    cdef TlsContext tls  # towards the client, None without
    cdef object arrival  # kwire.proxy.loop_native.Arrival
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
    """The loop of one thread; all its connections are read into one buffer."""

    cdef object calls  # kwire.proxy.loop_native.WorkerCalls
    cdef list listeners  # file numbers of sockets that listen; they stay the caller's
    cdef object inbox  # of other threads: callables for this one
    cdef int epoll
    cdef int wake
    cdef uint8_t* buffer
    cdef uint8_t* records  # with TLS, what is read; `buffer` has what they hold
    cdef Sealed sealed
    cdef Py_ssize_t read_bytes
    cdef Sockets* every
    cdef Sockets* timed
    cdef Sockets* gone  # closed, and freed when no event of the same turn can name it
    cdef Sockets* current  # whose event is handled
    cdef int64_t next_deadline  # 0 for none
    cdef int64_t paused_until
    cdef int64_t stop_at  # 0 while it shall not stop
    cdef TapBuffer tap_buffer
    cdef Packets packets  # of taps, all for one file
    cdef object packets_file
    cdef bint woken
    cdef readonly bint accepting  # False once `stop` was taken up: the sockets that listen may be closed
    cdef public int64_t first_frame_ns  # limits for connections that open from now on
    cdef public int64_t connect_ns

    def __cinit__(self, calls, listeners, Py_ssize_t read_bytes):
        self.epoll = self.wake = -1
        self.calls, self.listeners, self.inbox = calls, list(listeners), deque()
        self.read_bytes = max(read_bytes, <Py_ssize_t>SMALL_READ)
        self.buffer = <uint8_t*>malloc(self.read_bytes + 2 * RECORD)  # with a record that began before
        self.records = <uint8_t*>malloc(self.read_bytes)
        if self.buffer is NULL or self.records is NULL:
            raise MemoryError
        self.epoll, self.wake = epoll_create1(EPOLL_CLOEXEC), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
        if self.epoll < 0 or self.wake < 0:
            raise OSError(errno, os.strerror(errno))
        listen_for(self, self.wake, WAKE)
        pthread_mutex_init(&self.tap_buffer.mutex, NULL)
        self.first_frame_ns, self.connect_ns = 30 * <int64_t>SECOND, 10 * <int64_t>SECOND

    def __dealloc__(self):
        free(self.buffer)
        free(self.records)
        free(self.sealed.bytes)
        tap_free(&self.tap_buffer)
        packets_free(&self.packets)
        if self.epoll >= 0:
            close(self.epoll)
        if self.wake >= 0:
            close(self.wake)

    # what other threads call

    def call(self, what):
        """Have this called by the loop's thread."""
        self.inbox.append(what)
        eventfd_write(self.wake, 1)

    def adopt(self, int fd, arrival):
        """Serve a client that was accepted elsewhere; to be called by the loop's thread."""
        try:
            arrived(self, fd, arrival)
        except Exception as error:  # as in `run`
            self.failed(error)

    def stop(self, int64_t until):
        """Accept no more; close connections when they are owed nothing, and all of them at `until` (`time.monotonic_ns`)."""
        self.stop_at = max(until, <int64_t>1)
        eventfd_write(self.wake, 1)

    # what the thread of the taps calls

    def tap(self, int wake, Py_ssize_t limit):
        """Copy what connections with a tap bring, up to `limit` bytes that wait; to be called before `run`.

        The eventfd `wake` is written when the first bytes wait, and when there are enough for a batch.
        """
        self.tap_buffer.wake, self.tap_buffer.limit = wake, limit

    def give_tapped(self, dict taps not None):
        """Give the taps, by the number of their connection, what waits, for about a millisecond; return whether more may wait."""
        cdef int64_t until = now_ns() + TAP_WORK
        cdef TapRecord record
        cdef Bytes data
        cdef int given = 0
        try:
            while tap_next(&self.tap_buffer, &record, &data):
                self.give_record(taps, &record, data)
                given += 1
                if given % TAP_RECORDS == 0 and now_ns() > until:  # asking for the time costs as much as blanking
                    return True
            return False
        finally:
            self.offer_packets()

    cdef int give_record(self, dict taps, const TapRecord* record, Bytes data) except -1:
        """One record, to the tap that looks at its connection. Packets of native taps are gathered, whatever their connections."""
        cdef object tap = taps[record.number]
        if type(tap) is TappedConnection and record.kind != TAP_CLOSED and record.missed == 0:
            self.packets_file = (<TappedConnection>tap).file
            (<TappedConnection>tap).take_bytes(record.kind, data, record.size, record.time_ns, &self.packets)
            return self.offer_packets() if self.packets.size >= self.packets_file.offered_bytes else 0
        self.offer_packets()
        if record.kind == TAP_CLOSED:
            del taps[record.number]
            tap.closed(record.time_ns)
            return 0
        if record.missed:
            tap.missed("request" if record.kind == REQUEST else "response", record.missed, record.time_ns)
        if record.size:
            came = PyBytes_FromStringAndSize(<const char*>data, record.size)
            if record.kind == REQUEST:
                tap.from_client(came, record.time_ns)
            else:
                tap.to_client((came,), record.time_ns)
        return 0

    cdef int offer_packets(self) except -1:
        return packets_offer(&self.packets, self.packets_file)

    @property
    def missed_bytes(self):
        return self.tap_buffer.missed

    # the loop

    def run(self):
        """Serve until `stop`."""
        if self.stop_at == 0:
            accept_again(self)
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
            over(self, sockets, FAULT, 0)

    cdef int turns(self) except -1 nogil:
        cdef epoll_event events[MOST_EVENTS]
        cdef int count, index
        while True:
            count = epoll_wait(self.epoll, events, MOST_EVENTS, self.milliseconds())
            for index in range(count):
                self.happened(events[index].data.u64, events[index].events)
            self.current = NULL
            if self.woken:
                take_calls(self)
            look_at_clock(self)
            if self.gone is not NULL:
                forget_gone(self)
            if self.stop_at and self.every is NULL and not self.accepting:  # `stop` may come after `look_at_clock`, which takes it up
                return 0

    cdef int milliseconds(self) noexcept nogil:
        """Return the timeout for epoll."""
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
            return accept_some(self, <int>(number & ~LISTENER))
        if number == WAKE:
            eventfd_read(self.wake, &woken)
            self.woken = True
            return 0
        sockets, side = <Sockets*><size_t>(number & ~<uint64_t>1), <int>(number & 1)
        self.current = sockets
        if sockets.ends[side].fd < 0 or not sockets.ends[side].is_watched:
            return 0  # closed by an event before it in this turn
        if sockets.state == FLUSHING:
            flush(self, sockets)
            return 0
        if sockets.state == SHAKING or (sockets.state == CONNECTING and side == BROKER and sockets.ends[BROKER].tls is not NULL):
            return shake(self, sockets, side)
        if sockets.state == CONNECTING and side == BROKER:
            return connected(self, sockets)
        if events & (EPOLLERR | EPOLLHUP) and not sockets.ends[side].events & (EPOLLIN | EPOLLOUT):
            if events & EPOLLERR:
                broke(self, sockets, side, error_at(sockets.ends[side].fd))
            else:
                unwatch(self.epoll, &sockets.ends[side])
            return 0
        if unsent_bytes(&sockets.ends[side]):
            if not send_unsent(&sockets.ends[side]):
                broke(self, sockets, side, errno)
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
        cdef Py_ssize_t most = SMALL_READ if sockets.ends[1 - side].was_full else self.read_bytes
        cdef Py_ssize_t size = recv(end.fd, self.buffer if end.tls is NULL else self.records, most, 0)
        if size < 0:
            if errno != EAGAIN and errno != EINTR:
                broke(self, sockets, side, errno)
            return 0
        if size and end.tls is not NULL:
            return self.take_records(sockets, side, size)
        return self.take(sockets, side, size, size == 0)

    cdef int take_records(self, Sockets* sockets, int side, Py_ssize_t size) except -1 nogil:
        """Take what `records` hold."""
        cdef End* end = &sockets.ends[side]
        size = tls_open(end.tls, self.records, size, self.buffer, self.read_bytes + 2 * RECORD)
        if size >= 0 and self.sealed.size and unsent_bytes(end) > MOST_UNREAD:
            size = -1
        if self.sealed.size and not send_sealed(end):
            broke(self, sockets, side, errno)
            return 0
        if size < 0:
            over(self, sockets, CLIENT_BROKE if side == CLIENT else BROKER_BROKE, 0)
            return 0
        if size == 0 and not end.tls.has_closed:
            return 0
        return self.take(sockets, side, size, end.tls.has_closed)

    cdef int take(self, Sockets* sockets, int side, Py_ssize_t size, bint ended) except -1 nogil:
        cdef End* end = &sockets.ends[side]
        cdef RelayCore* core = sockets.core
        cdef int64_t t = now_ns()
        relay_begin(core)
        if size:
            if sockets.tapped_as and side == CLIENT:
                self.tap_request(sockets, size)
            relay_feed(core, side, self.buffer, size, t)
        if ended:
            end.has_ended = core.streams[side].ended = True
        relay_finish(core, t)
        if not self.send_out(sockets):
            return 0
        if core.streams[REQUEST].held.is_new or core.streams[RESPONSE].held.is_new:
            self.settle(sockets, t)
        self.settled(sockets)
        return 0

    cdef void settled(self, Sockets* sockets) noexcept nogil:
        """Continue a connection after the output of the relay was sent."""
        cdef RelayCore* core = sockets.core
        if sockets.state != PASSING:
            return
        if core.reason != OPEN:
            over(self, sockets, BY_RELAY, 0)
            return
        relay_begin(core)  # pieces are sent: their memory is given back, for this connection may be idle from now on
        if sockets.has_passed and not sockets.is_counted and not is_inside(&core.streams[REQUEST]):
            sockets.is_counted = True
            with gil:
                self.calls.passed((<Connection>sockets.owner).proxied)
        if sockets.deadline and sockets.has_passed and not is_inside(&core.streams[REQUEST]) and not is_delayed(sockets):
            set_deadline(self, sockets, 0)
        self.go_on(sockets)

    cdef bint send_out(self, Sockets* sockets) except -1 nogil:
        """Send what the relay's latest call gave; False where the connection is over."""
        cdef RelayCore* core = sockets.core
        cdef int side
        if sockets.tapped_as and core.out[RESPONSE].count:
            tap_add(
                &self.tap_buffer, sockets.tapped_as, RESPONSE, &sockets.missed[RESPONSE], core.out[RESPONSE].items, core.out[RESPONSE].count
            )
        for side in range(2):
            if core.out[side].count:
                sockets.has_passed = True
                if not send_all(&sockets.ends[1 - side], &core.out[side]):
                    broke(self, sockets, 1 - side, errno)
                    return False
            if core.ends[side]:
                sockets.ends[1 - side].ends = True
        return True

    cdef int settle(self, Sockets* sockets, int64_t t, tuple delayed=None) except -1 with gil:
        """Have rules settle the frames that are held, and those behind them; `delayed` is a request with its outcome."""
        cdef Connection connection = <Connection>sockets.owner
        cdef Relay relay = connection.relay
        cdef list waiting = connection.held() if delayed is None else [delayed[0]]
        while waiting:
            held = waiting.pop(0)
            if delayed is not None:
                outcome, delayed = delayed[1], None
            else:
                outcome = connection.proxied.outcome(held)
                if connection.proxied.delayed is not None and connection.proxied.delayed[0] is held:
                    set_deadline(self, sockets, t + <int64_t>(outcome.delay * SECOND))
                    continue
            if connection.proxied.refusal:
                over(self, sockets, BY_RULE, 0)
                return 0
            relay.begin()
            try:
                if isinstance(outcome, Answer):
                    relay.answer_held(held, outcome.frame, t)
                else:
                    frame, response = outcome, None
                    if isinstance(outcome, Watched):
                        frame, response = outcome.frame, None if outcome.response is None else CALL
                    relay.release_held(held, None if frame is None or frame is held.frame else [frame], t, response)
            finally:
                relay.over()
            waiting += connection.held()
            if not self.send_out(sockets):
                return 0
        return 0

    cdef void tap_request(self, Sockets* sockets, Py_ssize_t size) noexcept nogil:
        cdef Piece piece
        piece.base, piece.size = self.buffer, size
        tap_add(&self.tap_buffer, sockets.tapped_as, REQUEST, &sockets.missed[REQUEST], &piece, 1)

    cdef void go_on(self, Sockets* sockets) noexcept nogil:
        """End what ends, and watch for what is wanted next."""
        cdef int side
        for side in range(2):
            shut_if_done(&sockets.ends[side])
        for side in range(2):
            if sockets.ends[side].is_shut and sockets.ends[side].has_ended:
                over(self, sockets, ENDED, 0)
                return
        watch(self.epoll, sockets)


cdef inline bint is_delayed(const Sockets* sockets) noexcept nogil:
    """A request waits for its answer: rules settle all others at once."""
    return sockets.core.streams[REQUEST].held.frame is not NULL


cdef inline bint is_idle(const Sockets* sockets) noexcept nogil:
    """Nothing is under way, and nothing waits to be sent."""
    return relay_is_idle(sockets.core) and unsent_bytes(&sockets.ends[CLIENT]) == 0 and unsent_bytes(&sockets.ends[BROKER]) == 0


include "proxy/loop_openings.pxi"
include "proxy/loop_ends.pxi"
include "proxy/loop_clock.pxi"
