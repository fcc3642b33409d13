"""The compiled short way through JSON request logs against the long way, on good and on bad lines: it says the same or nothing."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kwire.capture.request_log_bodies import BodyFault, read_body, short_reader
from kwire.capture.request_log_entry import LogEntry, UnreadableLine
from kwire.capture.request_log_json import parse_json
from kwire.capture.request_log_lines import read_line
from kwire.codec.classes import compiled
from kwire.codec.impl import load_twin
from kwire.protocol.first_fields import error_code_of, first_value, request_fields, response_fields, topics_of
from kwire.schema import catalog
from kwire.tables.request_log_kinds import plain_kind
from kwire.tables.series import begin_series, finish_series, read_piece

short_way: Any = load_twin("capture", "request_log", "native")
LOGS = sorted((Path(__file__).parents[1] / "captures" / "data").glob("*-requests.[jl]*"))

HEADER = '{"requestApiKey":1,"requestApiVersion":12,"correlationId":7,"clientId":"a","requestApiKeyName":"FETCH"}'
TIMES = '"totalTimeMs":60.7065,"requestQueueTimeMs":0.0005,"localTimeMs":3,"remoteTimeMs":-1'
WHOLE = (
    '{"isForwarded":false,"requestHeader":' + HEADER + ',"request":{"topics":[{"topic":"é","partitions":[{"partition":0}]}]},'
    '"response":{"errorCode":0},"connection":"10.0.0.1:9092-10.0.0.2:50000-0-7",' + TIMES + ',"securityProtocol":"SASL_SSL",'
    '"principal":"User:alice","listener":"EXT","clientInformation":{"softwareName":"sarama","softwareVersion":"v1.50.3"}}'
)
BITS = ["null", "true", '"35"', "35", '""', "-1", "9" * 20, "32768", "1.0", "1e3", "01", "-0", "[]", "{}", "[1]", '"\\u0041"', "NaN", "-",
        "1.",         '"\\ud800"', '"\udcff"', '"\x01"', "[" * 70 + "]" * 70, "1" * 500, "0.1234567890123456789", "3e11"]  # fmt: skip
LINES = [
    WHOLE,
    "[2026-01-01 10:20:30,456] DEBUG Completed request:" + WHOLE + " (kafka.request.logger)",
    "[2026-10-25 02:30:00.999] INFO Completed request: " + WHOLE,
]


def plain(entry: LogEntry | None) -> Any:
    """An entry as values; bodies read, and what else the line has left out, which nobody asks the short way for."""
    if entry is None:
        return None
    values = {name: getattr(entry, name) for name in LogEntry.__slots__ if name != "other"}
    for name in ("request", "response"):
        if isinstance(values[name], bytes):
            values[name] = parse_json(values[name].decode("utf-8", "replace"))
    return values


def both(line: bytes, zone: tzinfo = UTC) -> tuple[LogEntry | None, Any]:
    """What the short way says of a line, and what the long way says, `broken` where that refuses it."""
    short = short_way.EntryReader(zone).read(line, 3)
    try:
        return short, plain(read_line(line.decode("utf-8", "replace"), 3, zone))
    except UnreadableLine:
        return short, "broken"


def test_the_usual_lines_go_the_short_way():
    for line in LINES:
        for zone in (UTC, ZoneInfo("Europe/Berlin")):
            short, long = both(line.encode(), zone)
            assert plain(short) == long
    entry = both(LINES[1].encode())[0]
    assert entry is not None
    assert (entry.logged_us, entry.level, entry.total_us, entry.queue_us) == (1767262830456000, "DEBUG", 60706, 0)
    assert (entry.local_us, entry.remote_us, entry.software, entry.connection.client_port) == (3000, None, ("sarama", "v1.50.3"), 50000)


def damaged(line: str) -> Iterator[bytes]:
    """A line cut at every byte, each of its bytes another one, each of its values another one, names changed, members twice or missing."""
    chance = random.Random(11)
    raw = line.encode("utf-8", "surrogateescape")
    for at in range(len(raw)):
        yield raw[:at]
        yield raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
        yield raw[:at] + chance.choice([b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\xff", b" ", b"\t", b"\0", b"\xc3"]) + raw[at:]
    for found in re.finditer(r':(-?[0-9.]+|"[^"]*"|true|false|null|\{[^{}]*\})', line):
        for bit in BITS:
            yield (line[: found.start(1)] + bit + line[found.end(1) :]).encode("utf-8", "surrogateescape")
    for found in re.finditer(r'"([A-Za-z]+)":(-?[0-9.]+|"[^"]*"|true|false),', line):
        yield (line[: found.start()] + line[found.end() :]).encode()
        yield (line[: found.start()] + found[0] * 2 + line[found.end() :]).encode()
        for name in ("x", "time", "state", "requestHeader", "request", found[1].upper()):
            yield (line[: found.start(1)] + name + line[found.end(1) :]).encode()


@pytest.mark.parametrize("line", LINES, ids=["bare", "with its layout", "another stamp"])
def test_whatever_the_short_way_says_the_long_way_says_too(line: str):
    said = 0
    for bad in damaged(line):
        short, long = both(bad)
        if short is not None:
            said += 1
            assert plain(short) == long, bad
    assert said > 500


def test_nothing_behind_the_line_is_read():
    whole = LINES[0].encode()
    for size in range(len(whole)):
        assert short_way.EntryReader(UTC).read(whole[:size], 1) is None


def bodies(vectors: Callable[[str], list[dict[str, Any]]]) -> Iterator[tuple[Any, str, int, dict[str, Any]]]:
    for line in vectors("messages-sample"):
        message = compiled().message(line["message"])
        known = catalog().request if message.kind == "request" else catalog().response
        # former names of an api have no lines in a log
        if message.kind in ("request", "response") and (found := known(message.api_key)) is not None and found.name == line["message"]:
            yield message, line["message"], line["version"], line["json"]


def test_bodies_are_the_same_both_ways(vectors: Callable[[str], list[dict[str, Any]]]):
    """Every version of every request and response, whole and with the fields of the tables."""
    seen = short = 0
    for message, name, version, body in bodies(vectors):
        first = (request_fields if message.kind == "request" else response_fields)(message.api_key, version).projection
        for fields in {None, first}:
            text = json.dumps(body, ensure_ascii=False).encode()
            read = short_reader(name, version, fields)
            assert read is not None
            found = read(text)
            seen += 1
            short += found is not None
            expected = read_body(name, version, fields, body, True)
            assert found in (None, expected), (name, version)
            assert read_body(name, version, fields, text, True) == expected
    assert short > seen * 0.9 > 1000


def test_plain_exchanges_have_the_first_fields_of_all_others(vectors: Callable[[str], list[dict[str, Any]]]):
    seen = 0
    for message, _name, version, body in bodies(vectors):
        kind = plain_kind(message.api_key, version)
        if kind is None:
            continue
        text = json.dumps(body).encode()
        if message.kind == "request" and (found := kind.read_request(text)) is not None:
            fields = request_fields(message.api_key, version)
            paths = (fields.acks, fields.group_id, fields.transactional_id)
            assert kind.first(found) == (*(first_value(found, path) for path in paths), *topics_of(found, fields))
            seen += 1
        elif message.kind == "response" and (found := kind.read_response(text)) is not None:
            assert kind.error_code(found) == error_code_of(found, response_fields(message.api_key, version))
            seen += 1
    assert seen > 500


def tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    carry = begin_series("s")
    found = read_piece(str(path), carry)
    last, facts = finish_series(carry)
    rows = {name: [row for batch in (*found.get(name, ()), *batches) for row in batch.to_pylist()] for name, batches in last.items()}
    return rows | {name: table.to_pylist() for name, table in facts.items()}


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.partition(".")[0])
def test_all_tables_are_the_same_both_ways(path: Path, monkeypatch: pytest.MonkeyPatch):
    short = tables(path)
    monkeypatch.setattr("kwire.capture.request_log_folding.short_way", None)
    assert short == tables(path)
    assert len(short["requests"]) > 100


@pytest.mark.parametrize(
    ("api_key", "body"),
    [(18, {"errorCode": 0, "apiKeys": [{"apiKey": None, "minVersion": 0, "maxVersion": 1}]}),
     (1, {"errorCode": 0, "responses": [{"topicId": None, "partitions": []}]})],
)  # fmt: skip
def test_numbers_and_ids_are_never_null(api_key: int, body: dict[str, Any]):
    """No schema of Kafka has a null of these types; a broken log that has one must not stop the series."""
    version = 3 if api_key == 18 else 13
    message = catalog().response(api_key)
    assert message is not None
    body = {"throttleTimeMs": 0, "sessionId": 0, **body}
    for given in (body, json.dumps(body).encode()):
        with pytest.raises(BodyFault):
            read_body(message.name, version, None, given, True)
