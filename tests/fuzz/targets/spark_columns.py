"""Column functions of Spark on Arrow arrays, whole and sliced: a batch reads as its rows alone, in each mode.

A byte gives the function, one the kind of the array, one how many elements a slice leaves out. Then come the elements as in `arrow_arrays`:
an API key, a version and a frame; a compression type and a push; a length, a key of that length and a value; or record batches.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from fuzz.targets.arrow_arrays import KINDS, elements_of, joined
from kwire.errors import WireError
from kwire.protocol.telemetry import decode_metrics
from kwire.schema import catalog
from kwire.spark.body_types import JSON_BODY, BodyType
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_structs import RequestStruct, ResponseStruct
from kwire.spark.metric_arrays import MetricArrays
from kwire.spark.offset_structs import OffsetStructs
from kwire.spark.reading_options import ReadingOptions
from kwire.spark.record_arrays import RecordArrays
from twin_codecs import vectors_of

MOST = 12  # elements, each of which is read alone too
LENGTH = 2
MODES = tuple(map(ReadingOptions, ("PERMISSIVE", "FAILFAST", "DROPMALFORMED")))
Row = tuple[Any, ...]
Read = Callable[[ReadingOptions, list[Any]], list[Any]]


class Door(NamedTuple):
    """Function of columns: types of the columns after the first, values of an element, and the reader for the first API key and version."""

    types: tuple[Any, ...]
    split: Callable[[bytes | None], Row]
    reader: Callable[[int, int], Read]
    drops: bool = False


def frame_alone(element: bytes | None) -> Row:
    return (None if element is None else element[4:],)


def frame_of_request(element: bytes | None) -> Row:
    """A frame, the API key and the version of its request; null where the number is 0x7F7F."""
    if element is None or len(element) < 4:
        return (element, 12, 4)
    key, version = (None if number == 0x7F7F else number for number in struct.unpack_from(">hh", element))
    return (element[4:], key, version)


def push(element: bytes | None) -> Row:
    return (None, 0) if element is None else (element[1:], element[0] if element else None)


def key_and_value(element: bytes | None) -> Row:
    """Halves of an element; the length of the first one 0xFFFF for a null, and no value behind it for a tombstone."""
    if element is None:
        return (None, None)
    size = int.from_bytes(element[:LENGTH], "big")
    key = None if size == 0xFFFF else element[LENGTH : LENGTH + size]
    value = element[LENGTH + len(key or b"") :]
    return (key, value or None)


def of_structs(make: Any, body: BodyType | None = None) -> Read:
    def read(options: ReadingOptions, columns: list[Any]) -> list[Any]:
        made = make(options) if body is None else make(body, options)
        found = made(*columns)
        found.validate(full=True)
        assert found.type == made.type
        return found.to_pylist()

    return read


def of_rows(body: BodyType, **given: str) -> Read:
    def read(options: ReadingOptions, columns: list[Any]) -> list[Any]:
        batch = pa.RecordBatch.from_arrays(columns, names=["frame", "key", "version"][: len(columns)])
        rows = FrameRows("frame", tuple(batch.schema.names[1:]), body, options, **given)
        found = list(rows(iter([batch])))
        for each in found:
            each.validate(full=True)
        return [tuple(row.values()) for each in found for row in each.rename_columns([*map(str, range(each.num_columns))]).to_pylist()]

    return read


def body_of(kind: str, key: int, version: int, every: bool) -> BodyType:
    """All versions of a message, or one; JSON if there is none with fields."""
    message = getattr(catalog(), kind)(key)
    if message is None or not (every or version in message.valid_versions):
        return JSON_BODY
    found = BodyType(message.name, None if every else version)
    return found if found.schema.names else JSON_BODY


NUMBERS = (pa.int32(), pa.int16())
GIVEN = {"api_key": "key", "api_version": "version"}
DOORS = [
    Door((), frame_alone, lambda *_: of_structs(RequestStruct, JSON_BODY)),
    Door((), frame_alone, lambda *of: of_structs(RequestStruct, body_of("request", *of, False))),
    Door((), frame_alone, lambda *of: of_structs(RequestStruct, body_of("request", *of, True))),
    Door((), frame_alone, lambda *_: of_rows(JSON_BODY), True),
    Door((), frame_alone, lambda *of: of_rows(body_of("request", *of, False)), True),
    Door((), frame_alone, lambda *of: of_rows(body_of("request", *of, True)), True),
    Door(NUMBERS, frame_of_request, lambda *_: of_structs(ResponseStruct, JSON_BODY)),
    Door(NUMBERS, frame_of_request, lambda *of: of_structs(ResponseStruct, body_of("response", *of, False))),
    Door(NUMBERS, frame_of_request, lambda *of: of_structs(ResponseStruct, body_of("response", *of, True))),
    Door(NUMBERS, frame_of_request, lambda *of: responses(*of, False), True),
    Door(NUMBERS, frame_of_request, lambda *of: responses(*of, True), True),
    Door((pa.int16(),), push, lambda *_: of_structs(MetricArrays)),
    Door((pa.binary(),), key_and_value, lambda *_: of_structs(OffsetStructs)),
    Door((), lambda element: (element,), lambda *_: of_structs(RecordArrays)),
]


def responses(key: int, version: int, every: bool) -> Read:
    body = body_of("response", key, version, every)
    return of_rows(BodyType("HeartbeatResponse", 4) if body.message is None else body, **GIVEN)


def outcome(read: Read, options: ReadingOptions, columns: list[Any]) -> Any:
    try:
        return read(options, columns)
    except WireError as error:
        return type(error)


def error_of(row: Any) -> str | None:
    """The error of a struct, of the only element of an array, or of a row, whose last columns are error, offset and path."""
    if isinstance(row, list):
        return next((each["error"] for each in row), None)
    if isinstance(row, dict):
        found: str | None = row["error"]
        return found
    return None


def compare(data: bytes) -> None:
    head, elements = data[:3].ljust(3, b"\0"), elements_of(data[3:])[:MOST]
    door = DOORS[head[0] % len(DOORS)]
    kind, cut = KINDS[head[1] % len(KINDS)], min(head[2], len(elements))
    numbers = [struct.unpack_from(">hh", each) for each in elements if each is not None and len(each) >= 4]
    read = door.reader(*(numbers[0] if numbers else (12, 0)))
    values = [door.split(each) for each in elements]
    types = (kind, *(kind if each == pa.binary() else each for each in door.types))
    whole = [pa.array([row[place] for row in values], each).slice(cut) for place, each in enumerate(types)]
    alone = [[pa.array([value], each) for value, each in zip(row, (pa.binary(), *door.types), strict=True)] for row in values[cut:]]
    for options in MODES[: 3 if door.drops else 2]:
        found = outcome(read, options, whole)
        one_by_one = [outcome(read, options, columns) for columns in alone]
        fault = next((each for each in one_by_one if isinstance(each, type)), None)
        if fault is not None or isinstance(found, type):
            assert options.fails, (options, found, fault)
            assert isinstance(found, type) == (fault is not None), (found, fault)
        else:
            told = [row for rows in one_by_one for row in rows]
            assert repr(found) == repr(told), (door, options, found, told)
            assert not (options.fails and any(map(error_of, found))), found
    if door.split is push:
        metrics_alone(values[cut:], whole)


def metrics_alone(values: list[Row], columns: list[Any]) -> None:
    """Points of pushes with remembered metrics, against those of pushes read alone."""
    for (payload, compression), found in zip(values, MetricArrays()(*columns).to_pylist(), strict=True):
        if payload is None or compression is None:
            assert found is None
            continue
        try:
            points = decode_metrics(payload, compression)
        except WireError as refused:
            error = str(refused)
        else:
            error = None
        if error is not None:
            assert [each["error"] for each in found] == [error]
            continue
        names = ("metric", "type", "unit", "is_monotonic")
        assert [[each[name] for name in names] for each in found] == [[each[name] for name in names] for each in points]
        told = [None if each["value"] is None else float(each["value"]) for each in points]
        assert repr([each["value"] for each in found]) == repr(told)


def seeds() -> Iterator[bytes]:
    frames = vectors_of("frames-sample")
    names = sorted({case["message"] for case in frames})
    for number, name in enumerate(names):
        cases = [case for case in frames if case["message"] == name][:MOST]
        of_kind = (1, 2, 4, 5) if name.endswith("Request") else (7, 8, 9, 10)
        elements: list[bytes | None] = [
            struct.pack(">hh", each["api_key"], each["version"]) + bytes.fromhex(each["hex"])[4:] for each in cases
        ]
        yield bytes([of_kind[number % 4]]) + joined([*elements[:1], None, *elements[1:]], number % 3)
        if number % 5 == 0:
            yield bytes([0 if name.endswith("Request") else 6]) + joined(elements[-3:], number % 3, 1)
    # Heartbeat v0 with the client id "": api, version, correlation id, client id; group, generation, member
    nameless = bytes.fromhex("000c0000 000c 0000 00000007 0000 000167 00000005 0028") + b"m" * 40
    for door in range(6):
        yield bytes([door]) + joined([nameless, None, b"", nameless], door % 3)
    refusal = bytes.fromhex("00120003 00000009 0023 00000001 0012 0000 0004")
    unknown = bytes.fromhex("7f7f0003 00000009 0023")
    for door in range(6, 11):
        yield bytes([door]) + joined([refusal, None, unknown, refusal], door % 3)
    pushes = [bytes([case["compression_id"]]) + bytes.fromhex(case["metrics_hex"]) for case in vectors_of("telemetry-sample")]
    small = [each for each in pushes if len(each) < 4000]
    yield from (bytes([11]) + joined([small[at], None, b"", small[at]], at % 3) for at in range(0, len(small), 4))
    offsets = [case for case in vectors_of("coordinator-sample") if case["topic"] == "__consumer_offsets"]
    keys = {case["type_id"]: bytes.fromhex(case["hex"]) for case in offsets if case["case"] == "record-key"}
    records = [
        (keys[case["type_id"]], bytes.fromhex(case["hex"]))
        for case in offsets
        if case["case"] == "record-value" and case["type_id"] in keys
    ]
    made = [len(key).to_bytes(LENGTH, "big") + key + value for key, value in records]
    yield from (
        bytes([12]) + joined([*made[at : at + 8], None, made[at][: LENGTH + len(records[at][0])]], at % 3) for at in range(0, len(made), 8)
    )
    batches = [bytes.fromhex(case["hex"]) for case in vectors_of("records-sample") if len(case["hex"]) <= 2000]
    yield from (bytes([13]) + joined([*batches[at : at + 3], None, b""], at % 3) for at in range(0, len(batches), 12))
