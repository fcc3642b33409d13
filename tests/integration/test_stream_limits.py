"""How much a stream reads at once, when it ends, and options that make no sense."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadMaxBytes, ReadMaxFiles

from kwire.errors import InputError
from pcap_files import later
from stream_query import DATA, Query, append, batch_rows, log_parts, pieces_of, rotate


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
    query = Query(folder, state, groupEndsAfter="0s", table="connections")
    for name in ("trace_00000", "trace_00001"):
        (data,) = pieces_of("seed.pcap.gz", 1)
        (folder / f"{name}.pcap").write_bytes(later(data, 86400 if name == "trace_00001" else 0))
        query.run()
    ids = [row["connection_id"] for row in query.rows]
    assert len(set(ids)) == len(ids) == 2 * len(batch_rows(folder / "trace_00000.pcap", table="connections"))
    assert {each[-1] for each in ids} >= {"0", "1"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"statelocation": ""}, "need the option stateLocation"),
        ({"table": "upgrade_impact"}, "which sums up whole captures; choose one of"),
        ({"groupFiles": "overlap"}, "cannot read overlapping captures"),
        ({"maxbytespertrigger": "1", "maxfilespertrigger": "1"}, "not both"),
        ({"closedafter": "soon"}, "The option closedAfter of the kwire data source must be a duration such as '10 minutes', not 'soon'"),
        ({"failondataloss": "maybe"}, "failOnDataLoss of the kwire data source must be true or false"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, str], told: str, folder: Path, state: Path) -> None:
    with pytest.raises(InputError, match=told):
        Query(folder, state, **options)
