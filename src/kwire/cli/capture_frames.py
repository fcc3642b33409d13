"""Requests of a capture with their responses, in the form of the broker's request log.

The tracker pairs requests and responses (`kwire.protocol.DirectionDetector`); the bytes of both are buffered until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Final

from kwire.capture.impl import series_carry
from kwire.capture.reader import FileFacts, read_piece
from kwire.capture.request_logs.exchange_entries import exchange_entry
from kwire.capture.request_logs.json_entries import BUILT_IN
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.capture.tls.plaintext_sink import PlaintextSink
from kwire.capture.tls.session_keys import SeriesKeys, current_tls_options
from kwire.codec import Codec
from kwire.protocol import DirectionDetector
from kwire.protocol.events import Event, RequestCompleted, VersionsLearned
from kwire.protocol.secrets.frame_blanking import FrameBlanker

__all__ = ["read_exchanges"]

# A direction that no request accounts for (a foreign protocol, a stretch that cannot be read) keeps no more than this.
_KEPT_BYTES: Final = 128 << 20
_LENGTH: Final = 4


class _Stream:
    """Buffer of the latest bytes of one direction, searchable by offset or by first bytes."""

    def __init__(self) -> None:
        self._base = 0
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > 2 * _KEPT_BYTES:
            self._drop(len(self._data) - _KEPT_BYTES)

    def lose(self, count: int) -> None:
        """Drop the buffer, because the bytes before a loss are complete or useless."""
        self._base += len(self._data) + count
        self._data.clear()

    def take(self, offset: int, size: int) -> bytes | None:
        """Return the bytes from `offset` on; None if some are missing."""
        at = offset - self._base
        if at < 0 or size < 0 or at + size > len(self._data):
            return None
        return bytes(memoryview(self._data)[at : at + size])

    def find(self, head: bytes, size: int) -> bytes | None:
        """Return the first `size` bytes that begin with `head`, and drop them and those before."""
        at = self._data.find(head)
        if at < 0 or at + size > len(self._data):
            return None
        found = bytes(memoryview(self._data)[at : at + size])
        self._drop(at + size)
        return found

    def forget(self, offset: int) -> None:
        self._drop(offset - self._base)

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._data[:count]
            self._base += count


class _Tracked:
    def __init__(self, detector: DirectionDetector, blanker: FrameBlanker | None) -> None:
        self.detector = detector
        self.blanker = blanker
        self.streams = (_Stream(), _Stream())
        self.early: list[Event] = []
        self.name: str | None = None
        # Requests end in any order (acks 0 at once); the bytes before the first one that is open are not needed any more.
        self._next = 0
        self._ends: dict[int, int] = {}

    def done(self, event: RequestCompleted, requests: _Stream) -> None:
        self._ends[event.request_index] = event.stream_offset + (event.request_bytes or 0)
        end = None
        while self._next in self._ends:
            end = self._ends.pop(self._next)
            self._next += 1
        if end is not None:
            requests.forget(end)


class _FrameSink(StreamSink):
    def __init__(self, ports: frozenset[int], emit: Callable[[dict[str, Any]], None], codec: Codec, show_secrets: bool) -> None:
        self.ports = ports
        self._show_secrets = show_secrets
        self._group_types: dict[str, str] = {}
        self.codec = codec
        self.emit = emit
        self._highest: dict[str, dict[int, int]] = {}  # versions by api key, by server

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self.ports and connection.a.port not in self.ports and connection.b.port not in self.ports:
            connection.ignored = True
            return
        detector = DirectionDetector(connection.a.port, connection.b.port, ports=self.ports or None)
        blanker = None if self._show_secrets else FrameBlanker(self._group_types, source=self.codec.compiled)
        connection.attachment = tracked = _Tracked(detector, blanker)
        if connection.opened_by is not None:
            self._take(connection, tracked, detector.opened(connection.opened_by, time_ns, packet))

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        tracked.streams[direction].add(data)
        self._take(connection, tracked, tracked.detector.receive(direction, data, time_ns, packet))

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        self._take(connection, tracked, tracked.detector.lost(direction, count, time_ns, packet))
        tracked.streams[direction].lose(count)

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        tracked = connection.attachment
        assert isinstance(tracked, _Tracked)
        self._take(connection, tracked, tracked.detector.closed(direction, reset, time_ns, packet))

    def ended(self, connection: TcpConnection) -> None:
        tracked = connection.attachment
        if isinstance(tracked, _Tracked):
            self._take(connection, tracked, tracked.detector.finish(connection.last_ns))
            connection.attachment = None

    def _take(self, connection: TcpConnection, tracked: _Tracked, events: Iterable[Event]) -> None:
        tracked.early += events
        side = tracked.detector.server_side
        if side is None or not tracked.early:
            return
        if tracked.name is None:
            server, client = (connection.a, connection.b)[:: -1 if side else 1]
            tracked.name = f"{server.address}:{server.port}-{client.address}:{client.port}-{connection.n}"
        requests, responses = tracked.streams[:: 1 if side else -1]
        events, tracked.early = tracked.early, []
        highest = self._highest.setdefault(tracked.name.partition("-")[0], {})
        for event in events:
            if isinstance(event, VersionsLearned):
                highest |= {api_key: high for api_key, (_, high) in event.versions.items()}
            if isinstance(event, RequestCompleted) and event.state != "orphan_response":
                request = requests.take(event.stream_offset + _LENGTH, (event.request_bytes or 0) - _LENGTH)
                self.emit(exchange_entry(event, tracked.name, request, _response(event, responses), highest, tracked.blanker, self.codec))
                tracked.done(event, requests)


def _response(event: RequestCompleted, responses: _Stream) -> bytes | None:
    if event.state != "answered" or event.response_bytes is None or event.correlation_id is None:
        return None
    head = (event.response_bytes - _LENGTH).to_bytes(_LENGTH, "big") + event.correlation_id.to_bytes(4, "big", signed=True)
    found = responses.find(head, event.response_bytes)
    return None if found is None else found[_LENGTH:]


def read_exchanges(
    location: str | BinaryIO,
    ports: Iterable[int],
    emit: Callable[[dict[str, Any]], None],
    codec: Codec = BUILT_IN,
    *,
    show_secrets: bool = False,
) -> FileFacts:
    """Read a capture's requests, each with its response, in the order of completion.

    `codec` reads the frames; the built-in catalog finds requests and responses.
    """
    carry, sink = series_carry(), PlaintextSink(_FrameSink(frozenset(ports), emit, codec, show_secrets), SeriesKeys(current_tls_options()))
    facts = read_piece(location, carry, sink)
    carry.finish(sink)
    return facts
