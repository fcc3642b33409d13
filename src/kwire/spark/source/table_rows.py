"""Rows of tables, for one task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from kwire.errors import InputError, KwireError
from kwire.spark.source.options import SourceOptions
from kwire.spark.source.partitions import SeriesPart
from kwire.tables import ROW_TABLES, SeriesView, iter_series, read_series
from kwire.tables.node_ids import node_finder, with_nodes
from kwire.tables.observed_rows import OBSERVED

if TYPE_CHECKING:
    from kwire.analysis import Options

__all__ = ["analysis_options", "checked", "table_rows"]


def table_rows(parts: Sequence[SeriesPart], options: SourceOptions) -> Iterator[pa.RecordBatch]:
    if options.table not in ROW_TABLES:
        yield from _answer(parts, options)
        return
    check = options.table == "requests" and (options.reading.fails or options.reading.drops)
    for part in parts:
        for batch in _series_rows(part, options):
            yield checked(batch, options) if check else batch


def _series_rows(part: SeriesPart, options: SourceOptions) -> Iterator[pa.RecordBatch]:
    table = options.table
    connections: list[pa.RecordBatch] = []
    view: SeriesView | None = None
    views = iter_series(
        part.locations, part.name, options.ports, disorder=part.disorder, log_zone=options.log_zone, share=part.share,
        observing=table in OBSERVED, hashed=table == "captures", strict=not options.ignore_corrupt_files,
    )  # fmt: skip
    for view in views:
        if table == "connections":  # their node ids are known at the end
            connections += view.batches(table)
        else:
            yield from view.batches(table)
    if view is not None and connections:
        yield from with_nodes(pa.Table.from_batches(connections), node_finder(view.facts["nodes"])).to_batches()


def checked(batch: pa.RecordBatch, options: SourceOptions) -> pa.RecordBatch:
    """Drop malformed requests, or raise KwireError for the first one, depending on the mode."""
    bad: Any = pc.fill_null(pc.equal(batch.column("body"), pa.scalar("malformed")), pa.scalar(False))
    if not pc.any(bad).as_py():
        return batch
    if options.reading.drops:
        return batch.filter(pc.invert(bad))
    row = batch.filter(bad).slice(0, 1).to_pylist()[0]
    raise KwireError(
        f"{row['capture']}: {row['api_name']} v{row['api_version']}, request {row['request_index']} of {row['connection_id']} at packet "
        f"{row['packet_number']}, is malformed, and the mode is FAILFAST"
    )


def _answer(parts: Sequence[SeriesPart], options: SourceOptions) -> Iterator[pa.RecordBatch]:
    from kwire.analysis import finish, merge, partial_of_series

    partials = []
    for part in parts:
        try:
            with read_series(part.locations, part.name, options.ports, disorder=part.disorder, log_zone=options.log_zone) as rows:
                if rows.skipped and not options.ignore_corrupt_files:
                    raise rows.skipped[0][1]
                partials.append(partial_of_series(rows))
        except InputError:
            if not options.ignore_corrupt_files:
                raise
    yield from finish(merge(partials), analysis_options(options))[options.table].to_batches()


def analysis_options(options: SourceOptions) -> Options:
    from kwire.analysis import Options

    return Options(target_releases=options.target_releases, broker_release=options.broker_release)
