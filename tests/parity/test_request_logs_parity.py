"""Rows, violations and facts of request logs are the same by both twins: whole logs, cut ones, and ones with damaged lines."""

from __future__ import annotations

import gzip
import io
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from kwire.codec.impl import load_twin
from kwire.tables import impl
from kwire.tables.series import begin_series, finish_series, iter_piece

DATA = Path(__file__).parents[1] / "captures" / "data"
LOGS = sorted(DATA.glob("*-requests.[jl]*"))
STAMP = b"[2026-01-01 10:20:%02d,%03d] DEBUG Completed request:"


def tables(monkeypatch: pytest.MonkeyPatch, twin: str, logs: list[bytes], ports: tuple[int, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    """All rows of a series of logs by one twin; between two of them the carry is pickled, as between the batches of a stream."""
    with monkeypatch.context() as patch:
        patch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        if twin == "pure":
            patch.setattr("kwire.capture.request_logs.folding.typed_reader", lambda _zone, _wanted: None)
        carry = begin_series("s", ports)
        rows: dict[str, list[dict[str, Any]]] = {}
        for log in logs:
            for found in iter_piece(io.BytesIO(log), carry):
                for name, batches in found.items():
                    rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
            carry = pickle.loads(pickle.dumps(carry))
        assert (carry.sink.logged_rows is None) == (twin == "pure")
        last, facts = finish_series(carry)
        for name, batches in last.items():
            rows.setdefault(name, []).extend(row for batch in batches for row in batch.to_pylist())
    return rows | {name: table.to_pylist() for name, table in facts.items()}


def same(monkeypatch: pytest.MonkeyPatch, logs: list[bytes], ports: tuple[int, ...] = ()) -> dict[str, list[dict[str, Any]]]:
    native = tables(monkeypatch, "native", logs, ports)
    pure = tables(monkeypatch, "pure", logs, ports)
    assert {name: rows for name, rows in native.items() if rows} == {name: rows for name, rows in pure.items() if rows}
    return native


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
