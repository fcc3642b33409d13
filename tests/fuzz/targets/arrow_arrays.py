"""Arrow arrays of messages, whole and sliced: headers, columns, JSON and records.

A byte gives the kind of the array, a byte how many elements a slice leaves out. Then come the elements: two bytes of length, 0xFFFF for a
null, and the bytes.
"""

from __future__ import annotations

import array
from collections.abc import Iterator
from functools import cache
from typing import Any

import pyarrow as pa

from kwire.codec.binary_chunks import chunks_of
from kwire.codec.columns import Columns
from kwire.codec.header_scan import HeaderScan
from kwire.codec.json_columns import JsonColumns
from kwire.codec.records import record_reader
from parity.test_records_parity import columns as record_columns
from twin_codecs import codec_of, vectors_of

KINDS = (pa.binary(), pa.large_binary(), pa.binary_view())
MOST = 64  # elements
NULL = 0xFFFF


def joined(elements: list[bytes | None], kind: int = 0, cut: int = 0) -> bytes:
    return bytes([kind, cut]) + b"".join(
        NULL.to_bytes(2, "big") if each is None else len(each).to_bytes(2, "big") + each
        for each in elements
        if each is None or len(each) < NULL
    )


def elements_of(data: bytes) -> list[bytes | None]:
    found: list[bytes | None] = []
    at = 0
    while at + 2 <= len(data) and len(found) < MOST:
        size = int.from_bytes(data[at : at + 2], "big")
        found.append(None if size == NULL else data[at + 2 : at + 2 + size])
        at += 2 if size == NULL else 2 + size
    return found


def seeds() -> Iterator[bytes]:
    frames: list[bytes | None] = [bytes.fromhex(case["hex"])[4:] for case in vectors_of("frames-sample") if case["kind"] == "request"]
    yield from (joined([frame], number % 3) for number, frame in enumerate(frames))
    # Heartbeat v0 with the client id "": api, version, correlation id, client id; group, generation, member
    nameless = bytes.fromhex("000c 0000 00000007 0000 000167 00000005 0028") + b"m" * 40
    for first in ([], [nameless], [None, nameless], [b"", nameless], [nameless, frames[0]]):
        yield from (joined([*first, *frames[:2]], number, number) for number in range(3))
    yield from (joined([None, bytes.fromhex(case["hex"])]) for case in vectors_of("records-sample") if len(case["hex"]) <= 2000)


@cache
def readers(twin: Any) -> tuple[Any, ...]:
    compiled = codec_of(twin).compiled
    return HeaderScan(compiled).header_batch, Columns(compiled).to_arrow, JsonColumns(compiled, "request").texts, record_reader(twin)


def outcome(twin: Any, messages: Any) -> Any:
    header_batch, to_arrow, texts, records = readers(twin)
    heads = header_batch(messages)
    heads.validate(full=True)
    keys, versions, starts = (heads.column(name).fill_null(-1) for name in ("api_key", "api_version", "body_offset"))
    [chunk] = chunks_of(messages)
    bodies = chunk._replace(starts=array.array("i", starts.to_pylist()))
    written, left = texts(bodies, *(array.array("h", each.to_pylist()) for each in (keys, versions)))
    written.validate(full=True)
    seen = [heads.to_pylist(), written.to_pylist(), left]
    catalog = codec_of(twin).compiled.catalog
    for key, version in sorted(set(zip(keys.to_pylist(), versions.to_pylist(), strict=True)))[:4]:
        message = catalog.request(key)
        if message is not None and version in message.valid_versions:
            batch = to_arrow(message.name, bodies, version, errors="column", unknown_tags=True)
            batch.validate(full=True)
            seen.append(repr(batch.to_pylist()))  # NaN equals nothing
    return [*seen, record_columns(records, messages, False, "column")]


def compare(data: bytes) -> None:
    elements = elements_of(data[2:])
    kind, cut = KINDS[data[0] % len(KINDS)] if data else pa.binary(), min(data[1] if len(data) > 1 else 0, len(elements))
    messages = pa.array(elements, kind).slice(cut)
    assert outcome("native", messages) == outcome("pure", messages)
