"""Request logs of real brokers: against what is true of them, and row by row against captures of the same traffic."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from kwire import analysis
from kwire.analysis import Options
from kwire.cli.entry import commands
from kwire.tables import SCHEMAS, iter_capture, read_series
from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.series import begin_series, finish_series, read_piece

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[2]
TRUTH = json.loads((DATA / "old-requests-truth.json").read_text())
FLEET = json.loads((DATA / "upgrade-fleet-truth.json").read_text())

FLEET_LOG = str(DATA / "upgrade-fleet-requests.jsonl.gz")
FLEET_CAPTURE = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
PAIRS = {
    "upgrade-fleet": (FLEET_CAPTURE, FLEET_LOG),
    "topicids": (str(DATA / "topicids.pcap.gz"), str(DATA / "topicids-requests.jsonl.gz")),
    "sasl": (str(DATA / "sasl.pcap.gz"), str(DATA / "sasl-requests.jsonl.gz")),
}
# What a log and a capture say in the same words of one request.
SAME = (
    "client_key", "api_key", "api_name", "api_version", "header_version", "client_instance_id", "software_name", "software_version",
    "principal", "acks", "first_topic", "topic_count", "group_id", "transactional_id",
)  # fmt: skip
OF_ANSWERS = ("error_code", "error_name", "is_error", "throttle_time_ms")
ENVELOPE = 58


def text_of(path: str | Path) -> str:
    return gzip.decompress(Path(path).read_bytes()).decode()


def rows_of(path: str, table: str) -> list[dict[str, Any]]:
    with read_series([path]) as rows:
        return rows.table(table).to_pylist()


@pytest.mark.parametrize("name", sorted(TRUTH))
def test_every_request_of_an_old_log_is_counted(name: str) -> None:
    truth = TRUTH[name]
    rows = rows_of(str(DATA / f"{name}-requests.log.gz"), "requests")
    assert len(rows) == truth["request_log_total"]
    assert Counter(f"{row['api_name']} v{row['api_version']}" for row in rows) == truth["requests_by_api_version"]
    for row in rows:
        assert row["software_name"] is None  # brokers before 2.4 do not know it
        assert row["latency_us"] is not None
        assert row["response_time"] is not None
        assert row["queue_time_us"] is not None
    by_client: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in rows:
        by_client[row["client_id"]].add((row["api_name"], row["api_version"]))
    for client in truth["clients"]:
        used = {(api, version) for api, versions in client["versions_used"].items() for version in versions}
        for client_id in client["client_ids"]:
            assert by_client[client_id] <= used


def test_first_fields_of_the_oldest_forms() -> None:
    """Groups and topics as the clients of the log are known to use them; the capture of it says the same of each request."""
    rows = rows_of(str(DATA / "old-0.9-requests.log.gz"), "requests")
    depot = [row for row in rows if row["client_id"] == "depot"]
    assert {row["group_id"] for row in depot} == {None, "g-depot"}
    assert {row["first_topic"] for row in depot} == {None, "works.raw"}
    assert {row["acks"] for row in depot if row["api_name"] == "Produce"} == {1}
    assert {row["acks"] for row in depot if row["api_name"] != "Produce"} == {None}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_log_and_capture_agree_on_every_request(name: str) -> None:
    capture, log = PAIRS[name]
    captured: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(capture, "requests"):
        if row["request_index"] is not None:
            captured[row["connection_id"]].append(row)
    compared = answers = 0
    for rows in captured.values():
        rows.sort(key=lambda row: row["request_index"])
    for logged in rows_of(log, "requests"):
        if logged["connection_id"].split("-")[0].endswith(":9095"):
            continue  # inside TLS, where only the broker can look
        waiting = captured[logged["connection_id"]]
        # requests that are never logged may lie between: refused ones, authentication
        while (waiting[0]["api_key"], waiting[0]["correlation_id"]) != (logged["api_key"], logged["correlation_id"]):
            skipped = waiting.pop(0)
            if skipped["api_key"] == logged["api_key"] == ENVELOPE:
                waiting.insert(0, skipped | {"correlation_id": None})
        seen = waiting.pop(0)
        assert {name: logged[name] for name in SAME} == {name: seen[name] for name in SAME}
        answer = {name: seen[name] for name in OF_ANSWERS}
        if seen["state"] == "answered" and answer != dict.fromkeys(OF_ANSWERS) | {"throttle_time_ms": answer["throttle_time_ms"]}:
            assert {name: logged[name] for name in OF_ANSWERS} == answer
            answers += 1
        assert logged["state"] == seen["state"] or seen["state"] == "abandoned"  # the client had gone before its answer came
        compared += 1
    assert compared > 200
    assert answers > compared * 0.95  # the rest was cut off, or has no code in its schema


@pytest.mark.parametrize("name", ["upgrade-fleet", "topicids"])
def test_log_and_capture_know_the_same_clients(name: str) -> None:
    columns = (
        "client_key",
        "client_id",
        "client_address",
        "server_port",
        "software_name",
        "software_version",
        "principal",
        "role",
        "node_id",
    )
    captured = {row["connection_id"]: row for row in rows_of(PAIRS[name][0], "connections")}
    logged = rows_of(PAIRS[name][1], "connections")
    for row in logged:
        assert {name: row[name] for name in columns} == {name: captured[row["connection_id"]][name] for name in columns}
        assert row["request_bytes"] is None
        assert row["state"] is None
    assert len(logged) > 20


@pytest.fixture(scope="module")
def of_log() -> dict[str, pa.Table]:
    return analysis.run([FLEET_LOG], (), Options(target_releases=["4.0.0", "4.3"]))


@pytest.fixture(scope="module")
def of_capture() -> dict[str, pa.Table]:
    return analysis.run([FLEET_CAPTURE], (), Options(target_releases=["4.0.0", "4.3"]))


def test_a_log_gives_all_tables(of_log: dict[str, pa.Table]) -> None:
    assert of_log.keys() == SCHEMAS.keys()
    for name, table in of_log.items():
        assert table.schema == SCHEMAS[name], name
    capture = of_log["captures"].to_pylist()[0]
    assert (capture["source"], capture["requests"], capture["connections"]) == ("request_log", 615, 142)
    assert (capture["start"], capture["packets"], capture["bytes"], capture["unanswered"]) == (None, None, None, None)
    assert of_log["brokers"].to_pylist()[0]["release_guess"] == "3.9.2"


def test_verdicts_of_a_log_are_those_of_the_capture(of_log: dict[str, pa.Table], of_capture: dict[str, pa.Table]) -> None:
    def verdicts(tables: dict[str, pa.Table]) -> dict[tuple[Any, ...], str]:
        names = ("client_key", "client_id", "api_name", "api_version", "target_release")
        return {tuple(row[name] for name in names): row["verdict"] for row in tables["upgrade_impact"].to_pylist()}

    assert verdicts(of_log) == verdicts(of_capture)


@pytest.mark.parametrize("client", FLEET["clients"], ids=[f"{client['library']}-{client['version']}" for client in FLEET["clients"]])
def test_verdicts_agree_with_what_happened(client: dict[str, Any], of_log: dict[str, pa.Table]) -> None:
    """Each of these clients was also run against a broker of 4.3."""
    rows = [
        row for row in of_log["upgrade_impact"].to_pylist() if row["client_id"] == client["client_id"] and row["target_release"] == "4.3.1"
    ]
    assert ("breaks" in {row["verdict"] for row in rows}) == client["breaks_on_4x"]


def test_usage_of_topics_is_that_of_the_capture(of_log: dict[str, pa.Table], of_capture: dict[str, pa.Table]) -> None:
    columns = (
        "client_key",
        "client_id",
        "topic",
        "topic_id",
        "direction",
        "requests",
        "errors",
        "error_names",
        "acks",
        "partitions",
        "group_ids",
    )

    def uses(tables: dict[str, pa.Table]) -> list[Any]:
        return [[row[name] for name in columns] for row in tables["topic_access"].to_pylist()]

    assert uses(of_log) == uses(of_capture)
    produced = {
        (row["client_id"], row["topic"]): row["bytes"] for row in of_capture["topic_access"].to_pylist() if row["direction"] == "produce"
    }
    for row in of_log["topic_access"].to_pylist():
        if row["direction"] == "produce":
            assert row["bytes"] == produced[row["client_id"], row["topic"]]
        assert (row["records"], row["batches"], row["compression"]) == (None, None, [])


def test_captures_and_logs_in_one_run(of_capture: dict[str, pa.Table]) -> None:
    """The clients stay one, whichever input shows them."""
    both = analysis.run([FLEET_CAPTURE, FLEET_LOG], (), Options(target_releases=["4.3"]))
    assert {row["source"] for row in both["captures"].to_pylist()} == {"pcap", "request_log"}
    assert both["clients"].column("client_key") == of_capture["clients"].column("client_key")
    twice = sum(of_capture["clients"].column("requests").to_pylist()) * 2
    assert sum(both["clients"].column("requests").to_pylist()) == twice


def test_principals_are_those_that_authenticated() -> None:
    """Behind SASL, where captures show only what was tried, and TLS, where they show nothing."""
    rows = rows_of(PAIRS["sasl"][1], "connections")
    principals = {(row["client_id"], row["principal"]) for row in rows if row["server_port"] in (9094, 9095)}
    assert principals == {
        ("payments-service", "User:payments"), ("reporting-batch", "User:reporting"), ("warehouse-sync", "User:warehouse"),
        ("etl-nightly", "User:etl"), ("search-tailer", "User:reporting"), ("ledger-writer", "User:payments"), ("late-reader", "User:desk"),
        ("tls-client", None),
    }  # fmt: skip


def test_forwarded_requests_are_the_envelopes_that_they_came_in() -> None:
    """They are logged a second time by the broker that the client talked to."""
    rows = [row for row in rows_of(PAIRS["sasl"][1], "requests") if row["api_key"] == ENVELOPE]
    assert len(rows) == 14
    assert {(row["api_name"], row["api_version"], row["client_id"], row["error_name"]) for row in rows} == {("Envelope", 0, None, "NONE")}


def test_only_the_logs_of_these_ports() -> None:
    with read_series([PAIRS["sasl"][1]], ports=[9094]) as rows:
        assert {row["server_port"] for row in rows.connections.to_pylist()} == {9094}


def test_a_log_of_deprecated_requests_clears_nobody(tmp_path: Path, of_log: dict[str, pa.Table]) -> None:
    """As the logger at INFO writes it: no totals, no ok."""
    lines = [line for line in text_of(FLEET_LOG).splitlines() if '"requestApiVersionDeprecated":true' in line]
    log = tmp_path / "kafka-request.log"
    log.write_text("".join(f"[2026-11-21 10:00:00,000] INFO Completed request:{line} (kafka.request.logger)\n" for line in lines))
    found = analysis.run([str(log)], (), Options(target_releases=["2.8", "3.9.1", "4.3"], broker_release="3.9"))
    assert found["captures"].to_pylist()[0]["source"] == "request_log_deprecated"
    assert found["captures"].to_pylist()[0]["requests"] == len(lines) == 58
    for row in found["clients"].to_pylist():
        assert (row["requests"], row["connections"], row["errors"]) == (None, None, None)
    verdicts = {(row["target_release"], row["verdict"]) for row in found["upgrade_impact"].to_pylist()}
    assert ("4.3.1", "breaks") in verdicts
    assert ("2.8.2", "unknown") in verdicts
    assert "compatible" not in {verdict for _, verdict in verdicts}
    # the same requests at DEBUG may be all there is
    log.write_text(log.read_text().replace(" INFO ", " DEBUG "))
    assert rows_of(str(log), "captures")[0]["source"] == "request_log"
    # and in one run with a log of everything, everything was seen
    both = analysis.run([str(log), FLEET_LOG], (), Options(target_releases=["4.3"]))
    assert None not in both["clients"].column("requests").to_pylist()


def test_any_cut_into_files_gives_the_same_rows(tmp_path: Path) -> None:
    """At lines and inside them, the carry packed on the way, as an incremental run does."""
    content = text_of(DATA / "old-0.11-requests.log.gz").encode()
    whole = rows_of(str(DATA / "old-0.11-requests.log.gz"), "requests")
    size = len(content) // 7 + 1
    carry = begin_series("cut")
    rows: list[dict[str, Any]] = []
    for number in range(7):
        piece = tmp_path / f"requests.log.{9 - number}"
        piece.write_bytes(content[number * size : (number + 1) * size])
        for batch in read_piece(piece, carry).get("requests", []):
            rows += batch.to_pylist()
        carry = unpack_carry(b"".join(pack_carry(carry)))
    batches, _ = finish_series(carry)
    for batch in batches["requests"]:
        rows += batch.to_pylist()
    place = ("series", "capture", "packet_number", "client_key")
    assert [{name: row[name] for name in row if name not in place} for row in rows] == [
        {name: row[name] for name in row if name not in place} for row in whole
    ]
    assert sum(row["requests"] for batch in batches["captures"] for row in batch.to_pylist()) == len(whole)


def test_rows_while_the_log_is_read() -> None:
    with gzip.open(FLEET_LOG) as stream:
        rows = [row for batch in iter_capture(stream) for row in batch.to_pylist()]
    assert len(rows) == 615
    assert None not in {row["client_key"] for row in rows}


def as_text(value: Any) -> str:
    if isinstance(value, dict):
        return f"Data({', '.join(f'{name}={quoted(inner)}' for name, inner in value.items())})"
    if isinstance(value, list):
        return f"[{', '.join(map(as_text, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def quoted(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else as_text(value)


def test_the_text_form_of_27_says_the_same_as_the_json_of_the_same_requests(tmp_path: Path) -> None:
    lines = []
    for line in text_of(FLEET_LOG).splitlines():
        entry = json.loads(line)
        header, (name, version) = entry["requestHeader"], entry["clientInformation"].values()
        times = ",".join(
            f"{step}Time:{entry[f'{step}TimeMs']}" for step in ("total", "requestQueue", "local", "remote", "throttle", "send")
        )
        lines.append(
            f"Completed request:RequestHeader(apiKey={header['requestApiKeyName']}, apiVersion={header['requestApiVersion']}, "
            f"clientId={header['clientId']}, correlationId={header['correlationId']}) -- {as_text(entry['request'])},response:"
            f"{as_text(entry['response'])} from connection {entry['connection']};{times},securityProtocol:PLAINTEXT,"
            f"principal:{entry['principal']},listener:PLAINTEXT,"
            f"clientInformation:ClientInformation(softwareName={name}, softwareVersion={version})\n"
        )
    log = tmp_path / "requests.log"
    log.write_text("".join(lines))

    def without_place(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: row[name] for name in row if name not in ("capture", "series")} for row in rows]

    assert without_place(rows_of(str(log), "requests")) == without_place(rows_of(FLEET_LOG, "requests"))
    assert without_place(rows_of(str(log), "connections")) == without_place(rows_of(FLEET_LOG, "connections"))


@pytest.mark.parametrize("name", ["seed.pcap.gz", "gap-response.pcap.gz", "hostile-requests.pcap.gz"])
def test_what_decode_writes_reads_back(name: str, tmp_path: Path) -> None:
    """`kwire decode` writes the log's JSON form, with requests that nobody answered: the rows are those of the capture itself."""
    result = CliRunner().invoke(commands, ["decode", str(DATA / name)])
    log = tmp_path / "decoded.jsonl"
    log.write_text(result.stdout)
    names = (*SAME, "connection_id", "correlation_id", "client_id", "request_time", "state")
    logged = Counter(str([row[name] for name in names]) for row in rows_of(str(log), "requests"))
    captured = Counter(
        str([row[name] for name in names])
        for row in rows_of(str(DATA / name), "requests")
        if row["request_index"] is not None and row["body"] == "decoded"
    )
    assert captured - logged == Counter()
    assert captured.total() > 20
