"""The rows of a stream are those of a batch: of every table, over borders of files, of messages, of clients that are known late."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kwire.errors import InputError
from stream_query import DATA, Query, batch_rows, comparable, pieces_of, rotate


@pytest.mark.parametrize("table", ["requests", "connections", "violations", "captures"])
@pytest.mark.parametrize("name", ["topicids", "gap-at-border", "tcp-tricks", "sasl"])
def test_a_stream_gives_the_rows_of_a_batch(name: str, table: str, folder: Path, state: Path) -> None:
    rotate(f"{name}.pcap.gz", folder, 5)
    query = Query(folder, state, table=table, groupEndsAfter="0s", maxFilesPerTrigger="1")
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
    query.restart(groupEndsAfter="0s")
    query.run()
    assert comparable(query.rows) == comparable(whole)


def test_metric_points_come_as_in_a_batch(folder: Path, state: Path) -> None:
    shutil.copy(DATA / "telemetry.pcapng.gz", folder)
    query = Query(folder, state, table="telemetry", groupEndsAfter="0s")
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
    with pytest.raises(InputError, match="is a request log, which has no message bytes"):
        query.run()


def test_rows_wait_until_their_client_is_known(folder: Path, state: Path) -> None:
    """A batch that ends behind ApiVersions or inside SASL does not yet know who asks."""
    for number, piece in enumerate(pieces_of("sasl.pcap.gz", 30)):
        (folder / f"trace_{number:05d}.pcap").write_bytes(piece)
    query = Query(folder, state, maxFilesPerTrigger="1", groupEndsAfter="0s")
    query.run()
    keys = {(row["connection_id"], row["request_index"]): row["client_key"] for row in batch_rows(folder)}
    assert {(row["connection_id"], row["request_index"]): row["client_key"] for row in query.rows} == keys


def test_series_are_tasks_of_their_own(tmp_path: Path, state: Path) -> None:
    for place, name in (("a", "topicids"), ("b", "seed")):
        rotate(f"{name}.pcap.gz", tmp_path / place, 3)
    query = Query(tmp_path, state, path=f"{tmp_path}/*/*.pcap", groupEndsAfter="0s")
    start = query.at
    end = query.plan()
    assert end is not None
    assert len(query.reader.partitions(start, end)) == 2
    assert comparable(query.read(start, end)) == comparable(batch_rows(tmp_path))


def test_columns_and_modes_are_those_of_the_batch(folder: Path, state: Path) -> None:
    shutil.copy(DATA / "hostile-requests.pcap.gz", folder)
    query = Query(folder, state, mode="DROPMALFORMED", groupEndsAfter="0s", ports="20192")
    query.run()
    assert comparable(query.rows) == comparable(batch_rows(folder, mode="DROPMALFORMED", ports="20192"))
    assert len(query.rows) < len(batch_rows(folder, ports="20192"))
