"""Request logs as streams: lines that are not whole yet, every way in which logs are rotated, and logs that were emptied."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from stream_query import DATA, Query, append, batch_rows, check_loss, comparable, log_parts


@pytest.mark.parametrize("rotation", ["none", "rename", "dated", "copytruncate"])
@pytest.mark.parametrize("name", ["topicids-requests.jsonl", "old-0.11-requests.log"])
def test_a_growing_log_gives_the_rows_of_the_whole(name: str, rotation: str, folder: Path, state: Path) -> None:
    log = folder / "kafka-request.log"
    query = Query(folder, state, maxBytesPerTrigger="30000")
    for number, part in enumerate(log_parts(f"{name}.gz", 9)):
        append(log, part)
        query.run()
        if number in (3, 6):
            turn(log, rotation)
            query.restart()
            query.run()
    query.restart(groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder))
    sums = Query(folder, state, table="captures", groupEndsAfter="0s")
    sums.run()
    # of a log that comes in parts there is no hash
    assert comparable(sums.rows) == comparable([{**row, "sha256": None} for row in batch_rows(folder, table="captures")])


def turn(log: Path, rotation: str) -> None:
    older = log.with_name(f"{log.name}.1")
    if older.exists() and rotation in ("rename", "copytruncate"):
        log.with_name(f"{log.name}.2.gz").write_bytes(gzip.compress(older.read_bytes()))
        older.unlink()
    if rotation == "rename":
        log.rename(older)
    elif rotation == "dated":
        hour = len(list(log.parent.iterdir()))
        log.rename(log.with_name(f"{log.name}.2026-01-01-{hour:02d}"))
    elif rotation == "copytruncate":
        shutil.copy(log, older)
        log.write_bytes(b"")


def test_a_line_that_rotation_tore_apart_belongs_to_the_file_where_it_begins(folder: Path, state: Path) -> None:
    first, second, *_ = gzip.decompress((DATA / "topicids-requests.jsonl.gz").read_bytes()).splitlines(keepends=True)
    query = Query(folder, state)
    append(folder / "kafka-request.log.2026-01-01-00", first[:100])
    append(folder / "kafka-request.log", first[100:150])
    query.run()
    assert query.rows == []
    append(folder / "kafka-request.log", first[150:] + second)
    query.run()
    query.restart(groupEndsAfter="0s")
    query.run()
    assert [(Path(row["capture"]).name, row["packet_number"]) for row in query.rows] == [
        ("kafka-request.log.2026-01-01-00", 1),
        ("kafka-request.log", 2),
    ]
    assert comparable(query.rows) == comparable(batch_rows(folder))


def test_a_torn_line_waits_for_its_rest(folder: Path, state: Path) -> None:
    first, second, *_ = gzip.decompress((DATA / "topicids-requests.jsonl.gz").read_bytes()).splitlines(keepends=True)
    log = folder / "kafka-request.log"
    query = Query(folder, state)
    append(log, first + second[:100])
    assert [len(rows) for rows in query.batches()] in ([0], [1])
    append(log, second[100:-1])
    assert query.run() == 0
    append(log, b"\n")
    query.run()
    query.restart(groupEndsAfter="0s")
    query.run()
    assert [row["packet_number"] for row in query.rows] == [1, 2]
    assert comparable(query.rows) == comparable(batch_rows(folder))


def test_a_log_that_is_followed_by_its_name_alone_is_found_when_it_was_renamed(folder: Path, state: Path) -> None:
    log = folder / "kafka-request.log"
    parts = log_parts("topicids-requests.jsonl.gz", 4)
    query = Query(log, state)
    append(log, parts[0])
    query.run()
    append(log, parts[1])
    log.rename(folder / "kafka-request.log.2026-01-01-00")
    append(log, parts[2] + parts[3])
    query.run()
    query.restart(groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder))


@pytest.mark.parametrize("fails", [True, False])
def test_a_log_that_was_emptied_is_told(fails: bool, folder: Path, state: Path) -> None:
    log = folder / "kafka-request.log"
    first, second = log_parts("topicids-requests.jsonl.gz", 2)
    query = Query(folder, state, failOnDataLoss=str(fails).lower(), table="violations")
    append(log, first)
    query.run()
    log.write_bytes(second.partition(b"\n")[2])
    check_loss(query, fails, "was emptied, replaced or removed after byte", "was emptied, replaced or removed; data after byte")
    if not fails:
        assert query.run() == 0
