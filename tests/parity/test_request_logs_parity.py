"""Rows, violations and facts of request logs are the same with msgspec and with the standard library, also of cut and damaged logs."""

from __future__ import annotations

import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.series import begin_series, finish_series, iter_piece

DATA = Path(__file__).parents[1] / "captures" / "data"
LOGS = sorted(DATA.glob("*-requests.[jl]*"))
STAMP = b"[2026-01-01 10:20:%02d,%03d] DEBUG Completed request:"


def tables(monkeypatch: pytest.MonkeyPatch, reader: str, logs: list[bytes], ports: tuple[int, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    """All rows of a series of logs by one reader of lines; between two of them the carry is stored, as between the batches of a stream."""
    with monkeypatch.context() as patch:
        if reader == "fallback":
            patch.setattr("kwire.capture.request_logs.folding.typed_reader", lambda _zone, _wanted: None)
        carry = begin_series("s", ports)
        rows: dict[str, list[dict[str, Any]]] = {}
        for log in logs:
            for found in iter_piece(io.BytesIO(log), carry):
                for name, batches in found.items():
                    rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
            carry = unpack_carry(b"".join(pack_carry(carry)))
        last, facts = finish_series(carry)
        for name, batches in last.items():
            rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
    return rows | {name: table.to_pylist() for name, table in facts.items()}


def same(monkeypatch: pytest.MonkeyPatch, logs: list[bytes], ports: tuple[int, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    typed = tables(monkeypatch, "msgspec", logs, ports)
    fallback = tables(monkeypatch, "fallback", logs, ports)
    assert {name: rows for name, rows in typed.items() if rows} == {name: rows for name, rows in fallback.items() if rows}
    return typed


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.partition(".")[0])
def test_whole_logs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(same(monkeypatch, [gzip.decompress(path.read_bytes())])["requests"]) > 100


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name.partition(".")[0])
def test_a_log_in_two_files_that_are_cut_inside_a_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = gzip.decompress(path.read_bytes())
    middle = len(log) // 2
    same(monkeypatch, [log[:middle], log[middle:-200]])


def test_one_port_of_a_stamped_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times, levels and deprecated versions are counted for entries of this port alone."""
    lines = gzip.decompress((DATA / "sasl-requests.jsonl.gz").read_bytes()).splitlines()
    log = b"".join(STAMP % divmod(number, 1000) + line + b"\n" for number, line in enumerate(lines))
    rows = same(monkeypatch, [log], (9093,))
    assert {row["connection_id"].partition("-")[0].rpartition(":")[2] for row in rows["requests"]} == {"9093"}
    assert rows["requests"][0]["response_time"] is not None


@pytest.mark.parametrize("seed", range(3))
def test_damaged_lines(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    lines = [line for path in LOGS for line in gzip.decompress(path.read_bytes()).splitlines()[::9] if len(line) < 6000]
    damaged = []
    for number, line in enumerate(lines):
        stamp = STAMP % divmod(number % 60_000, 1000) if chance.random() < 0.5 and line[:1] == b"{" else b""
        at = chance.randrange(len(line))
        how = chance.randrange(5)
        if how == 0:
            line = line[:at]
        elif how == 1:
            line = line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
        elif how == 2:
            line = line.replace(b'"errorCode":0', chance.choice([b'"errorCode":35', b'"errorCode":87', b'"errorCode":null']), 1)
        elif how == 3:
            line = line.replace(b'"correlationId":', chance.choice([b'"correlationId":-', b'"correlationId":null,"x":']), 1)
        damaged.append(stamp + line.replace(b"\n", b" "))
    rows = same(monkeypatch, [b"\n".join(damaged)])
    assert {row["rule"] for row in rows["violations"]} >= {"log_line_unreadable", "correlation_id_negative", "log_without_times"}


RACK_A = (
    '{"throttleTimeMs":0,"brokers":[{"nodeId":1,"host":"b1","port":9092,"rack":"a"}],"clusterId":"c","controllerId":1,'
    '"topics":[{"errorCode":0,"name":"t","topicId":"AAAAAAAAAAAAAAAAAAAAAQ","isInternal":false,"partitions":[]}],"errorCode":0}'
)
RACK_B = RACK_A.replace('"rack":"a"', '"rack":"b"').replace('"topics":[{', '"topics":[{"x":1,')
FAILED = RACK_A.replace('],"errorCode":0}', '],"errorCode":-1}').replace('"host":"b1"', '"host":"b2"')
RANGES = '{"errorCode":0,"apiKeys":[{"apiKey":1,"minVersion":4,"maxVersion":18},{"apiKey":3,"minVersion":0,"maxVersion":13}]}'
FETCHES = '{"errorCode":0,"apiKeys":[{"apiKey":1,"minVersion":4,"maxVersion":17},{"apiKey":3,"minVersion":0,"maxVersion":13}]}'


def answered(second: int, key: int, version: int, answer: str, server: int = 1) -> bytes:
    header = f'{{"requestApiKey":{key},"requestApiVersion":{version},"correlationId":{second},"clientId":"app"}}'
    asked = '{"clientSoftwareName":"java","clientSoftwareVersion":"4"}' if key == 18 else (
        '{"topics":null,"allowAutoTopicCreation":true,"includeTopicAuthorizedOperations":false}'
    )  # fmt: skip
    entry = (
        f'{{"isForwarded":false,"requestHeader":{header},"request":{asked},"response":{answer},'
        f'"connection":"10.0.0.{server}:9092-10.0.0.9:5000-0-1","totalTimeMs":250.0,"principal":"User:ANONYMOUS"}}\n'
    )
    return STAMP % (second, 0) + entry.encode()


def seconds(row: dict[str, Any]) -> tuple[float, float]:
    """First and last time of a fact, in seconds of the minute."""
    return tuple(row[name].second + row[name].microsecond / 1e6 for name in ("first_seen", "last_seen"))  # type: ignore[return-value]


def test_an_answer_that_came_before_moves_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nodes those of responses, of names of topics those of requests, which came a quarter of a second before."""
    log = b"".join(answered(second, 3, 12, RACK_A) for second in (20, 10, 30))
    found = same(monkeypatch, [log])
    assert [(row["host"], row["rack"], seconds(row)) for row in found["nodes"]] == [("b1", "a", (10, 30))]
    assert [(row["topic"], seconds(row)) for row in found["topic_names"]] == [("t", (9.75, 29.75))]


@pytest.mark.parametrize(("answers", "rack"), [((RACK_A, RACK_B, RACK_A), "a"), ((RACK_B, RACK_A, RACK_B, RACK_B), "b")])
def test_of_racks_the_latest_counts(answers: tuple[str, ...], rack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer teaches its rack again where another one came between."""
    log = b"".join(answered(second, 3, 12, answer) for second, answer in enumerate(answers))
    assert [(row["rack"], seconds(row)) for row in same(monkeypatch, [log])["nodes"]] == [(rack, (0, len(answers) - 1))]


def test_answers_with_errors_and_those_of_other_files_count_as_the_first_did(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = [answered(1, 3, 12, RACK_A) + answered(2, 3, 12, FAILED) * 2, answered(5, 3, 12, RACK_A), answered(6, 3, 12, FAILED)]
    found = same(monkeypatch, logs)
    assert [(row["host"], seconds(row)) for row in found["nodes"]] == [("b1", (1, 5)), ("b2", (2, 6))]


def test_each_server_says_itself_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers to ApiVersions repeat; what one server says is of that one, and the widest range of two answers counts."""
    log = b"".join(
        (
            answered(1, 18, 4, RANGES), answered(2, 18, 4, RANGES, server=2), answered(3, 18, 4, RANGES), answered(4, 18, 4, FETCHES),
            answered(5, 18, 4, RANGES), answered(6, 18, 4, FETCHES, server=3),
        )
    )  # fmt: skip
    found = [(row["server"], row["api_key"], row["max_version"], seconds(row)) for row in same(monkeypatch, [log])["advertised"]]
    assert found == [
        ("10.0.0.1:9092", 1, 18, (1, 5)), ("10.0.0.1:9092", 3, 13, (1, 5)), ("10.0.0.2:9092", 1, 18, (2, 2)),
        ("10.0.0.2:9092", 3, 13, (2, 2)), ("10.0.0.3:9092", 1, 17, (6, 6)), ("10.0.0.3:9092", 3, 13, (6, 6)),
    ]  # fmt: skip


def line(second: int, key: int, version: int, request: str, response: str, client_id: str = "app", **fields: object) -> bytes:
    """An entry with a stamp, of the one connection of 10.0.0.9; `fields` stand in the place of others."""
    entry = {
        "isForwarded": False,
        "requestHeader": {"requestApiKey": key, "requestApiVersion": version, "correlationId": second, "clientId": client_id},
        "request": 0,
        "response": 1,
        "connection": "10.0.0.1:9092-10.0.0.9:5000-0-1",
        "totalTimeMs": 250.0,
    } | fields
    text = json.dumps(entry, separators=(",", ":")).replace('"request":0', f'"request":{request}')
    return STAMP % (second, 0) + text.replace('"response":1', f'"response":{response}').encode() + b"\n"


METADATA = (
    '{"topics":[{"topicId":"AAAAAAAAAAAAAAAAAAAAA%s","name":"%s"}],"allowAutoTopicCreation":true,"includeTopicAuthorizedOperations":false}'
)


def test_a_request_too_gives_names_of_topic_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same each time; what the second request names is new."""
    log = b"".join(line(n, 3, 12, METADATA % asked, RACK_A) for n, asked in enumerate((("g", "u"), ("w", "v"), ("g", "u"), ("w", "v"))))
    found = same(monkeypatch, [log])
    names = [(row["topic"], row["topic_id"], seconds(row)) for row in found["topic_names"]]
    assert names == [("t", "AAAAAAAAAAAAAAAAAAAAAQ", (-0.25 % 60, 2.75)), ("u", "AAAAAAAAAAAAAAAAAAAAAg", (-0.25 % 60, 1.75)),
                     ("v", "AAAAAAAAAAAAAAAAAAAAAw", (0.75, 2.75))]  # fmt: skip


FETCH = (
    '{"replicaId":%d,"maxWaitMs":5,"minBytes":1,"maxBytes":9,"isolationLevel":0,"sessionId":0,"sessionEpoch":-1,"topics":[],'
    '"forgottenTopicsData":[]}'
)
FETCHED = '{"throttleTimeMs":0,"errorCode":0,"sessionId":0,"responses":[]}'
CONSUMER, FOLLOWER = (1, 7, FETCH % -1, FETCHED), (1, 7, FETCH % 3, FETCHED)
OF_BROKERS = (
    63, 0, '{"brokerId":3,"brokerEpoch":1,"currentMetadataOffset":1,"wantFence":false,"wantShutDown":false}',
    '{"throttleTimeMs":0,"errorCode":0,"isCaughtUp":true,"isFenced":false,"shouldShutDown":false}',
)  # fmt: skip
OF_CONTROLLERS = (53, 0, '{"clusterId":null,"topics":[]}', '{"errorCode":0,"topics":[]}')


@pytest.mark.parametrize(
    ("exchanges", "role"),
    [
        ((CONSUMER, CONSUMER), "client"), ((CONSUMER, FOLLOWER), "broker"), ((FOLLOWER, CONSUMER), "broker"),
        ((CONSUMER, OF_BROKERS), "broker"), ((OF_BROKERS, OF_BROKERS, CONSUMER), "broker"), ((OF_BROKERS, OF_CONTROLLERS), "controller"),
        ((OF_CONTROLLERS, OF_BROKERS), "controller"), ((OF_CONTROLLERS, FOLLOWER), "controller"),
        ((CONSUMER, OF_CONTROLLERS), "controller"),
    ],
)  # fmt: skip
def test_apis_of_brokers_and_controllers_say_what_the_peer_is(
    exchanges: tuple[tuple[int, int, str, str], ...], role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time, though client id, software and principal stay the same; a controller stays one."""
    (row,) = same(monkeypatch, [b"".join(line(second, *each) for second, each in enumerate(exchanges))])["connections"]
    assert (row["role"], row["client_id"]) == (role, "app")


@pytest.mark.parametrize("exchange", [CONSUMER, OF_BROKERS])
def test_each_request_counts_for_its_client_id(exchange: tuple[int, int, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The most frequent one is that of the connection: here of five that of three; an empty one is none."""
    log = b"".join(
        line(second, *exchange, client_id=client_id) for second, client_id in enumerate(("a", "b", "b", "", "b", "", "", "", "", "a"))
    )
    (row,) = same(monkeypatch, [log])["connections"]
    assert row["client_id"] == "b"


def test_what_an_entry_says_new_of_its_client_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Software, principal and a number that is none, each in an entry that is else as the one before."""
    java, sarama = ({"clientInformation": {"softwareName": name, "softwareVersion": "1"}} for name in ("java", "sarama"))
    log = (
        line(0, *CONSUMER, principal="User:a", **java) + line(1, *CONSUMER, principal="User:b", **java)
        + line(2, *CONSUMER, principal="User:b", **sarama)
    )  # fmt: skip
    (row,) = same(monkeypatch, [log])["connections"]
    assert (row["principal"], row["software_name"]) == ("User:b", "sarama")
    (row,) = same(monkeypatch, [log[: log.rindex(b"[2026")]])["connections"]
    assert (row["principal"], row["software_name"]) == ("User:b", "java")


def test_a_negative_correlation_id_is_a_violation_though_the_client_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    log = line(0, *CONSUMER) + line(1, *CONSUMER).replace(b'"correlationId":1', b'"correlationId":-1')
    rules = [row["rule"] for row in same(monkeypatch, [log])["violations"]]
    assert rules == ["correlation_id_negative"]


INTRODUCED = (18, 4, '{"clientSoftwareName":"java","clientSoftwareVersion":"4"}', RANGES)
UNKNOWN = {"clientInformation": {"softwareName": "unknown", "softwareVersion": "unknown"}}


def test_an_introduction_counts_though_the_client_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = same(monkeypatch, [line(0, *CONSUMER) + line(1, *INTRODUCED)])["connections"]
    assert row["software_name"] == "java"


def test_the_word_of_the_broker_counts_more_than_an_introduction(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry of an ApiVersions request has what was in force before it, that of the next one what is."""
    (row,) = same(monkeypatch, [line(0, *INTRODUCED, **UNKNOWN) + line(1, *CONSUMER, **UNKNOWN)])["connections"]
    assert row["software_name"] == "unknown"


def test_an_answer_that_came_before_may_have_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines without stamps among others: the times are those of the lines that have some."""
    timed = [answered(second, 3, 12, RACK_A) for second in (20, 10, 30)]
    bare = timed[0].partition(b"request:")[2]
    for lines in ([bare, bare, *timed], [*timed, bare], [bare, timed[0], bare, *timed[1:]]):
        found = same(monkeypatch, [b"".join(lines)])
        assert [seconds(row) for row in found["nodes"]] == [(10, 30)]
        assert [seconds(row) for row in found["topic_names"]] == [(9.75, 29.75)]


def test_a_batch_that_the_broker_refused_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Error 87, INVALID_RECORD, of one partition; Produce says nothing else beyond its row."""
    asked = (
        '{"transactionalId":null,"acks":-1,"timeoutMs":1,"topicData":[{"name":"t","partitionData":[{"index":0,"recordsSizeInBytes":9}]}]}'
    )
    given = (
        '{"responses":[{"name":"t","partitionResponses":[{"index":0,"errorCode":87,"baseOffset":-1,"logAppendTimeMs":-1,'
        '"logStartOffset":-1,"recordErrors":[],"errorMessage":null}]}],"throttleTimeMs":0}'
    )
    rules = [row["rule"] for row in same(monkeypatch, [line(0, 0, 9, asked, given)])["violations"]]
    assert "batch_refused" in rules


def test_a_heartbeat_with_the_answer_of_the_one_before_may_say_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-848: the second one subscribes; what did not change is null."""
    asked = (
        '{"groupId":"g","memberId":"m","memberEpoch":5,"instanceId":null,"rackId":null,"rebalanceTimeoutMs":-1,'
        '"subscribedTopicNames":%s,"serverAssignor":null,"topicPartitions":null}'
    )
    given = (
        '{"throttleTimeMs":0,"errorCode":0,"errorMessage":null,"memberId":"m","memberEpoch":5,"heartbeatIntervalMs":9,"assignment":null}'
    )
    log = line(0, 68, 0, asked % "null", given) * 2 + line(1, 68, 0, asked % '["t"]', given)
    assert [row["subscription"] for row in same(monkeypatch, [log])["group_steps"]] == [["t"]]


JOIN = (
    11, 5, '{"groupId":"g","sessionTimeoutMs":9,"rebalanceTimeoutMs":9,"memberId":"m","groupInstanceId":null,"protocolType":"consumer",'
    '"protocols":[{"name":"range","metadata":"AAAAAAABAAF0/////w=="}]}',
    '{"throttleTimeMs":0,"errorCode":0,"generationId":4,"protocolName":"range","leader":"m","memberId":"m","members":'
    '[{"memberId":"m","groupInstanceId":null,"metadata":"AAAAAAABAAF0/////w=="}]}',
)  # fmt: skip


def test_a_step_of_a_group_needs_times_and_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = line(1, *JOIN)
    without_answer = line(2, *JOIN[:3], "null")
    steps = same(monkeypatch, [whole + without_answer])["group_steps"]
    assert [(step["event"], step["generation"], step["subscription"]) for step in steps] == [("join", 4, ["t"])]
    untimed = b"".join(each.partition(b"request:")[2] for each in (whole, whole))
    assert not same(monkeypatch, [untimed]).get("group_steps")
    assert not same(monkeypatch, [whole.replace(b',"totalTimeMs":250.0', b"")]).get("group_steps")
