"""The walk over fields: whole messages of Kafka's, what it tells of them, and messages that are cut or broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from kwire.codec import decode, to_json
from kwire.codec.classes import compiled
from kwire.codec.field_spans import UNKNOWN_TAG, FieldWalker, Scopes
from kwire.errors import Fault, WireError

Vectors = Callable[[str], list[dict[str, Any]]]


@cache
def walker_of(name: str, version: int) -> FieldWalker:
    return FieldWalker(compiled().plan(name, version), lambda _path: True)


def spans_of(name: str, version: int, data: bytes, *, whole: bool = True) -> tuple[list[tuple[tuple[str, ...], bytes]], int, Fault | None]:
    found: list[tuple[tuple[str, ...], bytes]] = []

    def visit(path: tuple[str, ...], begin: int, stop: int, _scopes: Scopes) -> None:
        found.append((path, data[begin:stop]))

    reading = walker_of(name, version).walk(data, 0, visit, whole=whole)
    return found, reading.end, reading.fault


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


def test_scopes_hold_the_strings_of_the_structs_around() -> None:
    # JoinGroupRequest v0: group, timeout, member, protocol type, one protocol: name and metadata
    def text(value: bytes) -> bytes:
        return len(value).to_bytes(2, "big") + value

    data = text(b"g") + bytes(4) + text(b"m") + text(b"consumer") + (1).to_bytes(4, "big") + text(b"range") + (2).to_bytes(4, "big") + b"xy"
    seen: dict[str, bytes] = {}

    def visit(path: tuple[str, ...], _begin: int, _stop: int, scopes: Scopes) -> None:
        if path == ("protocols", "metadata"):
            for scope in scopes:
                seen.update({name: data[begin:stop] for name, (begin, stop) in scope.items()})

    FieldWalker(compiled().plan("JoinGroupRequest", 0), lambda _path: True).walk(data, 0, visit)
    assert seen == {"group_id": b"g", "member_id": b"m", "protocol_type": b"consumer", "name": b"range", "metadata": b"xy"}


def test_only_what_is_wanted_is_told() -> None:
    data = bytes.fromhex("0005") + b"PLAIN"
    found: list[bytes] = []
    walker = FieldWalker(compiled().plan("SaslHandshakeRequest", 0), lambda _path: False)
    assert walker.walk(data, 0, lambda _path, begin, stop, _scopes: found.append(data[begin:stop])).fault is None
    assert found == []


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
