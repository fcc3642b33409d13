"""Capture packets of one client's traffic, without secrets.

Each frame is kept up to the snap length, blanked as by `kwire trim`, and written when complete, in one packet with those that arrived
with it; its rest is marked as cut off.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Iterable

from kwire.capture.exported_packets import MOST_PAYLOAD, ExportedTalk
from kwire.capture.tcp import Endpoint
from kwire.protocol import Connection
from kwire.protocol.events import Direction, Event, FrameSeen
from kwire.protocol.impl import frame_blanker
from kwire.protocol.relay import Buffer
from kwire.proxy.frame_beginnings import LENGTH, FrameBeginnings
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile

__all__ = ["TappedConnection", "endpoint_of"]

log = logging.getLogger("kwire.proxy")

_CLIENT, _SERVER = 0, 1


class TappedConnection:
    """Tap of one connection; `snaplen` counts bytes of a frame without its length, `time_ns` is since 1970 UTC."""

    def __init__(self, file: TapFile, peer: Peer, local: tuple[str, int], snaplen: int, time_ns: int) -> None:
        self._file = file
        self._talk: ExportedTalk | None = ExportedTalk(endpoint_of((peer.address, peer.port)), endpoint_of(local))
        self._connection = Connection(frames=True, bodies=())
        self._blanker = frame_blanker()()
        self._streams = (FrameBeginnings(LENGTH + snaplen), FrameBeginnings(LENGTH + snaplen))
        self._written = [0, 0]  # offset of the next byte that the capture has no packet for
        file.offer(self._talk.opened(_CLIENT, time_ns))

    def from_client(self, data: Buffer, time_ns: int) -> None:
        self._take(_CLIENT, data, time_ns)

    def to_client(self, pieces: Iterable[Buffer], time_ns: int) -> None:
        for piece in pieces:
            self._take(_SERVER, piece, time_ns)

    def missed(self, direction: Direction, count: int, time_ns: int) -> None:
        talk, side = self._talk, _CLIENT if direction == "request" else _SERVER
        if talk is None:
            return
        try:
            made = self._packets(talk, side, b"", self._connection.lost(direction, count, time_ns), time_ns)
            made += talk.cut(side, self._streams[side].at - self._written[side], time_ns) + talk.lost(side, count, time_ns)
            self._streams[side].missed(count)
            self._written[side] = self._streams[side].at
            self._file.offer(made)
        except Exception:  # any fault of the tracker or of blanking, as in `_take`: traffic must not stop for a copy of it
            log.exception("the tap stops looking at a connection")
            self._talk = None

    def closed(self, time_ns: int) -> None:
        if self._talk is not None:
            self._file.offer(self._talk.closed(_CLIENT, time_ns) + self._talk.closed(_SERVER, time_ns))
            self._talk = None

    def _take(self, direction: int, data: Buffer, time_ns: int) -> None:
        if self._talk is None:
            return
        try:
            self._receive(self._talk, direction, bytes(data), time_ns)
        except Exception:
            # Any fault of the tracker or of blanking: traffic must not stop because a copy of it cannot be written. It is logged whole.
            log.exception("the tap stops looking at a connection")
            self._talk = None

    def _receive(self, talk: ExportedTalk, direction: int, data: bytes, time_ns: int) -> None:
        take = self._connection.receive_request_bytes if direction == _CLIENT else self._connection.receive_response_bytes
        made = self._packets(talk, direction, data, take(data, time_ns), time_ns)
        self._streams[direction].came(data)
        if made:
            self._file.offer(made)

    def _packets(self, talk: ExportedTalk, side: int, data: bytes, events: Iterable[Event], time_ns: int) -> bytes:
        """Return the packets of frames. Whole frames of one direction share a packet; `data` has the latest bytes, from `side`. After a
        gap, bytes of one side reveal frames of the other."""
        made, shared, before = b"", b"", side
        for event in events:
            if not isinstance(event, FrameSeen):
                continue
            direction = _CLIENT if event.direction == "request" else _SERVER
            skipped, kept, cut = self._frame(direction, data if direction == side else b"", event)
            if not skipped and not kept and not cut:
                continue
            if skipped or direction != before or len(shared) + len(kept) > MOST_PAYLOAD:
                made, shared, before = made + talk.data(before, shared, time_ns), b"", direction
            made, shared = made + talk.cut(direction, skipped, time_ns), shared + kept
            if cut:
                made, shared = made + talk.data(direction, shared, time_ns) + talk.cut(direction, cut, time_ns), b""
        return made + talk.data(before, shared, time_ns)

    def _frame(self, direction: int, data: bytes, event: FrameSeen) -> tuple[int, bytes, int]:
        """Return the number of bytes before a frame that were not understood, its blanked beginning, and the number of its other bytes."""
        kept, end = self._streams[direction].take(event, data)
        written, self._written[direction] = self._written[direction], max(end, self._written[direction])
        if event.stream_offset < written:  # bytes of it were missed
            return 0, b"", max(end - written, 0)
        blanked = kept[:LENGTH] + self._blanked(event, kept[LENGTH:]) if len(kept) >= LENGTH else b""
        return event.stream_offset - written, blanked, end - event.stream_offset - len(blanked)

    def _blanked(self, event: FrameSeen, frame: bytes) -> bytes:
        return b"" if event.kind == "length" else self._blanker.seen(event, frame)


def endpoint_of(end: tuple[str, int]) -> Endpoint:
    """Return an address and port as in packets: without an IPv6 zone, and as IPv4 if it is mapped."""
    found = ipaddress.ip_address(end[0].partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return Endpoint(str(mapped or found), end[1])
