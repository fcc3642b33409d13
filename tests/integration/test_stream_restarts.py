"""Each row of a stream comes once, whichever step of a batch the driver dies behind, and the state that this takes stays small."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from kwire.errors import InputError
from pcap_files import later
from stream_query import Query, Rows, append, batch_rows, comparable, log_parts, pieces_of, rotate


@pytest.mark.parametrize("name", ["topicids", "reordered-duplicated"])
def test_a_batch_that_is_done_again_gives_the_same_rows(name: str, folder: Path, state: Path) -> None:
    """The driver dies behind any step of a batch: what was logged is read again, what was not is planned anew."""
    pieces = pieces_of(f"{name}.pcap.gz", 8)
    query = Query(folder, state)
    for number, piece in enumerate(pieces):
        (folder / f"trace_{number:05d}.pcap").write_bytes(piece)
        query.restart()  # dead before the offset was logged
        query.reader.latestOffset(query.at, ReadAllAvailable())
        query.restart()
        start = query.at
        assert query.plan() is not None
        end = query.at
        (folder / f"trace_{number:05d}-later.pcap").write_bytes(piece)  # whatever comes, a logged batch stays as it is
        query.restart()  # dead before anything was read
        rows = query.read(start, end)
        query.restart()  # dead before the sink was done, and before the commit
        assert query.read(start, end) == rows
        (folder / f"trace_{number:05d}-later.pcap").unlink()
        query.rows += rows
        query.reader.commit(end)
    query.restart(groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder))


def test_rows_that_nobody_asked_for_are_not_missed_later(folder: Path, state: Path) -> None:
    """`show` and `isEmpty` in foreachBatch read a few rows of the first task and no more: other tasks leave no state."""
    rotate("topicids.pcap.gz", folder, 6)
    query = Query(folder, state, maxFilesPerTrigger="1")
    unread: Rows = []
    for number in range(6):
        start = query.at
        end = query.plan()
        assert end is not None
        if number in (1, 2, 4):
            other = Query(folder, state.parent / f"other-{number}", maxFilesPerTrigger="1")
            unread += [rows for _, rows in zip(range(number + 1), other.batches(), strict=False)][number]
        else:
            query.rows += query.read(start, end)
        query.reader.commit(end)
    query.restart(groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows + unread) == comparable(batch_rows(folder))


def test_the_state_is_left_before_the_first_row_is_given(folder: Path, state: Path) -> None:
    rotate("topicids.pcap.gz", folder, 2)
    query = Query(folder, state)
    start, end = query.at, query.plan()
    assert end is not None
    rows = query.reader.read(query.reader.partitions(start, end)[0])
    next(rows)
    rows.close()
    query.restart(groupEndsAfter="0s")
    assert query.plan()["series"][f"{folder}/trace_*.pcap"]["base"] == 1


def test_states_that_nobody_needs_are_removed(folder: Path, state: Path) -> None:
    rotate("topicids.pcap.gz", folder, 6)
    query = Query(folder, state, maxFilesPerTrigger="1")
    query.run()
    (kept,) = state.iterdir()
    assert sorted(path.name.partition("-")[2] for path in kept.iterdir()) == ["0000000005", "0000000006"]


def test_a_state_does_not_grow_with_the_files_of_its_series(folder: Path, state: Path) -> None:
    """Of files that no open connection begins in, names and sums are forgotten."""
    (data,) = pieces_of("tcp-tricks.pcap.gz", 1)
    sizes = []
    query = Query(folder, state)
    for number in range(40):
        data = later(data, 3600)
        path = folder / f"a-rather-long-name-of-a-capture-point_{number:05d}.pcap"
        path.write_bytes(data)
        query.run()
        path.unlink()
        sizes.append(max(path.stat().st_size for path in state.rglob("*-*[0-9]")))
    assert len(query.offsets) == 40
    # the name alone takes 50 bytes and its folder as many
    assert sizes[-1] - sizes[9] < 30 * 50


def test_a_state_that_is_gone_is_told(folder: Path, state: Path) -> None:
    rotate("topicids.pcap.gz", folder, 2)
    query = Query(folder, state, maxFilesPerTrigger="1")
    query.run()
    (folder / "trace_00002.pcap").write_bytes(pieces_of("seed.pcap.gz", 1)[0])
    query.restart()
    start, end = query.at, query.plan()
    assert end is not None
    shutil.rmtree(state)
    with pytest.raises(InputError, match="without it the stream must start with a new checkpoint"):
        query.read(start, end)


def test_states_that_never_appear_are_told(folder: Path, state: Path) -> None:
    """A folder of each machine's own: the driver sees nothing of what executors write."""
    log = folder / "kafka-request.log"
    query = Query(folder, state)
    parts = iter(log_parts("upgrade-fleet-requests.jsonl.gz", 40))
    while len(query.offsets) < 17:
        append(log, next(parts))
        query.plan()
    append(log, next(parts))
    with pytest.raises(InputError, match=r"17 batches have left no state of .*kafka-request\.log in stateLocation: is it a folder that"):
        query.plan()


def test_a_checkpoint_of_another_query_is_refused(folder: Path, state: Path) -> None:
    rotate("seed.pcap.gz", folder, 2)
    query = Query(folder, state, ports="9092,9093")
    query.run()
    query.restart(table="connections")
    with pytest.raises(InputError, match="belongs to a query with table=requests, but it is connections now; use a new checkpoint"):
        query.run()
    query.options.pop("ports")
    query.restart(table="requests")
    with pytest.raises(InputError, match="with ports=9092,9093, but it is left out now"):
        query.run()
