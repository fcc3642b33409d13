"""Rows of files with frames: tasks have the size of Spark's own; rows or sums are those of `kwire.spark.map_frames`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from kwire.capture.files.inputs import CaptureFile
from kwire.errors import InputError
from kwire.files.file_systems import store_options
from kwire.spark.frame_rows import FrameRows
from kwire.spark.frame_sums import FrameSums, frames_to_rows
from kwire.spark.source.frame_files import FilePart, batches_of_parts, kept_fields
from kwire.spark.source.frame_options import FORMATS
from kwire.spark.source.options import SourceOptions
from kwire.spark.source.partitions import input_files

__all__ = ["FileRows", "frame_schema"]

# As spark.sql.files.maxPartitionBytes and openCostInBytes have them
_MOST_BYTES: Final = 128 << 20
_OPEN_COST: Final = 4 << 20


def _frame_files(options: SourceOptions) -> list[CaptureFile]:
    assert options.frames is not None
    return input_files(options, tuple(FORMATS[options.frames.format]), f"{options.frames.format} file")


def _kept(options: SourceOptions) -> tuple[Any, ...]:
    """Return the kept columns, with the types of the first file that can be read."""
    assert options.frames is not None
    with store_options(options.store):
        files = _frame_files(options)
        for file in files:
            try:
                return tuple(kept_fields(options.frames, file.location))
            except InputError:
                if not options.ignore_corrupt_files:
                    raise
    if options.frames.keep:
        raise InputError(f"No file found, so the types of {', '.join(options.frames.keep)} are unknown.")
    return ()


def _rows(options: SourceOptions, columns: tuple[str, ...] | None) -> FrameRows | FrameSums:
    files = options.frames
    assert files is not None
    return frames_to_rows(files.column, files.keep, options.body, options.reading, not files.bodies, columns, files.aggregate)


def frame_schema(options: SourceOptions) -> pa.Schema:
    """Return all columns: the kept ones, then those made of frames."""
    kept, made = _kept(options), _rows(options, options.columns).schema
    if twice := [name for name in made.names if name in [field.name for field in kept]]:
        raise InputError(f"The kwire data source creates a column {twice[0]!r} that the files have too: remove it from keep.")
    return pa.schema([*kept, *made])


class FileRows:
    """Rows of Parquet and Arrow files, with the columns of `schema`; Spark pickles it."""

    def __init__(self, options: SourceOptions, schema: pa.Schema) -> None:
        self.options = options
        self.schema = schema
        self.kept = _kept(options)

    def plan(self, slots: int) -> list[tuple[FilePart, ...]]:
        """Return the input of each task, `slots` of which can run at once."""
        return plan_parts(_frame_files(self.options), self.options.min_partitions or slots)

    def read(self, parts: tuple[FilePart, ...]) -> Iterator[pa.RecordBatch]:
        options = self.options
        assert options.frames is not None
        columns = options.columns
        if options.frames.aggregate is None and options.reading.corrupt_record is None:  # what no query asks for is not made
            columns = tuple(name for name in self.schema.names if name not in options.frames.keep) or columns
        rows = _rows(options, columns)
        for batch in rows(batches_of_parts(parts, options.frames, self.kept, options.ignore_corrupt_files)):
            if batch.num_rows:
                yield pa.RecordBatch.from_arrays([batch.column(name) for name in self.schema.names], schema=self.schema)


def plan_parts(files: list[CaptureFile], slots: int) -> list[tuple[FilePart, ...]]:
    """Divide files among tasks, `slots` of which can run at once; as in Spark, large files are divided and small ones grouped."""
    weight = sum(file.size + _OPEN_COST for file in files)
    most = max(_OPEN_COST, min(_MOST_BYTES, weight // slots))
    found: list[tuple[FilePart, ...]] = []
    parts: list[FilePart] = []
    taken = 0
    for file in files:
        shares = max(1, -(-file.size // most))
        for share in range(shares):
            size = file.size // shares
            if parts and taken + size > most:
                found.append(tuple(parts))
                parts, taken = [], 0
            parts.append(FilePart(file.location, file.size, (share, shares)))
            taken += size + _OPEN_COST
    return [*found, tuple(parts)]
