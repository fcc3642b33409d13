"""Options of Parquet and Arrow files that hold frames in a binary column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kwire.errors import InputError
from kwire.spark.frame_sums import aggregates_of
from kwire.spark.reading_options import paths_of

__all__ = ["FORMATS", "FrameFiles", "frame_files"]

FORMATS: Final = {"parquet": (".parquet", ".parq"), "arrow": (".arrow", ".feather", ".ipc")}
"""Values of the option `source`, with the suffixes of file names that are read in a folder."""

_OPTIONS: Final = ("column", "keep", "bodies", "aggregate")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameFiles:
    """Checked options; Spark pickles them.

    Attributes:
        format: one of `FORMATS`.
        column: binary column of frames or bodies.
        keep: columns to copy.
        bodies: whether the column holds bodies without their headers.
        aggregate: sums made in the tasks, as in `kwire.spark.map_frames`; None for rows.
    """

    format: str
    column: str
    keep: tuple[str, ...] = ()
    bodies: bool = False
    aggregate: tuple[str, ...] | None = None


def frame_files(given: dict[str, str]) -> FrameFiles | None:
    """Select these options from all options (lower-case names); return None for captures and request logs."""
    source = given.pop("source", "captures").lower()
    found = {name: given.pop(name) for name in _OPTIONS if name in given}
    if source == "captures":
        if found:
            raise InputError(f"The option {next(iter(found))} of the kwire data source needs source=parquet or source=arrow.")
        return None
    if source not in FORMATS:
        raise InputError(f"The option source of the kwire data source must be captures, {' or '.join(FORMATS)}, not {source!r}.")
    if "column" not in found:
        raise InputError(f"The kwire data source reads one column of {source} files: name it with the option column.")
    bodies = found.get("bodies", "false").lower()
    if bodies not in ("true", "false"):
        raise InputError(f"The option bodies of the kwire data source must be true or false, not {found['bodies']!r}.")
    aggregate = found.get("aggregate")
    return FrameFiles(
        format=source,
        column=found["column"],
        keep=paths_of(found.get("keep")) or (),
        bodies=bodies == "true",
        aggregate=None if aggregate is None else tuple(each.name for each in aggregates_of(aggregate)),
    )
