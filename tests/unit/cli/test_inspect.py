"""`kwire inspect`: rows of captures and request logs, filtered, as JSON lines and as a table that no client id can abuse."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.cli.exit_status import INCOMPLETE_INPUT
from kwire.cli.shown_columns import shown_value
from kwire.tables import SCHEMAS
from pcap_files import pieces_of

CAPTURES = Path(__file__).parents[2] / "captures" / "data"
TRUTH = json.loads((CAPTURES / "truth.json").read_text())
SEED = str(CAPTURES / "seed.pcap.gz")
HOSTILE = str(CAPTURES / "hostile-requests.pcap.gz")
TEXT_LOG, JSON_LOG = (str(CAPTURES / name) for name in ("old-0.11-requests.log.gz", "topicids-requests.jsonl.gz"))
TABLES = [name for name in SCHEMAS if name not in ("telemetry", "group_events")]  # the capture has none of these
LOG_TABLES = [(log, table) for log in (TEXT_LOG, JSON_LOG) for table in ("requests", "connections", "captures")]


def rows(*arguments: str, data: bytes | None = None) -> list[dict[str, Any]]:
    result = CliRunner().invoke(commands, ["inspect", *arguments, "--json"], input=data)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_requests_of_a_capture_are_those_that_were_sent() -> None:
    found = rows(SEED, "--port", "20192")
    assert Counter(f"{row['api_name']} v{row['api_version']}" for row in found) == Counter(
        TRUTH["seed.pcap"]["requests_whole_by_api_version"]
    )


@pytest.mark.parametrize(("file", "table"), [(HOSTILE, table) for table in TABLES] + LOG_TABLES)
def test_json_has_every_column(file: str, table: str) -> None:
    found = rows(file, "--table", table)
    assert found
    assert all(list(row) == SCHEMAS[table].names for row in found)


def test_the_bytes_of_damaged_files_are_shown(tmp_path: Path) -> None:
    """4,000 bytes of a pcap file are overwritten: the table that a person reads says how many make no records, as `captures` does."""
    data = bytearray(gzip.decompress(Path(SEED).read_bytes()))
    data[20_000:24_000] = b"\xff" * 4000
    path = tmp_path / "damaged.pcap"
    path.write_bytes(data)
    result = CliRunner().invoke(commands, ["inspect", str(path), "--table", "captures", "--json"])
    row = json.loads(result.stdout)
    assert row["bytes_damaged"] > 3000
    shown = CliRunner().invoke(commands, ["inspect", str(path), "--table", "captures", "--wide"])
    assert "bytes damaged" in " ".join(shown.stdout.split())
    assert str(row["bytes_damaged"]) in shown.stdout.split()


@pytest.mark.parametrize("file", [SEED, TEXT_LOG])
def test_standard_input_reads_like_a_file(file: str) -> None:
    from_file = rows(file)
    for data in (gzip.decompress(Path(file).read_bytes()), Path(file).read_bytes()):
        from_pipe = rows("-", data=data)
        assert [{**row, "capture": "", "series": ""} for row in from_pipe] == [{**row, "capture": "", "series": ""} for row in from_file]


def test_filters() -> None:
    every = rows(SEED)
    some_id = every[0]["client_id"]
    assert [row for row in every if row["client_id"] == some_id] == rows(SEED, "--client-id", some_id) != every
    assert rows(SEED, "--address", "127.0.0.1") == every
    assert rows(SEED, "--address", "127.0.0.10") == []
    middle = sorted(row["request_time"] for row in every)[len(every) // 2]
    early, late = rows(SEED, "--until", middle), rows(SEED, "--since", middle)
    assert early
    assert all(row["request_time"] < middle for row in early)
    assert all(max(row["request_time"], row["response_time"] or "") >= middle for row in late)
    assert {json.dumps(row) for row in [*early, *late]} == {json.dumps(row) for row in every}


def test_filters_of_request_logs() -> None:
    assert {row["client_id"] for row in rows(TEXT_LOG, "--client-id", "split")} == {"split"}
    late = rows(TEXT_LOG, "--since", "2026-11-21T10:24:10")
    assert 0 < len(late) < len(rows(TEXT_LOG))


def test_the_zone_of_a_request_log() -> None:
    """The first line was written at 10:23:49.480, wherever the broker was."""
    times = [rows(TEXT_LOG, *zone)[0]["response_time"] for zone in ((), ("--log-zone", "America/New_York"))]
    assert times == ["2026-11-21T10:23:49.480000Z", "2026-11-21T15:23:49.480000Z"]
    result = CliRunner().invoke(commands, ["inspect", TEXT_LOG, "--log-zone", "Mars/Base"])
    assert result.exit_code == 1


def test_an_address_with_colons() -> None:
    capture = str(CAPTURES / "ipv6.pcap.gz")
    every = rows(capture, "--table", "connections")
    address = every[0]["client_address"]
    assert ":" in address
    wanted = [row for row in every if address in (row["client_address"], row["server_address"])]
    assert rows(capture, "--table", "connections", "--address", address) == wanted
    assert rows(capture, "--table", "connections", "--address", f"[{address}]") == wanted


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_nothing_from_the_wire_acts_on_the_terminal(table: str, as_json: list[str]) -> None:
    result = CliRunner().invoke(commands, ["inspect", HOSTILE, "--table", table, *as_json])
    assert result.exit_code == 0
    assert all(character.isprintable() or character == "\n" for character in result.stdout)


def test_the_hostile_client_ids_are_shown_as_escapes() -> None:
    result = CliRunner().invoke(commands, ["inspect", HOSTILE])
    shown = result.stdout.replace("\n", "")
    ids = {row["client_id"] for row in rows(HOSTILE)}
    formula = next(each for each in ids if each and "\n" in each)
    assert "\x1b" in formula  # the capture has what the test is about
    assert "\\n" in shown
    assert "\\x1b" in shown


def test_a_capture_without_kafka_says_so(tmp_path: Path) -> None:
    # only the header of a capture file: little endian, microseconds, Ethernet
    (tmp_path / "nothing.pcap").write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    result = CliRunner().invoke(commands, ["inspect", str(tmp_path / "nothing.pcap")])
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr.startswith("kwire: no requests in ")


def test_it_runs_without_spark_and_java(tmp_path: Path) -> None:
    """In a process of its own, with nothing on the PATH and PySpark hidden."""
    hidden = tmp_path / "pyspark"
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden')")
    done = subprocess.run(
        [sys.executable, "-m", "kwire", "inspect", SEED, "--json"],
        capture_output=True, text=True, env={"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)}, timeout=120, check=True,
    )  # fmt: skip
    assert len(done.stdout.splitlines()) == len(rows(SEED))


def test_rows_of_one_group() -> None:
    groups = str(CAPTURES / "groups.pcapng.gz")
    found = rows(groups, "--table", "group_events", "--group", "ops")
    assert {row["group_id"] for row in found} == {"ops"}
    assert [row["diff"][-37:] for row in found if row["event"] == "rebalance"][1:] == ["wants orders, returns instead of orders"[-37:]]


def test_a_file_that_ends_early_is_said_on_standard_error(tmp_path: Path) -> None:
    """In a packet, in its own header, in its gzip stream: the rows before are there, and the status is that of a file that was read."""
    whole = gzip.decompress(Path(SEED).read_bytes())
    (tmp_path / "half.pcap").write_bytes(whole[:-10])
    (tmp_path / "torn.pcap.gz").write_bytes(Path(SEED).read_bytes()[:-3000])
    for name in ("half.pcap", "torn.pcap.gz"):
        result = CliRunner().invoke(commands, ["inspect", str(tmp_path / name), "--json"])
        assert result.exit_code == 0
        assert result.stdout
        (line,) = result.stderr.splitlines()
        assert f"{name}: the file ends early, at byte " in line
    assert "capture_cut" in {row["rule"] for row in rows(str(tmp_path / "half.pcap"), "--table", "violations")}
    answers = CliRunner().invoke(commands, ["inspect", str(tmp_path / "half.pcap"), "--table", "clients"])
    assert "half.pcap: the file ends early" in answers.stderr


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("d4c3b2a1020004000000000000000000ffff0000", "truncated pcap header (20 of 24 bytes)"),
        ("d4c3b2a1", "truncated pcap header (4 of 24 bytes)"),
        ("0a0d0d0a1c000000", "truncated pcapng header (8 of 28 bytes)"),
    ],
)
def test_a_header_that_is_cut(start: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "cut").write_bytes(bytes.fromhex(start))
    result = CliRunner().invoke(commands, ["inspect", str(tmp_path / "cut")])
    assert (result.exit_code, result.stderr) == (1, f"kwire: {tmp_path}/cut: {said}.\n")


def test_several_files_and_folders(tmp_path: Path) -> None:
    """The files of one capture point are one series; what cannot be read is left out, and the status says so."""
    whole = gzip.decompress(Path(SEED).read_bytes())
    for number, piece in enumerate(pieces_of(whole, 2), 1):
        (tmp_path / f"x_{number:05d}.pcap").write_bytes(piece)
    provenance = {"capture", "series", "packet_number"}
    once = [{name: value for name, value in row.items() if name not in provenance} for row in rows(SEED)]
    for arguments in ([str(tmp_path)], [str(tmp_path / "*.pcap")], [str(tmp_path / "x_00002.pcap"), str(tmp_path / "x_00001.pcap")]):
        found = [{name: value for name, value in row.items() if name not in provenance} for row in rows(*arguments)]
        assert Counter(map(json.dumps, found)) == Counter(map(json.dumps, once))
    assert len(rows(str(tmp_path), str(CAPTURES / "ipv6.pcap.gz"), "--table", "captures")) == 3
    (tmp_path / "y.pcap").write_text("These are not packets.")
    result = CliRunner().invoke(commands, ["inspect", str(tmp_path), str(tmp_path / "gone.pcap"), "--table", "clients"])
    assert result.exit_code == INCOMPLETE_INPUT
    assert sum("left out: " in line for line in result.stderr.splitlines()) == 2


def test_a_filter_that_matches_nothing_says_how_many_rows_there_were() -> None:
    result = CliRunner().invoke(commands, ["inspect", SEED, "--client-id", "nosuch", "--since", "2020-01-01"])
    count = len(rows(SEED))
    assert result.stderr == f"kwire: 0 of {count} requests in {SEED} match --client-id nosuch --since 2020-01-01T00:00:00Z.\n"


def test_a_wrong_port_names_the_right_one() -> None:
    result = CliRunner().invoke(commands, ["inspect", SEED, "--port", "9092"])
    assert result.exit_code == 0
    assert result.stderr.startswith("kwire: no Kafka on port 9092; Kafka traffic was seen on 20192 (")


@pytest.mark.parametrize("text", ["999.1.1.1", "broker-1", "10.0.0.1:9092"])
def test_an_address_that_is_none(text: str) -> None:
    result = CliRunner().invoke(commands, ["inspect", SEED, "--address", text])
    assert result.exit_code == 2
    assert "is not an IP address" in result.stderr


def test_chosen_columns() -> None:
    found = rows(SEED, "--columns", "client_id,api_name")
    assert found == [{"client_id": row["client_id"], "api_name": row["api_name"]} for row in rows(SEED)]
    shown = CliRunner().invoke(commands, ["inspect", SEED, "--columns", "api_name, client_id"])
    assert shown.stdout.splitlines()[0].split() == ["api_name", "client_id"]
    wrong = CliRunner().invoke(commands, ["inspect", SEED, "--columns", "api"])
    assert wrong.exit_code == 2
    assert "'api' is not one of the columns series, " in wrong.stderr


def test_verdicts_are_words() -> None:
    """Stored values stay as they are; people read others."""
    sample = str(CAPTURES.parent.parent.parent / "examples" / "upgrade-fleet.pcap.gz")
    shown = CliRunner().invoke(commands, ["inspect", sample, "--table", "upgrade_impact"])
    assert "breaks" in shown.stdout
    assert not re.search(r"(?:rejected|undetermined|marked) {2}", shown.stdout)  # as cells; reasons say "rejected by Kafka 4.0"
    assert {row["verdict"] for row in rows(sample, "--table", "upgrade_impact")} <= {"compatible", "deprecated", "unknown", "breaks"}


def test_clients_come_by_id_and_are_chosen_by_id() -> None:
    """The table of clients has lists of ids."""
    sample = str(Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz")
    shown = CliRunner().invoke(commands, ["inspect", sample, "--table", "clients", "--columns", "client_ids"])
    names = [line.strip() for line in shown.stdout.splitlines()[2:]]
    assert names[:2] == ["AddPartitionsManager-client-3", "ad-bidder"]
    assert names[:-1] == sorted(names[:-1])
    assert names[-1] == "", "clients without an id come last"
    (found,) = rows(sample, "--table", "clients", "--client-id", "gateway-v2")
    assert found["client_ids"] == ["gateway-v2"]


def test_a_guess_beats_a_name_that_says_nothing() -> None:
    """A client whose name is `unknown` reported itself, and the library shown is inferred."""
    row = {"identity_source": "api_versions", "software_name": "unknown", "software_version": "", "library_guess": "platformatic-kafka"}
    names = ("identity_source", "software_name", "library_guess")
    assert shown_value(row, names, 80) == "inferred"
    assert shown_value({**row, "library_guess": None}, names, 80) == "self-reported"


def test_rows_of_an_analysis_are_those_of_its_captures(tmp_path: Path) -> None:
    sample, out = str(Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz"), str(tmp_path / "report")
    assert CliRunner().invoke(commands, ["analyze", sample, "--out", out, "--no-report"]).exit_code == 0
    for table, key in (("connections", "connection_id"), ("clients", "requests"), ("requests", "latency_us"), ("brokers", "host")):
        read, kept = ([row[key] for row in rows(place, "--table", table)] for place in (sample, out))
        assert Counter(kept) == Counter(read)
        assert kept
    verdicts = {row["verdict"] for row in rows(out, "--table", "upgrade_impact", "--client-id", "erp-bridge")}
    assert "breaks" in verdicts
    refused = CliRunner().invoke(commands, ["inspect", out, "--port", "9092"])
    assert refused.exit_code == 2
    assert "holds an analysis: leave out --port" in " ".join(refused.stderr.split())
