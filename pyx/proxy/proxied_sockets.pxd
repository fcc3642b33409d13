"""The two sockets of one client and its broker: what waits to be sent, and what epoll watches. All of it works without the GIL."""

from cpython.object cimport PyObject
from libc.errno cimport EAGAIN, EINTR, errno
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset

from protocol.relay_pieces cimport Piece, Pieces
from protocol.relay_state cimport REQUEST, RESPONSE, RelayCore, is_blocked
from proxy.linux_sockets cimport (
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLIN, EPOLLOUT, MSG_NOSIGNAL, SHUT_WR, close, epoll_ctl, epoll_event, iovec, msghdr,
    sendmsg, shutdown,
)
from kwire.proxy._native.tls_session cimport RECORD, Sealed, TlsSession, tls_end, tls_free, tls_seal
from wire.cursor cimport Bytes
from wire.grown cimport grown

cdef enum:
    CLIENT = REQUEST  # the end whose bytes are requests
    BROKER = RESPONSE
    MOST_PIECES = 1024  # of one sendmsg: IOV_MAX of Linux
    MOST_SEALED = 128 << 10  # bytes of records before they are sent

cdef enum State:
    SHAKING = 0  # the client's TLS handshake is not over yet
    CONNECTING = 1  # the broker is not reached yet, or its TLS handshake is not over
    PASSING = 2
    FLUSHING = 3  # over; what was given to the sockets is still sent
    CLOSED = 4

# Why a connection is over, for kwire.proxy.counts.Ending
cdef enum Cause:
    ENDED = 0
    CLIENT_BROKE = 1
    BROKER_BROKE = 2
    BROKER_UNREACHABLE = 3
    FIRST_FRAME_LATE = 4
    STOPPED = 5
    BY_RULE = 6
    BY_RELAY = 7
    FAULT = 8
    TLS_FAILED = 9

# Bytes that the kernel has not taken yet.
cdef struct Unsent:
    uint8_t* bytes
    Py_ssize_t at
    Py_ssize_t size  # with those before `at`
    Py_ssize_t room

# One of the two sockets.
cdef struct End:
    int fd  # -1: none, or closed
    uint32_t events  # that epoll watches for
    bint is_watched
    bint has_ended  # no more bytes come from it
    bint ends  # no more bytes go to it behind those that wait
    bint is_shut  # and it was told so
    bint was_full
    Unsent unsent  # with TLS, its records
    TlsSession* tls  # NULL without TLS

cdef struct Sockets:
    End ends[2]
    RelayCore* core  # NULL once the connection is over
    PyObject* owner  # the Connection
    Sockets* next  # of all of a thread
    Sockets* before
    Sockets* next_timed  # of those with a deadline
    Sockets* before_timed
    int64_t deadline  # 0 for none, nanoseconds
    int64_t opened
    int state
    bint has_passed  # something of the client went on or was answered
    bint is_counted  # Python knows that a whole frame has passed
    bint lingers  # when it is over, the client's end is read until it closes
    uint64_t tapped_as  # its number for the taps; 0 where none looks at it
    int64_t missed[2]  # bytes that the taps were not given, of those that the client sent and of those that it got


cdef inline Py_ssize_t unsent_bytes(const End* end) noexcept nogil:
    return end.unsent.size - end.unsent.at


cdef inline bint keep_unsent(End* end, Bytes data, Py_ssize_t size) noexcept nogil:
    """Bytes go behind those that wait; False without memory."""
    cdef Unsent* unsent = &end.unsent
    cdef uint8_t* made
    if unsent.at:
        memmove(unsent.bytes, unsent.bytes + unsent.at, unsent.size - unsent.at)
        unsent.size -= unsent.at
        unsent.at = 0
    made = <uint8_t*>grown(unsent.bytes, &unsent.room, unsent.size + size, 1 << 12, 1)
    if made is NULL:
        return False
    unsent.bytes = made
    memcpy(made + unsent.size, data, size)
    unsent.size += size
    return True


cdef inline void drop_unsent(End* end) noexcept nogil:
    free(end.unsent.bytes)
    end.unsent.bytes = NULL
    end.unsent.at = end.unsent.size = end.unsent.room = 0


cdef inline Py_ssize_t send_pieces(int fd, Piece* pieces, Py_ssize_t count) noexcept nogil:
    """Bytes that the kernel took; -1 with errno for an error, 0 where it takes none now."""
    cdef msghdr message
    cdef Py_ssize_t sent
    memset(&message, 0, sizeof(msghdr))
    message.msg_iov = <iovec*>pieces
    message.msg_iovlen = min(count, <Py_ssize_t>MOST_PIECES)
    while True:
        sent = sendmsg(fd, &message, MSG_NOSIGNAL)
        if sent >= 0:
            return sent
        if errno == EAGAIN:
            return 0
        if errno != EINTR:
            return -1


cdef inline bint send_all(End* end, Pieces* pieces) noexcept nogil:
    """Send pieces, and keep what the kernel does not take; False with errno where the socket is broken."""
    cdef Py_ssize_t number = 0
    cdef Py_ssize_t first
    cdef Py_ssize_t sent
    cdef Piece* piece
    if end.tls is not NULL:
        return seal_all(end, pieces)
    while unsent_bytes(end) == 0 and number < pieces.count:
        sent = send_pieces(end.fd, &pieces.items[number], pieces.count - number)
        if sent < 0:
            return False
        first = number
        while number < pieces.count and <Py_ssize_t>pieces.items[number].size <= sent:
            sent -= pieces.items[number].size
            number += 1
        if number < pieces.count and number - first < MOST_PIECES:
            pieces.items[number].base += sent
            pieces.items[number].size -= sent
            break
    end.was_full = number < pieces.count
    while number < pieces.count:
        piece = &pieces.items[number]
        if not keep_unsent(end, piece.base, piece.size):
            return False
        number += 1
    return True


cdef inline bint seal_all(End* end, const Pieces* pieces) noexcept nogil:
    """As `send_all`, in records; small pieces share one."""
    cdef Sealed* out = end.tls.out
    cdef Py_ssize_t number, size, taken
    cdef Py_ssize_t gathered = 0
    cdef Bytes base
    for number in range(pieces.count):
        base, size = <Bytes>pieces.items[number].base, pieces.items[number].size
        while size:
            taken = min(size, <Py_ssize_t>RECORD - gathered)
            if gathered == 0 and (taken == RECORD or number + 1 == pieces.count):
                if not tls_seal(end.tls, base, taken):
                    return False
            else:
                memcpy(out.gathered + gathered, base, taken)
                gathered += taken
            if gathered == RECORD:
                if not tls_seal(end.tls, out.gathered, gathered):
                    return False
                gathered = 0
            base += taken
            size -= taken
            if out.size >= MOST_SEALED and not send_sealed(end):
                return False
    return (gathered == 0 or tls_seal(end.tls, out.gathered, gathered)) and send_sealed(end)


cdef inline bint send_sealed(End* end) noexcept nogil:
    """Send the records that were made, and keep what the kernel does not take; False with errno where the socket is broken."""
    cdef Sealed* out = end.tls.out
    cdef Piece piece
    cdef Py_ssize_t sent = 0
    cdef Py_ssize_t size = out.size
    out.size = 0
    if size and unsent_bytes(end) == 0:
        piece.base, piece.size = out.bytes, size
        sent = send_pieces(end.fd, &piece, 1)
        if sent < 0:
            return False
    if sent < size and not keep_unsent(end, out.bytes + sent, size - sent):
        return False
    end.was_full = unsent_bytes(end) > 0
    return True


cdef inline bint send_unsent(End* end) noexcept nogil:
    """Send what waits; False with errno where the socket is broken."""
    cdef Piece piece
    cdef Py_ssize_t sent
    while unsent_bytes(end):
        piece.base, piece.size = end.unsent.bytes + end.unsent.at, unsent_bytes(end)
        sent = send_pieces(end.fd, &piece, 1)
        if sent < 0:
            return False
        if sent == 0:
            return True
        end.unsent.at += sent
    drop_unsent(end)
    return True


cdef inline void shut_if_done(End* end) noexcept nogil:
    """Half-close an end to which no more bytes go."""
    if end.ends and not end.is_shut and unsent_bytes(end) == 0:
        if end.tls is not NULL:
            tls_end(end.tls)
            if not send_sealed(end) or unsent_bytes(end):
                return
        shutdown(end.fd, SHUT_WR)
        end.is_shut = True


cdef inline void close_end(int epoll, End* end) noexcept nogil:
    """Close a socket. epoll forgets it by itself only where no forked process has it too."""
    if end.fd >= 0:
        if end.is_watched:
            epoll_ctl(epoll, EPOLL_CTL_DEL, end.fd, NULL)
        if end.tls is not NULL and unsent_bytes(end) == 0:
            tls_end(end.tls)
            send_sealed(end)
        close(end.fd)
    tls_free(end.tls)
    end.tls = NULL
    end.fd, end.is_watched = -1, False
    drop_unsent(end)


cdef inline void set_events(int epoll, Sockets* sockets, int side, uint32_t events) noexcept nogil:
    """Watch an end for these events."""
    cdef End* end = &sockets.ends[side]
    cdef epoll_event wanted
    if (end.is_watched and end.events == events) or end.fd < 0:
        return
    wanted.events = events
    wanted.data.u64 = <uint64_t><size_t>sockets | side
    epoll_ctl(epoll, EPOLL_CTL_MOD if end.is_watched else EPOLL_CTL_ADD, end.fd, &wanted)
    end.is_watched, end.events = True, events


cdef inline void unwatch(int epoll, End* end) noexcept nogil:
    """A socket with nothing to wait for, whose hang-up epoll would report for ever."""
    epoll_ctl(epoll, EPOLL_CTL_DEL, end.fd, NULL)
    end.is_watched, end.events = False, 0


cdef inline uint32_t wanted_events(const Sockets* sockets, int side) noexcept nogil:
    """Backpressure: an end is read while the other one takes what it brings."""
    cdef const End* end = &sockets.ends[side]
    cdef const End* other = &sockets.ends[1 - side]
    cdef uint32_t wanted = EPOLLOUT if unsent_bytes(end) else 0
    if sockets.state == PASSING and not end.has_ended and unsent_bytes(other) == 0 and not is_blocked(sockets.core, side):
        wanted |= EPOLLIN
    elif side == CLIENT and sockets.state == FLUSHING and sockets.lingers and not wanted:
        wanted = EPOLLIN
    return wanted


cdef inline void watch(int epoll, Sockets* sockets) noexcept nogil:
    """Watch both ends for what is wanted of them now."""
    cdef int side
    cdef uint32_t wanted
    for side in range(2):
        wanted = wanted_events(sockets, side)
        if wanted or sockets.ends[side].is_watched:
            set_events(epoll, sockets, side, wanted)
