"""The walk over fields: whole messages of Kafka's, what it tells of them, and messages that are cut or broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from kwire.codec import decode, to_json
from kwire.codec.classes import CompiledCatalog, compiled
from kwire.codec.field_spans import UNKNOWN_TAG, FieldWalker
from kwire.errors import Fault, WireError
from kwire.schema import catalog

Vectors = Callable[[str], list[dict[str, Any]]]


@cache
def walker_of(name: str, version: int) -> FieldWalker:
    return FieldWalker(compiled(), name, version, lambda _path: True)


def spans_of(name: str, version: int, data: bytes, *, whole: bool = True) -> tuple[list[tuple[tuple[str, ...], bytes]], int, Fault | None]:
    reading = walker_of(name, version).walk(data, 0, whole=whole)
    return [(path, data[begin:stop]) for path, begin, stop in reading.spans], reading.end, reading.fault


def texts_in(value: Any) -> list[bytes]:
    """Texts and bytes of a decoded message; Kafka's JSON has bytes in base64, so they are taken from the object."""
    if isinstance(value, str):
        return [value.encode()]
    if type(value) is bytes:
        return [value]
    if isinstance(value, (list, tuple)):
        return [text for each in value for text in texts_in(each)]
    layout = getattr(type(value), "layout", None)
    if layout is None:
        return []
    own = [text for slot in layout.slots for text in texts_in(getattr(value, slot.attribute))]
    return own + [data for _, data in value.unknown_tagged_fields]


def test_every_text_of_kafkas_messages_is_told(vectors: Vectors, share: Callable[..., list[dict[str, Any]]]) -> None:
    checked = 0
    for case in share(vectors("messages-sample"), 5):
        data = bytes.fromhex(case["hex"])
        name, version = case["message"], case["version"]
        found, end, fault = spans_of(name, version, data)
        assert (end, fault) == (len(data), None), (name, version)
        message = decode(name, data, version)
        held = sorted(text for text in texts_in(message) if text)
        told = sorted(text for _, text in found if text)
        # a field that the version lacks has a default, which no byte says
        assert set(told) <= set(held) | {b""}, (name, version)
        assert len(told) <= len(held), (name, version)
        checked += len(told)
    assert checked > 2000 / 5


def test_a_path_is_that_of_the_field(vectors: Vectors) -> None:
    case = next(
        case for case in vectors("messages-sample") if (case["message"], case["version"], case["case"]) == ("MetadataResponse", 12, "full")
    )
    data = bytes.fromhex(case["hex"])
    found, _, _ = spans_of("MetadataResponse", 12, data)
    hosts = [text.decode() for path, text in found if path == ("brokers", "host")]
    topics = [text.decode() for path, text in found if path == ("topics", "name")]
    written = to_json(decode("MetadataResponse", data, 12), 12)
    assert hosts == [each["host"] for each in written["brokers"]]
    assert topics == [each["name"] for each in written["topics"]]


def test_fields_come_in_the_order_of_the_bytes() -> None:
    # JoinGroupRequest v0: group, timeout, member, protocol type, one protocol: name and metadata
    def text(value: bytes) -> bytes:
        return len(value).to_bytes(2, "big") + value

    data = text(b"g") + bytes(4) + text(b"m") + text(b"consumer") + (1).to_bytes(4, "big") + text(b"range") + (2).to_bytes(4, "big") + b"xy"
    assert spans_of("JoinGroupRequest", 0, data)[0] == [
        (("group_id",), b"g"), (("member_id",), b"m"), (("protocol_type",), b"consumer"), (("protocols", "name"), b"range"),
        (("protocols", "metadata"), b"xy"),
    ]  # fmt: skip


def test_only_what_is_wanted_is_told() -> None:
    data = bytes.fromhex("0005") + b"PLAIN"
    assert FieldWalker(compiled(), "SaslHandshakeRequest", 0, lambda _path: False).walk(data, 0) == (7, None, [])
    assert FieldWalker(compiled(), "SaslHandshakeRequest", 0, lambda _path: True).walk(data, 0) == (7, None, [(("mechanism",), 2, 7)])


def fault_of(name: str, version: int, data: bytes) -> Fault | None:
    try:
        decode(name, data, version)
    except WireError as error:
        return error.code
    return None


def test_cut_messages_end_where_the_decoder_says(vectors: Vectors) -> None:
    checked = 0
    for case in vectors("messages-sample")[::61]:
        data = bytes.fromhex(case["hex"])
        name, version = case["message"], case["version"]
        for size in range(0, len(data), 1 + len(data) // 24):
            cut = data[:size]
            found, end, fault = spans_of(name, version, cut)
            assert end <= size
            expected = fault_of(name, version, cut)
            if expected is not Fault.TRAILING_BYTES:
                assert fault == expected, (name, version, size)
                checked += 1
            # what is there of a value that is cut is never told
            assert all(text in data for _, text in found)
            _, end_of_prefix, _ = spans_of(name, version, cut, whole=False)
            assert end_of_prefix <= size
    assert checked > 200


def test_unknown_tags_are_told_and_refused_ones_are_faults(vectors: Vectors) -> None:
    # ApiVersionsRequest v3: two names, and tag 9 of three bytes
    data = bytes.fromhex("0261 0262 01 09 03") + b"abc"
    found, end, fault = spans_of("ApiVersionsRequest", 3, data)
    assert (end, fault) == (len(data), None)
    assert found[-1] == ((UNKNOWN_TAG,), b"abc")
    refused = 0
    for case in vectors("refused-tags"):
        _, _, fault = spans_of(case["message"], case["version"], bytes.fromhex(case["hex"]))
        assert fault is Fault.BAD_TAG
        refused += 1
    assert refused


def test_an_impossible_count_is_not_believed() -> None:
    data = (1 << 24).to_bytes(4, "big") + b"secret secret"
    assert spans_of("MetadataRequest", 1, data) == ([], 4, Fault.TRUNCATED)


def test_where_understanding_ends() -> None:
    # SaslAuthenticateRequest v2: compact bytes, then tags. A length at fault is understood, what it counts is not.
    for text, end, fault, found in (
        ("", 0, Fault.TRUNCATED, []),
        ("05 616263", 1, Fault.TRUNCATED, []),  # four bytes, of which three are there
        ("00 00", 1, Fault.NULL_NOT_ALLOWED, []),
        ("8000 00", 2, Fault.NULL_NOT_ALLOWED, []),  # the same 0 in two bytes
        ("ffff", 2, Fault.TRUNCATED, []),  # the length itself is cut
        ("ffffffff7f 6162", 5, Fault.BAD_VARINT, []),
        ("ffffffff0f 6162", 5, Fault.BAD_LENGTH, []),
        ("02 61", 2, Fault.TRUNCATED, [b"a"]),  # no tags
        ("02 61 05", 3, Fault.TRUNCATED, [b"a"]),  # five tags cannot be in no bytes
        ("02 61 01 05 03 6263", 5, Fault.TRUNCATED, [b"a"]),  # tag 5 has three bytes
        ("02 61 01 05 ffffffff0f 6263", 9, Fault.BAD_LENGTH, [b"a"]),
        ("02 61 01 05 02 6263", 7, None, [b"a", b"bc"]),
    ):
        data = bytes.fromhex(text)
        for twin in ("native", "pure"):
            walker = FieldWalker(CompiledCatalog(catalog(), twin), "SaslAuthenticateRequest", 2, lambda _path: True)  # type: ignore[arg-type]
            reading = walker.walk(data, 0)
            assert (reading.end, reading.fault, [data[begin:stop] for _, begin, stop in reading.spans]) == (end, fault, found), (twin, text)


def test_a_message_that_was_cut_is_understood_up_to_its_last_number() -> None:
    # FindCoordinatorRequest v4: key type, a compact array of keys, tags. Whole, a count of 4 cannot be in two bytes; cut, it can.
    data = bytes.fromhex("00 05 02 61")
    for twin in ("native", "pure"):
        walker = FieldWalker(CompiledCatalog(catalog(), twin), "FindCoordinatorRequest", 4, lambda _path: True)  # type: ignore[arg-type]
        assert walker.walk(data, 0) == (2, Fault.TRUNCATED, [])
        assert walker.walk(data, 0, whole=False) == (4, Fault.TRUNCATED, [(("coordinator_keys",), 3, 4)])
        # ListOffsetsRequest v1 begins with a number of four bytes: what is there of a number stays
        numbers = FieldWalker(CompiledCatalog(catalog(), twin), "ListOffsetsRequest", 1, lambda _path: True)  # type: ignore[arg-type]
        assert numbers.walk(bytes(3), 0, whole=False).end == numbers.walk(bytes(3), 0).end == 3
