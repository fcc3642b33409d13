"""Lines of request logs by the fast path and by the fallback: what each makes of a line, and of a log."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import timezone, tzinfo
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kwire.capture.request_logs.bodies import read_body
from kwire.capture.request_logs.entry import LogEntry, UnreadableLine
from kwire.capture.request_logs.json_form import parse_json
from kwire.capture.request_logs.lines import read_line
from kwire.capture.request_logs.typed_lines import line_reader
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from kwire.tables.series import begin_series, finish_series, iter_piece

LOGS = sorted((Path(__file__).parent / "captures" / "data").glob("*-requests.[jl]*"))

HEADER = '{"requestApiKey":1,"requestApiVersion":12,"correlationId":7,"clientId":"a","requestApiKeyName":"FETCH"}'
TIMES = '"totalTimeMs":60.7065,"requestQueueTimeMs":0.0005,"localTimeMs":3,"remoteTimeMs":-1'
WHOLE = (
    '{"isForwarded":false,"requestHeader":'
    + HEADER
    + ',"request":{"replicaId":-1,"maxWaitMs":500,"rackId":"","topics":[{"topic":"é","partitions":[{"partition":0}]}]},'
    '"response":{"throttleTimeMs":0,"errorCode":0,"responses":[]},"connection":"10.0.0.1:9092-10.0.0.2:50000-0-7",'
    + TIMES
    + ',"securityProtocol":"SASL_SSL",'
    '"principal":"User:alice","listener":"EXT","clientInformation":{"softwareName":"sarama","softwareVersion":"v1.50.3"}}'
)
BITS = ["null", "true", '"35"', "35", '""', "-1", "9" * 20, "32768", "1.0", "1e3", "01", "-0", "[]", "{}", "[1]", '"\\u0041"', "NaN", "-",
        "1.",         '"\\ud800"', '"\udcff"', '"\x01"', "[" * 70 + "]" * 70, "1" * 500, "0.1234567890123456789", "3e11"]  # fmt: skip
LINES = [
    WHOLE,
    "[2026-01-01 10:20:30,456] DEBUG Completed request:" + WHOLE + " (kafka.request.logger)",
    "[2026-10-25 02:30:00.999] INFO Completed request: " + WHOLE,
]


OF_LINES = tuple(name for name in LogEntry._fields if name not in ("form", "request", "response"))


def same(typed: Any, read: Any) -> bool:
    if isinstance(read, SimpleNamespace):
        fields = getattr(typed, "__struct_fields__", None) or vars(read).keys()
        return set(fields) <= vars(read).keys() and all(same(getattr(typed, name), value) for name, value in vars(read).items())
    if isinstance(read, list | tuple):
        return type(typed) is type(read) and len(typed) == len(read) and all(map(same, typed, read))
    return type(typed) is type(read) and typed == read


def same_entry(typed: LogEntry, read: LogEntry | None) -> bool:
    """Whether an entry of the fast path has what the fallback's has, bodies too."""
    if read is None or any(getattr(typed, name) != getattr(read, name) for name in OF_LINES):
        return False
    wanted = wanted_bodies(read.api_key, read.api_version)
    assert wanted is not None
    for kind, found, body in ((wanted.request, typed.request, read.request), (wanted.response, typed.response, read.response)):
        if found == {}:  # of an ApiVersions request that the broker could not read
            pass
        elif isinstance(found, bytes):
            found = parse_json(found.decode("utf-8", "replace"))
        elif body is not None and kind is not None:
            body = read_body(kind[0], read.api_version, kind[1], body, True)
        if not same(found, body):
            return False
    return True


@cache
def typed_reader(zone: tzinfo) -> Callable[[bytes, int], LogEntry | None]:
    return line_reader(zone, wanted_bodies)


def both(line: bytes, zone: tzinfo = timezone.utc) -> tuple[LogEntry | None, LogEntry | None]:
    typed = typed_reader(zone)(line, 3)
    try:
        return typed, read_line(line.decode("utf-8", "replace"), 3, zone)
    except UnreadableLine:
        return typed, None


def with_bodies(key: int, version: int, request: str, response: str) -> str:
    line = WHOLE.replace('"requestApiKey":1,"requestApiVersion":12', f'"requestApiKey":{key},"requestApiVersion":{version}')
    return line[: line.index('"request":')] + f'"request":{request},"response":{response},' + line[line.index('"connection"') :]


def tables(log: bytes) -> dict[str, list[dict[str, Any]]]:
    carry = begin_series("s")
    rows: dict[str, list[dict[str, Any]]] = {}
    for found in iter_piece(io.BytesIO(log), carry):
        for name, batches in found.items():
            rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
    last, facts = finish_series(carry)
    for name, batches in last.items():
        rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
    return rows | {name: table.to_pylist() for name, table in facts.items()}


def both_tables(log: bytes) -> tuple[dict[str, list[dict[str, Any]]], dict[str, list[dict[str, Any]]]]:
    with pytest.MonkeyPatch.context() as patch:
        fast = tables(log)
        patch.setattr("kwire.capture.request_logs.folding.typed_reader", lambda _zone, _wanted: None)
        return fast, tables(log)


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())
