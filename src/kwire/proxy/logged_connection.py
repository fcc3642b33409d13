"""Request log of one client's traffic, in the form of a broker's JSON request log (KIP-673), without secrets and record contents.

A line is written when a request gets its response, for other requests at the end of the connection.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from kwire.capture.request_logs.exchange_entries import exchange_line
from kwire.protocol import Connection
from kwire.protocol.events import Direction, Event, FrameSeen, RequestCompleted, VersionsLearned
from kwire.protocol.impl import frame_blanker
from kwire.protocol.relay import Buffer
from kwire.proxy.frame_beginnings import LENGTH, FrameBeginnings
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile

__all__ = ["LoggedConnection"]

log = logging.getLogger("kwire.proxy")

# Requests that wait for their responses keep no more than this, bytes: bodies beyond are null.
_MOST_WAITING: Final = 4 << 20
_DIRECTIONS: Final[tuple[Direction, ...]] = ("request", "response")


class LoggedConnection:
    """Logger of one connection; `number` distinguishes connections between the same endpoints, and the body of a frame longer than
    `snaplen` is null."""

    def __init__(self, file: TapFile, peer: Peer, local: tuple[str, int], number: int, snaplen: int) -> None:
        self._file = file
        self._name = f"{_named(local)}-{_named((peer.address, peer.port))}-{number}"
        self._connection: Connection | None = Connection(frames=True, bodies=())
        self._streams: dict[Direction, FrameBeginnings] = {
            "request": FrameBeginnings(LENGTH + snaplen),
            "response": FrameBeginnings(LENGTH + snaplen),
        }
        self._blanker = frame_blanker()()
        self._waiting: dict[int, bytes] = {}  # requests by their index
        self._waiting_bytes = 0
        self._answers: dict[int, bytes] = {}
        self._highest: dict[int, int] = {}

    def from_client(self, data: Buffer, time_ns: int) -> None:
        self._take("request", data, time_ns)

    def to_client(self, pieces: Iterable[Buffer], time_ns: int) -> None:
        for piece in pieces:
            self._take("response", piece, time_ns)

    def missed(self, direction: Direction, count: int, time_ns: int) -> None:
        connection = self._connection
        if connection is not None:
            self._deal(connection.lost, direction, b"", direction, count, time_ns)
            self._streams[direction].missed(count)

    def closed(self, time_ns: int) -> None:
        connection = self._connection
        if connection is not None:
            for direction in _DIRECTIONS:
                self._deal(connection.closed, direction, b"", direction, False, time_ns)
        self._connection = None

    def _take(self, direction: Direction, data: Buffer, time_ns: int) -> None:
        connection = self._connection
        if connection is not None:
            data = bytes(data)
            self._deal(
                connection.receive_request_bytes if direction == "request" else connection.receive_response_bytes,
                direction, data, data, time_ns,
            )  # fmt: skip

    def _deal(self, happened: Callable[..., Iterable[Event]], direction: Direction, data: bytes, *given: Any) -> None:
        try:
            self._events(happened(*given), direction, data)
            self._streams[direction].came(data)
        except Exception:
            # As in `TappedConnection`: traffic must not stop because a line of it cannot be written.
            log.exception("the request log stops looking at a connection")
            self._connection = None

    def _events(self, events: Iterable[Event], direction: Direction, data: bytes) -> None:
        for event in events:
            if isinstance(event, FrameSeen):
                self._seen(event, direction, data)
            elif isinstance(event, VersionsLearned):
                self._highest |= {api_key: high for api_key, (_, high) in event.versions.items()}
            elif isinstance(event, RequestCompleted) and event.state != "orphan_response":
                self._completed(event)

    def _seen(self, event: FrameSeen, side: Direction, data: bytes) -> None:
        """Process a frame; `data` has the latest bytes, from `side`. After a gap, bytes of one side reveal frames of the other."""
        direction = event.direction
        kept, _ = self._streams[direction].take(event, data if direction == side else b"")
        if event.request_index is None or event.kind != direction or len(kept) < LENGTH + event.length:
            return
        if direction == "response":
            self._answers = {event.request_index: kept[LENGTH:]}
        elif self._waiting_bytes + len(kept) <= _MOST_WAITING:
            self._waiting[event.request_index] = kept[LENGTH:]
            self._waiting_bytes += len(kept)

    def _completed(self, event: RequestCompleted) -> None:
        request = self._waiting.pop(event.request_index, None)
        if request is not None:
            self._waiting_bytes -= LENGTH + len(request)
        response = self._answers.pop(event.request_index, None) if event.state == "answered" else None
        self._file.offer(exchange_line(event, self._name, request, response, self._highest, self._blanker))


def _named(end: tuple[str, int]) -> str:
    address, port = end
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
