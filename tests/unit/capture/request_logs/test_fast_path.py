"""The fast path through JSON request logs against the fallback, on lines worked out by hand: it gives the same or nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import timezone
from zoneinfo import ZoneInfo

import pytest

from kwire.capture.request_logs.lines import read_line
from kwire.capture.request_logs.typed_lines import line_reader
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
from log_line_paths import BITS, LINES, WHOLE, both, same_entry, tables, with_bodies


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
    entry = line_reader(timezone.utc, wanted_bodies)(with_bodies(0, 9, request, '""').encode(), 1)
    assert entry is not None
    assert (entry.request.acks, entry.response) == (0, None)


def test_an_answer_to_api_versions_is_told_from_the_one_before() -> None:
    """The reader knows its latest answers: one that differs, one inside of another object and one that has none are not those."""
    read = line_reader(timezone.utc, wanted_bodies)
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
        entry = read(line.encode(), number)
        assert entry is not None
        assert entry.response == (None if response == "null" else response.encode())
        assert same_entry(entry, read_line(line, number))
    nothing = with_bodies(18, 4, software % first, first).replace(f',"response":{first},"connection"', ',"connection"')
    entry = read(nothing.encode(), 1)
    assert entry is not None
    assert entry.response is None


@pytest.mark.parametrize("behind", [" ", "\r\n", "\n"])
def test_a_bare_object_may_have_blanks_behind_it(behind: str) -> None:
    assert line_reader(timezone.utc, wanted_bodies)((WHOLE + behind).encode(), 3) == both(WHOLE.encode())[0]


def test_the_name_of_the_logger_may_stand_behind_a_bare_object() -> None:
    typed, read = both((WHOLE + " (kafka.request.logger)\n").encode())
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
        LINES[1].replace("30,456", "30;456"),
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
