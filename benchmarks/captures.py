"""A big capture out of the small real one of `examples/`, and its frames already cut out for contenders that read no captures."""

from __future__ import annotations

import gzip
import ipaddress
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import finish_series, read_piece
from kwire.capture.sink import StreamSink

EXAMPLE = Path(__file__).parents[1] / "examples" / "upgrade-fleet.pcap.gz"
PORT = 19092
ETHERNET, IPV4_AT, PROTOCOL_AT, TCP = 1, 14, 9, 6
FILE_HEADER, PACKET_HEADER = struct.Struct("<IHHIIII"), struct.Struct("<IIII")


def _client_address_at(packet: bytes) -> int | None:
    """Where a TCP packet over IPv4 has its client's address."""
    if len(packet) < IPV4_AT + 20 or packet[IPV4_AT] >> 4 != 4 or packet[IPV4_AT + PROTOCOL_AT] != TCP:
        return None
    ports = struct.unpack_from(">HH", packet, IPV4_AT + 4 * (packet[IPV4_AT] & 15))
    return IPV4_AT + 12 if ports[1] == PORT else IPV4_AT + 16


def repeat_example(target: Path, copies: int, first: int = 0) -> int:
    """Write copies of the example one after the other in time, each with a client address of its own, so that no four-tuple comes twice.

    Args:
        target: the file.
        copies: how many.
        first: number of the first one, where a file before this one has those below.

    Returns:
        The size of the file in bytes.
    """
    raw = gzip.decompress(EXAMPLE.read_bytes())
    if FILE_HEADER.unpack_from(raw)[-1] & 0xFFFF != ETHERNET:
        raise ValueError("the example is no longer of link type Ethernet")
    packets = []
    at = FILE_HEADER.size
    while at < len(raw):
        seconds, fraction, size, original = PACKET_HEADER.unpack_from(raw, at)
        at += PACKET_HEADER.size + size
        packets.append((seconds, fraction, original, raw[at - size : at]))
    span = packets[-1][0] - packets[0][0] + 2
    with target.open("wb") as out:
        out.write(raw[: FILE_HEADER.size])
        for copy in range(first, first + copies):
            address = (ipaddress.IPv4Address("10.0.0.1") + copy).packed
            for seconds, fraction, original, packet in packets:
                place = _client_address_at(packet)
                changed = packet if place is None else packet[:place] + address + packet[place + 4 :]
                out.write(PACKET_HEADER.pack(seconds + copy * span, fraction, len(changed), original) + changed)
        return out.tell()


class Exchange(NamedTuple):
    """A request frame and its response frame, without their lengths."""

    api_key: int
    api_version: int
    request: bytes
    response: bytes | None


class _Streams(StreamSink):
    """Keeps the bytes of each direction of each connection."""

    def __init__(self) -> None:
        self.pairs: dict[Any, tuple[bytearray, bytearray]] = defaultdict(lambda: (bytearray(), bytearray()))

    def data(self, connection: Any, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.pairs[id(connection), connection.a.port == PORT][direction].extend(data)


def _frames(stream: bytearray) -> list[bytes]:
    frames = []
    at = 0
    while at + 4 <= len(stream):
        size = int.from_bytes(stream[at : at + 4], "big", signed=True)
        if size < 0 or at + 4 + size > len(stream):
            break
        frames.append(bytes(stream[at + 4 : at + 4 + size]))
        at += 4 + size
    return frames


def exchanges(capture: Path) -> list[Exchange]:
    """The frames of a capture, paired by correlation id."""
    carry, sink = SeriesCarry(), _Streams()
    read_piece(str(capture), carry, sink)
    finish_series(carry, sink)
    found = []
    for (_, server_is_a), streams in sink.pairs.items():
        requests, responses = map(_frames, streams[::-1] if server_is_a else streams)
        answers = {frame[:4]: frame for frame in responses}
        for frame in requests:
            if len(frame) >= 8:
                found.append(Exchange(*struct.unpack_from(">hh", frame), frame, answers.get(frame[4:8])))
    return found
