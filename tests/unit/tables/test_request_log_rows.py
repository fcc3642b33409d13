"""Rows of request logs: what the broker's word is worth, which connections are one, what is not invented."""

from __future__ import annotations

import json
import random
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.request_logs.entry import LogEntry, connection_name
from kwire.capture.request_logs.lines import read_line
from kwire.tables import read_series
from kwire.tables.client_keys import client_key
from kwire.tables.request_logs.exchange_kinds import exchange_kind
from kwire.tables.request_logs.messages import response_of
from kwire.tables.request_logs.rows import LogRows
from kwire.tables.row_sink import RowSink
from kwire.tables.series import begin_series, read_piece

HEARTBEAT, FETCH, METADATA, API_VERSIONS, PRODUCE = 12, 1, 3, 18, 0
UNKNOWN = {"softwareName": "unknown", "softwareVersion": "unknown"}
JAVA = {"softwareName": "apache-kafka-java", "softwareVersion": "3.9.2"}


def line(
    key: int = HEARTBEAT, version: int = 4, *, life: str = "-0-1", client: str = "10.0.0.2:5000", client_id: str | None = "app",
    request: Any = None, response: Any = None, software: Any = UNKNOWN, correlation_id: int = 1, **more: Any,
) -> str:  # fmt: skip
    header = {"requestApiKey": key, "requestApiVersion": version, "correlationId": correlation_id, "clientId": client_id}
    body = {"request": request or {}, "response": {"errorCode": 0} if response is None else response}
    entry = {
        "requestHeader": header,
        **body,
        "connection": f"10.0.0.1:9092-{client}{life}",
        "totalTimeMs": 2.5,
        "principal": "User:ANONYMOUS",
    }
    return json.dumps(entry | ({} if software is None else {"clientInformation": software}) | more)


def asked(version: int, **more: Any) -> str:
    """ApiVersions; brokers log it with what was in force before."""
    request = {"clientSoftwareName": "apache-kafka-java", "clientSoftwareVersion": "3.9.2"} if version >= 3 else {}
    return line(API_VERSIONS, version, request=request, response={"errorCode": 0, "apiKeys": []}, **more)


class Tables:
    def __init__(self, folder: Path, *lines: str, prefix: str = "", **options: Any) -> None:
        log = folder / "requests.log"
        log.write_text("".join(f"{prefix}{each}\n" for each in lines))
        with read_series([str(log)], **options) as rows:
            self.captures = rows.captures.to_pylist()
            self.connections = rows.connections.to_pylist()
            self.requests = rows.table("requests").to_pylist()
            self.violations = rows.table("violations").to_pylist()
            self.facts = {name: table.to_pylist() for name, table in rows.facts.items()}


def test_times_are_those_of_the_line_and_never_made_up(tmp_path: Path) -> None:
    """A line is written when all is done, so the request came `totalTime` before."""
    untimed = Tables(tmp_path, line())
    assert (untimed.requests[0]["request_time"], untimed.requests[0]["response_time"], untimed.requests[0]["latency_us"]) == (
        None,
        None,
        2500,
    )
    assert (untimed.captures[0]["start"], untimed.captures[0]["end"]) == (None, None)
    assert (untimed.connections[0]["first_seen"], untimed.connections[0]["last_seen"]) == (None, None)
    assert [row["rule"] for row in untimed.violations] == ["log_without_times"]
    timed = Tables(tmp_path, f"{line()} (kafka.request.logger)", prefix="[2026-11-21 10:24:46,660] DEBUG Completed request:")
    assert timed.requests[0]["request_time"] == datetime(2026, 11, 21, 10, 24, 46, 657_500, timezone.utc)
    assert timed.requests[0]["response_time"] == datetime(2026, 11, 21, 10, 24, 46, 660_000, timezone.utc)
    assert timed.captures[0]["start"] == timed.captures[0]["end"] == datetime(2026, 11, 21, 10, 24, 46, 660_000, timezone.utc)
    assert timed.violations == []
    local = Tables(tmp_path, line(), prefix="[2026-11-21 11:24:46,660] DEBUG Completed request:", log_zone="Europe/Berlin")
    assert local.requests[0]["response_time"] == timed.requests[0]["response_time"]


def test_connections_between_the_same_ends_are_counted(tmp_path: Path) -> None:
    """By the broker's numbers; up to 0.11 there are none, and what cannot be told apart is one."""
    tables = Tables(
        tmp_path, line(life="-0-1"), line(life="-0-1"), line(life="-0-9"), line(life="-1-2"), line(life="-1-2", client="[::1]:5000")
    )
    assert [(row["connection_id"], row["request_index"]) for row in tables.requests] == [
        ("10.0.0.1:9092-10.0.0.2:5000-0", 0),
        ("10.0.0.1:9092-10.0.0.2:5000-0", 1),
        ("10.0.0.1:9092-10.0.0.2:5000-1", 0),
        ("10.0.0.1:9092-10.0.0.2:5000-2", 0),
        ("10.0.0.1:9092-::1:5000-0", 0),
    ]
    assert len(tables.connections) == 4
    assert len(Tables(tmp_path, line(life=""), line(life="")).connections) == 1


def test_steps_of_groups_are_of_the_file_where_their_connection_begins(tmp_path: Path) -> None:
    """As column `capture` of `group_steps` is declared, and as captures have it: the second file goes on with a connection of the first."""
    answer = {"throttleTimeMs": 0, "errorCode": 27}
    refused = line(request={"groupId": "g", "generationId": 1, "memberId": "m", "groupInstanceId": None}, response=answer)
    carry = begin_series("s")
    steps = []
    for number in (2, 1):
        log = tmp_path / f"requests.log.{number}"
        log.write_text(f"[2026-11-21 10:24:46,660] DEBUG Completed request:{refused}\n")
        for batch in read_piece(log, carry)["group_steps"]:
            steps += batch.to_pylist()
    assert [(row["request_index"], Path(row["capture"]).name) for row in steps] == [(0, "requests.log.2"), (1, "requests.log.2")]


def test_memory_is_bounded_by_the_connections_that_are_live() -> None:
    sink = RowSink("x", frozenset())
    rows = LogRows(sink, most_live=3)
    sink.begin_file("a")
    rows.begin_file(0)
    for number in range(10):
        entry = read_line(line(client=f"10.0.0.2:{5000 + number}"), number + 1)
        assert entry is not None
        rows.take([(0, entry)])
        assert len(rows.client_keys()) <= 3
    again = read_line(line(client="10.0.0.2:5000"), 11)
    assert again is not None
    rows.take([(0, again)])
    rows.finish()
    ids = [row["connection_id"] for batch in sink.take("connections", whole=True) for row in batch.to_pylist()]
    # one that is heard of again after so many others counts as another connection
    assert len(ids) == len(set(ids)) == 11
    assert "10.0.0.1:9092-10.0.0.2:5000-1" in ids


def test_the_brokers_word_on_the_software(tmp_path: Path) -> None:
    """Known in the middle of a connection; an ApiVersions request itself is logged under what was in force before it (KIP-511)."""
    tables = Tables(tmp_path, asked(3), line(software=JAVA), line(software=JAVA, life="-0-7"), line(life="-0-8"))
    assert [row["software_name"] for row in tables.requests] == ["unknown", "apache-kafka-java", "apache-kafka-java", "unknown"]
    by_id = {row["connection_id"][-1]: row for row in tables.connections}
    assert (by_id["0"]["software_name"], by_id["0"]["software_version"], by_id["0"]["identity_source"]) == (*JAVA.values(), "api_versions")
    assert (by_id["1"]["software_name"], by_id["1"]["identity_source"]) == ("apache-kafka-java", "api_versions")
    assert by_id["0"]["client_key"] == by_id["1"]["client_key"] == client_key(*JAVA.values(), "app", None, "10.0.0.2")
    assert by_id["2"]["client_key"] == client_key("unknown", "unknown", "app", None, "10.0.0.2")


@pytest.mark.parametrize(
    ("lives", "sources"),
    [
        # the broker numbers connections as it accepts them: those above one that began in the log did so too
        (("-0-5", "-0-6", "-0-4"), ("not_sent", "not_sent", "not_observed")),
        # each processor counts for itself
        (("-0-5", "-1-6", "-0-7"), ("not_sent", "not_observed", "not_sent")),
        # before 4.0 the processor is not named, but connections are handed to them in turns
        (("-5", "-6", "-4"), ("not_sent", "not_sent", "not_observed")),
        (("", "", ""), ("not_sent", "not_observed", "not_observed")),
    ],
)
def test_who_sends_no_name_is_known_of_connections_that_began_in_the_log(
    lives: tuple[str, ...], sources: tuple[str, ...], tmp_path: Path
) -> None:
    first, *others = lives
    lines = [asked(2, life=first, client="10.0.0.2:1"), line(life=first, client="10.0.0.2:1")]
    lines += [line(life=life, client=f"10.0.0.2:{port}") for port, life in enumerate(others, 2)]
    found = {row["client_port"]: row["identity_source"] for row in Tables(tmp_path, *lines).connections}
    assert tuple(found[port] for port in (1, 2, 3)) == sources


def test_an_old_broker_knows_no_software(tmp_path: Path) -> None:
    """Up to 2.3. A client that asked in a version that has names may have sent one; the log does not show it."""
    tables = Tables(
        tmp_path,
        asked(2, software=None, client="10.0.0.2:1"),
        line(API_VERSIONS, 4, software=None, client="10.0.0.2:2", response={"errorCode": 35}),
        asked(0, software=None, client="10.0.0.2:2"),
        line(software=None, client="10.0.0.2:3", life="-0-0"),
    )
    assert {row["software_name"] for row in tables.requests} == {None}
    found = {row["client_port"]: (row["software_name"], row["identity_source"]) for row in tables.connections}
    assert found == {1: ("unknown", "not_sent"), 2: (None, "not_observed"), 3: (None, "not_observed")}


def test_a_version_that_the_broker_does_not_have(tmp_path: Path) -> None:
    """It answers in version 0 with error 35, which has no throttle time, and lists the range of ApiVersions alone."""
    refused = line(
        API_VERSIONS, 5, response={"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}], "throttleTimeMs": 0}
    )
    tables = Tables(tmp_path, refused, asked(4))
    assert (tables.requests[0]["error_name"], tables.requests[0]["throttle_time_ms"]) == ("UNSUPPORTED_VERSION", None)
    assert [row["api_version"] for row in tables.requests] == [5, 4]
    assert [row["rule"] for row in tables.violations if row["connection_id"]] == ["api_versions_refused"]
    assert tables.facts["advertised"] == []
    assert tables.connections[0]["software_name"] == "apache-kafka-java"


@pytest.mark.parametrize(("epochs", "same"), [((17, 18), True), ((17, 10**18 - 1), True), ((17, 10**19), False), ((17, '"x"'), False)])
def test_an_answer_to_api_versions_is_read_once_whatever_its_epoch(epochs: tuple[object, object], same: bool) -> None:
    """The epoch rises with every change of the metadata (KIP-584); 10^19 and a text do not fit into it, and such a body is malformed."""
    kind = exchange_kind(API_VERSIONS, 4)
    found = []
    for epoch in epochs:
        keys = '[{"apiKey":1,"minVersion":4,"maxVersion":18}]'
        answer = f'{{"errorCode":0,"apiKeys":{keys},"throttleTimeMs":0,"finalizedFeaturesEpoch":{epoch}}}'
        entry = LogEntry(1, API_VERSIONS, 4, 1, "a", connection_name("10.0.0.1:9092-10.0.0.2:5-0-1"), "typed", None, answer.encode())
        found.append(response_of(entry, kind)[1])
    assert found[0].ranges == {1: (4, 18)}
    assert (found[1] is found[0]) is same
    assert (found[1] is None) is not same


def test_what_brokers_tell_of_the_cluster(tmp_path: Path) -> None:
    ranges = [{"apiKey": 1, "minVersion": 4, "maxVersion": 18}, {"apiKey": 18, "minVersion": 0, "maxVersion": 4}]
    nodes = {
        "clusterId": "c", "controllerId": 1, "topics": [], "throttleTimeMs": 0,
        "brokers": [{"nodeId": 1, "host": "10.0.0.1", "port": 9092, "rack": "r"}],
    }  # fmt: skip
    tables = Tables(tmp_path, line(API_VERSIONS, 4, response={"errorCode": 0, "apiKeys": ranges}), line(METADATA, 12, response=nodes))
    assert [(row["server"], row["api_key"], row["max_version"]) for row in tables.facts["advertised"]] == [
        ("10.0.0.1:9092", 1, 18),
        ("10.0.0.1:9092", 18, 4),
    ]
    assert [(row["node_id"], row["rack"], row["cluster_id"], row["first_seen"]) for row in tables.facts["nodes"]] == [(1, "r", "c", None)]


def test_what_a_log_cannot_know_is_null(tmp_path: Path) -> None:
    tables = Tables(tmp_path, line())
    for name in (
        "packets",
        "packets_dropped",
        "packets_unread",
        "link_types_unread",
        "snaplen",
        "bytes",
        "bytes_cut",
        "bytes_damaged",
        "bytes_lost",
        "joined_late",
        "one_way",
        "unanswered",
    ):
        assert tables.captures[0][name] is None, name
    for name in ("request_bytes", "response_bytes", "gaps", "retransmissions", "state", "closed_by", "sasl_mechanism", "auth_failures"):
        assert tables.connections[0][name] is None, name
    for name in ("request_bytes", "response_bytes", "stream_offset"):
        assert tables.requests[0][name] is None, name
    assert (tables.requests[0]["packet_number"], tables.requests[0]["state"]) == (1, "answered")


def test_produce_without_acknowledgement(tmp_path: Path) -> None:
    body = {"transactionalId": None, "acks": 0, "timeoutMs": 1, "topicData": [{"name": "a", "partitionData": []}]}
    row = Tables(tmp_path, line(PRODUCE, 9, request=body, response="")).requests[0]
    assert (row["state"], row["acks"], row["first_topic"], row["topic_count"], row["latency_us"]) == (
        "no_response_expected",
        0,
        "a",
        1,
        None,
    )


@pytest.mark.parametrize(("inner", "error"), [(0, "NONE"), (36, "NONE"), (41, "NOT_CONTROLLER")])
def test_a_forwarded_request_is_an_envelope_of_the_broker_that_forwards(inner: int, error: str, tmp_path: Path) -> None:
    """Its content is logged under the first sender's name: that is no name of this connection's client."""
    answer = {"throttleTimeMs": 0, "topics": [{"name": "a", "errorCode": inner, "errorMessage": None}]}
    forwarded = line(19, 7, client_id="somebody", isForwarded=True, principal="User:somebody", response=answer)
    tables = Tables(tmp_path, line(client_id="1", software=JAVA), forwarded)
    row = tables.requests[1]
    assert (row["api_name"], row["api_version"], row["client_id"], row["principal"], row["error_name"]) == (
        "Envelope",
        0,
        None,
        None,
        error,
    )
    assert (row["latency_us"], row["software_name"]) == (2500, "apache-kafka-java")
    assert (tables.connections[0]["client_id"], tables.connections[0]["principal"]) == ("1", None)


def test_versions_and_apis_that_no_release_has(tmp_path: Path) -> None:
    tables = Tables(tmp_path, line(METADATA, 99), line(9999, 0))
    assert [(row["api_name"], row["api_version"], row["body"]) for row in tables.requests] == [
        ("Metadata", 99, "unsupported"),
        (None, 0, "unsupported"),
    ]


def test_rules_that_a_log_shows_broken(tmp_path: Path) -> None:
    bad = {"clientSoftwareName": "my client!", "clientSoftwareVersion": "1"}
    tables = Tables(
        tmp_path,
        line(API_VERSIONS, 3, request=bad, response={"errorCode": 42}),
        line(PRODUCE, 9, request={"acks": 1, "topicData": []}, response={"responses": [{"partitionResponses": [{"errorCode": 87}]}]}),
        "Completed request:" + line()[:90],
        "started",
    )
    found = {row["rule"]: row for row in tables.violations}
    assert found.keys() == {"client_software_invalid", "batch_refused", "log_line_unreadable", "log_lines_foreign", "log_without_times"}
    assert found["client_software_invalid"]["packet_number"] == 1
    assert (found["log_line_unreadable"]["packet_number"], found["log_line_unreadable"]["severity"]) == (3, "error")
    assert found["log_line_unreadable"]["explanation"].startswith("Line 3 looks like a request and cannot be parsed: its JSON")
    assert found["log_lines_foreign"]["explanation"] == "1 line of the file is not of the request log."
    assert len(tables.requests) == 2


def test_an_empty_log_is_no_fault(tmp_path: Path) -> None:
    """A broker has just rolled it."""
    tables = Tables(tmp_path)
    assert [(row["source"], row["requests"]) for row in tables.captures] == [("request_log", 0)]
    assert [(row["rule"], row["severity"]) for row in tables.violations] == [("capture_empty", "info")]


def test_a_file_that_cannot_be_decompressed_to_its_end(tmp_path: Path) -> None:
    import gzip

    log = tmp_path / "requests.log.gz"
    log.write_bytes(gzip.compress("".join(f"{line(correlation_id=number)}\n" for number in range(5000)).encode())[:-3000])
    with read_series([str(log)]) as rows:
        violations = rows.table("violations").to_pylist()
        assert 0 < rows.table("requests").num_rows < 5000
    cut = next(row for row in violations if row["rule"] == "capture_cut")
    assert "The file ends early, behind line" in cut["explanation"]


ODDITIES = (
    '"',
    "{",
    "}",
    "[",
    "]",
    "null",
    "-1",
    "99999999999999999999",
    "\\ud800",
    "\x00",
    "\x1b",
    "NaN",
    "1e400",
    "é",
    ",",
    ":",
    "\\",
    "=",
    "'",
)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_lines_cost_themselves_only(seed: int, tmp_path: Path) -> None:
    """Every line is a row, or named as broken, or counted as another's; no row breaks a table."""
    rnd = random.Random(seed)
    text = "[2026-11-21 10:00:00,000] DEBUG Completed request:RequestHeader(apiKey=METADATA, apiVersion=5, clientId=a, correlationId=1) -- "
    text += "{topics=[{name=a}]},response:{error_code=0} from connection 10.0.0.1:9092-10.0.0.2:5-0;totalTime:1.5,requestQueueTime:0.1"
    produce = {"acks": 1, "topicData": [{"name": "a", "partitionData": [{"index": 0, "recordsSizeInBytes": 9}]}]}
    whole = [line(), asked(3), line(PRODUCE, 9, request=produce, response={"responses": [], "throttleTimeMs": 0}), text, text]
    damaged = []
    for _ in range(400):
        signs = list(rnd.choice(whole))
        for _ in range(rnd.randint(0, 3)):
            at = rnd.randrange(len(signs))
            signs[at : at + rnd.choice((0, 1, 5))] = rnd.choice((rnd.choice(ODDITIES), ""))
        damaged.append("".join(signs))
    tables = Tables(tmp_path, line(), *damaged)
    broken = [row for row in tables.violations if row["rule"] == "log_line_unreadable"]
    foreign = [row for row in tables.violations if row["rule"] == "log_lines_foreign"]
    others = sum(int(row["explanation"].split()[0]) for row in foreign)
    joined = len(damaged) + 1 - len(tables.requests) - len(broken) - others
    assert 0 <= joined < 40  # a text form whose end is lost takes what follows it, as far as that is not an entry
    assert len(tables.requests) > 100
    assert {row["packet_number"] for row in broken}.isdisjoint(row["packet_number"] for row in tables.requests)
