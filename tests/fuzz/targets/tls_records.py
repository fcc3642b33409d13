"""Records of TLS in one direction: a step has a byte that says what happens and two bytes for a length, then bytes where they arrive."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.capture._native.tls_records import RecordStream as NativeStream

from fuzz.capture_beginnings import capture_beginnings
from kwire.capture.tls.records import RecordStream
from parity.test_tls_records_parity import Both

LOSE, CUT, LATE, GIVE_UP, OTHER_TWIN = range(11, 16)  # of 16; all others are bytes that arrive


def step(kind: int, data: bytes) -> bytes:
    return bytes([kind]) + len(data).to_bytes(2, "big") + data


def seeds() -> Iterator[bytes]:
    record = b"\x17\3\3\0\5hello"
    yield step(0, record)
    yield step(0, record * 3 + b"\x16\3\1\0\2a") + step(0, b"b" + record)
    yield step(0, b"\x15\3\3\0\2\1\x28" * 40)
    yield step(0, b"\x17\3\3\x40\0" * 200) + step(LOSE, b"") + step(0, record * 4)
    for kind in range(LOSE, OTHER_TWIN + 1):
        yield step(0, record[:4]) + bytes([kind, 0, 9]) + step(0, b"\3\0\5hello" + record * 2) + step(0, record)
    # a capture's bytes with their headers of packets between the records: much of it is none
    yield from (step(0, data[200:1800]) + step(LOSE, b"") + step(0, data[1800:3800]) for data in capture_beginnings(3800))


def compare(data: bytes) -> None:
    both, at = Both(), 0
    while at + 3 <= len(data):
        kind, size = data[at] % 16, int.from_bytes(data[at + 1 : at + 3], "big")
        at += 3
        if kind < LOSE:
            both.take(data[at : at + size])
            at += size
        elif kind in (LOSE, CUT):
            both.lose(size + 1, kind == CUT)
        elif kind == LATE:
            for stream in both.streams:
                stream.seeking = True
        elif kind == GIVE_UP:
            for stream in both.streams:
                stream.give_up()
            both.same([])
        else:
            states = [stream.state() for stream in both.streams]
            both.streams = [RecordStream(states[1]), NativeStream(states[0])]
