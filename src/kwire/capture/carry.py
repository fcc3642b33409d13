"""State of a series between its files: the connections, and nothing else.

Theory of operation. A four-tuple may be used again: a SYN with a new initial sequence number begins its next connection, and so does
payload long after the last connection closed. A closed connection lingers for late copies and acknowledgements. Whenever the capture's time
reaches a new multiple of 2**`SWEEP_BITS` ns, expired connections and unanswered SYNs end. Sweeps depend on time, not on files or counts, so
any division of the series gives the same events. A reader of some connections needs, of all others, only the packets that reach a new
multiple (`packet_routes`).

A half-open connection takes a few bytes (`half_open`). Beyond `MAX_OPEN`, connections end, a sixteenth at a time: the oldest half-open
ones, or the other ones that were silent longest. Their later packets begin a new connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge, nsmallest
from itertools import islice
from operator import attrgetter
from typing import Final, Protocol
from zlib import crc32

from kwire.capture.dividing.pair_counts import PairCounts
from kwire.capture.dividing.recent_pairs import RecentPairs
from kwire.capture.half_open import pack_half_open, times_of, unpack_half_open
from kwire.capture.packet_columns import ACK, RST, SWEEP_BITS, SYN, PacketColumns, ScanCarry
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import Segment, TcpConnection

__all__ = ["HELD_NS", "LINGER_NS", "MAX_OPEN", "UNANSWERED_NS", "SeriesCarry", "SeriesStreams", "is_of_share"]

# TIME_WAIT of Linux: so long may packets of a closed connection still be on their way.
LINGER_NS: Final = 60_000_000_000
# An early packet of a connection that fell silent is resolved after this time at the latest.
HELD_NS: Final = 60_000_000_000
# A SYN without an answer is repeated for two minutes; port scans would fill the memory with them.
UNANSWERED_NS: Final = 180_000_000_000
# So many connections are kept, and as many half-open ones: more than the brokers of a cluster have, and 1 GiB of state at 4 KiB each.
MAX_OPEN: Final = 1 << 18

_BEGUN: Final = attrgetter("begun")
_SILENCE: Final = attrgetter("last_ns", "begun")


class SeriesStreams(Protocol):
    """Interface of `SeriesCarry`: passes packets to their connections."""

    @property
    def scan(self) -> ScanCarry:
        """State of the packet scan, which continues from file to file."""

    def take(self, data: bytes, columns: PacketColumns, sink: StreamSink) -> None: ...
    def finish(self, sink: StreamSink) -> None: ...
    def connections(self) -> list[TcpConnection]:
        """Return open and lingering connections in order of their beginning, without half-open ones."""


class SeriesCarry:
    """State of a series between two files: its connections."""

    __slots__ = (
        "begun", "by_hosts", "ended_early", "half_open", "latest_ns", "live", "lives", "packets", "scan", "share", "strays", "watched",
    )  # fmt: skip

    def __init__(self, share: tuple[int, int] = (0, 1), by_hosts: bool = False) -> None:
        self.share = share  # (k, n) to keep only the connections of share k of n
        self.by_hosts = by_hosts  # whether all connections between two hosts are in one share (`is_of_share`)
        self.live: dict[bytes, TcpConnection] = {}  # open and lingering connections by endpoints (`TcpConnection.key`)
        self.half_open: dict[bytes, bytes] = {}  # with only a SYN and maybe a reset, packed, the oldest first
        self.ended_early = 0  # connections that `MAX_OPEN` ended
        self.lives: PairCounts | RecentPairs = PairCounts()  # number of connections by pair of endpoints
        self.packets = 0  # number of TCP packets so far
        self.latest_ns = -(1 << 63)  # latest packet time
        self.strays = 0  # number of packets without a connection: late acknowledgements and resets
        self.scan = ScanCarry()
        self.begun = 0  # connections so far
        self.watched: dict[bytes, TcpConnection] = {}  # connections of `live` that a sweep must check

    def adopt(self, connection: TcpConnection) -> None:
        self.live[connection.key] = connection
        if connection.expires:
            self.watched[connection.key] = connection

    def take(self, data: bytes, columns: PacketColumns, sink: StreamSink) -> None:
        keys = columns.keys
        theirs = [not is_of_share(key, self.share, self.by_hosts) for key in keys]
        latest_ns = self.latest_ns
        rows = zip(
            columns.number, columns.time_ns, columns.key, columns.direction, columns.seq, columns.ack, columns.flags,
            columns.offset, columns.captured, columns.original, columns.signature, strict=True,
        )  # fmt: skip
        live = self.live
        for number, time_ns, key, direction, seq, ack, flags, offset, captured, original, signature in rows:
            is_sweep = False
            if time_ns > latest_ns:
                is_sweep = time_ns >> SWEEP_BITS != latest_ns >> SWEEP_BITS
                latest_ns = time_ns
            connection = live.get(keys[key])
            if theirs[key]:
                pass  # its time alone matters: sweeps come at the same packets in every share
            elif (
                connection is not None
                and connection.closed_ns is None
                and connection.in_order(direction, seq, ack, flags, captured, original, signature, time_ns)
            ):
                if captured and not connection.ignored:
                    sink.data(connection, direction, data[offset : offset + captured], time_ns, number)
            else:
                payload = data[offset : offset + captured] if captured else b""
                self.take_with_streams(keys[key], Segment(direction, seq, ack, flags, payload, original, signature, time_ns, number), sink)
                connection = live.get(keys[key])
                if connection is not None and connection.expires:
                    self.watched[keys[key]] = connection
            if is_sweep:
                self.latest_ns = latest_ns
                self._sweep(number, sink)
        self.latest_ns = latest_ns
        self.packets += len(columns)

    def take_with_streams(self, key: bytes, segment: Segment, sink: StreamSink) -> None:
        """Process any packet: it may begin or end a connection, fill a hole, or come too early; `key` is its endpoints."""
        connection = self.live.get(key)
        before = self.half_open.get(key) if connection is None else None
        if before is not None:
            connection = self.live[key] = unpack_half_open(key, before)
        if connection is None or segment.flags & SYN or connection.closed_ns is not None:
            connection = self._place(key, connection, segment, sink)
        if connection is None:
            self.strays += 1
            if before is not None:
                del self.live[key]
            return
        connection.receive(segment, sink)
        packed = pack_half_open(connection)
        if packed is not None:
            del self.live[key]
            self.watched.pop(key, None)
            self.half_open[key] = packed  # in its old place: a dict keeps room for what is removed
        elif before is not None:
            del self.half_open[key]
        if len(self.live) > MAX_OPEN or len(self.half_open) > MAX_OPEN:
            self._end_oldest(sink)

    def finish(self, sink: StreamSink) -> None:
        for connection in self._with_half_open(self.live.values(), list(self.half_open)):
            self.end(connection, connection.last_ns, 0, sink)

    def end_silent(self, before_ns: int, sink: StreamSink) -> None:
        """End connections without a packet since `before_ns`, because their end was not captured."""
        silent = [connection for connection in self.live.values() if connection.last_ns < before_ns]
        half_open = [key for key, packed in self.half_open.items() if times_of(packed)[0] < before_ns]
        for connection in self._with_half_open(silent, half_open):
            self.end(connection, connection.last_ns, 0, sink)

    def _end_oldest(self, sink: StreamSink) -> None:
        some = (MAX_OPEN >> 4) + 1
        old = nsmallest(some, self.live.values(), _SILENCE) if len(self.live) > MAX_OPEN else []
        half_open = list(islice(self.half_open, some)) if len(self.half_open) > MAX_OPEN else []
        for connection in self._with_half_open(old, half_open):
            self.ended_early += 1
            self.end(connection, connection.last_ns, 0, sink)

    def _unpack(self, key: bytes) -> TcpConnection:
        connection = self.live[key] = unpack_half_open(key, self.half_open.pop(key))
        return connection

    def _with_half_open(self, connections: Iterable[TcpConnection], keys: list[bytes]) -> Iterator[TcpConnection]:
        """Yield connections in order of their beginning, half-open ones unpacked."""
        keys.sort(key=self.half_open.__getitem__)
        return merge(sorted(connections, key=_BEGUN), map(self._unpack, keys), key=_BEGUN)

    def _place(self, key: bytes, connection: TcpConnection | None, segment: Segment, sink: StreamSink) -> TcpConnection | None:
        """Find or begin the connection of a packet; return None if the connection has ended."""
        begins = segment.original > 0 and not segment.flags & RST
        if segment.flags & SYN:
            if connection is not None and not _is_next(connection, segment):
                return connection
        elif connection is not None:
            if connection.closed_ns is None or segment.time_ns - connection.closed_ns <= LINGER_NS:
                return connection
            if not begins:
                return None
        elif key in self.lives and not begins:
            return None
        if connection is not None:
            self.end(connection, segment.time_ns, segment.packet, sink)
        n = self.lives.begin(key)
        connection = self.live[key] = TcpConnection(key, n, segment.time_ns)
        connection.begun = self.begun
        self.begun += 1
        if segment.flags & SYN:
            connection.opened_by = 1 - segment.direction if segment.flags & ACK else segment.direction
        sink.opened(connection, segment.time_ns, segment.packet)
        return connection

    def end(self, connection: TcpConnection, time_ns: int, packet: int, sink: StreamSink) -> None:
        connection.finish(time_ns, packet, sink)
        del self.live[connection.key]
        self.watched.pop(connection.key, None)
        sink.ended(connection)

    def connections(self) -> list[TcpConnection]:
        return sorted(self.live.values(), key=_BEGUN)

    def _sweep(self, packet: int, sink: StreamSink) -> None:
        half_open = [key for key, packed in self.half_open.items() if self._is_over(*times_of(packed))]
        for connection in self._with_half_open(self.watched.values(), half_open):
            self.look_after(connection, packet, sink)
            if not connection.expires:
                self.watched.pop(connection.key, None)

    def look_after(self, connection: TcpConnection, packet: int, sink: StreamSink) -> None:
        """End an expired connection; if it only fell silent, give up its holes."""
        silence_ns = self.latest_ns - connection.last_ns
        if self._is_over(connection.last_ns, connection.closed_ns, connection.answered):
            self.end(connection, self.latest_ns, packet, sink)
        elif connection.held and silence_ns > HELD_NS:
            connection.resolve(sink)

    def _is_over(self, last_ns: int, closed_ns: int | None, answered: bool = False) -> bool:
        if closed_ns is not None:
            return self.latest_ns - closed_ns > LINGER_NS
        return not answered and self.latest_ns - last_ns > UNANSWERED_NS


def is_of_share(key: bytes, share: tuple[int, int], by_hosts: bool = False) -> bool:
    """Tell whether a connection belongs to share k of n, k from 0; `by_hosts` keeps a TLS session and its resumptions together."""
    if by_hosts:
        size = 4 if key[0] == 4 else 16
        return (crc32(key[1 : 1 + size]) + crc32(key[3 + size : 3 + 2 * size])) % share[1] == share[0]
    return crc32(key) % share[1] == share[0]


def _is_next(connection: TcpConnection, syn: Segment) -> bool:
    """Tell whether a SYN begins a new connection; it may also be a copy, or swapped with the next packet."""
    own, other = connection.flows[syn.direction], connection.flows[1 - syn.direction]
    if own.isn == syn.seq:
        return False
    # of the SYN alone, or of the bytes too that came with it (TCP Fast Open, RFC 7413)
    answers = bool(syn.flags & ACK) and other.isn is not None and syn.ack in (other.isn + 1 & 0xFFFFFFFF, other.next)
    if own.isn is not None:
        return not answers  # a server without SYN cookies' memory may answer a repeated SYN anew
    return not answers and own.start != (syn.seq + 1 & 0xFFFFFFFF)
