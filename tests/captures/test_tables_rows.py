"""Rows of real captures: what the truth says of them, and that no cut into files changes any."""

from __future__ import annotations

import gzip
import io
import json
import os
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from counted_rows import counted
from kwire import tables
from kwire.errors import InputError
from kwire.tables import ROW_TABLES, SCHEMAS
from kwire.tables.carry_state import pack_carry, unpack_carry
from kwire.tables.series import begin_series, finish_series, read_piece
from pcap_files import random_pieces_of

DATA = Path(__file__).parent / "data"
FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
TRUTH = json.loads((DATA / "truth.json").read_text())
READ = {"answered", "no_response_expected", "unanswered", "abandoned", "unseen"}
# Provenance: which file of the series a row is from, and where in it.
PROVENANCE = {"capture", "packet_number", "series"}
CUT = ["seed.pcap", "late-join.pcap", "reordered-duplicated.pcap", "gap-response.pcap", "hostile-requests.pcap", "tcp-tricks.pcap"]


def location(name: str) -> str:
    return str(DATA / f"{name}.gz")


def pieces_of(name: str, count: int, seed: int) -> list[io.BytesIO]:
    return [io.BytesIO(piece) for piece in random_pieces_of(gzip.decompress((DATA / f"{name}.gz").read_bytes()), count, seed)]


@pytest.mark.parametrize("name", sorted(name for name, truth in TRUTH.items() if "requests_whole_by_api_version" in truth))
def test_requests_are_those_that_the_broker_logged(name: str) -> None:
    truth = TRUTH[name]
    rows = tables.from_capture(location(name), "requests", truth["kafka_ports"]).to_pylist()
    found = Counter(f"{row['api_name']} v{row['api_version']}" for row in rows if row["state"] in READ and row["body"] != "truncated")
    assert found == Counter(truth["requests_whole_by_api_version"])
    connections = tables.from_capture(location(name), "connections", truth["kafka_ports"])
    assert connections.num_rows == truth["connections"]
    assert bool(sum(connections["gaps"].to_pylist())) == bool(truth["gaps_count"])


def test_requests_of_a_fleet_are_answered_as_its_broker_logged() -> None:
    """The broker logged all 615 as answered; 610 responses are whole on the wire, of 3 a part came, of 2 nothing: their clients left."""
    rows = tables.from_capture(str(FLEET), "requests", [19092]).to_pylist()
    assert Counter(row["state"] for row in rows) == {"answered": 610, "abandoned": 5}
    # their clients had left when the broker came to them
    silent = [row for row in rows if row["state"] != "answered" and row["response_bytes"] is None]
    left = {(row["connection_id"].split(":")[2], row["correlation_id"]) for row in silent}
    assert left == {("49934-0", 16), ("49958-0", 11)}


@pytest.mark.parametrize("name", ["seed.pcap", "tcp-tricks.pcap"])
def test_tables_have_their_schemas_and_join(name: str) -> None:
    with tables.read_series([location(name)], "a series") as rows:
        found = {table: rows.table(table) for table in ROW_TABLES}
    assert all(found[table].schema == SCHEMAS[table] for table in ROW_TABLES)
    keys = {row["connection_id"]: row["client_key"] for row in found["connections"].to_pylist()}
    assert len(keys) == found["connections"].num_rows
    for row in found["requests"].to_pylist():
        assert row["client_key"] == keys[row["connection_id"]]
        assert row["series"] == "a series"
    counts = Counter(row["connection_id"] for row in found["requests"].to_pylist() if row["request_index"] is not None)
    for connection, count in counts.items():
        indices = [row["request_index"] for row in found["requests"].to_pylist() if row["connection_id"] == connection]
        assert sorted(indices) == list(range(count))
    captures = found["captures"].to_pylist()
    assert [row["requests"] for row in captures] == [sum(counts.values())]
    assert [row["connections"] for row in captures] == [found["connections"].num_rows]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CUT)
def test_no_cut_changes_a_row(name: str, seed: int) -> None:
    ports = TRUTH[name]["kafka_ports"]
    with tables.read_series([location(name)], "s", ports) as whole, tables.read_series(pieces_of(name, 4, seed), "s", ports) as cut:
        for table in ("requests", "connections", "violations"):
            assert counted(cut.table(table), PROVENANCE) == counted(whole.table(table), PROVENANCE), table
        assert {name: fact.to_pylist() for name, fact in cut.facts.items()} == {
            name: fact.to_pylist() for name, fact in whole.facts.items()
        }
        assert sum(cut.captures["requests"].to_pylist()) == sum(whole.captures["requests"].to_pylist())
        assert sum(cut.captures["connections"].to_pylist()) == sum(whole.captures["connections"].to_pylist())


def test_the_state_is_packed_between_pieces() -> None:
    name = "seed.pcap"
    carry = begin_series("s", TRUTH[name]["kafka_ports"])
    rows: list[pa.RecordBatch] = []
    for piece in pieces_of(name, 5, 7):
        rows += read_piece(piece, carry)["requests"]
        carry = unpack_carry(b"".join(pack_carry(carry)))
    rows += finish_series(carry)[0]["requests"]
    assert sum(batch.num_rows for batch in rows) == TRUTH[name]["requests_whole"]


def test_packets_and_files_are_told_apart_in_a_cut_series() -> None:
    name = "seed.pcap"
    files = pieces_of(name, 2, 1)
    with tables.read_series(files, "s", TRUTH[name]["kafka_ports"]) as rows:
        packets = [row["packet_number"] for row in rows.table("requests").to_pylist()]
        assert len(rows.captures) == 2
        assert max(packets) <= max(rows.captures["packets"].to_pylist())


def test_a_file_among_others_that_cannot_be_read_is_a_violation(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pcap"
    bad.write_text("this is no capture")
    with tables.read_series([str(bad), location("seed.pcap"), str(tmp_path / "missing.pcap")], "s", [20192]) as rows:
        assert rows.table("requests").num_rows == TRUTH["seed.pcap"]["requests_whole"]
        found = [(row["rule"], row["severity"], row["capture"]) for row in rows.table("violations").to_pylist()]
    assert ("capture_unreadable", "error", str(bad)) in found
    assert ("capture_unreadable", "error", str(tmp_path / "missing.pcap")) in found


def test_a_cut_file_is_read_up_to_its_cut_and_says_where() -> None:
    violations = tables.from_capture(location("cut-file.pcap"), "violations", [20192]).to_pylist()
    texts = [row["explanation"] for row in violations if row["rule"] == "capture_cut"]
    assert len(texts) == 1
    assert str(TRUTH["cut-file.pcap"]["cut_record_at_byte"]) in texts[0]


@pytest.mark.parametrize("content", [b"", b"GIF89a, which is no capture at all"])
def test_nothing_but_a_bad_file_is_one_clear_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.pcap"):
        tables.from_capture(path)
    with pytest.raises(InputError, match="unknown table 'nonsense'"):
        tables.from_capture(path, "nonsense")


def test_rows_as_they_come_are_the_rows_of_the_file() -> None:
    def without_key(row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in ("client_key", "node_id")}  # known at the end only

    for table in ROW_TABLES:
        whole = tables.from_capture(location("seed.pcap"), table, [20192]).to_pylist()
        stream = io.BytesIO(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
        flowing = [row for batch in tables.iter_capture(location("seed.pcap"), table, [20192]) for row in batch.to_pylist()]
        streamed = [row for batch in tables.iter_capture(stream, table, [20192]) for row in batch.to_pylist()]
        assert [without_key(row) for row in flowing] == [without_key(row) for row in whole]
        assert len(streamed) == len(whole)


def test_rows_come_while_the_capture_is_still_being_written() -> None:
    """What ``tcpdump -U -w - | kwire inspect -`` needs: a pipe that is not at its end."""
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    half = len(data) // 2
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as tcpdump:
        tcpdump.write(data[:half])
        batches = tables.iter_capture(source, "requests", [20192])
        first = next(batches)
        assert 0 < first.num_rows < TRUTH["seed.pcap"]["requests_whole"]
        assert first["client_key"].null_count == 0
        tcpdump.write(data[half:])
        tcpdump.close()
        rest = sum(batch.num_rows for batch in batches)
    assert first.num_rows + rest == TRUTH["seed.pcap"]["requests_whole"]


@pytest.mark.parametrize(("ports", "where"), [([1], " on port 1 "), ([], " ")])
def test_a_capture_without_kafka_says_so(tmp_path: Path, ports: list[int], where: str) -> None:
    path = tmp_path / "silent.pcap"
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    path.write_bytes(data if ports else data[: 24 + 16 + struct.unpack_from("<I", data, 32)[0]])  # all of it, or the first SYN alone
    found = tables.from_capture(path, "violations", ports).to_pylist()
    assert [row["rule"] for row in found] == ["no_kafka"]
    assert f"No Kafka request was found{where}in" in found[0]["explanation"]
