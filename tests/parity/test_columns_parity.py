"""Columns of the two twins are equal, and both are the attributes of the decoded objects, on good, cut and mutated messages."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from damaged_bytes import mutated
from kwire.codec.columns import Columns
from kwire.codec.uuids import Uuid
from kwire.errors import WireError


def as_attributes(value: Any, kind: pa.DataType) -> Any:
    """An attribute of a decoded object as `to_pylist` gives it; `kind` says which attributes the version has."""
    if value is None:
        return None
    if pa.types.is_list(kind) and kind.value_field.name == "item":
        element = kind.value_type
        if pa.types.is_struct(element) and [element.field(0).name, element.num_fields] == ["tag", 2] and isinstance(value, tuple):
            return [{"tag": tag, "value": content} for tag, content in value]
        return [as_attributes(each, element) for each in value]
    if pa.types.is_struct(kind):
        return {kind.field(i).name: as_attributes(getattr(value, kind.field(i).name), kind.field(i).type) for i in range(kind.num_fields)}
    return str(value) if isinstance(value, Uuid) else value


def expected_rows(codec: Any, name: str, version: int, messages: list[bytes | None], schema: pa.Schema) -> list[Any]:
    rows = []
    for data in messages:
        row = dict.fromkeys(schema.names)
        if data is not None:
            try:
                message = codec.decode(name, data, version)
            except WireError as error:
                row.update(error=error.code.name, error_offset=error.offset, error_path=error.path)
            else:
                for field in schema:
                    if field.name not in ("error", "error_offset", "error_path"):
                        row[field.name] = as_attributes(getattr(message, field.name), field.type)
        rows.append(row)
    return rows


def differences(codec: Any, reference: Any, groups: dict[tuple[str, int], list[bytes | None]]) -> list[Any]:
    found = []
    ours, theirs = Columns(codec.compiled), Columns(reference.compiled)
    for (name, version), messages in groups.items():
        options: dict[str, Any] = {"errors": "column", "unknown_tags": True}
        batch = ours.to_arrow(name, messages, version, **options)
        batch.validate(full=True)
        if repr(batch.to_pylist()) != repr(rows := expected_rows(reference, name, version, messages, batch.schema)):
            bad = next(i for i, (a, b) in enumerate(zip(batch.to_pylist(), rows, strict=True)) if repr(a) != repr(b))
            found.append((name, version, messages[bad], batch.to_pylist()[bad], rows[bad]))
        other = theirs.to_arrow(name, messages, version, **options)
        if not batch.equals(other) and repr(other.to_pylist()) != repr(rows):  # NaN equals nothing
            found.append((name, version, "batches differ"))
    return found[:2]


def grouped(cases: Any, change: Any, kinds: Callable[[list[Any]], list[Any]]) -> dict[tuple[str, int], list[bytes | None]]:
    groups: dict[tuple[str, int], list[bytes | None]] = {}
    chosen = set(kinds(sorted({(case["message"], case["version"]) for case in cases})))
    for case in cases:
        if (case["message"], case["version"]) not in chosen:
            continue
        groups.setdefault((case["message"], case["version"]), []).extend(change(bytes.fromhex(case["hex"])))
    return groups


def test_valid_messages(native_codec, reference_codec, vectors, share):
    groups = grouped(vectors("messages-sample"), lambda data: [data, None, data], lambda kinds: share(kinds[::2], 3))
    assert differences(native_codec, reference_codec, groups) == []


def test_cut_messages(native_codec, reference_codec, vectors, share):
    chance = random.Random(35)

    def cuts(data: bytes) -> list[bytes | None]:
        ends = range(len(data)) if len(data) <= 60 else sorted(chance.sample(range(len(data)), 20))
        return [data, *(data[:end] for end in ends), data]

    groups = grouped(vectors("messages-sample"), cuts, lambda kinds: share(kinds[::7], 4))
    assert differences(native_codec, reference_codec, groups) == []


def test_mutated_messages(native_codec, reference_codec, vectors, share):
    chance = random.Random(714)

    def changes(data: bytes) -> list[bytes | None]:
        return [data, *(mutated(data, chance) for _ in range(6 if data else 0)), data]

    groups = grouped(vectors("messages-sample"), changes, lambda kinds: share(kinds[::6], 4))
    assert differences(native_codec, reference_codec, groups) == []


def test_projections(native_codec, reference_codec, vectors, share):
    """Random paths, alone and in pairs: both twins give the same exploded rows, and lose no message."""
    chance = random.Random(559)
    ours, theirs = Columns(native_codec.compiled), Columns(reference_codec.compiled)
    checked = 0
    groups = grouped(vectors("messages-sample"), lambda data: [data, data[: len(data) // 2], None], lambda kinds: share(kinds[::4], 5))
    for (name, version), messages in groups.items():
        layouts = {layout.name: layout for layout in native_codec.compiled.plan(name, version).layouts}
        paths = []
        for _ in range(2):
            layout, path = layouts[name], []
            while layout is not None and layout.slots:
                slot = chance.choice(layout.slots)
                path.append(slot.attribute)
                layout = layouts.get(slot.type.removeprefix("[]"))
            paths.append(".".join(path))
        if not all(paths):
            continue
        for fields in ((paths[0],), tuple(paths)):
            options: dict[str, Any] = {"errors": "column", "unknown_tags": bool(chance.randrange(2))}
            batch = ours.to_arrow(name, messages, version, fields, **options)
            batch.validate(full=True)
            assert batch.equals(theirs.to_arrow(name, messages, version, fields, **options)), (name, version, fields)
            assert batch.schema == ours.arrow_schema(name, version, fields, **options)
            if "message_index" in batch.schema.names:
                assert sorted(set(batch["message_index"].to_pylist())) == list(range(len(messages)))
            checked += 1
    assert checked > len(groups)


def test_arrow_input(codec, vectors):
    """Slices, chunks, nulls and wide offsets give what lists give."""
    columns = Columns(codec.compiled)
    bodies = [
        bytes.fromhex(case["hex"]) for case in vectors("messages-sample") if (case["message"], case["version"]) == ("MetadataResponse", 12)
    ]
    messages = [*bodies, None, *bodies, None]
    expected = columns.to_arrow("MetadataResponse", messages, 12)
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        whole = pa.array([b"no message", None, *messages, b"none either"], kind)
        assert columns.to_arrow("MetadataResponse", whole.slice(2, len(messages)), 12).equals(expected)
    chunks = pa.chunked_array([pa.array(messages[:2]), pa.array([], pa.binary()), pa.array(messages[2:])])
    assert columns.to_arrow("MetadataResponse", chunks, 12).equals(expected)
    assert columns.to_arrow("MetadataResponse", [None if m is None else memoryview(bytearray(m)) for m in messages], 12).equals(expected)
    assert columns.to_arrow("MetadataResponse", [], 12).num_rows == 0


def test_text_that_is_not_utf8(codec):
    """Python's rules: no surrogates, nothing above U+10FFFF, shortest form."""
    columns = Columns(codec.compiled)
    for text, good in (
        (b"\xc3\xa9" * 20, True), (b"\xf4\x8f\xbf\xbf", True), (b"\xed\x9f\xbf", True), (b"\xee\x80\x80", True), (b"\xe0\xa0\x80", True),
        (b"\xf0\x90\x80\x80", True), (b"a" * 70 + b"\xc2\x80", True), (b"\x00", True),
        (b"\xed\xa0\x80", False), (b"\xf4\x90\x80\x80", False), (b"\xc0\x80", False), (b"\xc1\xbf", False), (b"\xe0\x9f\xbf", False),
        (b"\xf0\x8f\xbf\xbf", False), (b"\xf5\x80\x80\x80", False), (b"\x80", False), (b"\xc3", False), (b"a" * 40 + b"\xe2\x82", False),
        (b"\xe2\x28\xa1", False), (b"\xff" * 9, False),
    ):  # fmt: skip
        data = len(text).to_bytes(2, "big") + text + bytes(4)  # FindCoordinatorRequest v0 is one string
        batch = columns.to_arrow("FindCoordinatorRequest", [data[:-4]], 0, errors="column")
        assert batch["error"].to_pylist() == [None if good else "BAD_UTF8"], text
        assert batch["key"].to_pylist() == [text.decode() if good else None]
        assert batch["error_offset"].to_pylist() == [None if good else 2]
