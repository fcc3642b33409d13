"""The stream reader, driven as Spark drives it but without a session: which rows come, once each, whatever happens to files and drivers.

What the rows are held to is the batch reader on the same files, which other tests hold to the truth of the captures.
"""

from __future__ import annotations

import functools
import gzip
import importlib.util
import json
import os
import pickle
import random
import re
import shutil
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import boto3
import pytest
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles

from kwire.errors import InputError
from kwire.spark.source.batch import batch_reader
from kwire.spark.source.options import source_options
from kwire.spark.source.schema import row_schema
from kwire.spark.source.stream import KwireStreamReader

DATA = Path(__file__).parents[1] / "captures" / "data"
# Where in which file something begins: cuts of a series into files may differ in it. A stream says of a server what was known by then.
PROVENANCE = {"series", "capture", "packet_number", "explanation", "node_id"}
Rows = list[dict[str, Any]]


def comparable(rows: Rows) -> Counter[str]:
    return Counter(json.dumps({k: v for k, v in row.items() if k not in PROVENANCE}, default=str) for row in rows)


def batch_rows(path: Path, **options: str) -> Rows:
    chosen = source_options({"path": str(path), **options})
    reader = batch_reader(from_arrow_schema(row_schema(chosen)), chosen)
    return [row for partition in reader.partitions() for batch in reader.read(partition) for row in batch.to_pylist()]


class Query:
    """A streaming query as Spark runs one: each `restart` is a new driver that knows no more than the checkpoint."""

    def __init__(self, folder: Path | str, state: Path | str, **options: str) -> None:
        self.options = {"path": str(folder), "statelocation": str(state), "closedafter": "0s", **options}
        self.offsets: list[str] = []  # of the checkpoint
        self.rows: Rows = []
        self.restart()

    def restart(self, **options: str) -> None:
        self.options |= options
        chosen = source_options(self.options)
        self.reader = KwireStreamReader(from_arrow_schema(row_schema(chosen)), chosen)

    @property
    def at(self) -> dict[str, Any]:
        return json.loads(self.offsets[-1]) if self.offsets else self.reader.initialOffset()

    def plan(self) -> dict[str, Any] | None:
        """Log the offset of the next batch; None where there is nothing new."""
        start = self.at
        end = self.reader.latestOffset(start, self.reader.getDefaultReadLimit())
        if end == start:
            return None
        self.offsets.append(json.dumps(end))
        return end

    def read(self, start: dict[str, Any], end: dict[str, Any]) -> Rows:
        # partitions travel to executors
        partitions = pickle.loads(pickle.dumps(self.reader.partitions(start, end)))
        return [row for partition in partitions for batch in self.reader.read(partition) for row in batch.to_pylist()]

    def batches(self) -> Iterator[Rows]:
        """Run until nothing is new, as Trigger.AvailableNow does."""
        self.reader.prepareForTriggerAvailableNow()
        while True:
            start = self.at
            end = self.plan()
            if end is None:
                return
            rows = self.read(start, json.loads(self.offsets[-1]))
            self.reader.commit(end)
            self.rows += rows
            yield rows

    def run(self) -> int:
        """Run until nothing is new; gives the number of batches."""
        return len(list(self.batches()))


def pieces_of(name: str, count: int) -> list[bytes]:
    """A capture cut as a rotating capture cuts it."""
    data = gzip.decompress((DATA / name).read_bytes())
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    packets, at = [], 24
    while at < len(data):
        size = 16 + struct.unpack_from(f"{order}I", data, at + 8)[0]
        packets.append(data[at : at + size])
        at += size
    step = -(-len(packets) // count)
    return [data[:24] + b"".join(packets[first : first + step]) for first in range(0, len(packets), step)]


def rotate(name: str, folder: Path, count: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    found = []
    for number, piece in enumerate(pieces_of(name, count)):
        found.append(folder / f"trace_{number:05d}.pcap")
        found[-1].write_bytes(piece)
    return found


def log_parts(name: str, count: int, seed: int = 1) -> list[bytes]:
    """A request log cut anywhere, mostly inside lines."""
    data = gzip.decompress((DATA / name).read_bytes())
    chosen = random.Random(seed)
    cuts = [0, *sorted(chosen.randrange(1, len(data)) for _ in range(count - 1)), len(data)]
    return [data[first:last] for first, last in pairwise(cuts)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


# Rows.


@pytest.mark.parametrize("table", ["requests", "connections", "violations", "captures"])
@pytest.mark.parametrize("name", ["topicids", "gap-at-border", "tcp-tricks", "sasl"])
def test_a_stream_gives_the_rows_of_a_batch(name: str, table: str, folder: Path, state: Path) -> None:
    rotate(f"{name}.pcap.gz", folder, 5)
    query = Query(folder, state, table=table, seriesEndsAfter="0s", maxFilesPerTrigger="1")
    assert query.run() == 5
    whole = batch_rows(folder, table=table)
    assert comparable(query.rows) == comparable(whole)
    if table in ("requests", "connections"):
        assert whole


def test_exchanges_over_borders_of_files_are_one_row(folder: Path, state: Path) -> None:
    pieces = pieces_of("topicids.pcap.gz", 20)
    query = Query(folder, state)
    for number, piece in enumerate(pieces):
        (folder / f"trace_{number:05d}.pcap").write_bytes(piece)
        query.run()
    assert len(query.offsets) == len(pieces)
    whole = batch_rows(folder)
    # what waits for an answer comes when it is answered, or when its connection or the series is over
    assert comparable([row for row in whole if row["state"] == "answered"]) - comparable(query.rows) == Counter()
    assert comparable(query.rows) - comparable(whole) == Counter()
    query.restart(seriesEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(whole)


def test_metric_points_come_as_in_a_batch(folder: Path, state: Path) -> None:
    shutil.copy(DATA / "telemetry.pcapng.gz", folder)
    query = Query(folder, state, table="telemetry", seriesEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder, table="telemetry")) != Counter()


def test_messages_come_as_in_a_batch(folder: Path, state: Path) -> None:
    asked = {"message": "MetadataResponse", "version": "13", "fields": "topics.name,topics.partitions.leader_id"}
    rotate("topicids.pcap.gz", folder, 20)
    query = Query(folder, state, maxFilesPerTrigger="7", **asked)
    assert query.run() == 3
    whole = batch_rows(folder, **asked)
    assert {row["topics.name"] for row in whole if row["topics.name"]} > {"orders"}
    assert comparable(query.rows) == comparable(whole)
    (folder / "kafka-request.log").write_bytes(gzip.decompress((DATA / "topicids-requests.jsonl.gz").read_bytes()))
    query.restart()
    with pytest.raises(InputError, match="is a request log: it tells of messages and does not hold their bytes"):
        query.run()


def test_rows_wait_until_their_client_is_known(folder: Path, state: Path) -> None:
    """A batch that ends behind ApiVersions or inside SASL does not yet know who asks."""
    for number, piece in enumerate(pieces_of("sasl.pcap.gz", 30)):
        (folder / f"trace_{number:05d}.pcap").write_bytes(piece)
    query = Query(folder, state, maxFilesPerTrigger="1", seriesEndsAfter="0s")
    query.run()
    keys = {(row["connection_id"], row["request_index"]): row["client_key"] for row in batch_rows(folder)}
    assert {(row["connection_id"], row["request_index"]): row["client_key"] for row in query.rows} == keys


def test_series_are_tasks_of_their_own(tmp_path: Path, state: Path) -> None:
    for place, name in (("a", "topicids"), ("b", "seed")):
        rotate(f"{name}.pcap.gz", tmp_path / place, 3)
    query = Query(tmp_path, state, path=f"{tmp_path}/*/*.pcap", seriesEndsAfter="0s")
    start = query.at
    end = query.plan()
    assert end is not None
    assert len(query.reader.partitions(start, end)) == 2
    assert comparable(query.read(start, end)) == comparable(batch_rows(tmp_path))


def test_columns_and_modes_are_those_of_the_batch(folder: Path, state: Path) -> None:
    shutil.copy(DATA / "hostile-requests.pcap.gz", folder)
    query = Query(folder, state, mode="DROPMALFORMED", seriesEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder, mode="DROPMALFORMED"))
    assert len(query.rows) < len(batch_rows(folder))


# Once each.


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
    query.restart(seriesEndsAfter="0s")
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
    query.restart(seriesEndsAfter="0s")
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
    query.restart(seriesEndsAfter="0s")
    assert query.plan()["series"][f"{folder}/trace_*.pcap"]["base"] == 1


def test_states_that_nobody_needs_are_removed(folder: Path, state: Path) -> None:
    rotate("topicids.pcap.gz", folder, 6)
    query = Query(folder, state, maxFilesPerTrigger="1")
    query.run()
    (kept,) = state.iterdir()
    assert sorted(path.name.partition("-")[2] for path in kept.iterdir()) == ["0000000005", "0000000006"]


def test_a_state_does_not_grow_with_the_files_of_its_series(folder: Path, state: Path) -> None:
    """Of files that no open connection begins in, names and sums are forgotten."""
    data = bytearray(pieces_of("tcp-tricks.pcap.gz", 1)[0])
    sizes = []
    query = Query(folder, state)
    for number in range(40):
        later(data, 3600)
        path = folder / f"a-rather-long-name-of-a-capture-point_{number:05d}.pcap"
        path.write_bytes(data)
        query.run()
        path.unlink()
        sizes.append(max(path.stat().st_size for path in state.rglob("*-*[0-9]")))
    assert len(query.offsets) == 40
    # the name alone takes 50 bytes and its folder as many
    assert sizes[-1] - sizes[9] < 30 * 50


def later(data: bytearray, seconds: int) -> None:
    """Move the packets of a capture in time."""
    at = 24
    while at < len(data):
        before, _, size = struct.unpack_from("<III", data, at)
        struct.pack_into("<I", data, at, before + seconds)
        at += 16 + size


def test_a_state_that_is_gone_or_of_another_version_is_told(folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rotate("topicids.pcap.gz", folder, 2)
    query = Query(folder, state, maxFilesPerTrigger="1")
    query.run()
    (folder / "trace_00002.pcap").write_bytes(pieces_of("seed.pcap.gz", 1)[0])
    query.restart()
    start, end = query.at, query.plan()
    assert end is not None
    monkeypatch.setattr("kwire.__version__", "99.0")
    with pytest.raises(InputError, match=r"was left by kwire .*, which version 99\.0 cannot go on with; begin with a new checkpoint"):
        query.read(start, end)
    monkeypatch.undo()
    shutil.rmtree(state)
    with pytest.raises(InputError, match="without it the stream has to begin with a new checkpoint"):
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
    with pytest.raises(InputError, match="is of a query with the option table=requests, which is connections now; begin with a new one"):
        query.run()
    query.options.pop("ports")
    query.restart(table="requests")
    with pytest.raises(InputError, match="with the option ports=9092,9093, which is left out now"):
        query.run()


# Which captures are closed.


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
    query.restart(closedafter="0s", seriesEndsAfter="0s")
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
    query.restart(closedafter="0s", seriesEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(whole))


def test_captures_and_states_in_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.spec_from_file_location("s3_server", Path(__file__).parents[1] / "s3_server.py")
    assert found is not None
    assert found.loader is not None
    server = importlib.util.module_from_spec(found)
    found.loader.exec_module(server)
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
    query.restart(closedafter="0s", seriesEndsAfter="0s")
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
    check(query, fails, "belongs before what was read", "trace_00002.pcap belongs before what was read of .* already, and is left out")
    pieces[2].unlink()

    append(pieces[4], more)
    check(query, fails, "has grown since it was read: .*closedAfter", "trace_00004.pcap has grown since it was read; what was written")
    assert fails or query.run() == 0
    pieces[4].unlink()

    later = folder / "trace_00005.pcap"
    later.write_bytes(pieces_of("seed.pcap.gz", 1)[0])
    query.restart()
    start, end = query.at, query.plan()
    assert end is not None
    later.unlink()
    if fails:
        with pytest.raises(InputError, match=r"trace_00005\.pcap was removed or written over before it was read; .*failOnDataLoss"):
            query.read(start, end)
    else:
        (row,) = query.read(start, end)
        assert row["rule"] == "capture_unreadable"
        assert "trace_00005.pcap was removed or written over before it was read." in row["explanation"]


def check(query: Query, fails: bool, sentence: str, told: str) -> None:
    query.rows = []
    if fails:
        with pytest.raises(InputError, match=f"{sentence}.*failOnDataLoss=false"):
            query.run()
    else:
        query.run()
        (row,) = [row for row in query.rows if row["rule"] == "capture_unreadable"]
        assert re.search(told, row["explanation"])


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


# Logs.


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
    query.restart(seriesEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder))
    sums = Query(folder, state, table="captures", seriesEndsAfter="0s")
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
    query.restart(seriesEndsAfter="0s")
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
    query.restart(seriesEndsAfter="0s")
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
    query.restart(seriesEndsAfter="0s")
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
    check(query, fails, "was emptied, replaced or removed after byte", "was emptied, replaced or removed; what was written behind byte")
    if not fails:
        assert query.run() == 0


# How much, and when it ends.


def test_bytes_bound_each_batch(folder: Path, state: Path) -> None:
    log = folder / "kafka-request.log"
    data = gzip.decompress((DATA / "topicids-requests.jsonl.gz").read_bytes())
    log.write_bytes(data)
    longest = max(map(len, data.splitlines(keepends=True)))
    query = Query(folder, state, maxBytesPerTrigger="10k")
    assert query.reader.getDefaultReadLimit() == ReadMaxBytes(10240)
    read = bytes_of_batches(query)
    assert sum(read) == len(data)
    assert all(size <= max(10240, longest) for size in read)
    assert len(read) >= len(data) // 10240


def test_bytes_bound_each_batch_of_captures_by_whole_files(folder: Path, state: Path) -> None:
    sizes = [path.stat().st_size for path in rotate("topicids.pcap.gz", folder, 10)]
    query = Query(folder, state, maxBytesPerTrigger=str(2 * max(sizes)))
    read = bytes_of_batches(query)
    assert sum(read) == sum(sizes)
    assert max(read) <= 2 * max(sizes)
    small = Query(folder, state, maxBytesPerTrigger="1")
    assert bytes_of_batches(small) == sizes
    assert Query(folder, state, maxFilesPerTrigger="3").reader.getDefaultReadLimit() == ReadMaxFiles(3)
    assert Query(folder, state, maxFilesPerTrigger="3").run() == 4


def bytes_of_batches(query: Query) -> list[int]:
    query.run()
    offsets: Sequence[dict[str, Any]] = [json.loads(offset) for offset in query.offsets]
    return [
        sum(piece["stop"] - piece.get("start", 0) for series in offset["series"].values() for piece in series["read"]) for offset in offsets
    ]


def test_available_now_reads_what_was_there_and_stops(folder: Path, state: Path) -> None:
    pieces = pieces_of("topicids.pcap.gz", 4)
    log = folder / "kafka-request.log"
    first, second = log_parts("topicids-requests.jsonl.gz", 2)
    for number in (0, 1):
        (folder / f"trace_{number:05d}.pcap").write_bytes(pieces[number])
    append(log, first)
    query = Query(folder, state, maxFilesPerTrigger="1")
    seen = []
    for _ in query.batches():
        seen += [Path(piece["location"]).name for series in query.at["series"].values() for piece in series["read"]]
        (folder / f"trace_{len(seen) + 1:05d}.pcap").write_bytes(pieces[2])
        append(log, second)
        assert len(seen) < 20
    assert {"trace_00000.pcap", "trace_00001.pcap", "kafka-request.log"} == set(seen)
    assert query.at["series"][str(log)]["log"]["at"] == first.rfind(b"\n") + 1


def test_a_series_that_ended_may_begin_again(folder: Path, state: Path) -> None:
    """Connections between the same ends keep their numbers apart."""
    query = Query(folder, state, seriesEndsAfter="0s", table="connections")
    for name in ("trace_00000", "trace_00001"):
        data = bytearray(pieces_of("seed.pcap.gz", 1)[0])
        if name == "trace_00001":  # a day later
            later(data, 86400)
        (folder / f"{name}.pcap").write_bytes(data)
        query.run()
    ids = [row["connection_id"] for row in query.rows]
    assert len(set(ids)) == len(ids) == 2 * len(batch_rows(folder / "trace_00000.pcap", table="connections"))
    assert {each[-1] for each in ids} >= {"0", "1"}


# Options.


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"statelocation": ""}, "need the option stateLocation"),
        ({"table": "upgrade_impact"}, "sums up whole captures, which a stream never has"),
        ({"series": "points"}, "read side by side"),
        ({"maxbytespertrigger": "1", "maxfilespertrigger": "1"}, "not both"),
        ({"closedafter": "soon"}, "The option closedAfter of the kwire data source is a duration such as '10 minutes', not 'soon'"),
        ({"failondataloss": "maybe"}, "failOnDataLoss of the kwire data source is true or false"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], told: str, folder: Path, state: Path) -> None:
    with pytest.raises(InputError, match=told):
        Query(folder, state, **options)
