"""Files that hold what a series leaves for its next piece: on disks only their owner may read them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["make_private", "write_private"]

_LOCAL: Final = "local"
_FOLDER: Final = 0o700
_FILE: Final = 0o600


def make_private(filesystem: FileSystem, folder: str, *, recursive: bool = True) -> None:
    """Make a folder, or take one that is there; on a disk only the owner may look into it.

    Raises:
        OSError: it cannot be made, or is another user's.
    """
    filesystem.create_dir(folder, recursive=recursive)
    if filesystem.type_name == _LOCAL:
        Path(folder).chmod(_FOLDER)


def write_private(filesystem: FileSystem, path: str, data: bytes) -> None:
    """Write a file; on a disk only the owner may read it, from its first byte on.

    Raises:
        OSError: it cannot be written.
    """
    if filesystem.type_name != _LOCAL:
        with filesystem.open_output_stream(path, compression=None) as file:
            file.write(data)
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE), "wb") as local:
        Path(path).chmod(_FILE)  # of a file that was there already
        local.write(data)
