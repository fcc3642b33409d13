"""Which captures a stream reads: those that are closed, under the names that rotation and compression give them; what was lost is told."""

from __future__ import annotations

import functools
import gzip
import os
from collections import Counter
from pathlib import Path

import boto3
import pytest

from kwire.errors import InputError
from stream_query import Query, append, batch_rows, check_loss, comparable, log_parts, pieces_of, rotate


def test_the_newest_file_waits_until_it_is_closed(folder: Path, state: Path) -> None:
    first, second = pieces_of("topicids.pcap.gz", 2)
    query = Query(folder, state, closedafter="1 hour")
    (folder / "trace_00000.pcap").write_bytes(first)
    assert query.run() == 0
    (folder / "trace_00001.pcap").write_bytes(b"")  # the next one was opened
    assert query.run() == 1
    (folder / "trace_00001.pcap").write_bytes(second)
    assert query.run() == 0
    old = (folder / "trace_00001.pcap").stat().st_mtime - 3700
    for path in folder.iterdir():
        os.utime(path, (old, old))
    assert query.run() == 1
    assert query.run() == 0


def test_files_that_are_being_compressed_are_left_alone(folder: Path, state: Path) -> None:
    """tcpdump -z gzip: the compressed file grows beside the one that was read, and another capture is written meanwhile."""
    first, second, third = pieces_of("topicids.pcap.gz", 3)
    query = Query(folder, state, closedafter="1 hour")
    (folder / "trace_00000.pcap").write_bytes(first)
    packed = gzip.compress(first)
    for size in (0, 5, 12, 3000, len(packed)):
        (folder / "trace_00000.pcap.gz").write_bytes(packed[:size])
        (folder / "trace_00001.pcap").write_bytes(second[: 1000 + size])
        query.run()
        query.restart()
    (folder / "trace_00000.pcap").unlink()
    (folder / "trace_00001.pcap").write_bytes(second)
    (folder / "trace_00002.pcap").write_bytes(third)
    query.run()
    query.restart(closedafter="0s", groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder))


def test_a_ring_is_read_round_and_round(folder: Path, state: Path) -> None:
    """tcpdump -C -W 3: the names come again, with other packets; a name that was emptied has none for a while."""
    query = Query(folder, state, closedafter="1 hour")
    pieces = pieces_of("topicids.pcap.gz", 8)
    whole = folder.parent / "whole"
    whole.mkdir()
    for number, piece in enumerate(pieces):
        path = folder / f"ring.pcap{number % 3}"
        for content in (b"", piece[:24], piece):
            path.write_bytes(content)
            query.run()
        (whole / f"trace_{number:05d}.pcap").write_bytes(piece)
    query.restart(closedafter="0s", groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(whole))


def test_files_may_be_compressed_and_removed_when_they_are_closed(folder: Path, state: Path) -> None:
    pieces = pieces_of("topicids.pcap.gz", 6)
    whole = folder.parent / "whole"
    rotate("topicids.pcap.gz", whole, 6)
    query = Query(folder, state, closedafter="1 hour")
    for number, piece in enumerate(pieces):
        (folder / f"trace_{number:05d}.pcap").write_bytes(piece)
        start, end = query.at, query.plan()
        before = folder / f"trace_{number - 1:05d}.pcap"
        if number:
            before.with_name(f"{before.name}.gz").write_bytes(gzip.compress(before.read_bytes()))
            before.unlink()  # between the plan and the reading
        if end is not None:
            query.rows += query.read(start, end)
        query.restart()
        if number > 2:
            (folder / f"trace_{number - 3:05d}.pcap.gz").unlink()
    query.restart(closedafter="0s", groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(whole))


@pytest.mark.parametrize("fails", [True, False])
def test_files_that_were_lost_are_told(fails: bool, folder: Path, state: Path) -> None:
    *pieces, rest = rotate("topicids.pcap.gz", folder, 6)
    third, more = pieces[2].read_bytes(), rest.read_bytes()[24:]
    pieces[2].unlink()
    rest.unlink()
    query = Query(folder, state, failOnDataLoss=str(fails).lower(), table="violations")
    query.run()
    pieces[2].write_bytes(third)
    check_loss(query, fails, "belongs before data already read", "trace_00002.pcap belongs before data already read of .*, and is skipped")
    pieces[2].unlink()

    append(pieces[4], more)
    check_loss(query, fails, "has grown since it was read: .*closedAfter", "trace_00004.pcap has grown since it was read; data after byte")
    assert fails or query.run() == 0
    pieces[4].unlink()

    last = folder / "trace_00005.pcap"
    last.write_bytes(pieces_of("seed.pcap.gz", 1)[0])
    query.restart()
    start, end = query.at, query.plan()
    assert end is not None
    last.unlink()
    if fails:
        with pytest.raises(InputError, match=r"trace_00005\.pcap was removed or written over before it was read; .*failOnDataLoss"):
            query.read(start, end)
    else:
        (row,) = query.read(start, end)
        assert row["rule"] == "capture_unreadable"
        assert "trace_00005.pcap was removed or written over before it was read." in row["explanation"]


def test_what_is_no_capture_stops_the_stream_unless_told_otherwise(folder: Path, state: Path) -> None:
    rotate("seed.pcap.gz", folder, 2)
    (folder / "trace_00002.pcap").write_bytes(b"no capture at all, and no log")
    query = Query(folder, state, table="violations")
    with pytest.raises(InputError, match=r"trace_00002\.pcap is not a capture file"):
        query.run()
    query = Query(folder, state, table="violations", ignoreCorruptFiles="true")
    query.run()
    assert "capture_unreadable" in {row["rule"] for row in query.rows}
    with pytest.raises(InputError, match="nowhere does not exist"):
        Query(folder / "nowhere", state).run()


def test_captures_and_states_in_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3_server as server

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.SECRET_KEY)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    pieces = rotate("topicids.pcap.gz", tmp_path / "in", 3)
    log = log_parts("topicids-requests.jsonl.gz", 3)
    with server.running_s3() as store:
        put = functools.partial(boto3.client("s3", endpoint_url=store.endpoint, region_name="us-east-1").put_object, Bucket="captures")
        boto3.client("s3", endpoint_url=store.endpoint, region_name="us-east-1").create_bucket(Bucket="captures")
        query = Query("s3a://captures/in", "s3a://captures/state", endpoint=store.endpoint, region="us-east-1")
        for number, piece in enumerate(pieces):
            put(Key=f"in/{piece.name}", Body=piece.read_bytes())
            put(Key="in/kafka-request.log", Body=b"".join(log[: number + 1]))  # written anew, as whoever ships logs there does
            query.restart()
            query.run()
        assert store.copies == 0
    (tmp_path / "in" / "kafka-request.log").write_bytes(b"".join(log))
    whole = batch_rows(tmp_path / "in")
    assert comparable([row for row in whole if row["state"] == "answered"]) - comparable(query.rows) == Counter()
    assert comparable(query.rows) - comparable(whole) == Counter()
