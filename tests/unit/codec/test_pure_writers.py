"""Generated writers of the pure twin: they write what the walk writes, or leave it to the walk, and hold no text of a definition."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec._pure import message_writer
from kwire.codec._pure.message_writer import Encoder
from kwire.codec._pure.objects import make_classes
from kwire.codec._pure.writers import FALLBACK_ERRORS, make_writer, writer_source
from kwire.codec.layout import layouts_of
from kwire.codec.plan import compile_plan
from kwire.codec.write_walk import write_carefully
from kwire.schema import catalog
from kwire.schema.definitions import parse_definition


def test_writers_and_the_walk_write_the_same(reference_codec, vectors, monkeypatch):
    """And nothing that was decoded is left to the walk."""
    left: list[Any] = []
    monkeypatch.setattr(message_writer, "write_carefully", lambda plan, *_: left.append((plan.message, plan.version)))
    for case in vectors("messages-sample"):
        name, version, data = case["message"], case["version"], bytes.fromhex(case["hex"])
        message = reference_codec.decode(name, data, version)
        encoder = reference_codec.compiled.encoder(name, version)
        assert encoder.encode(message) == data == write_carefully(encoder.plan, encoder.classes, message), (name, version)
    assert left == []


def test_the_source_holds_no_text_of_a_definition(reference_codec):
    for name in ("MetadataResponse", "FetchRequest", "ApiVersionsResponse", "ClientQuotaRecord"):
        version = catalog()[name].valid_versions.highest
        text, root, names = writer_source(reference_codec.compiled.plan(name, version), reference_codec.compiled.classes(name))
        assert root in text
        assert name not in text
        assert '"' not in text.replace('">" + "', "").replace('" * n', "")
        assert all(key.isidentifier() for key in names)


def definition(field: str) -> Any:
    return parse_definition({
        "name": "OddData", "type": "data", "validVersions": "0", "flexibleVersions": "0+",
        "fields": [{"name": field, "type": "string", "versions": "0+"}, {"name": "Count", "type": "int32", "versions": "0+"}],
    }, "OddData.json")  # fmt: skip


def test_attributes_that_source_cannot_spell():
    message = definition("From")
    plan = compile_plan(message, 0)
    classes = make_classes(layouts_of(message))
    made = classes[0](**{"from": "a", "count": 1})
    with pytest.raises(FALLBACK_ERRORS):
        make_writer(plan, classes)((made,), [].append)
    assert Encoder(plan, classes).encode(made, b"x") == b"x\x02a\0\0\0\x01\0"
