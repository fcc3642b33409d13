"""Messages by themselves: two bytes for message and version, then the bytes to decode; what can be decoded is encoded again."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache

from kwire.errors import WireError
from parity.test_codec_parity import outcome
from parity.test_encode_parity import decoded, same
from twin_codecs import codec_of, vectors_of


def code_of(name: str, version: int) -> int:
    """A hash, so that an input keeps its message when Kafka adds others."""
    return zlib.crc32(f"{name} {version}".encode()) & 0xFFFF


@cache
def messages() -> dict[int, tuple[str, int]]:
    return {code_of(case["message"], case["version"]): (case["message"], case["version"]) for case in vectors_of("messages-sample")}


def seeds() -> Iterator[bytes]:
    for case in vectors_of("messages-sample"):
        if len(case["hex"]) <= 4000:
            yield code_of(case["message"], case["version"]).to_bytes(2, "big") + bytes.fromhex(case["hex"])


def message_of(data: bytes) -> tuple[str, int]:
    code = int.from_bytes(data[:2], "big")
    known = messages()
    return known.get(code) or list(known.values())[code % len(known)]


def compare(data: bytes) -> None:
    name, version = message_of(data)
    native, pure = codec_of("native"), codec_of("pure")
    ours, theirs = (outcome(codec, name, version, data[2:]) for codec in (native, pure))
    assert ours == theirs, (name, version)
    try:
        messages_of_both = decoded(native, pure, name, data[2:], version)
    except WireError:
        return
    for other in {version, max(version - 1, 0)}:
        ours, is_same, theirs = same(native, pure, messages_of_both, other)
        assert is_same, (name, version, other, ours, theirs)
