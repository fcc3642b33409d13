"""Native backend of `kwire.capture.carry`, whose theory of operation and attributes hold here too.

A packet that brings the next bytes of its connection costs no Python call until it reaches the sink.
"""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free

from build_id cimport build_id
from capture.half_open cimport (
    BEGUN_AT, CLOSED_AT, CLOSED_FLAG, FLAGS_AT, LAST_AT, half_open_at, is_half_open, packed_half_open, unpacked_half_open,
)
from capture.packet_rows cimport PacketRows, packet_at, packet_rows_open
from capture.tcp_state cimport ACK, RST, SYN, Packet, TcpFlow, TcpState, tcp_in_order
from wire.checksum cimport crc32, crc_start
from wire.cursor cimport load_64
from wire.raw_python cimport raw_decref, raw_incref, raw_xdecref
from wire.turns cimport Turn, one_at_a_time, turn_begin, turn_end, turn_leave, turn_share

from kwire.capture._native.connection cimport TcpConnection, new_connection
from kwire.capture._native.sink cimport StreamSink
from kwire.capture._native.tcp cimport tcp_finish, tcp_receive, tcp_resolve

from heapq import nsmallest
from itertools import islice
from operator import attrgetter

from kwire.capture import carry as _carry
from kwire.capture import tcp as _tcp
from kwire.capture.packet_columns import ScanCarry
from kwire.capture.dividing.pair_counts import RECENT_PAIRS, PairCounts

__all__ = ["SeriesCarry"]
__build__ = build_id()

BEGUN_OF = attrgetter("begun")
SILENCE_OF = attrgetter("last_ns", "begun")
cdef Py_ssize_t RECENT = RECENT_PAIRS
crc_start()


cdef bytearray others_of(list keys, uint32_t share, uint32_t shares, bint by_hosts):
    """Not kwire.capture.carry.is_of_share, a byte a key."""
    cdef bytearray made = bytearray(len(keys))
    cdef char* at = PyByteArray_AS_STRING(made)
    cdef Py_ssize_t index
    cdef bytes key
    cdef const uint8_t* name
    cdef Py_ssize_t size
    for index in range(len(keys)):
        key = keys[index]
        name = <const uint8_t*>PyBytes_AS_STRING(key)
        if by_hosts:
            size = 4 if name[0] == 4 else 16
            at[index] = (<uint64_t>crc32(name + 1, size) + crc32(name + 3 + size, size)) % shares != share
        else:
            at[index] = crc32(name, len(key)) % shares != share
    return made


cdef bint is_next(const TcpState* tcp, const Packet* syn) noexcept:
    """kwire.capture.carry._is_next: does this SYN begin a new connection, or belong to the one that is known?"""
    cdef const TcpFlow* own = &tcp.flows[syn.direction]
    cdef const TcpFlow* other = &tcp.flows[1 - syn.direction]
    cdef uint32_t start
    if own.isn == syn.seq:
        return False
    # an answer to the SYN alone, or to the bytes too that came with it (TCP Fast Open, RFC 7413)
    if syn.flags & ACK and other.isn >= 0 and (other.isn == <uint32_t>(syn.ack - 1) or other.next == syn.ack):
        return False
    if own.isn >= 0 or own.next < 0:
        return True
    start = <uint32_t>own.next - <uint32_t>own.position - (1 if own.fin_at != INT64_MIN and own.finished else 0)
    return start != <uint32_t>(syn.seq + 1)


cdef StreamSink native_sink(object sink):
    """Return the receiver of a sink's streams: itself, its `stream_sink` if any, or an adapter that calls its methods in Python."""
    if isinstance(sink, StreamSink):
        return <StreamSink>sink
    made = getattr(sink, "stream_sink", None)
    return <StreamSink>made if isinstance(made, StreamSink) else StreamSink(sink)


cdef class SeriesCarry:
    """Connections of a series between two pieces; arguments and attributes as of `kwire.capture.carry.SeriesCarry`."""

    def __init__(self, share=(0, 1), by_hosts=False):
        self.share, self.by_hosts = share, by_hosts
        self.live, self.half_open = {}, {}
        self.lives, self.scan = PairCounts(), ScanCarry()
        self.packets = self.strays = self.begun = self.ended_early = 0
        self.latest_ns = INT64_MIN

    def __dealloc__(self):
        while self.first_watched is not NULL:
            self.unwatch(<TcpConnection>self.first_watched)
        turn_leave(self.turn)

    cpdef int adopt(self, object known) except -1:
        cdef TcpConnection made = TcpConnection.of(known)
        turn_share(&made.turn, &self.turn)
        made.begun = known.begun
        self.live[made.key] = made
        if made.has_expiry():
            self.watch(made)
        return 0

    def connections(self):
        """The connections that are open or linger, without the half-open ones, in the order in which they began."""
        return sorted(self.live.values(), key=BEGUN_OF)

    cdef int look_up_limits(self) except -1:
        self.limits.linger_ns, self.limits.held_ns = _carry.LINGER_NS, _carry.HELD_NS
        self.limits.unanswered_ns, self.limits.sweep_bits = _carry.UNANSWERED_NS, _carry.SWEEP_BITS
        self.limits.most_open = _carry.MAX_OPEN
        self.limits.patience.packets, self.limits.patience.bytes = _tcp.REORDER_PACKETS, _tcp.MAX_WAITING_BYTES
        return 0

    @cython.boundscheck(False)
    @cython.wraparound(False)
    def take(self, data, columns, sink):
        """Pass the packets of a chunk to their connections; `data` is bytes, or of a kind whose parts are made by slicing."""
        if not isinstance(data, bytes):
            raise TypeError("a chunk of packets is of bytes")
        cdef StreamSink streams = native_sink(sink)
        cdef const uint8_t* chunk = <const uint8_t*>PyBytes_AS_STRING(data)
        cdef PacketRows rows
        packet_rows_open(&rows, columns, PyBytes_GET_SIZE(data))
        cdef list keys = columns.keys
        cdef bytearray theirs = None if self.share[1] == 1 else others_of(keys, self.share[0], self.share[1], self.by_hosts)
        cdef Py_ssize_t row
        cdef int32_t key
        cdef bint is_sweep
        cdef Packet packet
        cdef PyObject* found
        cdef TcpConnection connection
        cdef Turn* held
        self.look_up_limits()
        self.recent = self.lives.all_recent()
        turn_begin(&streams.turn, streams, &held)
        try:
            self.known = <PyObject**>calloc(len(keys) + 1, sizeof(PyObject*))
            if self.known is NULL:
                raise MemoryError
            self.known_count = len(keys)
            streams.source = data
            for row in range(rows.count):
                packet_at(&rows, row, &packet)
                key = rows.key[row]
                is_sweep = False
                if packet.time_ns > self.latest_ns:
                    is_sweep = packet.time_ns >> self.limits.sweep_bits != self.latest_ns >> self.limits.sweep_bits
                    self.latest_ns = packet.time_ns
                if theirs is not None and PyByteArray_AS_STRING(theirs)[key]:
                    pass  # its time alone matters: sweeps come at the same packets in every share
                else:
                    found = self.known[key]
                    if found is NULL:
                        found = self.look_up(keys[key], key)
                    if found is not NULL:
                        connection = <TcpConnection>found
                    else:
                        connection = None
                    if found is not NULL and tcp_in_order(&connection.tcp, &packet):
                        if packet.captured and not connection.ignored:
                            streams.data(
                                connection, packet.direction, chunk + rows.offset[row], packet.captured, packet.time_ns, packet.number,
                            )
                    else:
                        self.take_with_streams(connection, keys[key], &packet, chunk + rows.offset[row], streams)
                if is_sweep:
                    self.sweep(packet.number, streams)
            self.packets += rows.count
            streams.chunk_taken()
        finally:
            for row in range(self.known_count):
                raw_xdecref(self.known[row])
            free(self.known)
            self.known = NULL
            self.known_count = 0
            self.recent = streams.source = None
            turn_end(held)

    cdef PyObject* look_up(self, object key, int32_t place) except? NULL:
        """The connection of a key, NULL for none; it is known for the rest of the chunk under the number of the key."""
        cdef TcpConnection found = self.live.get(key)
        if found is None:
            return NULL
        raw_incref(<PyObject*>found)
        self.known[place] = <PyObject*>found
        found.place = place
        return <PyObject*>found

    cdef int take_with_streams(
        self, TcpConnection connection, bytes key, const Packet* packet, const uint8_t* payload, StreamSink sink
    ) except -1:
        """Take one packet, whatever it does: begin a connection or end one, fill a hole, come too early."""
        cdef bint begins = packet.original > 0 and not packet.flags & RST
        cdef bint was_half_open = connection is None and key in self.half_open
        if was_half_open:
            connection = self.unpack(key, self.half_open[key])
        if packet.flags & SYN:
            if connection is not None and is_next(&connection.tcp, packet):
                self.end(connection, packet.time_ns, packet.number, sink)
                connection = None
        elif connection is None:
            if not begins and key in self.lives:
                self.strays += 1
                return 0
        elif connection.tcp.closed and packet.time_ns - connection.tcp.closed_ns > self.limits.linger_ns:
            if not begins:
                self.strays += 1
                return self.remove(connection) if was_half_open else 0
            self.end(connection, packet.time_ns, packet.number, sink)
            connection = None
        if connection is None:
            connection = self.open(key, packet, sink)
        tcp_receive(connection, packet, payload, &self.limits.patience, sink)
        packed = packed_half_open(connection) if is_half_open(&connection.tcp) else None
        if packed is not None:
            self.remove(connection)
            self.half_open[key] = packed  # in its old place: a dict keeps room for what is removed
        else:
            if was_half_open:
                del self.half_open[key]
            if connection.has_expiry():
                self.watch(connection)
        if len(self.live) > self.limits.most_open or len(self.half_open) > self.limits.most_open:
            self.end_oldest(sink)
        return 0

    cdef int end_oldest(self, StreamSink sink) except -1:
        """End the oldest half-open connections, or the others that have been silent for longest: there are more than `MAX_OPEN`."""
        cdef Py_ssize_t most = self.limits.most_open
        old = nsmallest((most >> 4) + 1, self.live.values(), SILENCE_OF) if len(self.live) > most else []
        half_open = list(islice(self.half_open, (most >> 4) + 1)) if len(self.half_open) > most else []
        self.ended_early += len(old) + len(half_open)
        return self.end_in_order(old, half_open, sink)

    cdef TcpConnection unpack(self, bytes key, bytes packed):
        cdef TcpConnection connection = unpacked_half_open(key, packed)
        turn_share(&connection.turn, &self.turn)
        self.live[key] = connection
        return connection

    cdef TcpConnection next_begun(self, list connections, list keys):
        """Take the connection that began first from two lists, the latest first; a half-open one is unpacked in its turn."""
        cdef TcpConnection found
        if keys:
            key = keys[-1]
            if not connections or <int64_t>load_64(half_open_at(self.half_open[key]) + BEGUN_AT) < (<TcpConnection>connections[-1]).begun:
                keys.pop()
                return self.unpack(key, self.half_open.pop(key))
        elif not connections:
            return None
        found = connections.pop()
        return found

    cdef int sort_by_begin(self, list connections, list keys) except -1:
        connections.sort(key=BEGUN_OF, reverse=True)
        keys.sort(key=self.half_open.__getitem__, reverse=True)
        return 0

    cdef int end_in_order(self, list connections, list keys, StreamSink sink) except -1:
        cdef TcpConnection connection
        self.sort_by_begin(connections, keys)
        while connections or keys:
            connection = self.next_begun(connections, keys)
            self.end(connection, connection.tcp.last_ns, 0, sink)
        return 0

    cdef int64_t count_begun(self, bytes key) except -1:
        """PairCounts.begin."""
        cdef int64_t before
        if self.recent is None or len(self.recent) >= RECENT:
            before = self.lives.begin(key)
            self.recent = self.lives.all_recent()
            return before
        before = self.recent.get(key, 0)
        self.recent[key] = before + 1
        return before

    cdef TcpConnection open(self, bytes key, const Packet* packet, StreamSink sink):
        cdef TcpConnection connection = new_connection(key, self.count_begun(key), packet.time_ns)
        turn_share(&connection.turn, &self.turn)
        connection.begun = self.begun
        self.begun += 1
        self.live[key] = connection
        if packet.flags & SYN:
            connection.tcp.opened_by = 1 - packet.direction if packet.flags & ACK else packet.direction
        sink.opened(connection, packet.time_ns, packet.number)
        return connection

    def finish(self, sink):
        self.end_those_before(INT64_MAX, native_sink(sink))

    def end_silent(self, int64_t before_ns, sink):
        self.end_those_before(before_ns, native_sink(sink))

    cdef int end_those_before(self, int64_t before_ns, StreamSink streams) except -1:
        cdef TcpConnection connection
        cdef list silent = []
        cdef list half_open = []
        cdef Turn* held
        self.look_up_limits()
        turn_begin(&streams.turn, streams, &held)
        try:
            for connection in self.live.values():
                if connection.tcp.last_ns < before_ns or before_ns == INT64_MAX:
                    silent.append(connection)
            for key, packed in self.half_open.items():
                if <int64_t>load_64(half_open_at(packed) + LAST_AT) < before_ns or before_ns == INT64_MAX:
                    half_open.append(key)
            self.end_in_order(silent, half_open, streams)
        finally:
            turn_end(held)
        return 0

    cdef int end(self, TcpConnection connection, int64_t time_ns, int64_t packet, StreamSink sink) except -1:
        tcp_finish(connection, time_ns, packet, &self.limits.patience, sink)
        self.remove(connection)
        return sink.ended(connection)

    cdef int remove(self, TcpConnection connection) except -1:
        if 0 <= connection.place < self.known_count and self.known[connection.place] is <PyObject*>connection:
            self.known[connection.place] = NULL
            raw_decref(<PyObject*>connection)
            connection.place = -1
        del self.live[connection.key]
        self.unwatch(connection)
        return 0

    cdef void watch(self, TcpConnection connection) noexcept:
        cdef PyObject* added = <PyObject*>connection
        if connection.is_watched:
            return
        raw_incref(added)
        connection.is_watched = True
        connection.watched_before, connection.watched_after = NULL, self.first_watched
        if self.first_watched is not NULL:
            (<TcpConnection>self.first_watched).watched_before = added
        self.first_watched = added
        self.watched_count += 1

    cdef void unwatch(self, TcpConnection connection) noexcept:
        if not connection.is_watched:
            return
        if connection.watched_before is NULL:
            self.first_watched = connection.watched_after
        else:
            (<TcpConnection>connection.watched_before).watched_after = connection.watched_after
        if connection.watched_after is not NULL:
            (<TcpConnection>connection.watched_after).watched_before = connection.watched_before
        connection.is_watched = False
        connection.watched_before = connection.watched_after = NULL
        self.watched_count -= 1
        raw_decref(<PyObject*>connection)

    cdef list watched_in_order(self):
        cdef list found = []
        cdef PyObject* each = self.first_watched
        while each is not NULL:
            found.append(<object>each)
            each = (<TcpConnection>each).watched_after
        found.sort(key=BEGUN_OF)
        return found

    @property
    def watched(self):
        """Those of `live` that a sweep has to look at, in the order in which they began."""
        return {connection.key: connection for connection in self.watched_in_order()}

    cdef int sweep(self, int64_t packet, StreamSink sink) except -1:
        cdef PyObject* each = self.first_watched
        cdef PyObject* after
        cdef TcpConnection connection
        cdef list due = []
        cdef list half_open = []
        cdef const uint8_t* at
        cdef int64_t closed_ns
        cdef bint is_closed
        while each is not NULL:
            connection = <TcpConnection>each
            after = connection.watched_after
            if self.is_due(&connection.tcp):
                due.append(connection)
            elif not connection.has_expiry():
                self.unwatch(connection)
            each = after
        for key, packed in self.half_open.items():
            at = half_open_at(packed)
            is_closed = at[FLAGS_AT] & CLOSED_FLAG != 0
            closed_ns = <int64_t>load_64(at + CLOSED_AT) if is_closed else 0
            if self.is_past(<int64_t>load_64(at + LAST_AT), closed_ns, is_closed, False):
                half_open.append(key)
        self.sort_by_begin(due, half_open)
        while due or half_open:
            connection = self.next_begun(due, half_open)
            self.look_after(connection, packet, sink)
            if not connection.has_expiry():
                self.unwatch(connection)
        return 0

    cdef bint is_over(self, const TcpState* tcp) noexcept:
        return self.is_past(tcp.last_ns, tcp.closed_ns, tcp.closed, tcp.answered)

    cdef bint is_past(self, int64_t last_ns, int64_t closed_ns, bint closed, bint answered) noexcept:
        """Return True for a connection that has lingered, or that nothing answers."""
        if closed:
            return self.latest_ns - closed_ns > self.limits.linger_ns
        return not answered and self.latest_ns - last_ns > self.limits.unanswered_ns

    cdef bint is_due(self, const TcpState* tcp) noexcept:
        return self.is_over(tcp) or (tcp.held_count > 0 and self.latest_ns - tcp.last_ns > self.limits.held_ns)

    cdef int look_after(self, TcpConnection connection, int64_t packet, StreamSink sink) except -1:
        """End a connection whose time is over, and let one that fell silent wait no longer for what is missing."""
        if self.is_over(&connection.tcp):
            return self.end(connection, self.latest_ns, packet, sink)
        return tcp_resolve(connection, &self.limits.patience, sink)


cdef Turn** turn_of_series_carry(PyObject* self) noexcept:
    return &(<SeriesCarry>self).turn


one_at_a_time(SeriesCarry, turn_of_series_carry)
