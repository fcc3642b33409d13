"""Splices, twin against twin: any bytes and any changes give the same bytes or the same fault.

What the bytes may be is held against decoding with a projection on the fields, which is tested by itself.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.codec.splicing import FrameSplicer
from kwire.errors import EncodeError, WireError
from kwire.schema import catalog

BORDERS = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
BEHIND = b"\1\2\3"
INSERTED = tuple(bytes.fromhex(text) for text in ("ffffffff0f", "7fffffff", "ffffffff", "8000", "00"))
CUT = (
    ("MetadataResponse", 12), ("FetchResponse", 16), ("ProduceResponse", 10), ("JoinGroupRequest", 5), ("FindCoordinatorResponse", 4),
    ("DescribeQuorumResponse", 2),
)  # fmt: skip


@pytest.fixture(scope="session")
def reference(reference_codec):
    return FrameSplicer(reference_codec.compiled)


@pytest.fixture(scope="session")
def native(native_codec):
    return FrameSplicer(native_codec.compiled)


@pytest.fixture(scope="session")
def splicer(reference, native, twin):
    return {"pure": reference, "native": native}[twin]


@cache
def paths_of(name: str, version: int) -> list[str]:
    message = catalog()[name]

    def walk(fields: Any, before: str) -> list[str]:
        found = []
        for field in fields:
            if version in field.versions:
                name = field.attribute.removeprefix("request_") if message.kind == "header" else field.attribute
                if field.is_struct:
                    found += walk(message.structs[field.element_type].fields, f"{before}{name}.")
                else:
                    found.append(before + name)
        return found

    return walk(message.fields, "")


def changed(old: Any) -> Any:
    """Another value of any type; of some values one that does not fit."""
    if isinstance(old, bool) or old is None:
        return old
    if isinstance(old, (int, float)):
        return old + 1
    if isinstance(old, str):
        return old + "-changed" * (len(old) % 30)
    return old[::-1] if len(old) == 16 else old + b"\x00\x80" * (len(old) % 100)


def outcome(splice: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return splice(*arguments, **named)
    except WireError as error:
        return type(error).__name__, error.code, error.offset, error.path, error.message, error.api_key, error.api_version, str(error)
    except EncodeError as error:
        return type(error).__name__, str(error), error.path, error.message, error.api_version


def every_splice(splicer: FrameSplicer, name: str, version: int, data: bytes) -> list[Any]:
    """What changing all fields, renaming all topics and rewriting all addresses give."""
    paths = paths_of(name, version)
    at = {"name": name, "version": version}
    return [
        outcome(splicer.splice, data, dict.fromkeys(paths, changed), **at),
        outcome(splicer.splice, data, {path: {"": "x", None: "y", "foo": "bar", 1: 2, 0: 1} for path in paths}, **at),
        outcome(splicer.rename_topics, data, lambda old: f"{old}.x", protocol_type="consumer", **at),
        outcome(splicer.rename_topics, data, {"topic": "topic-2"}, uncovered="keep", **at),
        outcome(splicer.rename_topics, data + BEHIND, lambda old: f"{old}.x", protocol_type="consumer", strict=False, **at),
        outcome(splicer.rewrite_brokers, data, lambda node, host, port: (f"{host}.{node}", port - 1), **at),
        outcome(splicer.rewrite_brokers, data, {1: ("a", 1), ("host", 9092): ("b", 2)}, **at),
        outcome(splicer.rewrite_brokers, data, lambda found: (f"{found.path}.{found.listener}", found.port), strict=False, **at),
    ]


def differences(splicer: FrameSplicer, reference: FrameSplicer, inputs: Any) -> list[Any]:
    found = []
    for name, version, data in inputs:
        ours = every_splice(splicer, name, version, data)
        theirs = every_splice(reference, name, version, data)
        if ours != theirs:
            found.append((name, version, data.hex(), ours, theirs))
    return found[:3]


def mutated(data: bytes, chance: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        made[chance.randrange(len(made))] = chance.choice((*BORDERS, chance.randrange(256)))
    if chance.random() < 0.25:
        at = chance.randrange(len(made) + 1)
        made[at:at] = chance.choice(INSERTED)
    return bytes(made)


def samples(vectors: Any) -> list[tuple[str, int, bytes]]:
    cases = (case for case in vectors("messages-sample") if case["case"] in ("full", "unknown-tags"))
    return [(case["message"], case["version"], bytes.fromhex(case["hex"])) for case in cases]


def test_valid_messages(native, reference, vectors, share):
    assert differences(native, reference, share(samples(vectors), 13)) == []


def ends_of(codec: Any, name: str, version: int, data: bytes) -> list[int]:
    """Where to cut a message: at the first and the last bytes of each field. Most are in several elements of an array, alike in all.

    The end of a field is where decoding stops, also with the other bytes behind the cut that `every_splice` puts there.
    """
    ends: dict[Any, list[int]] = defaultdict(list)
    for end in range(len(data)):
        stops = [outcome(codec.decode, name, cut, version) for cut in (data[:end], data[:end] + BEHIND)]
        ends[tuple((each[1], re.sub(r"\[\d+\]", "[]", each[3])) if isinstance(each, tuple) else () for each in stops)].append(end)
    return sorted({end for found in ends.values() for end in (*found[:4], *found[-4:])})


def test_cut_in_every_field(native, reference, native_codec, vectors, share):
    chosen = [each for each in samples(vectors) if each[:2] in CUT]
    assert {each[:2] for each in chosen} == set(CUT)
    cuts = [(name, version, data[:end]) for name, version, data in chosen for end in ends_of(native_codec, name, version, data)]
    assert differences(native, reference, share(cuts, 13)) == []


def test_mutated_messages(native, reference, vectors, share):
    chance = random.Random(559)
    inputs = [(name, version, mutated(data, chance)) for name, version, data in samples(vectors) if data for _ in range(2)]
    assert differences(native, reference, share(inputs, 15)) == []


def test_faults_are_those_of_decoding_the_fields(codec, splicer, vectors, share):
    """Cut and mutated bytes break a splice exactly where decoding the same fields breaks."""
    chance = random.Random(714)
    seen = 0
    for name, version, data in share(samples(vectors), 23):
        paths = paths_of(name, version)
        for bad in [data[: chance.randrange(len(data) + 1)], *([mutated(data, chance)] if data else [])]:
            for chosen in (tuple(paths), tuple(paths[:1]), tuple(paths[-1:])):
                if not chosen:
                    continue
                wanted = outcome(codec.decode, name, bad, version, chosen)
                spliced = outcome(splicer.splice, bad, dict.fromkeys(chosen, lambda old: old), name=name, version=version)
                if isinstance(wanted, tuple):
                    assert spliced == wanted, (name, version, bad.hex(), chosen)
                    seen += 1
                else:
                    assert spliced is bad, (name, version, bad.hex(), chosen)
    assert seen > 50


def test_frames_cut_and_mutated(native, reference, vectors, share):
    chance = random.Random(511)
    found = []
    for case in share(vectors("frames-sample"), 17):
        frame = bytes.fromhex(case["hex"])[4:]
        api = () if case["kind"] == "request" else (case["api_key"], case["version"])
        for bad in [frame, frame[: chance.randrange(len(frame))], *(mutated(frame, chance) for _ in range(4))]:
            results = []
            for each in (native, reference):
                header = {"header.correlation_id": 5} | ({"header.client_id": "me"} if case["kind"] == "request" else {})
                results.append(
                    [
                        outcome(each.splice, bad, header, *api),
                        outcome(each.splice, bad, {"throttle_time_ms": 1}, *api),
                        outcome(each.rename_topics, bad, lambda old: "new", *api),
                        outcome(each.rewrite_brokers, bad, lambda node, host, port: ("h", port), *api),
                    ]
                )
            if results[0] != results[1]:
                found.append((case["message"], case["version"], bad.hex(), *results))
    assert found[:2] == []


TEXT = st.text(max_size=200)


@given(
    names=st.lists(TEXT, max_size=6),
    brokers=st.lists(st.tuples(st.integers(-1, 9), TEXT, st.integers(-1, 70000)), max_size=4),
    renamed=st.dictionaries(TEXT, TEXT, max_size=3),
    index=st.integers(0, 6),
    new=st.one_of(TEXT, st.none(), st.integers(), st.binary(max_size=3)),
)
def test_any_names_and_addresses(codec, splicer, native, reference, names, brokers, renamed, index, new):
    """Both twins, against decoding, changing the objects and encoding."""
    kind = codec.message_class("MetadataResponse")
    body = kind(
        topics=[kind.MetadataResponseTopic(name=name) for name in names],
        brokers=[kind.MetadataResponseBroker(node_id=node, host=host, port=port) for node, host, port in brokers],
    )
    encode = codec.compiled.encoder("MetadataResponse", 12).encode
    at = {"name": "MetadataResponse", "version": 12}
    data = encode(body)
    some = {f"topics[{index}].name": new, "brokers.port": lambda old: old // 2}
    assert outcome(native.splice, data, some, **at) == outcome(reference.splice, data, some, **at)
    for topic in body.topics:
        topic.name = renamed.get(topic.name, topic.name)
    assert splicer.rename_topics(data, renamed, **at) == encode(body)
    for broker in body.brokers:
        if broker.host and broker.node_id >= 0:
            broker.host, broker.port = f"{broker.host[:9]}+{broker.node_id}", broker.port + 1
    moved = splicer.rewrite_brokers(data, lambda node, host, port: (f"{host[:9]}+{node}", port + 1), **at)
    assert codec.decode("MetadataResponse", moved, 12).brokers == body.brokers
