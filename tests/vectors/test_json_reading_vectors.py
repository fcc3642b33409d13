"""JSON that Kafka's own converters wrote, read into messages; and what they took and refused of JSON that nobody writes."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.classes import CompiledCatalog
from kwire.codec.json_reading import from_json
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError
from kwire.schema import Catalog, parse_definition


def test_messages_are_those_that_were_decoded(codec, vectors):
    seen = set()
    for case in vectors("messages-sample"):
        name, version = case["message"], case["version"]
        read = from_json(name, case["json"], version, source=codec.compiled)
        if "unknown_tags" not in case:  # the JSON has none of them
            assert read == codec.decode(name, bytes.fromhex(case["hex"]), version), case["id"]
            seen.add((name, version))
        else:
            assert read.unknown_tagged_fields == ()
    assert len(seen) > 850


def as_java_prints(value: Any) -> str:
    """`toString` of a message class."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_java_prints, value))}]"
    if isinstance(value, int | Uuid):
        return str(value)
    layout = value.layout
    fields = ", ".join(f"{slot.json_name}={as_java_prints(getattr(value, slot.attribute))}" for slot in layout.slots)
    return f"{layout.name}{'Data' if layout.name == layout.message else ''}({fields})"


def outcome(name: str, obj: Any, version: int, source: CompiledCatalog) -> Any:
    try:
        return from_json(name, obj, version, source=source)
    except EncodeError:
        return None


def test_messages_that_nobody_writes(codec, vectors):
    cases = [case for case in vectors("json-reading") if "message" in case]
    assert {"reads", "refused"} <= {key for case in cases for key in case}
    for case in cases:
        read = outcome(case["message"], case["json"], case["version"], codec.compiled)
        if "refused" in case:
            assert read is None, case
        else:
            # The order of fields is the newest definition's in Java, that of all versions together here.
            assert sorted(as_java_prints(read).strip("()").split(", ")) == sorted(case["reads"].strip("()").split(", ")), case


@pytest.mark.parametrize("kind", ["int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "bytes", "uuid"])
def test_values_that_nobody_writes(twin, vectors, kind):
    definition = {
        "name": "One", "type": "data", "validVersions": "0", "flexibleVersions": "none",
        "fields": [{"name": "Value", "type": kind, "versions": "0+"}],
    }  # fmt: skip
    source = CompiledCatalog(Catalog("test", {"One": parse_definition(definition, "test")}), twin)
    cases = [case for case in vectors("json-reading") if case.get("type") == kind]
    assert len(cases) >= 4
    for case in cases:
        read = outcome("One", {"value": case["value"]}, 0, source)
        if "refused" in case:
            assert read is None, case
        else:
            assert read is not None, case
            assert (read.value.hex() if kind in ("bytes", "uuid") else read.value) == case["reads"], case
            assert type(read.value) is {"bytes": bytes, "uuid": Uuid, "float64": float}.get(kind, int)
