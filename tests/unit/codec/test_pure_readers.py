"""Generated readers of the pure twin: they take what is well-formed, never what the walk refuses, and hold no text of a definition."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from kwire.codec._pure.objects import Decoder, make_classes
from kwire.codec._pure.primitives import Break
from kwire.codec._pure.readers import FALLBACK_ERRORS, make_reader, reader_source
from kwire.codec._pure.walk import Walk
from kwire.codec.classes import CompiledCatalog
from kwire.codec.layout import layouts_of
from kwire.codec.plan import compile_plan
from kwire.errors import BadUtf8, Truncated
from kwire.schema import catalog
from kwire.schema.definitions import parse_definition

PURE = CompiledCatalog(catalog(), "pure")
# Borders of varints, of signed bytes and of compact lengths, and lengths that pretend to be long.
WRITTEN = tuple(bytes.fromhex(text) for text in ("00", "01", "02", "7f", "80", "fe", "ff", "8000", "8100", "ffffffff0f", "7fffffff"))


def walked(plan: Any, data: bytes, build: bool) -> tuple[str, int] | None:
    """What the walk gives, None for a fault."""
    walk = Walk(plan, PURE.classes(plan.message), data, 0, "strict")
    value = walk.new(0) if build else None
    try:
        walk.fill(value, 0)
    except Break:
        return None
    return repr(value), walk.pos


def taken(read: Any, data: Any, build: bool) -> tuple[str, int] | None:
    """What a reader gives, None when it leaves the bytes to the walk."""
    try:
        made, pos = read(data, 0, len(data), 1)
    except FALLBACK_ERRORS:
        return None
    return (repr(made[0] if build else None), pos) if pos <= len(data) else None


@cache
def reader(name: str, version: int, build: bool, of_bytes: bool) -> Any:
    return make_reader(PURE.decoder(name, version).plan, PURE.classes(name), build, of_bytes)


def cases(vectors: Any) -> Any:
    """Short ones: what comes late in a long message is read by the same lines."""
    for case in vectors("messages-sample"):
        data = bytes.fromhex(case["hex"])
        if case["case"] in ("full", "unknown-tags") and 0 < len(data) <= 250:
            yield PURE.decoder(case["message"], case["version"]).plan, data


@pytest.mark.parametrize("build", [True, False])
def test_what_is_well_formed_is_taken(vectors, share, build):
    for plan, data in share(cases(vectors), 3):
        expected = walked(plan, data, build)
        assert expected is not None
        for of_bytes in (True, False) if plan.version % 3 == 0 else (True,):
            read = reader(plan.message, plan.version, build, of_bytes)
            assert taken(read, data if of_bytes else memoryview(data), build) == expected, (plan.message, plan.version)


@pytest.mark.parametrize("build", [True, False])
def test_what_the_walk_refuses_is_never_taken(vectors, share, build):
    chance = random.Random(29)
    count = 0
    for plan, data in share(cases(vectors), 3):
        read = reader(plan.message, plan.version, build, True)
        for _ in range(8):
            at = chance.randrange(len(data))
            written = chance.choice(WRITTEN)
            changed = data[:at] + written + data[at + chance.choice((len(written), 0)) :]
            ours = taken(read, changed, build)
            if ours is not None:
                assert ours == walked(plan, changed, build), (plan.message, plan.version, changed.hex())
                count += 1
    assert count > 1000 / 3


def test_readers_are_made_when_they_are_needed():
    decoder = Decoder(PURE.plan("HeartbeatResponse", 0), PURE.classes("HeartbeatResponse"))
    assert decoder._readers == {}
    assert decoder.skip(bytes(2)) == 2
    assert list(decoder._readers) == [(False, True, False)]
    decoder.decode(memoryview(bytes(2)))
    decoder.decode(bytearray(2))
    assert list(decoder._readers) == [(False, True, False), (True, False, False)]


def test_lengths_that_pretend_to_be_long():
    """80 00 and 81 00 are 0 and 1, null and empty, in a byte more than they need."""
    decode = PURE.decoder("HeartbeatRequest", 4).decode_whole
    message = decode(bytes.fromhex("8100 00000001 8200 61 8000 00"))
    assert (message.group_id, message.member_id, message.group_instance_id) == ("", "a", None)


def test_text_that_is_not_utf8_is_the_walks():
    decoder = PURE.decoder("HeartbeatRequest", 0)
    data = bytes.fromhex("0002 c361 00000001 0001 62")
    with pytest.raises(BadUtf8) as caught:
        decoder.decode(data)
    assert (caught.value.offset, caught.value.path) == (2, "group_id")
    assert decoder.decode(data, 0, True)[0].group_id == "\ufffda"


def test_a_long_length_costs_no_more_than_the_input():
    for data in (bytes.fromhex("7fff") + bytes(50), bytes.fromhex("0000 00000001 7fff")):
        with pytest.raises(Truncated):
            PURE.decoder("HeartbeatRequest", 0).decode(data)


def definition(*fields: dict[str, Any]) -> Any:
    return parse_definition({"type": "data", "name": "Odd", "validVersions": "0-1", "flexibleVersions": "1+", "fields": fields}, "odd.json")


def decoder_of(message: Any, version: int) -> Decoder:
    return Decoder(compile_plan(message, version), make_classes(layouts_of(message)))


def test_attributes_that_source_cannot_spell():
    message = definition({"name": "From", "type": "string", "versions": "0+"}, {"name": "Class", "type": "int8", "versions": "0+"})
    read, end = decoder_of(message, 1).decode(bytes.fromhex("02 61 07 00"))
    assert (getattr(read, "from"), getattr(read, "class"), end) == ("a", 7, 4)
    with pytest.raises(Truncated) as caught:
        decoder_of(message, 1).decode(bytes.fromhex("03 61"))
    assert (caught.value.offset, caught.value.path) == (1, "from")


def test_no_text_of_a_definition_is_source():
    hostile = '"); __import__("os").abort() #'
    message = parse_definition(
        {
            "type": "data", "name": hostile, "validVersions": "0-1", "flexibleVersions": "none",
            "fields": [
                {"name": "Text", "type": "string", "versions": "1+", "default": hostile},
                {"name": "Structs", "type": "[]\n" + hostile, "versions": "0+", "fields": [{"name": "A", "type": "int8", "versions": "0"}]},
            ],
        },
        "odd.json",
    )  # fmt: skip
    decoder = decoder_of(message, 0)
    for build in (True, False):
        source, _, _ = reader_source(decoder.plan, decoder.classes, build, True)
        assert "import" not in source
    read, _ = decoder.decode(bytes.fromhex("00000001 05"))
    assert (read.text, read.structs[0].a) == (hostile, 5)


def test_structs_of_no_bytes_are_held_against_the_input():
    """A count of structs that have no field in a version says nothing about bytes; each counts as one."""
    message = definition({"name": "Many", "type": "[]One", "versions": "0", "fields": [{"name": "A", "type": "int8", "versions": "1+"}]})
    decoder = decoder_of(message, 0)
    assert len(decoder.decode(bytes.fromhex("00000002 0000"))[0].many) == 2
    with pytest.raises(Truncated) as caught:
        decoder.decode(bytes.fromhex("7fffffff 0000"))
    assert (caught.value.offset, caught.value.path) == (0, "many")
