"""Analyses by the job, and the rows of a table without their order: how often each is there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job

__all__ = ["counted", "counted_folders", "counted_json", "run", "written"]


def run(inputs: Sequence[Path | str], out: Path, **more: Any) -> Path:
    run_job(JobRequest(inputs=tuple(map(str, inputs)), out=str(out), **more))
    return out


def written(files: Sequence[bytes], into: Path, name: str = "trace") -> list[str]:
    """Write files under the names that a rotating capture gives them."""
    paths = [into / f"{name}_{number:05d}.pcap" for number in range(len(files))]
    for path, data in zip(paths, files, strict=True):
        path.write_bytes(data)
    return list(map(str, paths))


def counted_json(rows: Iterable[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, default=str, sort_keys=True) for row in rows)


def counted(table: pa.Table, left_out: Collection[str] = ()) -> Counter[str]:
    """Count equal rows by their values in the order of columns; times are numbers, which are made in a tenth of the time."""
    columns = [table.column(name) for name in table.column_names if name not in left_out]
    values = [(each.cast(pa.int64()) if pa.types.is_timestamp(each.type) else each).to_pylist() for each in columns]
    return Counter(map(repr, zip(*values, strict=True)))


def counted_folders(out: Path, left_out: Collection[str] = (), without: Collection[str] = ()) -> dict[str, Counter[str]]:
    """Count the rows of all tables in a folder, but of those `without`."""
    tables = sorted(path for path in out.iterdir() if path.is_dir() and not path.name.startswith("_") and path.name not in without)
    return {each.name: counted(ds.dataset(each, format="parquet").to_table(), left_out) for each in tables}
