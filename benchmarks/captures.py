"""Big captures out of small real ones, and their frames already cut out for contenders that read no captures."""

from __future__ import annotations

import gzip
import ipaddress
import lzma
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from kwire.capture.impl import series_carry
from kwire.capture.reader import read_piece
from kwire.capture.sink import StreamSink

EXAMPLE = Path(__file__).parents[1] / "examples" / "upgrade-fleet.pcap.gz"
# Clients of twelve libraries at a broker of Kafka 4.3 (9092) and its controller (9093); what they said on 9095 is encrypted.
FLEET = Path(__file__).with_name("data") / "fleet.pcap.xz"
PORT = 19092
FLEET_PORTS = (9092, 9093)
BROKER_PORTS = {PORT, *FLEET_PORTS}
ETHERNET, IPV4_AT, PROTOCOL_AT, TCP = 1, 14, 9, 6
FILE_HEADER, PACKET_HEADER = struct.Struct("<IHHIIII"), struct.Struct("<IIII")


def _client_address_at(packet: bytes) -> int | None:
    """Where a TCP packet over IPv4 has its client's address."""
    if len(packet) < IPV4_AT + 20 or packet[IPV4_AT] >> 4 != 4 or packet[IPV4_AT + PROTOCOL_AT] != TCP:
        return None
    ports = struct.unpack_from(">HH", packet, IPV4_AT + 4 * (packet[IPV4_AT] & 15))
    return IPV4_AT + 12 if ports[1] in BROKER_PORTS else IPV4_AT + 16


def repeat_capture(target: Path, copies: int, first: int = 0, *, source: Path = EXAMPLE) -> int:
    """Write copies of a capture one after the other in time, each with a client address of its own, so that no four-tuple comes twice.

    Args:
        target: the file.
        copies: how many.
        first: number of the first one, where a file before this one has those below.
        source: `EXAMPLE` or `FLEET`.

    Returns:
        The size of the file in bytes.
    """
    head, packets = _packets_of(source)
    span = packets[-1][0] - packets[0][0] + 2
    with target.open("wb") as out:
        out.write(head)
        for copy in range(first, first + copies):
            address = (ipaddress.IPv4Address("10.0.0.1") + copy).packed
            for seconds, fraction, original, packet in packets:
                place = _client_address_at(packet)
                changed = packet if place is None else packet[:place] + address + packet[place + 4 :]
                out.write(PACKET_HEADER.pack(seconds + copy * span, fraction, len(changed), original) + changed)
        return out.tell()


POD_BYTES = range(3_500, 7_500)


def captures_of_pods(folder: Path, count: int) -> list[Path]:
    """Write captures of pods, 5 KB each on average: a connection of `EXAMPLE` that is about so long, with a client address of its own."""
    head, packets = _packets_of(EXAMPLE)
    connections: dict[bytes, list[tuple[int, int, int, bytes]]] = defaultdict(list)
    for each in packets:
        if _client_address_at(each[3]) is not None:
            ends = sorted((each[3][IPV4_AT + 12 : IPV4_AT + 16] + each[3][IPV4_AT + 20 : IPV4_AT + 22],
                           each[3][IPV4_AT + 16 : IPV4_AT + 20] + each[3][IPV4_AT + 22 : IPV4_AT + 24]))  # fmt: skip
            connections[b"".join(ends)].append(each)
    alike = [found for found in connections.values() if sum(PACKET_HEADER.size + len(each[3]) for each in found) in POD_BYTES]
    paths = [folder / f"pod-{number:05d}.pcap" for number in range(count)]
    for number, path in enumerate(paths):
        address = (ipaddress.IPv4Address("10.0.0.1") + number).packed
        with path.open("wb") as out:
            out.write(head)
            for seconds, fraction, original, packet in alike[number % len(alike)]:
                place = _client_address_at(packet) or 0
                out.write(PACKET_HEADER.pack(seconds, fraction, len(packet), original) + packet[:place] + address + packet[place + 4 :])
    return paths


def _packets_of(source: Path) -> tuple[bytes, list[tuple[int, int, int, bytes]]]:
    """The header of a pcap file, and its packets: seconds, fraction, length on the wire, bytes."""
    raw = (lzma if source.suffix == ".xz" else gzip).decompress(source.read_bytes())
    if FILE_HEADER.unpack_from(raw)[-1] & 0xFFFF != ETHERNET:
        raise ValueError(f"{source.name} is not of link type Ethernet")
    packets = []
    at = FILE_HEADER.size
    while at < len(raw):
        seconds, fraction, size, original = PACKET_HEADER.unpack_from(raw, at)
        at += PACKET_HEADER.size + size
        packets.append((seconds, fraction, original, raw[at - size : at]))
    return raw[: FILE_HEADER.size], packets


def cut_to(source: Path, target: Path, snaplen: int) -> int:
    """Write a capture as `tcpdump -s` would have written it; gives the size of the file in bytes."""
    raw = source.read_bytes()
    at = FILE_HEADER.size
    with target.open("wb") as out:
        out.write(raw[:at])
        while at < len(raw):
            seconds, fraction, size, original = PACKET_HEADER.unpack_from(raw, at)
            start = at + PACKET_HEADER.size
            kept = min(size, snaplen)
            out.write(PACKET_HEADER.pack(seconds, fraction, kept, original) + raw[start : start + kept])
            at = start + size
        return out.tell()


LARGE_VALUE, SEGMENT = 900_000, 1_448


def producing(requests: int, value_bytes: int = LARGE_VALUE) -> Iterator[tuple[int, bytes]]:
    """Produce v3 of one partition, no transaction, acks 1: frames with their lengths, each with its side, 0 for the client's."""
    value = b"\x01" + _varint(value_bytes) + bytes(value_bytes) + b"\0"  # no key, the value, no headers
    record = _varint(len(value) + 3) + b"\0\0\0" + value
    head = struct.pack(">iBihiqqqhii", 0, 2, 0, 0, 0, 0, 0, -1, -1, -1, 1)
    batch = struct.pack(">qi", 0, len(head) + len(record)) + head + record
    for number in range(requests):
        request = struct.pack(">hhi", 0, 3, number) + b"\0\3app\xff\xff\0\1" + struct.pack(">ii", 1000, 1) + b"\0\1t"
        request += struct.pack(">iii", 1, 0, len(batch)) + batch
        response = struct.pack(">ii", number, 1) + b"\0\1t" + struct.pack(">iihqqi", 1, 0, 0, number, -1, 0)
        yield 0, struct.pack(">i", len(request)) + request
        yield 1, struct.pack(">i", len(response)) + response


def large_frames(target: Path, requests: int) -> int:
    """Write one connection that produces a record of 900 KB with each request; gives the size of the file in bytes."""
    return write_connection(target, producing(requests))


def write_connection(target: Path, sent: Iterable[tuple[int, bytes]]) -> int:
    """Write a connection in packets of an Ethernet; gives the size of the file in bytes.

    Args:
        sent: side, 0 for the client's, and bytes.
    """
    with target.open("wb") as out:
        out.write(FILE_HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 262_144, ETHERNET))
        numbers, count = [100, 200], 0

        def packet(side: int, flags: int, data: bytes = b"") -> None:
            nonlocal count
            count += 1
            ends = (40_000, PORT), (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
            ports, hosts = (each if side == 0 else each[::-1] for each in ends)
            tcp = struct.pack(">HHIIBBHHH", *ports, numbers[side] % 2**32, numbers[1 - side] % 2**32, 0x50, flags, 65_535, 0, 0)
            size = 40 + len(data)
            frame = bytes(12) + struct.pack(">HBBHHHBBH", 0x0800, 0x45, 0, size, 1, 0, 64, TCP, 0) + b"".join(hosts) + tcp + data
            seconds, fraction = divmod(1_700_000_000_000_000 + 10 * count, 1_000_000)
            out.write(PACKET_HEADER.pack(seconds, fraction, len(frame), len(frame)) + frame)
            numbers[side] += len(data) + (flags >> 1 & 1)

        packet(0, 0x02)
        packet(1, 0x12)
        packet(0, 0x10)
        for side, data in sent:
            for start in range(0, len(data), SEGMENT):
                packet(side, 0x10, data[start : start + SEGMENT])
        return out.tell()


def _varint(number: int) -> bytes:
    """A zigzag varint of a number that is not negative."""
    number *= 2
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


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
    carry, sink = series_carry(), _Streams()
    read_piece(str(capture), carry, sink)
    carry.finish(sink)
    found = []
    for (_, server_is_a), streams in sink.pairs.items():
        requests, responses = map(_frames, streams[::-1] if server_is_a else streams)
        answers = {frame[:4]: frame for frame in responses}
        for frame in requests:
            if len(frame) >= 8:
                found.append(Exchange(*struct.unpack_from(">hh", frame), frame, answers.get(frame[4:8])))
    return found
