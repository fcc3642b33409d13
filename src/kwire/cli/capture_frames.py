"""The requests of a capture with their bodies and those of their responses, in the form of the broker's request log.

Which request belongs to which response is what the tracker says (`kwire.protocol.DirectionDetector`); the bytes of both are kept here until
then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Any, BinaryIO, Final

from kwire.capture.impl import series_carry
from kwire.capture.reader import FileFacts, finish_series, read_piece
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.capture.tls.plaintext_sink import PlaintextSink
from kwire.capture.tls.session_keys import SeriesKeys, current_tls_options
from kwire.cli.request_log import BUILT_IN, carried_by, error_entry, in_names_of, request_entry, response_entry
from kwire.codec import Codec
from kwire.errors import WireError
from kwire.protocol import DirectionDetector
from kwire.protocol.events import Event, RequestCompleted, VersionsLearned

__all__ = ["read_exchanges"]

# A direction that no request accounts for (a foreign protocol, a stretch that cannot be read) keeps no more than this.
_KEPT_BYTES: Final = 128 << 20
_API_VERSIONS: Final = 18


class _Stream:
    """The latest bytes of one direction, found again by their offset or by what they begin with."""

    def __init__(self) -> None:
        self._base = 0
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > 2 * _KEPT_BYTES:
            self._drop(len(self._data) - _KEPT_BYTES)

    def lose(self, count: int) -> None:
        """What was before a loss is whole or useless by now: requests and responses across it are told apart by the tracker alone."""
        self._base += len(self._data) + count
        self._data.clear()

    def take(self, offset: int, size: int) -> bytes | None:
        """The bytes from `offset` on; None when they are not all there."""
        at = offset - self._base
        if at < 0 or size < 0 or at + size > len(self._data):
            return None
        return bytes(memoryview(self._data)[at : at + size])

    def find(self, head: bytes, size: int) -> bytes | None:
        """The first `size` bytes that begin with `head`; they and what is before them are not needed any more."""
        at = self._data.find(head)
        if at < 0 or at + size > len(self._data):
            return None
        found = bytes(memoryview(self._data)[at : at + size])
        self._drop(at + size)
        return found

    def forget(self, offset: int) -> None:
        """What is before `offset` is not needed any more."""
        self._drop(offset - self._base)

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._data[:count]
            self._base += count


class _Tracked:
    def __init__(self, detector: DirectionDetector) -> None:
        self.detector = detector
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
    """Hears the streams of a capture and makes entries."""

    def __init__(self, ports: frozenset[int], emit: Callable[[dict[str, Any]], None], codec: Codec) -> None:
        self.ports = ports
        self.codec = codec
        self.emit = emit
        self._highest: dict[str, dict[int, int]] = {}  # versions by api key, by server

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self.ports and connection.a.port not in self.ports and connection.b.port not in self.ports:
            connection.ignored = True
            return
        detector = DirectionDetector(connection.a.port, connection.b.port, ports=self.ports or None)
        connection.attachment = tracked = _Tracked(detector)
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
                self.emit(_entry(self.codec, event, tracked.name, requests, responses, highest))
                tracked.done(event, requests)


def _entry(
    codec: Codec, event: RequestCompleted, connection: str, requests: _Stream, responses: _Stream, highest: dict[int, int]
) -> dict[str, Any]:
    size = event.request_bytes or 0
    frame = requests.take(event.stream_offset + 4, size - 4)
    entry: dict[str, Any]
    carried = None
    if frame is None:
        entry = {
            "requestHeader": _known_header(event),
            "request": None,
            "error": {"code": "TRUNCATED", "message": "bytes of the request are lost"},
        }
    else:
        try:
            request = codec.decode_request(frame, strict=False)
            entry, carried = request_entry(request, codec), carried_by(request, codec)
        except WireError as error:
            entry = {"requestHeader": _known_header(event), "request": None, "error": error_entry(error)}
    if entry["request"] is not None and event.api_key is not None:
        entry["request"] = in_names_of(highest, entry["request"], event.api_key)
    entry["response"] = None
    if event.state == "answered" and event.response_bytes is not None and event.correlation_id is not None:
        head = (event.response_bytes - 4).to_bytes(4, "big") + event.correlation_id.to_bytes(4, "big", signed=True)
        answer = responses.find(head, event.response_bytes)
        if answer is not None and event.api_key is not None and event.api_version is not None:
            _add_response(codec, entry, answer[4:], event.api_key, event.api_version, carried)
    entry |= {
        "connection": connection,
        "time": _time(event.request_time),
        "totalTimeMs": None if event.latency_us is None else event.latency_us / 1000,
        "principal": event.principal or "User:ANONYMOUS",
        "clientInformation": {"softwareName": event.software_name, "softwareVersion": event.software_version},
        "state": event.state,
    }
    return entry


def _add_response(
    codec: Codec, entry: dict[str, Any], frame: bytes, api_key: int, api_version: int, carried: tuple[int, int] | None
) -> None:
    try:
        response = codec.decode_response(frame, api_key, api_version, strict=False)
    except WireError as error:
        entry.setdefault("error", error_entry(error))
        return
    answer = response_entry(response, carried, codec)
    entry["response"] = answer["response"]
    if "error" in answer:
        entry.setdefault("error", answer["error"])
    if api_key == _API_VERSIONS and response.api_version == 0 < api_version:
        # a broker that does not know the version reads, and logs, the request as one of version 0, which has no fields (KIP-511)
        entry["request"] = {}


def _known_header(event: RequestCompleted) -> dict[str, Any]:
    return {
        "requestApiKey": event.api_key,
        "requestApiVersion": event.api_version,
        "correlationId": event.correlation_id,
        "clientId": event.client_id,
    }


def _time(time_ns: int | None) -> str | None:
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}Z"


def read_exchanges(
    location: str | BinaryIO, ports: Iterable[int], emit: Callable[[dict[str, Any]], None], codec: Codec = BUILT_IN
) -> FileFacts:
    """Read a capture's requests, each with its response, in the order in which their outcome was known.

    Args:
        location: path, URI or binary stream of a capture.
        ports: TCP ports where brokers listen; empty to find them out.
        emit: takes one entry.
        codec: reads the frames; which are requests and responses, and of whom, the built-in catalog says.

    Raises:
        InputError: there is no such file, or it is no capture.
    """
    carry, sink = series_carry(), PlaintextSink(_FrameSink(frozenset(ports), emit, codec), SeriesKeys(current_tls_options()))
    facts = read_piece(location, carry, sink)
    finish_series(carry, sink)
    return facts
