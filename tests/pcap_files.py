"""Classic pcap files as their packet records, to be cut and changed. A record is a header of 16 bytes and what was captured of a packet."""

from __future__ import annotations

import random
import struct
from itertools import pairwise

HEADER = 24  # bytes of a file before its first record


def order_of(data: bytes) -> str:
    """The byte order of a file, as `struct` has it: the magic numbers of microseconds and nanoseconds, little-endian."""
    return "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"


def starts_of(data: bytes) -> list[int]:
    size, found, at = struct.Struct(f"{order_of(data)}I"), [], HEADER
    while at < len(data):
        found.append(at)
        at += 16 + size.unpack_from(data, at + 8)[0]
    return found


def records_of(data: bytes) -> list[bytes]:
    return [data[start:end] for start, end in pairwise([*starts_of(data), len(data)])]


def pieces_of(data: bytes, count: int) -> list[bytes]:
    """A file cut as a rotating capture cuts it: files of equally many packets, the last one of fewer."""
    records = records_of(data)
    step = -(-len(records) // count)
    return [data[:HEADER] + b"".join(records[first : first + step]) for first in range(0, len(records), step)]


def random_pieces_of(data: bytes, count: int, seed: int) -> list[bytes]:
    """A file cut at random packets into files with the same header."""
    borders = [HEADER, *sorted(random.Random(seed).sample(starts_of(data)[1:], count - 1)), len(data)]
    return [data[:HEADER] + data[start:end] for start, end in pairwise(borders)]


def cut_to(data: bytes, snaplen: int) -> bytes:
    """A file as `tcpdump -s` would have written it."""
    size = struct.Struct(f"{order_of(data)}I")
    kept = (record[:8] + size.pack(min(len(record) - 16, snaplen)) + record[12 : 16 + snaplen] for record in records_of(data))
    return data[:HEADER] + b"".join(kept)


def later(data: bytes, seconds: int) -> bytes:
    time = struct.Struct(f"{order_of(data)}I")
    return data[:HEADER] + b"".join(time.pack(time.unpack_from(record)[0] + seconds) + record[4:] for record in records_of(data))
