"""Reading of a series' streams as in an analysis; bytes without secrets are written back into the packets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.capture.trimming.address_pseudonyms import AddressPseudonyms
from kwire.capture.trimming.located_bytes import LocatedBytes, Place, StreamTail
from kwire.capture.trimming.proxy_pseudonyms import proxy_header_of
from kwire.protocol import DirectionDetector
from kwire.protocol.events import Event, FrameSeen
from kwire.protocol.impl import frame_blanker
from kwire.protocol.secrets.token_blanking import FILL
from kwire.protocol.tracking.foreign_protocols import MORE, recognise, recognise_server
from kwire.protocol.tracking.frames import MAX_FRAME

if TYPE_CHECKING:
    from kwire.protocol.secrets.frame_blanking import FrameBlanker

__all__ = ["TrimmedStreams"]

Patch = Callable[[Place, bytes, int], None]

# Bytes of a direction that wait to be understood: a frame of the longest kind, and what a client may send before its first answer.
_MOST_WAITING: Final = MAX_FRAME + (32 << 20)
# What is looked at of a direction in which no frame was found, to keep what shows the protocol.
_HEAD_BYTES: Final = 512
_LENGTH: Final = 4


class _Tracked:
    def __init__(self, detector: DirectionDetector, blanker: FrameBlanker) -> None:
        self.detector = detector
        self.blanker = blanker
        self.tails = (StreamTail(), StreamTail())
        self.heads: list[list[LocatedBytes]] = [[], []]
        self.skipped = [0, 0]  # PROXY headers
        self.framed = [False, False]
        self.lost = [False, False]
        self.is_tls = False


class TrimmedStreams(StreamSink):
    """Blanker of streams, frame by frame; connections on other than the given ports keep no payload.

    `patch` takes a place, the new bytes, and the number of unchanged bytes. Pseudonyms replace hosts in messages, PROXY headers and TLS.
    """

    def __init__(self, ports: frozenset[int], patch: Patch, pseudonyms: AddressPseudonyms | None = None) -> None:
        self._ports = ports
        self._patch = patch
        self._pseudonyms = pseudonyms
        self._group_types: dict[str, str] = {}

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self._ports and connection.a.port not in self._ports and connection.b.port not in self._ports:
            connection.ignored = True
            return
        detector = DirectionDetector(connection.a.port, connection.b.port, ports=self._ports or None, frames=True)
        connection.attachment = tracked = _Tracked(detector, frame_blanker()(self._group_types, self._pseudonyms))
        if connection.opened_by is not None:
            self._take(tracked, detector.opened(connection.opened_by, time_ns, packet))

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        if tracked.is_tls:
            self._put_back(data)
            return
        tail = tracked.tails[direction]
        if not tracked.framed[direction] and not tracked.lost[direction] and tail.position < _HEAD_BYTES + tracked.skipped[direction]:
            assert isinstance(data, LocatedBytes)
            tracked.heads[direction].append(data)
        tail.add(data, _MOST_WAITING)
        self._take(tracked, tracked.detector.receive(direction, data, time_ns, packet))
        if not any(tracked.framed):
            self._look_for_tls(tracked)

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        tracked.lost[direction] = True
        events = tracked.detector.lost(direction, count, time_ns, packet, cut=cut)
        tracked.tails[direction].lose(count)
        self._take(tracked, events)

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        self._take(tracked, tracked.detector.closed(direction, reset, time_ns, packet))

    def ended(self, connection: TcpConnection) -> None:
        tracked = connection.attachment
        if not isinstance(tracked, _Tracked):
            return
        self._take(tracked, tracked.detector.finish(connection.last_ns))
        if not tracked.is_tls and not any(tracked.framed):
            self._look_for_tls(tracked)
        if not tracked.is_tls:
            self._keep_openings(tracked)
        connection.attachment = None

    # What may stay.

    def _take(self, tracked: _Tracked, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, FrameSeen):
                server = tracked.detector.server_side
                assert server is not None
                self._frame(tracked, event, server if event.direction == "response" else 1 - server)

    def _frame(self, tracked: _Tracked, event: FrameSeen, direction: int) -> None:
        tail, begin = tracked.tails[direction], event.stream_offset
        if event.kind == "proxy":
            tracked.skipped[direction] = event.length
            header = tail.read(begin, event.length)
            self._put(tail, begin, header, self._proxy(header))
            return
        if not tracked.framed[direction] and begin <= tracked.skipped[direction]:
            tracked.heads[direction].clear()  # it begins as it should
        tracked.framed[direction] = True
        if event.kind == "length":
            self._put(tail, begin, tail.read(begin, _LENGTH), None)
            return
        found = tail.read(begin, _LENGTH + event.length)
        frame = found[_LENGTH:]
        self._put(tail, begin, found, found[:_LENGTH] + tracked.blanker.seen(event, frame))
        tail.forget(begin + _LENGTH + event.length)

    def _proxy(self, header: bytes) -> bytes | None:
        return None if self._pseudonyms is None else proxy_header_of(header, self._pseudonyms)

    def _put(self, tail: StreamTail, offset: int, original: bytes, blanked: bytes | None) -> None:
        """Write the bytes of a stretch into their packets; None for `blanked` restores the original."""
        data = original if blanked is None else blanked
        for place, first, last in tail.places(offset, len(data)):
            part, was = data[first:last], original[first:last]
            kept = len(part) if part == was else _equal_bytes(part, was)
            self._patch(place, part, kept)

    def _put_back(self, data: bytes) -> None:
        if isinstance(data, LocatedBytes):
            self._patch(data.place, bytes(data), len(data))

    def _look_for_tls(self, tracked: _Tracked) -> None:
        """Keep TLS bytes: they are encrypted, and the tables use their plaintext headers."""
        found = tracked.detector.connection
        if found is None or found.protocol != "tls" or self._pseudonyms is not None:  # its hellos and certificates name hosts
            return
        tracked.is_tls = True
        for tail in tracked.tails:
            for place, first, last in tail.places(0, tail.position):
                part = tail.read(first, last - first)
                self._patch(place, part, len(part))

    def _keep_openings(self, tracked: _Tracked) -> None:
        """Keep only the first bytes that identify the protocol of a direction without a frame."""
        server, found = tracked.detector.server_side, tracked.detector.connection
        if server is None or found is None or found.joined_late:
            return
        for direction in (0, 1):
            parts = tracked.heads[direction]
            data = b"".join(bytes(part) for part in parts)[tracked.skipped[direction] :]
            size, proxy = _telling(data, direction == server)
            data = data[:size] if self._pseudonyms is None else proxy_header_of(data[:proxy], self._pseudonyms) + data[proxy:size]
            at = -tracked.skipped[direction]
            for part in parts:
                first, last = max(at, 0), min(at + len(part), size)
                if first < last:
                    kept = _equal_bytes(data[first:last], bytes(part)[first - at : last - at])
                    self._patch(part.place.behind(first - at), data[first:last], kept)
                at += len(part)


def _equal_bytes(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(len(one), "big").count(0)


def _telling(data: bytes, of_server: bool) -> tuple[int, int]:
    """Return the number of first bytes that identify the protocol when the others are blanked, and how many of them are PROXY headers."""
    judge = recognise_server if of_server else recognise
    verdict = judge(data, MAX_FRAME) if data else MORE
    if verdict.proxy is not None:
        size, proxy = _telling(data[verdict.proxy.size :], of_server)
        return verdict.proxy.size + size, verdict.proxy.size + proxy
    data, protocol = data[:_HEAD_BYTES], verdict.protocol
    least = _LENGTH if protocol == "unknown" else 0  # what is unknown is shown as a length that is impossible
    sizes = range(min(least, len(data)), len(data))
    found = (size for size in sizes if judge(data[:size].ljust(len(data), bytes((FILL,))), MAX_FRAME).protocol == protocol)
    return next(found, len(data)), 0
