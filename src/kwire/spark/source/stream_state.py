"""What a stream keeps beside its offsets: of each series and batch the state that the next batch goes on from.

A state is a function of the files that were read, so whoever does a batch again writes the same one again: that is what makes the stream
exact across a killed driver, with no more than a file that is there whole or not at all. States are pickles: use no folder that others may
write to.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa

import kwire
from kwire.capture.file_systems import filesystem_of, has_rename, reason_of
from kwire.capture.private_files import make_private, write_private
from kwire.errors import InputError
from kwire.tables.series import TablesCarry

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["SeriesState", "StateFolder"]

_VERSION: Final = 1
# with a dot before and a process id behind while it is written
_NAME: Final = re.compile(r"\.?([0-9a-f]{16})-([0-9]{10})(?:-[0-9]+)?")


@dataclass(slots=True)
class SeriesState:
    """What a batch leaves of a series.

    Attributes:
        carry: of the series.
        log: of the request log that is followed its number in the series, None where the carry does not know it yet, and how many lines of
            it are read; None where none is followed.
        held: rows of connections whose client is not known yet.
    """

    carry: TablesCarry
    log: tuple[int | None, int] | None = None
    held: list[pa.RecordBatch] = field(default_factory=list)


class StateFolder:
    """The states of one stream.

    Arguments:
        location: the folder that the option `stateLocation` names, path or URI.
        stream: the stream's own name below it.
    """

    def __init__(self, location: str, stream: str) -> None:
        self._location = location
        self._stream = stream

    def _place(self) -> tuple[FileSystem, str]:
        filesystem, path = filesystem_of(self._location)
        return filesystem, f"{path.rstrip('/')}/kwire-{self._stream}"

    def read(self, series: str, version: int) -> SeriesState:
        """Read a state.

        Raises:
            InputError: it is not there, or another version of kwire left it.
        """
        filesystem, folder = self._place()
        try:
            with filesystem.open_input_stream(f"{folder}/{_name(series, version)}", compression=None) as file:
                found = pickle.loads(file.read())
        except OSError as error:
            raise InputError(
                f"the state of {series} after batch {version} cannot be read from {self._location} ({reason_of(error)}); without it the "
                "stream has to begin with a new checkpoint"
            ) from error
        if found[:2] != (_VERSION, kwire.__version__):
            raise InputError(
                f"the state in {self._location} was left by kwire {found[1]}, which version {kwire.__version__} cannot resume from; begin "
                "with a new checkpoint"
            )
        state: SeriesState = found[2]
        return state

    def write(self, series: str, version: int, state: SeriesState) -> None:
        """Leave a state; nothing is seen of it before it is whole.

        Raises:
            InputError: the folder cannot be written, the disk is full.
        """
        filesystem, folder = self._place()
        data = pickle.dumps((_VERSION, kwire.__version__, state))
        name = _name(series, version)
        renames = has_rename(filesystem)  # elsewhere a file is seen when it is closed
        try:
            make_private(filesystem, folder)
            written = f"{folder}/.{name}-{os.getpid()}" if renames else f"{folder}/{name}"
            write_private(filesystem, written, data)
            if renames:
                filesystem.move(written, f"{folder}/{name}")
        except OSError as error:
            raise InputError(f"the state of the stream cannot be written to {self._location}: {reason_of(error)}.") from error

    def has(self, series: str, version: int) -> bool:
        """Whether a state was left."""
        from pyarrow.fs import FileType

        filesystem, folder = self._place()
        return bool(filesystem.get_file_info(f"{folder}/{_name(series, version)}").type == FileType.File)

    def forget(self, oldest: dict[str, int]) -> None:
        """Remove what no batch can go on from any more.

        Args:
            oldest: by series, the oldest version that is still wanted.
        """
        from pyarrow.fs import FileSelector

        filesystem, folder = self._place()
        wanted = {_key(series): version for series, version in oldest.items()}
        for info in filesystem.get_file_info(FileSelector(folder, allow_not_found=True)):
            found = _NAME.fullmatch(info.base_name)
            if found is not None and int(found[2]) < wanted.get(found[1], 0):
                filesystem.delete_file(info.path)


def _key(series: str) -> str:
    return hashlib.blake2b(series.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _name(series: str, version: int) -> str:
    return f"{_key(series)}-{version:010d}"
