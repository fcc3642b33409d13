"""Twin against twin: any bytes give the same value or the same fault, the same class, code, offset and path.

The pure twin is the one that is compared with. For itself the tests say only that any bytes decode or raise `WireError`, which is the other
half of the promise.
"""

from __future__ import annotations

import inspect
import random
from typing import Any

import pytest

from damaged_bytes import mutated, told
from kwire.codec import to_json
from kwire.codec.impl import MODULES, load_twin
from kwire.errors import EncodeError, WireError


def outcome(codec: Any, name: str, version: int, data: bytes, fields: tuple[str, ...] | None = None) -> Any:
    """What decoding and skipping give: the value with all its unknown tags and the end, or the fault."""
    decoder = codec.compiled.decoder(name, version, fields)
    seen: list[Any] = []
    for read in (decoder.decode, lambda each: decoder.decode(each, 0, True), decoder.skip):
        try:
            result = read(data)
        except WireError as error:
            seen.append(told(error))
            continue
        value, end = result if isinstance(result, tuple) else (result, None)
        seen.append((repr(value), end))
    return seen


def view_outcome(codec: Any, name: str, version: int, data: bytes) -> Any:
    """What decoding with views gives, strictly and leniently: the value and the end, or the fault."""
    decoder = codec.compiled.decoder(name, version)
    seen: list[Any] = []
    for lenient in (False, True):
        try:
            value, end = decoder.decode(data, 0, lenient, True)
        except WireError as error:
            seen.append(told(error))
            continue
        assert value == decoder.decode(data, 0, lenient)[0], (name, version, data.hex())
        seen.append((repr(value), end))
    return seen


def request_outcome(codec: Any, frame: bytes, strict: bool) -> Any:
    found = []
    for read in (codec.frames.peek_header, codec.frames.decode_request):
        try:
            found.append(repr(read(frame, strict=strict)))
        except WireError as error:
            found.append(told(error))
    return found


def differences(codec: Any, reference: Any, inputs: Any) -> list[Any]:
    found = []
    for name, version, data, fields in inputs:
        ours = outcome(codec, name, version, data, fields)
        theirs = outcome(reference, name, version, data, fields)
        if ours != theirs:
            found.append((name, version, data.hex(), fields, ours, theirs))
    return found[:3]


def test_valid_messages(native_codec, reference_codec, vectors, share):
    inputs = ((case["message"], case["version"], bytes.fromhex(case["hex"]), None) for case in share(vectors("messages-sample"), 3))
    assert differences(native_codec, reference_codec, inputs) == []


def test_views_of_valid_messages(native_codec, reference_codec, vectors, share):
    """Of Kafka's own bytes: the same values in both twins, equal to the copied ones, and written as the bytes that were read."""
    viewed = 0
    for case in share(vectors("messages-sample"), 3):
        name, version, data = case["message"], case["version"], bytes.fromhex(case["hex"])
        ours = view_outcome(native_codec, name, version, data)
        assert ours == view_outcome(reference_codec, name, version, data), (name, version, data.hex())
        viewed += "memoryview(" in ours[0][0]
        for codec in (native_codec, reference_codec):
            message = codec.compiled.decoder(name, version).decode_whole(data, 0, False, True)
            copied = codec.decode(name, data, version)
            assert to_json(message, version, source=codec.compiled) == to_json(copied, version, source=codec.compiled)
            try:
                written = codec.encode(copied, version)
            except EncodeError:
                continue
            assert codec.encode(message, version) == written
    assert viewed > 30


def test_views_of_mutated_messages(native_codec, reference_codec, vectors, share):
    chance = random.Random(20)
    for case in share(vectors("messages-sample"), 3):
        data = bytes.fromhex(case["hex"])
        if data:
            data = mutated(data, chance)
            ours = view_outcome(native_codec, case["message"], case["version"], data)
            assert ours == view_outcome(reference_codec, case["message"], case["version"], data), (case["message"], data.hex())


def test_json_of_valid_messages(native_codec, reference_codec, vectors, share):
    for case in share(vectors("messages-sample"), 3):
        name, version, data = case["message"], case["version"], bytes.fromhex(case["hex"])
        for records in (True, False):
            written = [to_json(each.decode(name, data, version), version, records) for each in (native_codec, reference_codec)]
            assert written[0] == written[1], (name, version)


@pytest.mark.parametrize("case_name", ["full", "unknown-tags"])
def test_cut_at_every_byte(native_codec, reference_codec, vectors, share, case_name):
    # Short ones are enough: what comes late in a long message is read by the same operations.
    cases = [case for case in vectors("messages-sample") if case["case"] == case_name and len(case["hex"]) <= 200]
    inputs = (
        (case["message"], case["version"], bytes.fromhex(case["hex"])[:end], None)
        for case in share(cases, 7)
        for end in range(len(case["hex"]) // 2)
    )
    assert differences(native_codec, reference_codec, inputs) == []


def test_mutated(native_codec, reference_codec, vectors, share):
    chance = random.Random(20250)
    inputs = (
        (case["message"], case["version"], mutated(data, chance), None)
        for case in share(vectors("messages-sample"), 5)
        if (data := bytes.fromhex(case["hex"])) and len(data) <= 1000
        for _ in range(2)
    )
    assert differences(native_codec, reference_codec, inputs) == []


def test_projected(native_codec, reference_codec, vectors, share):
    chance = random.Random(559)
    inputs = []
    for case in share((case for case in vectors("messages-sample") if case["case"] in ("full", "unknown-tags")), 5):
        if not case["hex"]:
            continue
        name, version, data = case["message"], case["version"], bytes.fromhex(case["hex"])
        layouts = {layout.name: layout for layout in native_codec.compiled.plan(name, version).layouts}
        layout, path = layouts[name], []
        while layout is not None and layout.slots:
            slot = chance.choice(layout.slots)
            path.append(slot.attribute)
            layout = layouts.get(slot.type.removeprefix("[]"))
        if path:
            inputs += [(name, version, each, (".".join(path),)) for each in (data, mutated(data, chance), data[: len(data) // 2])]
    assert len(inputs) > 1000 / 5
    assert differences(native_codec, reference_codec, inputs) == []


def test_request_frames(native_codec, reference_codec, vectors, share):
    chance = random.Random(1313)
    for case in share((case for case in vectors("frames-sample") if case["kind"] == "request"), 7):
        whole = bytes.fromhex(case["hex"])[4:]
        cuts = [whole[:end] for end in range(case["header_size"] + 1)]
        for frame in (whole, *cuts, *(mutated(whole, chance) for _ in range(3))):
            for strict in (True, False):
                ours, theirs = (request_outcome(each, frame, strict) for each in (native_codec, reference_codec))
                assert ours == theirs, (frame.hex(), strict)


def test_both_twins_have_the_same_surface(twin):
    for module in MODULES:
        ours, theirs = load_twin("codec", module, twin), load_twin("codec", module, "pure")
        assert sorted(ours.__all__) == sorted(theirs.__all__), module
        for name in theirs.__all__:
            if inspect.isclass(getattr(theirs, name)):
                public = {each for each in dir(getattr(theirs, name)) if not each.startswith("_")}
                assert public - {"layout", "slot_names", "classes"} <= set(dir(getattr(ours, name))), name
