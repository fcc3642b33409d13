"""The whole analysis in one process: for small captures, tests and `kwire inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

import pyarrow as pa

from kwire.analysis.answers import Options, finish
from kwire.analysis.partials import Partial, merge, node_ids, partial_of_series
from kwire.analysis.programs import moved_tables, united
from kwire.capture.files.inputs import expand_inputs
from kwire.capture.files.series import group_series
from kwire.errors import InputError
from kwire.tables import ROW_TABLES, SCHEMAS, SeriesRows, read_series
from kwire.tables.node_ids import with_nodes

__all__ = ["SeriesFiles", "merged_series", "run"]

SeriesFiles = tuple[Sequence[str | BinaryIO], str, str]
"""Files of a series in order, its name, and a sentence if their order is doubtful."""


def merged_series(
    series: Sequence[SeriesFiles],
    ports: Iterable[int],
    seen: Callable[[SeriesRows], object],
    *,
    log_zone: str | None = None,
    skipped: Callable[[InputError], object] | None = None,
) -> Partial:
    """Merge the sums of series of files; call `seen` with the rows of each.

    `skipped` is called for an unreadable series if there are others; None to raise.
    """
    partials: list[Partial] = []
    faults: list[InputError] = []
    for sources, name, disorder in series:
        try:
            found = read_series(sources, name, ports, disorder=disorder, log_zone=log_zone)
        except InputError as error:
            faults.append(error)
            if skipped is None or len(faults) == len(series):
                raise
            skipped(error)
            continue
        with found as rows:
            partials.append(partial_of_series(rows))
            seen(rows)
    return merge(partials)


def run(
    paths: Sequence[str],
    ports: Iterable[int] = (),
    options: Options | None = None,
    *,
    series_rule: str = "name",
    log_zone: str | None = None,
) -> dict[str, pa.Table]:
    """Analyze captures.

    Args:
        paths: files, folders, globs, URIs.
        ports: TCP ports of brokers; empty to detect them.
        options: target releases and the like.
        series_rule: rule for files of one series (`kwire.capture.files.series.group_series`).
        log_zone: time zone of request logs, such as ``Europe/Berlin``; None for UTC.

    Returns:
        All tables by name.

    Raises:
        InputError: a file cannot be read, or an option is invalid.
    """
    options = options or Options()
    options.check()
    batches: dict[str, list[pa.RecordBatch]] = {name: [] for name in ROW_TABLES}

    def keep(rows: SeriesRows) -> None:
        for name in ROW_TABLES:
            batches[name] += rows.batches(name)

    files, _missing = expand_inputs(list(paths))
    series = [([piece.location for piece in each.pieces], each.name, each.disorder) for each in group_series(files, series_rule)]
    whole = merged_series(series, tuple(ports), keep, log_zone=log_zone)
    tables = {name: pa.Table.from_batches(found, schema=SCHEMAS[name]) for name, found in batches.items()}
    tables["connections"] = with_nodes(tables["connections"], node_ids(whole))
    return moved_tables(tables, united(whole)[1]) | finish(whole, options)
