"""The twins of blanking leave the same bytes of every frame: whole, cut and changed, with secrets and record batches of every kind."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from kafka_bytes import framed
from kwire.codec.impl import load_twin
from kwire.protocol.events import FrameSeen
from kwire.protocol.secrets.frame_blanking import FrameBlanker, frame_plan
from kwire.schema import catalog

Vectors = Callable[[str], list[dict[str, Any]]]
Share = Callable[..., list[Any]]
Native: Final = load_twin("protocol", "frame_blanking", "native").FrameBlanker
# What takes more than the frame: the mechanism of SASL, the type of a group, the frame inside an Envelope.
OF_PYTHON: Final = {
    ("request", "JoinGroup"), ("response", "JoinGroup"), ("request", "SyncGroup"), ("response", "SyncGroup"),
    ("response", "DescribeGroups"), ("request", "SaslAuthenticate"), ("response", "SaslAuthenticate"),
    ("request", "Envelope"), ("response", "Envelope"),
}  # fmt: skip


def changed(frame: bytes, chance: random.Random) -> Iterator[bytes]:
    yield frame
    yield frame + b"secret"
    for _ in range(3):
        yield frame[: chance.randrange(len(frame) + 1)]
    for _ in range(6 if frame else 0):
        at = chance.randrange(len(frame))
        yield frame[:at] + bytes([chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))]) + frame[at + 1 :]
    at = chance.randrange(len(frame) + 1)
    yield frame[:at] + b"\xff\xff\xff\xff\x0f" + frame[at:]


def compare(kind: str, frame: bytes, key: int | None, version: int | None, **more: Any) -> bytes:
    given = bytes(frame)
    pure, native = FrameBlanker(), Native()
    if kind == "request":
        expected, found = pure.request(frame, **more), native.request(frame, **more)
    else:
        expected, found = pure.response(frame, key, version, **more), native.response(frame, key, version, **more)
    assert found == expected, (kind, key, version, frame.hex(), more)
    assert frame == given, "what is blanked is a copy"
    assert len(found) == len(frame)
    return expected


def test_frames_of_kafka(vectors: Vectors, share: Share) -> None:
    chance, blanked = random.Random(7), set()
    for vector in share(vectors("frames-sample"), 2):
        key, version = vector["api_key"], vector["version"]
        for frame in changed(bytes.fromhex(vector["hex"])[4:], chance):
            for whole in (True, False):
                if compare(vector["kind"], frame, key, version, whole=whole) != frame:
                    blanked.add(vector["message"])
    assert blanked >= {
        "AlterUserScramCredentialsRequest", "AlterConfigsRequest", "IncrementalAlterConfigsRequest", "DescribeConfigsResponse",
        "CreateDelegationTokenResponse", "DescribeDelegationTokenResponse", "RenewDelegationTokenRequest", "OffsetCommitRequest",
        "SaslAuthenticateRequest", "ProduceRequest", "FetchResponse", "CreateTopicsRequest",
    }  # fmt: skip


def test_which_frames_are_of_python() -> None:
    """All others are blanked natively, in every version: a message that is added here costs ten times as much."""
    found = set()
    for key in catalog().api_keys:
        for direction, message in (("request", catalog().request(key)), ("response", catalog().response(key))):
            assert message is not None
            plans = [frame_plan(direction, key, version) is None for version in message.valid_versions]  # type: ignore[arg-type]
            assert len(set(plans)) <= 1
            if plans and plans[0]:
                found.add((direction, catalog().api_name(key)))
    assert found == OF_PYTHON
    assert frame_plan("request", 3, 99) is None
    assert frame_plan("request", 9999, 0) is None


def produce(records: bytes, *, after: bytes = b"") -> bytes:
    """Produce v3: header v1 of client `c`, no transactional id, acks 1, one topic `t` with partition 0."""
    return bytes.fromhex("0000 0003 00000007 0001 63 ffff 0001 00000064 00000001 0001 74 00000001 00000000") + framed(records) + after


def message(value: bytes, magic: int, codec: int = 0, key: bytes = b"\xff\xff\xff\xff") -> bytes:
    body = bytes((magic, codec)) + (bytes(8) if magic else b"") + key + framed(value)
    return bytes(8) + framed(zlib.crc32(body).to_bytes(4, "big") + body)


def test_record_batches(vectors: Vectors, share: Share) -> None:
    chance = random.Random(11)
    batches = [bytes.fromhex(vector["hex"]) for vector in share(vectors("records-sample"), 2)]
    batches += [message(b"secret" * 5, magic, codec) for magic in (0, 1) for codec in (0, 1, 4, 7)]
    batches += [message(gzip.compress(message(b"secret", 1)), 1, 1), message(b"secret", 1, 0, framed(b"a key"))]
    batches += [one + other for one, other in zip(batches, reversed(batches), strict=True)]
    for batch in batches:
        for data in changed(batch, chance):
            compare("request", produce(data), 0, 3)
        assert b"cret" not in compare("request", produce(batch), 0, 3)


@pytest.mark.parametrize("codec", range(8))
def test_compressed_payloads(codec: int) -> None:
    """A batch of magic 2 whose header says a codec, with payloads of every short length and beginning."""
    chance = random.Random(codec)
    beginnings = (b"", b"\x82SNAPPY\x00", b"\x04\x22\x4d\x18\x68", b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08", b"\xff\xff\xff\xff\xff\xff")
    for beginning in beginnings:
        for size in range(0, 40, 3):
            for flags in (0, 0x08, 0x20, 0x43, 0x82, 0xE1, 0xFF):
                payload = beginning + bytes((flags,)) + chance.randbytes(size)
                head = bytes(8) + (49 + len(payload)).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(5) + bytes((codec,)) + bytes(34)
                batch = head + b"\0\0\0\1" + payload
                assert len(batch) == 61 + len(payload)
                compare("request", produce(batch), 0, 3)


def test_records_by_hand() -> None:
    """A record of a key `k`, a value `secret` and a header `h: v`, and what may be wrong with it."""
    record = bytes.fromhex("00 00 00 02 6b 0c") + b"secret" + bytes.fromhex("02 02 68 02 76")
    head = bytes(8) + b"%b" + bytes(4) + b"\2" + bytes(4) + bytes(2) + bytes(34) + b"\0\0\0\1"
    chance = random.Random(3)
    for attributes in (0, 0x20):  # plain, control
        for broken in [record, b"", *(each for _ in range(40) for each in changed(record, chance))]:
            for length in (2 * len(broken), 2 * len(broken) + 2, 1):
                payload = bytes((length & 0x7F,)) + broken
                batch = bytearray(head % (49 + len(payload)).to_bytes(4, "big") + payload)
                batch[22] = attributes
                compare("request", produce(bytes(batch)), 0, 3)


def test_frames_that_are_hardly_any() -> None:
    unknown = b"\x7f\xff\0\0\0\0\0\1\0\1c", b"\xff\xff\0\0\0\0\0\1", b"\0\3\x7f\xff\0\0\0\1"
    for frame in (b"", b"a", b"\0\3\0\1", b"\0\3\0\1\0\0\0", *unknown):
        compare("request", frame, None, None)
        for key, version in ((None, None), (3, 1), (3, 99), (3, -1), (9999, 0), (-1, 0), (18, 4), (18, 99)):
            compare("response", frame, key, version)
    # ApiVersions v4 refused: error 35, in version 0 form
    compare("response", bytes.fromhex("00000007 0023 00000001 0012 0000 0004 7365"), 18, 4)


def group(api_key: int, version: int, body: bytes) -> bytes:
    return api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes.fromhex("00000007 0001 63") + body


def test_what_requests_leave_for_their_responses() -> None:
    """A JoinGroup for a group of connectors, a response of another api with its index, then a SyncGroup of the group."""
    members = bytes.fromhex("00000001 0001 72") + framed(b"mine")
    join = group(11, 2, bytes.fromhex("0001 67 00000009 00000009 0000 0007") + b"connect" + members)
    sync = group(14, 1, bytes.fromhex("0001 67 00000001 0001 6d 00000000"))
    assigned = bytes(4) + bytes(4) + bytes(2) + framed(b"\0\1" + b"assigned")
    heartbeat = bytes(10)
    for between in (None, 5, 6):
        found = []
        for kind in (FrameBlanker, Native):
            blanker = kind()
            found.append([
                blanker.request(join, index=4), blanker.request(sync, index=5),
                None if between is None else blanker.response(heartbeat, 12, 0, index=between),
                blanker.response(assigned, 14, 1, index=5),
            ])  # fmt: skip
        assert found[0] == found[1]


class Hosts:
    def host(self, text: bytes) -> bytes:
        return b"h" * len(text)

    def packed(self, address: bytes) -> bytes:
        return bytes(len(address))


def test_hosts_are_replaced_by_either(vectors: Vectors) -> None:
    changes = 0
    for vector in vectors("frames-sample"):
        frame = bytes.fromhex(vector["hex"])[4:]
        if vector["kind"] == "response":
            given = (frame, vector["api_key"], vector["version"])
            expected = FrameBlanker(None, Hosts()).response(*given)
            assert Native(None, Hosts()).response(*given) == expected
            changes += expected != FrameBlanker().response(*given)
    assert changes > 10


def test_frames_that_a_tracker_saw() -> None:
    token = b"\0alice\0secret"
    request = bytes.fromhex("0024 0001 00000001 0001 63") + framed(token)
    metadata = bytes.fromhex("0003 0001 00000001 0001 63 00000000")
    for event, frame in (
        (FrameSeen("request", "token", 0, len(token), sasl_mechanism="PLAIN"), token),
        (FrameSeen("request", "token", 0, 99, sasl_mechanism="PLAIN"), token),
        (FrameSeen("response", "token", 0, len(token), sasl_mechanism="SCRAM-SHA-256"), token),
        (FrameSeen("request", "request", 0, len(request), 1, 36, 1, "PLAIN"), request),
        (FrameSeen("request", "request", 0, len(metadata), 1, 3, 1), metadata),
        (FrameSeen("request", "request", 0, 99, 1, 3, 1), metadata),
        (FrameSeen("response", "response", 0, 10, None, None, None), bytes(10)),
        (FrameSeen("response", "response", 0, 10, 1, 12, 0), bytes(10)),
    ):
        assert Native().seen(event, frame) == FrameBlanker().seen(event, frame), event
