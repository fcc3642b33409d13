"""The whole analysis in one process: for tests, small captures, and as the pattern that the Spark job follows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

import pyarrow as pa

from kwire.analysis.answers import Options, finish
from kwire.analysis.partials import Partial, merge, node_ids, partial_of_series
from kwire.analysis.programs import moved_tables, united
from kwire.capture.files.inputs import expand_inputs
from kwire.capture.files.series import group_series
from kwire.errors import InputError
from kwire.tables import ROW_TABLES, SCHEMAS, read_series
from kwire.tables.node_ids import with_nodes

__all__ = ["of_capture", "of_series", "run"]


def of_capture(
    source: str | os.PathLike[str] | BinaryIO, ports: Iterable[int] = (), options: Options | None = None, *, log_zone: str | None = None
) -> dict[str, pa.Table]:
    """Answer the questions from one capture or request log alone.

    Args:
        source: path, URI or binary stream.
        ports, options, log_zone: as for `run`.

    Returns:
        The tables that `kwire.analysis.finish` gives.

    Raises:
        InputError: it cannot be read, or an option makes no sense.
    """
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else "standard input"
    return of_series([([source], name, "")], ports, options, log_zone=log_zone)


def of_series(
    series: Iterable[tuple[Sequence[str | os.PathLike[str] | BinaryIO], str, str]],
    ports: Iterable[int] = (),
    options: Options | None = None,
    *,
    log_zone: str | None = None,
    violations: Callable[[pa.RecordBatch], object] | None = None,
    skipped: Callable[[InputError], object] | None = None,
) -> dict[str, pa.Table]:
    """Answer the questions from series of files.

    Args:
        series: of each its files in order, its name, and what is odd about the order (empty where nothing is).
        ports, options, log_zone: as for `run`.
        violations: called with their rows, as they are read.
        skipped: called for a series of which nothing can be read, where there are others; None to raise.

    Returns:
        The tables that `kwire.analysis.finish` gives.

    Raises:
        InputError: of a series, or of all with `skipped`, not one file can be read; or an option makes no sense.
    """
    partials: list[Partial] = []
    faults: list[InputError] = []
    listed = list(series)
    for sources, name, disorder in listed:
        try:
            found = read_series(sources, name, ports, disorder=disorder, log_zone=log_zone)
        except InputError as error:
            faults.append(error)
            if skipped is None or len(faults) == len(listed):
                raise
            skipped(error)
            continue
        with found as rows:
            partials.append(partial_of_series(rows))
            if violations is not None:
                for batch in rows.batches("violations"):
                    violations(batch)
    return finish(merge(partials), options)


def run(
    paths: Sequence[str],
    ports: Iterable[int] = (),
    options: Options | None = None,
    *,
    series_rule: str = "name",
    log_zone: str | None = None,
) -> dict[str, pa.Table]:
    """Analyse captures.

    Args:
        paths: files, folders, globs, URIs.
        ports: TCP ports where brokers listen; empty to find them out.
        options: target releases and the like.
        series_rule: which files are one series (`kwire.capture.files.series.group_series`).
        log_zone: time zone of request logs, such as ``Europe/Berlin``; None for UTC.

    Returns:
        All tables by name.

    Raises:
        InputError: nothing can be read, or an option makes no sense.
    """
    options = options or Options()
    options.check()
    ports = tuple(ports)
    files, _missing = expand_inputs(list(paths))
    rows: dict[str, list[pa.RecordBatch]] = {name: [] for name in ROW_TABLES}
    partials: list[Partial] = []
    for series in group_series(files, series_rule):
        with read_series(
            [piece.location for piece in series.pieces], series.name, ports, disorder=series.disorder, log_zone=log_zone
        ) as found:
            partials.append(partial_of_series(found))
            for name in ROW_TABLES:
                rows[name] += found.batches(name)
    tables = {name: pa.Table.from_batches(batches, schema=SCHEMAS[name]) for name, batches in rows.items()}
    whole = merge(partials)
    tables["connections"] = with_nodes(tables["connections"], node_ids(whole))
    return moved_tables(tables, united(whole)[1]) | finish(whole, options)
