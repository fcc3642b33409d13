"""Twin against twin: any object gives the same bytes or the same refusal, the same class, path and text.

The pure twin is the one that is compared with. What is written is held to be a message: it is read again, and written again alike.
"""

from __future__ import annotations

import enum
import random
import uuid
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire.codec.plan import Flag, Op, Operation, Plan
from kwire.errors import EncodeError
from kwire.schema import catalog

CHANGES = 2  # of each message


class Name(str):
    def encode(self, *_: Any) -> bytes:  # type: ignore[override]
        return b"lies"

    def __len__(self) -> int:
        return 3


class Pretending(list):
    def __len__(self) -> int:
        return 2**40

    def __iter__(self) -> Any:
        raise AssertionError("nobody asks")


class Twice(int):
    def __index__(self) -> int:
        return 2 * int(self)


class Unwilling:
    def __index__(self) -> int:
        raise LookupError("no index today")

    def __hash__(self) -> int:
        raise LookupError("no hash today")


class Code(enum.IntEnum):
    ONE = 1


def _released() -> memoryview:
    view = memoryview(b"gone")
    view.release()
    return view


ODD = (
    None, True, False, 0, 1, -1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, -(2**31), -(2**31) -
    1, 2**63 - 1, -(2**63), 2**63, 2**64, 1 << 900, 0.0, -0.0, 1.5, float("inf"), Twice(3), Code.ONE, np.int32(7), np.float64(2),
    np.bool_(True), "", "a", "x" * 126, "x" * 127, "x" * 128, "x" * 32767, "x" * 32768, "é" * 16383, "é" * 16384, "\U0001f600", "\ud800",
    "\0", Name("odd"), b"", b"a", b"x" * 16, b"y" * 127, bytearray(b"abc"), bytearray(16), memoryview(b"abcdefgh"),
    memoryview(b"abcdefgh")[::2], memoryview(bytes(16)).cast("Q"), _released(), uuid.UUID(int=5), "AAAAAAAAAAAAAAAAAAAAAQ",
    str(uuid.UUID(int=5)), (), [], [None], (None,), [1], (1, 2, 3), (1, 2**31), [True, "a"], ("a", "b"), ["a", None], (b"a",), [b"x" *
    16], (uuid.UUID(int=5),), [[]], Pretending([1, 2]), Pretending(), tuple(range(40)), ((5, b"a"),), [(5, b"a"), (6, b"b")], ((6, b"a"),
    (5, b"b")), ((0, b"a"),), ((2**32 - 1, b"z" * 200),), ((5, b"a", 1),), ((5, "a"),), ((2**31, bytearray(b"q")),), {}, set(), range(3),
    iter(()), object, Unwilling(), np.arange(3), 3j,
)  # fmt: skip


def outcome(codec: Any, message: Any, version: int) -> Any:
    try:
        return codec.encode(message, version)
    except EncodeError as error:
        return type(error).__name__, str(error), error.reason, error.path, error.message, error.api_version
    except LookupError as error:  # what the caller's own objects raise is the caller's
        return repr(error)


def places(message: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []

    def walk(held: Any, way: tuple[Any, ...]) -> None:
        if isinstance(held, list):
            for index, each in enumerate(held[:3]):
                found.append((*way, index))
                walk(each, (*way, index))
        elif hasattr(held, "slot_names"):
            for name in held.slot_names:
                found.append((*way, name))
                walk(getattr(held, name), (*way, name))

    walk(message, ())
    return found


def put(message: Any, way: tuple[Any, ...], value: Any) -> None:
    target = message
    for step in way[:-1]:
        target = target[step] if isinstance(step, int) else getattr(target, step)
    if isinstance(way[-1], int):
        target[way[-1]] = value
    elif value is ...:
        delattr(target, way[-1])
    else:
        setattr(target, way[-1], value)


def decoded(codec: Any, reference: Any, name: str, data: bytes, version: int) -> tuple[Any, Any]:
    return codec.decode(name, data, version), reference.decode(name, data, version)


def same(codec: Any, reference: Any, messages: tuple[Any, Any], version: int) -> Any:
    ours = outcome(codec, messages[0], version)
    theirs = outcome(reference, messages[1], version)
    return ours, ours == theirs, theirs


@pytest.mark.filterwarnings("ignore:In future, it will be an error for 'np.bool':DeprecationWarning")  # numpy 2.2
def test_mutated_objects(native_codec, reference_codec, vectors, share):
    chance = random.Random(5590)
    written = refused = 0
    for case in share(vectors("messages-sample"), 5):
        name, version, data = case["message"], case["version"], bytes.fromhex(case["hex"])
        if not data or len(data) > 2000:
            continue
        ways = places(native_codec.decode(name, data, version))
        for _ in range(CHANGES):
            pair = decoded(native_codec, reference_codec, name, data, version)
            changes = [(chance.choice(ways), chance.choice((*ODD, ...))) for _ in range(chance.choice((1, 1, 2)))]
            changes.sort(key=lambda change: -len(change[0]))  # the way to a place must still be there
            for way, value in changes:
                for message in pair:
                    if isinstance(value, type(...)) and isinstance(way[-1], int):
                        continue
                    put(message, way, value)
            ours, alike, theirs = same(native_codec, reference_codec, pair, version)
            assert alike, (name, version, changes, ours, theirs)
            if isinstance(ours, bytes):
                written += 1
                assert native_codec.encode(native_codec.decode(name, ours, version), version) == ours, (name, version, changes)
            else:
                refused += 1
    assert min(written, refused) > 500 / 5


def test_objects_in_other_versions(native_codec, reference_codec, vectors):
    """What one version carries another may lack."""
    chance = random.Random(1313)
    outcomes = set()
    for case in vectors("messages-sample"):
        if case["case"] == "full" or (case["case"] == "unknown-tags" and chance.random() < 0.2):
            name, data = case["message"], bytes.fromhex(case["hex"])
            versions = list(catalog()[name].valid_versions)
            for version in chance.sample(versions, min(3, len(versions))):
                pair = decoded(native_codec, reference_codec, name, data, case["version"])
                ours, alike, theirs = same(native_codec, reference_codec, pair, version)
                assert alike, (name, case["version"], version, ours, theirs)
                outcomes.add("bytes" if isinstance(ours, bytes) else ours[2].partition(" lacks")[0])
    assert len(outcomes) > 10


class Drawn:
    """Draws messages: values of every slot that a version has, within their ranges, as one tree that both twins make objects of."""

    RANGES: ClassVar = {
        Op.INT8: (-128, 127), Op.INT16: (-(2**15), 2**15 - 1), Op.UINT16: (0, 2**16 - 1), Op.INT32: (-(2**31), 2**31 - 1),
        Op.UINT32: (0, 2**32 - 1), Op.INT64: (-(2**63), 2**63 - 1),
    }  # fmt: skip

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.made: dict[int, st.SearchStrategy[Any]] = {}

    def scalar(self, code: int) -> st.SearchStrategy[Any]:
        if code in self.RANGES:
            return st.integers(*self.RANGES[Op(code)])
        if code == Op.BOOL:
            return st.booleans()
        if code == Op.FLOAT64:
            return st.floats(allow_nan=False)
        if code == Op.UUID:
            return st.binary(min_size=16, max_size=16)
        if code == Op.STRING:
            return st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.integers(120, 400).map("s".__mul__))
        return st.one_of(st.binary(max_size=20), st.integers(120, 400).map(b"b".__mul__))

    def value(self, operation: Operation) -> st.SearchStrategy[Any]:
        if operation.code == Op.STRUCT:
            drawn = self.struct(operation.block)
        elif operation.code == Op.ARRAY:
            element = self.struct(operation.block) if operation.element == Op.STRUCT else self.scalar(operation.element)
            drawn = st.lists(element, max_size=4)
        else:
            drawn = self.scalar(operation.code)
        return st.none() | drawn if operation.flags & Flag.NULLABLE else drawn

    def struct(self, number: int) -> st.SearchStrategy[Any]:
        block = self.plan.blocks[number]
        slots = self.plan.layouts[block.layout].slots
        operations = [self.plan.operation(index) for index in range(block.first, block.first + block.untagged + block.tagged)]
        required = {slots[each.slot].attribute: self.value(each) for each in operations if each.tag < 0}
        optional = {slots[each.slot].attribute: self.value(each) for each in operations if each.tag >= 0}
        if self.plan.flexible:
            tags = st.dictionaries(st.integers(1000, 2**32 - 1), st.binary(max_size=200), max_size=3)
            optional["unknown_tagged_fields"] = tags.map(lambda each: tuple(sorted(each.items())))
        return st.fixed_dictionaries(required, optional=optional).map(lambda values: (block.layout, values))


def build(classes: tuple[type, ...], drawn: Any) -> Any:
    if isinstance(drawn, list):
        return [build(classes, each) for each in drawn]
    if isinstance(drawn, tuple) and len(drawn) == 2 and isinstance(drawn[1], dict):
        return classes[drawn[0]](**{name: build(classes, value) for name, value in drawn[1].items()})
    return drawn


MESSAGES = [
    ("MetadataResponse", 12), ("MetadataResponse", 1), ("FetchRequest", 17), ("FetchRequest", 4), ("FetchResponse", 16),
    ("ProduceRequest", 11), ("ApiVersionsResponse", 4), ("DescribeTopicPartitionsResponse", 0), ("ConsumerGroupMemberMetadataValue",
    0), ("AlterClientQuotasRequest", 1), ("BrokerRegistrationRequest", 4), ("JoinGroupRequest", 5), ("RequestHeader", 2),
    ("CreateTopicsRequest", 7),
]  # fmt: skip


# They stand for the others: arrays in arrays, tagged structs, records, and a struct that may be null.
FOREMOST = {("MetadataResponse", 12), ("FetchResponse", 16), ("ConsumerGroupMemberMetadataValue", 0), ("JoinGroupRequest", 5)}


@pytest.mark.parametrize(
    ("name", "version"), [pytest.param(*each, marks=() if each in FOREMOST else pytest.mark.whole) for each in MESSAGES]
)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], derandomize=True
)
@given(data=st.data())
def test_what_is_written_is_read(native_codec, reference_codec, name, version, data):
    drawn = data.draw(Drawn(native_codec.compiled.plan(name, version)).struct(0))
    ours = build(native_codec.compiled.classes(name), drawn)
    written = native_codec.encode(ours, version)
    theirs = build(reference_codec.compiled.classes(name), drawn)
    assert written == reference_codec.encode(theirs, version)
    assert native_codec.decode(name, written, version) == ours
    assert reference_codec.decode(name, written, version) == theirs
