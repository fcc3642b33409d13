"""A streaming query without a session, driven as Spark drives one.

What its rows are held to is the batch reader on the same files, which other tests hold to the truth of the captures.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.pandas.types import from_arrow_schema

import pcap_files
from kwire.errors import InputError
from kwire.spark.source.batch import batch_reader
from kwire.spark.source.options import source_options
from kwire.spark.source.schema import row_schema
from kwire.spark.source.stream import KwireStreamReader

DATA = Path(__file__).parent / "captures" / "data"
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
        return len(list(self.batches()))


def pieces_of(name: str, count: int) -> list[bytes]:
    return pcap_files.pieces_of(gzip.decompress((DATA / name).read_bytes()), count)


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


def check_loss(query: Query, fails: bool, sentence: str, told: str) -> None:
    """What was lost ends the query with a sentence, or is a row of `violations` where that is wanted."""
    query.rows = []
    if fails:
        with pytest.raises(InputError, match=f"{sentence}.*failOnDataLoss=false"):
            query.run()
    else:
        query.run()
        (row,) = [row for row in query.rows if row["rule"] == "capture_unreadable"]
        assert re.search(told, row["explanation"])
