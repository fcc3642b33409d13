"""Tasks of a batch: series and their shares, planned as the analysis plans them (`kwire.runs.planning`)."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from kwire.capture.files.inputs import CaptureFile, expand_inputs
from kwire.capture.files.series import Series, group_series
from kwire.errors import InputError
from kwire.runs.planning import plan_of
from kwire.spark.source.options import SourceOptions
from kwire.tables.schemas import ROW_TABLES

__all__ = ["SeriesPart", "absolute_path", "plan_partitions"]

# Of the other tables a row may say something of a whole file, or of what all connections of a series taught.
_SHARED: Final = frozenset(("requests", "telemetry"))


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """Series, or share `(k, n)` of its connections; `size` is that of all files, `disorder` a sentence about their odd order."""

    name: str
    locations: tuple[str, ...]
    disorder: str
    size: int
    share: tuple[int, int]


def plan_partitions(options: SourceOptions, slots: int) -> list[tuple[SeriesPart, ...]]:
    """Find the files, and divide them among tasks, `slots` of which can run at once.

    A table that sums up connections of all series has a single task, like a small analysis. Other tables have a task for each series, or
    for each share of a series if there are fewer series than slots. Each share scans all packets, because a data source cannot
    route packets in an earlier step.
    """
    series = group_series(input_files(options), options.series)
    if not options.reads_messages and options.table not in ROW_TABLES:
        return [tuple(_part(each) for each in series)]
    slots = options.min_partitions or slots
    if not options.reads_messages and options.table not in _SHARED:
        slots = 1
    found: list[tuple[SeriesPart, ...]] = []
    for each in plan_of(series, slots, routing=False).series:
        for share in range(each.shares):
            found.append((SeriesPart(each.name, each.fresh, each.disorder, sum(size for _, size in each.files), (share, each.shares)),))
    return found or [()]


def _part(series: Series) -> SeriesPart:
    size = sum(file.size for file in series.pieces)
    return SeriesPart(series.name, tuple(file.location for file in series.pieces), series.disorder, size, (0, 1))


def input_files(options: SourceOptions, endings: tuple[str, ...] = (), what: str = "") -> list[CaptureFile]:
    """Return the files of the paths, by `endings` of their names, else captures; local paths are absolute, because tasks run in other
    folders."""

    def accepts(name: str) -> bool:
        return not name.startswith((".", "_")) and name.lower().endswith(endings)

    paths = [absolute_path(path) for path in options.paths]
    try:
        files, missing = expand_inputs(paths, accepts, what) if endings else expand_inputs(paths)
    except InputError:
        if options.ignore_missing_files:
            return []
        raise
    if missing and not options.ignore_missing_files:
        raise InputError(missing[0].reason)
    wanted = options.path_glob_filter
    return files if wanted is None else [file for file in files if fnmatchcase(file.name, wanted)]


def absolute_path(path: str) -> str:
    """Make a local path absolute, because tasks run in other folders; return a URI unchanged."""
    return path if "://" in path else str(Path(path).absolute())
