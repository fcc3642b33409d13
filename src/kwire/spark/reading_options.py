"""Options for invalid bytes in column functions and readers, as in Spark's own readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kwire.errors import InputError, WireError

__all__ = ["PERMISSIVE", "ReadingOptions", "paths_of", "reading_options"]

PERMISSIVE: Final = "PERMISSIVE"
DROPMALFORMED: Final = "DROPMALFORMED"
FAILFAST: Final = "FAILFAST"

_MODE: Final = "mode"
_CORRUPT: Final = "columnNameOfCorruptRecord"


class ReadingOptions(NamedTuple):
    """Checked options; without `corrupt_record` there is no column of unreadable bytes."""

    mode: str = PERMISSIVE
    corrupt_record: str | None = None

    @property
    def fails(self) -> bool:
        return self.mode == FAILFAST

    @property
    def drops(self) -> bool:
        return self.mode == DROPMALFORMED

    def refuse(self, error: WireError | None, row: int) -> None:
        """Raise an error of a row of a batch in the mode FAILFAST."""
        if error is not None and self.fails:
            error.add_note(f"in row {row} of the batch; the mode is FAILFAST")
            raise error


def reading_options(options: Mapping[str, str] | None, function: str, *, drops: bool = False, keeps: bool = True) -> ReadingOptions:
    """Check options; names and modes are case-insensitive.

    A column function cannot drop rows, so it rejects DROPMALFORMED, as Spark's `from_json` does.
    """
    found = ReadingOptions()
    for name, value in (options or {}).items():
        if name.lower() == _MODE:
            found = found._replace(mode=value.upper())
        elif keeps and name.lower() == _CORRUPT.lower():
            found = found._replace(corrupt_record=value)
        else:
            raise InputError(f"{function} has no option {name!r}; available: {_MODE}{f' and {_CORRUPT}' if keeps else ''}.")
    modes = (PERMISSIVE, DROPMALFORMED, FAILFAST) if drops else (PERMISSIVE, FAILFAST)
    if found.mode not in modes:
        raise InputError(f"{function} has no mode {found.mode}; its modes are {', '.join(modes)}.")
    return found


def paths_of(fields: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """Split paths of fields, given as a sequence or one text with commas."""
    if fields is None:
        return None
    given = fields.split(",") if isinstance(fields, str) else fields
    return tuple(path.strip() for path in given)
