"""Walks over the fields of a message: two bytes for message and version and one for the way to walk, then the bytes of the message."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.targets import bodies
from parity.test_field_spans_parity import walkers


def seeds() -> Iterator[bytes]:
    for number, data in enumerate(bodies.seeds()):
        yield data[:2] + bytes([number % 256]) + data[2:]


def compare(data: bytes) -> None:
    if len(data) < 3:
        return
    pure, native = walkers(*bodies.message_of(data))
    way, message = data[2], data[3:]
    offset = min((way >> 1) % 5, len(message))
    expected = pure.walk(message, offset, whole=bool(way & 1))
    assert native.walk(message, offset, whole=bool(way & 1)) == expected
    assert offset <= expected.end <= len(message)
