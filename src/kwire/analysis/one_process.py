"""The whole analysis in one process: for tests, small captures, and as the pattern that the Spark job follows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import BinaryIO

import pyarrow as pa

from kwire.analysis.answers import Options, finish
from kwire.analysis.partials import Partial, merge, node_ids, partial_of_series
from kwire.capture.inputs import expand_inputs
from kwire.capture.series import group_series
from kwire.tables import ROW_TABLES, SCHEMAS, read_series
from kwire.tables.node_ids import with_nodes

__all__ = ["of_capture", "run"]


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
    with read_series([source], name, ports, log_zone=log_zone) as rows:
        return finish(merge([partial_of_series(rows)]), options)


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
        series_rule: which files are one series (`kwire.capture.series.group_series`).
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
    return tables | finish(whole, options)
