"""Files in folders that others may write to: links are not followed, and only the owner may read state."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["first_link", "is_link", "make_private", "new_file", "write_private"]

_LOCAL: Final = "local"
_FOLDER: Final = 0o700
_FILE: Final = 0o600


def is_link(path: str) -> bool:
    """Return whether a path is a symbolic link, or a junction of Windows (Python 3.12 or newer tells)."""
    return os.path.islink(path) or getattr(os.path, "isjunction", lambda _path: False)(path)  # noqa: PTH114 - as its neighbour


def first_link(folder: str) -> str | None:
    """Find a link below a folder; the folder itself may be one."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_link(entry.path):
                return entry.path
            if entry.is_dir(follow_symlinks=False) and (found := first_link(entry.path)) is not None:
                return found
    return None


def new_file(path: str | os.PathLike[str], mode: int = 0o666, *, buffering: int = -1) -> BinaryIO:
    """Create a file for writing and reading. An existing file or link of that name is removed first, so that hard links keep their
    contents.

    Raises:
        OSError: the file cannot be created.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - as `os.open`
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, mode), "w+b", buffering)


def make_private(filesystem: FileSystem, folder: str, *, recursive: bool = True) -> None:
    """Create a folder, or use an existing one; on a local disk, only its owner may read it.

    Raises:
        OSError: the folder cannot be created, or belongs to another user.
    """
    filesystem.create_dir(folder, recursive=recursive)
    if filesystem.type_name == _LOCAL:
        Path(folder).chmod(_FOLDER)


def write_private(filesystem: FileSystem, path: str, *pieces: bytes) -> None:
    """Write a file; on a local disk, only its owner may read it.

    Raises:
        OSError: it cannot be written.
    """
    if filesystem.type_name != _LOCAL:
        with filesystem.open_output_stream(path, compression=None) as file:
            for piece in pieces:
                file.write(piece)
        return
    with new_file(path, _FILE) as local:
        local.writelines(pieces)
