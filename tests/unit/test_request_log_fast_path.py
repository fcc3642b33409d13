"""The fast path through JSON request logs, by msgspec, against the fallback, on good and on bad lines: it gives the same or nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timezone, tzinfo
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.capture._native.log_lines import LineReader
from kwire.capture.request_logs.bodies import BodyFault, read_body
from kwire.capture.request_logs.entry import LogEntry, UnreadableLine
from kwire.capture.request_logs.json_form import parse_json
from kwire.capture.request_logs.lines import read_line
from kwire.capture.request_logs.typed_bodies import converted, struct_of
from kwire.codec.classes import compiled
from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES
from kwire.protocol.tracking.first_fields import error_code_of, first_value, request_fields, response_fields, topics_of
from kwire.schema import catalog
from kwire.tables.request_logs.exchange_kinds import exchange_kind, wanted_bodies
from kwire.tables.series import begin_series, finish_series, iter_piece

LOGS = sorted((Path(__file__).parents[1] / "captures" / "data").glob("*-requests.[jl]*"))

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
    """Whether a typed body has what the fallback's has, and no more."""
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
def line_reader(zone: tzinfo) -> LineReader:
    return LineReader(zone, wanted_bodies)


def both(line: bytes, zone: tzinfo = timezone.utc) -> tuple[LogEntry | None, LogEntry | None]:
    """The entry that the fast path makes of a line, and that of the fallback; None where there is none or it is broken."""
    typed = line_reader(zone).read(line, 3)
    try:
        return typed, read_line(line.decode("utf-8", "replace"), 3, zone)
    except UnreadableLine:
        return typed, None


def test_lines_as_brokers_write_them_take_the_fast_path() -> None:
    for line in LINES:
        for zone in (timezone.utc, ZoneInfo("Europe/Berlin")):
            typed, read = both(line.encode(), zone)
            assert typed is not None
            assert same_entry(typed, read)
    entry = both(LINES[1].encode())[0]
    assert entry is not None
    assert (entry.logged_us, entry.level, entry.total_us, entry.queue_us) == (1767262830456000, "DEBUG", 60706, 0)
    assert (entry.local_us, entry.remote_us, entry.software, entry.connection.client_port) == (3000, None, ("sarama", "v1.50.3"), 50000)
    assert [(topic.topic, [each.partition for each in topic.partitions]) for topic in entry.request.topics] == [("é", [0])]
    assert (entry.response.throttle_time_ms, entry.response.error_code, entry.response.responses) == (0, 0, [])


def test_produce_without_acknowledgement_takes_the_fast_path() -> None:
    """Brokers write an empty text in place of the response that there is not."""
    request = '{"transactionalId":null,"acks":0,"timeoutMs":1,"topicData":[]}'
    entry = LineReader(timezone.utc, wanted_bodies).read(with_bodies(0, 9, request, '""').encode(), 1)
    assert entry is not None
    assert (entry.request.acks, entry.response) == (0, None)


def test_an_answer_to_api_versions_is_told_from_the_one_before() -> None:
    """The reader knows its latest answers: one that differs, one inside of another object and one that has none are not those."""
    reader = LineReader(timezone.utc, wanted_bodies)
    first, other = '{"errorCode":0,"apiKeys":[]}', '{"errorCode":0,"apiKeys":[],"throttleTimeMs":9}'
    software = '{"clientSoftwareName":"n","clientSoftwareVersion":"1","more":{"x":0,"response":%s}}'
    name = '{"clientSoftwareName":",\\"response\\":{","clientSoftwareVersion":"1"}'
    plain = '{"clientSoftwareName":"n","clientSoftwareVersion":"1"}'
    lines = [
        (with_bodies(18, 4, request, response), response)
        for request, response in [
            (plain, first), (plain, first), (plain, other), (plain, first), (software % first, other), (software % first, first),
            (name, first), (name, other), (software % first, "null"),
        ]
    ]  # fmt: skip
    lines.append((with_bodies(18, 4, plain, first).replace('"connection"', f'"response":{other},"connection"'), other))  # the last counts
    lines.append((LINES[1].replace(WHOLE, with_bodies(18, 4, plain, first)), first))
    for number, (line, response) in enumerate(lines):
        entry = reader.read(line.encode(), number)
        assert entry is not None
        assert entry.response == (None if response == "null" else response.encode())
        assert same_entry(entry, read_line(line, number))
    nothing = with_bodies(18, 4, software % first, first).replace(f',"response":{first},"connection"', ',"connection"')
    entry = reader.read(nothing.encode(), 1)
    assert entry is not None
    assert entry.response is None


@pytest.mark.parametrize("behind", [" ", "\r\n", "\n"])
def test_a_bare_object_may_have_blanks_behind_it(behind: str) -> None:
    assert LineReader(timezone.utc, wanted_bodies).read((WHOLE + behind).encode(), 3) == both(WHOLE.encode())[0]


def test_the_name_of_the_logger_may_stand_behind_a_bare_object() -> None:
    typed, read = both((WHOLE + " (kafka.request.logger)\n").encode())
    assert typed is not None
    assert same_entry(typed, read)


def with_bodies(key: int, version: int, request: str, response: str) -> str:
    line = WHOLE.replace('"requestApiKey":1,"requestApiVersion":12', f'"requestApiKey":{key},"requestApiVersion":{version}')
    return line[: line.index('"request":')] + f'"request":{request},"response":{response},' + line[line.index('"connection"') :]


@pytest.mark.parametrize(
    ("key", "version", "request_body", "response"),
    [
        (8, 8, '{"groupId":"g","generationId":4,"memberId":"m","groupInstanceId":null,"topics":[]}', '{"throttleTimeMs":0,"topics":[]}'),
        (1, 12, '{"replicaId":-1,"maxWaitMs":500,"rackId":"","topics":[]}',
         '{"throttleTimeMs":0,"errorCode":0,"responses":[{"topic":"t","partitionResponses":'
         '[{"partition":3,"errorCode":0,"recordSetSizeInBytes":7}]}]}'),
    ],
)  # fmt: skip
def test_names_of_former_releases_take_the_fast_path(key: int, version: int, request_body: str, response: str) -> None:
    """As 2.8 wrote them, and with the names of today."""
    line = with_bodies(key, version, request_body, response)
    today = line.replace('"generationId"', '"generationIdOrMemberEpoch"').replace('"partitionResponses"', '"partitions"')
    today = today.replace('"partition":3', '"partitionIndex":3').replace("recordSetSize", "recordsSize")
    for text in (line, today):
        typed, read = both(text.encode())
        assert typed is not None
        assert same_entry(typed, read)


def damaged(line: str) -> Iterator[bytes]:
    """A line cut at every byte, each of its bytes another one, each of its values another one, names changed, members twice or missing."""
    chance = random.Random(11)
    raw = line.encode("utf-8", "surrogateescape")
    for at in range(len(raw)):
        yield raw[:at]
        yield raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]
        yield raw[:at] + chance.choice([b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\xff", b" ", b"\t", b"\0", b"\xc3"]) + raw[at:]
    for kind in (r':(-?[0-9.]+|"[^"]*"|true|false|null)', r":(\{[^{}]*\})"):
        for found in re.finditer(kind, line):
            for bit in BITS:
                yield (line[: found.start(1)] + bit + line[found.end(1) :]).encode("utf-8", "surrogateescape")
    for found in re.finditer(r'"([A-Za-z]+)":(-?[0-9.]+|"[^"]*"|true|false),', line):
        yield (line[: found.start()] + line[found.end() :]).encode()
        yield (line[: found.start()] + found[0] * 2 + line[found.end() :]).encode()
        for name in ("x", "time", "state", "requestHeader", "request", found[1].upper()):
            yield (line[: found.start(1)] + name + line[found.end(1) :]).encode()


@pytest.mark.parametrize("line", LINES, ids=["bare", "with its layout", "another stamp"])
def test_damaged_lines_are_the_same_on_both_paths(line: str) -> None:
    accepted = 0
    for bad in damaged(line):
        typed, read = both(bad)
        if typed is not None:
            accepted += 1
            assert same_entry(typed, read), bad
    # Of the bare line 497: damage to a body takes the whole line to the fallback, for line and bodies are read in one pass.
    assert accepted > 490


@pytest.mark.parametrize("member", ["requestApiKeyName", "securityProtocol", "listener"])
def test_a_member_that_is_not_read_may_be_any_json(member: str) -> None:
    """The rule of the fast path: what it reads has the type that brokers write; all else it steps over."""
    given = re.search(f'"{member}":("[A-Z_]*")', WHOLE)
    assert given is not None
    for bit in (
        "null",
        "true",
        '"35"',
        "35",
        '""',
        "-1",
        "9" * 20,
        "1e3",
        "-0",
        "[]",
        "{}",
        "[1]",
        '"\\u0041"',
        "[" * 70 + "]" * 70,
        "1" * 500,
    ):
        typed, read = both((WHOLE[: given.start(1)] + bit + WHOLE[given.end(1) :]).encode())
        assert typed is not None, bit
        assert same_entry(typed, read), bit


@pytest.mark.parametrize(
    "line",
    [
        WHOLE.replace("{", '{"time":"2026-01-01T00:00:00Z",', 1),
        WHOLE.replace("{", '{"state":"unanswered",', 1),
        '{"message":"Completed request:{}"}',
        LINES[1].replace(":30,456", ":75,456"),
        LINES[1].replace(":30,456", ":+3,456"),
        LINES[1].replace("30,456", "30,45 "),
        LINES[1].replace("30,456]", "30,4567"),
        LINES[1].replace("] DEBUG", "] NOISE"),
        LINES[1].replace("] DEBUG", "]DEBUG"),
        LINES[1].replace("-01 10", "-32 10"),
        LINES[1].replace("request:{", "request:  {"),
    ],
)
def test_what_brokers_do_not_write_takes_the_fallback(line: str) -> None:
    assert both(line.encode())[0] is None


def test_a_cut_line_takes_the_fallback() -> None:
    for line in LINES:
        whole = line.encode()
        for size in range(whole.rindex(b"}") + 1):
            assert both(whole[:size])[0] is None


def bodies(vectors: Callable[[str], list[dict[str, Any]]]) -> Iterator[tuple[Any, str, int, dict[str, Any]]]:
    for line in vectors("messages-sample"):
        message = compiled().message(line["message"])
        known = catalog().request if message.kind == "request" else catalog().response
        # former names of an api have no lines in a log
        if message.kind in ("request", "response") and (found := known(message.api_key)) is not None and found.name == line["message"]:
            yield message, line["message"], line["version"], line["json"]


def typed_body(name: str, version: int, fields: tuple[str, ...] | None, text: bytes) -> Any:
    """The body as the fast path reads it, None where it does not fit its type."""
    try:
        return msgspec.json.decode(text, type=struct_of(compiled().plan(name, version, fields)), dec_hook=converted)
    except msgspec.MsgspecError:
        return None


def test_bodies_are_the_same_on_both_paths(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    """Every version of every request and response, whole and with the fields of the tables."""
    seen = typed = 0
    for message, name, version, body in bodies(vectors):
        first = (request_fields if message.kind == "request" else response_fields)(message.api_key, version).projection
        for fields in {None, first}:
            found = typed_body(name, version, fields, json.dumps(body, ensure_ascii=False).encode())
            seen += 1
            typed += found is not None
            assert found is None or same(found, read_body(name, version, fields, body, True)), (name, version)
    assert typed > seen * 0.9 > 1000


def test_sizes_of_records_are_read_on_both_paths() -> None:
    partition = {"partitionIndex": 3, "errorCode": 0, "highWatermark": 9, "recordsSizeInBytes": 77, "abortedTransactions": None}
    partition |= {"lastStableOffset": 9, "logStartOffset": 0, "preferredReadReplica": -1}
    body = {"throttleTimeMs": 0, "errorCode": 0, "sessionId": 0, "responses": [{"topic": "t", "partitions": [partition]}]}
    found = typed_body("FetchResponse", 12, None, json.dumps(body).encode())
    assert same(found, read_body("FetchResponse", 12, None, body, True))
    (topic,) = found.responses
    assert (topic.partitions[0].records_size, topic.partitions[0].records) == (77, None)


def test_typed_messages_have_the_first_fields_of_all_others(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    seen = 0
    for message, name, version, body in bodies(vectors):
        kind = exchange_kind(message.api_key, version)
        known = kind.request if message.kind == "request" else kind.response
        assert known is not None
        found = typed_body(name, version, known.fields, json.dumps(body).encode())
        if found is None:
            continue
        seen += 1
        if message.kind == "request":
            fields = request_fields(message.api_key, version)
            expected = (
                *(first_value(found, fields.columns.get(column.name)) for column, _ in REQUEST_BODIES),
                *topics_of(found, fields),
            )
            assert kind.first(found) == expected
        else:
            answered = response_fields(message.api_key, version)
            assert kind.code(found) == error_code_of(found, answered)
            assert kind.answered(found) == tuple(first_value(found, answered.columns.get(column.name)) for column, _ in RESPONSE_BODIES)
    assert seen > 500


def tables(log: bytes) -> dict[str, list[dict[str, Any]]]:
    """All rows of a log."""
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
    """All rows of a log, with the fast path, and by the fallback alone."""
    with pytest.MonkeyPatch.context() as patch:
        fast = tables(log)
        patch.setattr("kwire.capture.request_logs.folding.typed_reader", lambda _zone, _wanted: None)
        return fast, tables(log)


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.partition(".")[0])
def test_all_tables_are_the_same_on_both_paths(path: Path) -> None:
    fast, fallback = both_tables(text_of(path))
    assert fast == fallback
    assert len(fast["requests"]) > 100


# A value may be any of these in the place of another.
ODD = [*BITS, "1e400", "-9223372036854775809", "18446744073709551616", "4294967295", "65536", '"\\udc00\\ud800"', '"\\u00e9"', '"a\\nb"']
LEAVES = st.none() | st.booleans() | st.sampled_from(["a", -1, 1.5])
VALUES = st.one_of(
    st.sampled_from(ODD),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.floats().map(json.dumps),
    st.text(max_size=5).map(json.dumps),
    st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)).map(
        json.dumps
    ),
)
VALUE = re.compile(r'(?<=:)(-?[0-9][0-9.eE+]*|"(?:[^"\\]|\\.)*"|true|false|null)')
NAME = re.compile(r'(?<=[{,])"[A-Za-z]+"(?=:)')
MEMBER = re.compile(r'"[A-Za-z]+":(?:-?[0-9][0-9.eE+]*|"(?:[^"\\]|\\.)*"|true|false|null),')
ANYWHERE = re.compile("")
WHERE = {"value": VALUE, "name": NAME, "escaped name": NAME, "twice": MEMBER, "missing": MEMBER, "unknown": MEMBER}
EXCHANGES = sorted(
    {line for path in LOGS if ".jsonl" in path.name for line in text_of(path).decode().splitlines()[::40] if len(line) < 4000}
)


@st.composite
def mutations(draw: st.DrawFn, lines: list[str]) -> str:
    """A line with a few things in it that are unlike what a broker writes."""
    line = draw(st.sampled_from(lines))
    for _ in range(draw(st.integers(0, 3))):
        how = draw(st.sampled_from(("value", "value", *WHERE, "cut", "sign")))
        places = list(WHERE.get(how, ANYWHERE).finditer(line))
        if not places:
            continue
        at = draw(st.sampled_from(places))
        put = at[0]
        if how == "value":
            put = draw(VALUES)
        elif how == "name":
            put = draw(st.sampled_from(places))[0]
        elif how == "escaped name":
            put = f'"\\u{ord(put[1]):04x}{put[2:]}'
        elif how == "twice":
            put = f"{put}{VALUE.sub(lambda _: draw(VALUES), put)}" if draw(st.booleans()) else put * 2
        elif how == "missing":
            put = ""
        elif how == "unknown":
            put = f'{put}"none of them":{draw(VALUES)},'
        elif how == "cut":
            line = line[: at.start()]
            continue
        elif how == "sign":
            put = draw(st.sampled_from([*'{}[],:"\\ \t\0', "\udcff", "\udced\udca0\udc80"]))
        line = line[: at.start()] + put + line[at.end() :]
    return line.replace("\n", " ")


@given(mutations(LINES + EXCHANGES))
def test_of_any_line_the_fast_path_gives_the_same_or_nothing(line: str) -> None:
    typed, read = both(line.encode("utf-8", "surrogateescape"))
    assert typed is None or same_entry(typed, read)


@given(st.lists(mutations(EXCHANGES), min_size=1, max_size=8), st.booleans())
def test_rows_and_violations_of_any_lines_are_the_same_on_both_paths(lines: list[str], with_layout: bool) -> None:
    before = "[2026-01-01 10:20:30,456] DEBUG Completed request:" if with_layout else ""
    log = "".join(f"{before}{line}\n" for line in [*lines, EXCHANGES[0]]).encode("utf-8", "surrogateescape")
    fast, fallback = both_tables(log)
    assert fast == fallback


@pytest.mark.parametrize(
    ("api_key", "body"),
    [(18, {"errorCode": 0, "apiKeys": [{"apiKey": None, "minVersion": 0, "maxVersion": 1}]}),
     (1, {"errorCode": 0, "responses": [{"topicId": None, "partitions": []}]})],
)  # fmt: skip
def test_numbers_and_ids_are_never_null(api_key: int, body: dict[str, Any]) -> None:
    """No schema of Kafka has a null of these types; a broken log that has one must not stop the series."""
    version = 3 if api_key == 18 else 13
    message = catalog().response(api_key)
    assert message is not None
    body = {"throttleTimeMs": 0, "sessionId": 0, **body}
    with pytest.raises(BodyFault):
        read_body(message.name, version, None, body, True)
    assert typed_body(message.name, version, None, json.dumps(body).encode()) is None


# Good JSON, and more than Python reads: numbers of so many digits it takes for an attack.
LONG = "1" * 5000


@pytest.mark.parametrize("body", ["decoded", "malformed"])
def test_numbers_that_python_does_not_read_cost_their_line_at_most(body: str) -> None:
    """The fast path steps over fields that were not asked for; where a line does not fit, the fallback names it as broken."""
    code = "35" if body == "decoded" else "null"
    line = WHOLE.replace('"topics":[', f'"x":{LONG},"topics":[').replace('"errorCode":0', f'"x":{LONG},"errorCode":{code}')
    versions = line.replace('"requestApiKey":1,"requestApiVersion":12', '"requestApiKey":18,"requestApiVersion":3')
    rows = tables(f"{versions}\n{line}\n{WHOLE}\n".encode())["requests"]
    assert [row["packet_number"] for row in rows] == [1, 2, 3]


ROWS_OF = """
import json, sys
sys.modules.update({hidden})
from datetime import timezone
from kwire.capture.request_logs.folding import typed_reader
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from kwire.tables.series import begin_series, finish_series, read_piece
carry = begin_series("s")
early = "msgspec._core" in sys.modules  # captures alone do without it
found = read_piece({path!r}, carry)
last, _ = finish_series(carry)
batches = [batch for given in (found, last) for name in ("requests", "violations") for batch in given.get(name, ())]
rows = [row for batch in batches for row in batch.to_pylist()]
print(json.dumps([typed_reader(timezone.utc, wanted_bodies) is None, early, rows], default=str))
"""


@pytest.mark.parametrize(("hidden", "pure"), [("msgspec=None", "0"), ("msgspec=None", "1"), ("", "1")])
def test_without_msgspec_the_fallback_reads_everything(hidden: str, pure: str) -> None:
    """As on executors that have kwire and pyarrow alone; and the pure twin, which has no other reader."""
    path = next(path for path in LOGS if "topicids" in path.name)
    script = ROWS_OF.format(hidden=hidden, path=str(path))
    given = os.environ | {"KWIRE_PURE": pure, "KWIRE_REQUIRE_NATIVE": "0"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=given, timeout=120, check=True)
    missing, early, rows = json.loads(run.stdout)
    assert missing
    assert not early
    expected = tables(text_of(path))
    assert len([row for row in rows if "api_key" in row]) == len(expected["requests"]) == 257
    for row in rows:
        row.pop("capture")
    expected_rows = [
        {name: value for name, value in row.items() if name != "capture"} for row in expected["requests"] + expected["violations"]
    ]
    key = lambda row: json.dumps(row, sort_keys=True, default=str)  # noqa: E731
    assert sorted(map(key, rows)) == sorted(map(key, expected_rows))
