"""What kwire makes of a question, and where a peer's outcome is another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import kwire
from kwire.codec.impl import Twin
from kwire.codec.records import RecordReader, record_reader
from kwire.errors import EncodeError, WireError
from other_decoders.asking import Outcome, Question
from twin_codecs import codec_of

__all__ = ["Contrast", "contrasts", "our_outcome"]

LIMIT: Final = 1 << 24  # bytes of unpacked records
# peers' names of fields that are not Kafka's in snake_case; kio also leaves out the unit `_ms`
ALIASES: Final = {
    "request_api_key": ("api_key",), "request_api_version": ("api_version",), "generation_id": ("generation_id_or_member_epoch",),
    "authorized_operations": ("cluster_authorized_operations", "topic_authorized_operations"),
}  # fmt: skip


class Contrast(NamedTuple):
    """One way in which two outcomes are not the same.

    Attributes:
        how: `kwire refuses`, `peer refuses`, `left over`, `value` or `written`.
        what: the code of kwire's fault, the peer's refusal, or the path of the value.
        ours: what kwire has there.
        theirs: what the peer has there.
    """

    how: str
    what: str
    ours: Any = None
    theirs: Any = None


def _plain(message: Any) -> Any:
    return _bare(kwire.asdict(message))


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bare(each) for each in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value  # the codec's own kind of correlation id too


@cache
def _records(twin: Twin) -> RecordReader:
    return record_reader(twin)


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _read_records(twin: Twin, data: bytes, check_crc: bool) -> Outcome:
    batches = _records(twin).decode(data, strict=True, check_crc=check_crc, max_decompressed=LIMIT)
    seen = []
    for batch in batches:
        records = [
            [each.offset, each.timestamp, each.sequence, _hex(each.key), _hex(each.value),
             [[name.encode().hex(), _hex(value)] for name, value in each.headers]]
            for each in batch.records
        ]  # fmt: skip
        seen.append([
            batch.magic, batch.last_offset, batch.compression, batch.timestamp_type, batch.producer_id, batch.producer_epoch,
            batch.base_sequence, batch.last_sequence, batch.is_transactional, batch.is_control, batch.delete_horizon_ms, records,
        ])  # fmt: skip
    return Outcome(left=batches.tail_bytes, value=seen)


def our_outcome(question: Question, twin: Twin) -> tuple[Outcome, WireError | None]:
    kind, name, version, data = question
    codec = codec_of(twin)
    try:
        if kind == "records":
            return _read_records(twin, data, version == 1), None
        if kind == "message":
            message = codec.decode(name, data, version)
            value = _plain(message)
            write = lambda: codec.encode(message, version)  # noqa: E731
        elif kind == "request":
            request = codec.frames.decode_request(data)
            value = {"header": _plain(request.header), "body": _plain(request.body)}
            write = lambda: codec.writer.encode_request(request.header, request.body)  # noqa: E731
        else:
            response = codec.frames.decode_response(data, int(name), version)
            value = {"header": _plain(response.header), "body": _plain(response.body)}
            write = lambda: codec.writer.encode_response(response.header.correlation_id, response.body, int(name), version)  # noqa: E731
    except WireError as error:
        return Outcome(f"{type(error).__name__}: {error}"), error
    try:
        return Outcome(value=value, written=write()), None
    except EncodeError as error:
        return Outcome(value=value, unwritten=str(error)), None


def _unequal(ours: Any, theirs: Any, path: str) -> Iterator[Contrast]:
    """Where plain values differ; fields that the peer does not have are not compared."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in theirs.items():
            place = f"{path}.{name}" if path else name
            name = next((each for each in (name, *ALIASES.get(name, ()), f"{name}_ms") if each in ours), name)
            if name not in ours:
                yield Contrast("value", place, "no such field", value)
            else:
                yield from _unequal(ours[name], value, place)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from _unequal(*pair, f"{path}[{index}]")
    elif type(ours) is not type(theirs) or (ours != theirs and (ours == ours or theirs == theirs)):
        yield Contrast("value", path, ours, theirs)


def contrasts(ours: Outcome, fault: WireError | None, theirs: Outcome) -> list[Contrast]:
    """All ways in which a peer's outcome is another than kwire's; none where both refuse."""
    if fault is not None:
        return [] if theirs.refused else [Contrast("kwire refuses", fault.code.name, ours.refused)]
    if theirs.refused:
        return [Contrast("peer refuses", theirs.refused)]
    found = []
    if theirs.left not in (-1, ours.left):
        found.append(Contrast("left over", str(theirs.left), ours.left, theirs.left))
    if theirs.value is not None:
        value = json.loads(theirs.value) if isinstance(theirs.value, str) else theirs.value
        found += _unequal(ours.value, value, "")
    elif theirs.unwritten or ours.unwritten:
        if not (theirs.unwritten and ours.unwritten):
            found.append(Contrast("written", theirs.unwritten or "kwire cannot write", ours.unwritten, theirs.unwritten))
    elif ours.written != theirs.written:
        found.append(Contrast("written", "bytes", ours.written, theirs.written))
    return found
