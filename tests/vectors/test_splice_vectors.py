"""Splices of what Kafka's own classes wrote: the bytes are those that encoding the changed objects gives, and all else stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kwire.codec.splicing import FrameSplicer
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError
from kwire.schema import Message, catalog
from kwire.schema.model import Field
from twin_codecs import codec_of

_HIGHEST = {"int8": 127, "int16": 32767, "uint16": 65535, "int32": 2**31 - 1, "uint32": 2**32 - 1, "int64": 2**63 - 1}


@pytest.fixture(scope="session")
def splicer(codec):
    return FrameSplicer(codec.compiled)


@pytest.fixture(scope="session")
def expecting(codec):
    """The codec that gives what is expected: the native one, where there is one, as it is quicker. Its bytes are those of Kafka too."""
    try:
        return codec_of("native")
    except ImportError:
        return codec


def attribute(message: Message, field: Field) -> str:
    return field.attribute.removeprefix("request_") if message.kind == "header" else field.attribute


def leaves(message: Message, version: int) -> list[tuple[str, Field]]:
    def walk(fields: tuple[Field, ...], before: str) -> list[tuple[str, Field]]:
        found = []
        for field in fields:
            if version in field.versions:
                path = before + attribute(message, field)
                inside = message.structs[field.element_type].fields if field.is_struct else ()
                found += walk(inside, f"{path}.") if field.is_struct else [(path, field)]
        return found

    return walk(message.fields, "")


def other(kind: str, old: Any, default: Any = None) -> Any:
    """Another value of a type, not the default but for bools."""
    if kind in _HIGHEST:
        new = old + 1 if old < _HIGHEST[kind] - 1 else 7
        return new if new != default else new + 1
    if old is None:
        return None
    if kind == "bool":
        return not old
    if kind == "float64":
        return 0.25 if old != 0.25 else 0.5
    if kind == "uuid":
        return Uuid(old[::-1] if old != old[::-1] else bytes(range(16)))
    added = "é" * (1 + len(old) % 90)  # lengths that take one byte, and lengths that take more
    return (old + added)[:16000] if kind == "string" else old + added.encode()


def changer(field: Field, default: Any) -> Callable[[Any], Any]:
    return lambda old: other(field.element_type, old, None if field.is_array else default)


def default_of(target: Any, name: str) -> Any:
    return next(slot.value for slot in target.layout.slots if slot.attribute == name)


def change_objects(message: Message, version: int, target: Any, path: str, defaults: dict[str, Any], whole: str = "") -> None:
    """Change what is at a path, as a splice does: a tagged field that the wire leaves out is not there."""
    name, _, rest = path.partition(".")
    fields = message.structs[type(target).__name__].fields
    field = next(each for each in fields if attribute(message, each) == name)
    value = getattr(target, name)
    tagged = field.tag is not None and version in field.tagged_versions and message.is_flexible(version)
    if value is None or (tagged and value == getattr(type(target)(), name)):
        return
    if not rest:
        kind, default = field.element_type, defaults.setdefault(whole or path, default_of(target, name))
        setattr(target, name, tuple(other(kind, each) for each in value) if field.is_array else other(kind, value, default))
    else:
        for each in value if field.is_array else [value]:
            change_objects(message, version, each, rest, defaults, whole or path)


def differences(codec: Any, splicer: FrameSplicer, cases: Any, *, one_by_one: bool) -> list[Any]:
    wrong = []
    for case in cases:
        message, version, data = catalog()[case["message"]], case["version"], bytes.fromhex(case["hex"])
        encode = codec.compiled.encoder(message.name, version).encode
        paths = [(path, field) for path, field in leaves(message, version)]
        for chosen in [[each] for each in paths] if one_by_one else [paths]:
            if not chosen:
                continue
            decoded, defaults = codec.decode(message.name, data, version), {}
            for path, _ in chosen:
                change_objects(message, version, decoded, path, defaults)
            changes = {path: changer(field, defaults.get(path)) for path, field in chosen}
            spliced = splicer.splice(data, changes, name=message.name, version=version)
            left_out = tagged_bool(message, version) and codec.decode(message.name, spliced, version) == decoded
            if spliced != encode(decoded) and not left_out:
                wrong.append((case["id"], [path for path, _ in chosen]))
            untouched = splicer.splice(data, {path: lambda old: old for path, _ in chosen}, name=message.name, version=version)
            if untouched is not data:
                wrong.append((case["id"], "identity"))
    return wrong[:5]


def tagged_bool(message: Message, version: int) -> bool:
    """A tagged bool that becomes its default, which encoding leaves out and a splice writes."""
    return any(field.type == "bool" and field.tag is not None for _, field in leaves(message, version))


def test_all_fields_at_once(expecting, splicer, vectors, share):
    assert differences(expecting, splicer, share(vectors("messages-sample"), 19), one_by_one=False) == []


def test_each_field_alone(expecting, splicer, vectors, share):
    cases = [case for case in vectors("messages-sample") if case["case"] in ("full", "unknown-tags", "nulls")]
    assert differences(expecting, splicer, share(cases, 61), one_by_one=True) == []


def test_frames(codec, splicer, vectors, share):
    """The header and the body of a frame, one at a time and both; api and version come from the header of a request."""
    wrong = []
    for case in share(vectors("frames-sample"), 5):
        frame = bytes.fromhex(case["hex"])[4:]
        version, head, request = case["version"], case["header_size"], case["kind"] == "request"
        message = (catalog().request if request else catalog().response)(case["api_key"])
        assert message is not None
        body = splicer.splice(frame[head:], {}, name=message.name, version=version)
        api = () if request else (case["api_key"], version)
        moved = splicer.splice(frame, {"header.correlation_id": 7}, *api)
        at = 4 if request else 0
        if moved != frame[:at] + (7).to_bytes(4, "big") + frame[at + 4 :] or body != frame[head:]:
            wrong.append(case["id"])
        paths = [path for path, field in leaves(message, version) if field.element_type == "string"]
        if not paths:
            continue
        changes: dict[str, Any] = {paths[0]: lambda old: None if old is None else f"{old}+"}
        expected = frame[:head] + splicer.splice(frame[head:], changes, name=message.name, version=version)
        if splicer.splice(frame, changes, *api) != expected:
            wrong.append((case["id"], paths[0]))
    assert wrong[:5] == []


def test_client_ids_of_frames(codec, splicer, vectors):
    seen = 0
    for case in vectors("frames-sample"):
        if case["kind"] == "request" and case["header_version"] >= 1:
            frame = bytes.fromhex(case["hex"])[4:]
            new = "a client id with 46 bytes, which are 45 letters"
            spliced = splicer.splice(frame, {"header.client_id": new, "header.correlation_id": lambda old: old})
            before, after = codec.frames.decode_request(frame), codec.frames.decode_request(spliced)
            before.header.client_id = new
            assert after == before
            gone = splicer.splice(frame, {"header.client_id": None})
            assert gone[8:10] == b"\xff\xff"
            assert gone[10:] == frame[case["header_size"] - (case["header_version"] > 1) * tags_size(case) :]
            seen += 1
    assert seen > 300


def tags_size(case: dict[str, Any]) -> int:
    client_id = case["header"]["client_id"]
    return case["header_size"] - 10 - (0 if client_id is None else len(client_id.encode()))


def test_the_version_of_a_request_is_not_to_be_changed(splicer, vectors):
    frame = next(bytes.fromhex(case["hex"])[4:] for case in vectors("frames-sample") if case["kind"] == "request")
    for path in ("header.api_key", "header.api_version"):
        with pytest.raises(EncodeError, match="how the rest is read"):
            splicer.splice(frame, {path: 1})
