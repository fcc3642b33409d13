"""Captures and request logs given as files, folders, globs and URIs.

A missing file is reported with the files; it is an error only if no file is found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from kwire.capture.files.piece_kinds import kind_of
from kwire.capture.request_logs.names import is_log_name
from kwire.errors import InputError
from kwire.files.file_systems import as_location, filesystem_of, place_of, reason_of, refuse_secrets

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

__all__ = ["CaptureFile", "MissingInput", "expand_inputs", "is_capture_name"]

_CAPTURE_NAME: Final = re.compile(r"\.(pcap|pcapng|cap|ntar|dmp)[0-9]*(\.[0-9]+)?(\.(gz|zst|zstd))?$", re.IGNORECASE)
_WILD: Final = re.compile(r"[*?\[]")
# The first part of a path is a bucket or container there.
_BUCKETED: Final = frozenset(("s3", "gcs", "abfs"))


@dataclass(frozen=True, slots=True)
class CaptureFile:
    """A file to read."""

    location: str  # path or URI that opens it
    folder: str  # location without the name; shared by the files of a series
    name: str  # the file's own name
    size: int  # bytes as stored
    sizes: tuple[int, ...] = ()  # bytes of each file, if the location is of several points


@dataclass(frozen=True, slots=True)
class MissingInput:
    """Argument that matches no file; `reason` is a whole sentence."""

    argument: str
    reason: str


def is_capture_name(name: str) -> bool:
    """Return whether a name looks like a capture: .pcap, .pcapng or .cap, optionally with a rotation number and a compression suffix."""
    return not name.startswith(".") and _CAPTURE_NAME.search(name) is not None


def expand_inputs(
    arguments: Sequence[str], accepts: Callable[[str], bool] | None = None, what: str = "capture file and no request log"
) -> tuple[list[CaptureFile], list[MissingInput]]:
    """Find the files of the arguments, each once, in the order of arguments, then of names; and the arguments without a file.

    Args:
        arguments: files, folders (searched recursively for captures, and for logs that hold requests), globs, and URIs, also with ``*``.
        accepts: filter for names in a folder, if other files are wanted; `what` is their noun for the sentence about a folder without.

    Raises:
        InputError: no file is found, or a URI holds a password.
    """
    for argument in arguments:
        refuse_secrets(argument)  # before one of them is named in a table
    files: dict[str, CaptureFile] = {}
    missing: list[MissingInput] = []
    for argument in arguments:
        try:
            found = list(_expand(argument, accepts, what))
        except InputError as error:
            missing.append(MissingInput(argument, str(error)))
            continue
        for file in found:
            files.setdefault(_identity(file.location), file)
    if not files:
        if not missing:
            raise InputError("no capture files given")
        if len(missing) == 1:
            raise InputError(missing[0].reason)
        raise InputError(f"none of the {len(missing)} inputs can be read; the first: {missing[0].reason}")
    return list(files.values()), missing


class _Place:
    """Argument split at its first wildcard; it writes paths below it in the user's form."""

    def __init__(self, argument: str) -> None:
        text, query = argument, ""
        is_uri = "://" in argument
        if is_uri and "?" in argument:
            text, _, query = argument.partition("?")
        self.filesystem: FileSystem
        self.parts: list[str] = []
        plain = text if is_uri else text.replace(os.sep, "/")
        if _WILD.search(plain) and (is_uri or not self._exists(plain)):
            pieces = plain.split("/")
            first = next(index for index, piece in enumerate(pieces) if _WILD.search(piece))
            self.parts = pieces[first:]
            plain = "/".join(pieces[:first]) or ("/" if plain.startswith("/") else "")
        self._spelled = plain.rstrip("/") if plain != "/" else ""
        self._query = f"?{query}" if query else ""
        self._is_uri = is_uri
        self._relative = not plain
        self.filesystem, path = filesystem_of((plain or ".") + self._query)
        self.path = path.rstrip("/") or "/"

    @staticmethod
    def _exists(path: str) -> bool:
        filesystem, inner = filesystem_of(path)
        return bool(filesystem.get_file_info(inner).type)

    def spell(self, path: str) -> str:
        below = path[len(self.path) :].lstrip("/") if path.startswith(self.path) else path
        if not below:
            return self._spelled + self._query
        if self._is_uri:
            below = quote(below)
        return below if self._relative else f"{self._spelled}/{below}{self._query}"


def _expand(argument: str, accepts: Callable[[str], bool] | None, what: str) -> Iterator[CaptureFile]:
    from pyarrow.fs import FileType

    place = _Place(as_location(argument))
    try:
        if place.parts:
            found = sorted(_match(place.filesystem, place.path, place.parts))
            infos = place.filesystem.get_file_info(found) if found else []
            infos = [info for info in infos if info.type == FileType.File]
            if not infos:
                raise InputError(_no_bucket(place) or f"no file matches {argument}")
        else:
            info = place.filesystem.get_file_info(place.path)
            if info.type == FileType.NotFound:
                raise InputError(_no_bucket(place) or f"{argument} does not exist")
            if info.type == FileType.Directory:
                infos = [below for below in _list(place.filesystem, place.path, recursive=True) if below.type == FileType.File]
                if accepts is None:
                    infos = [below for below in infos if is_capture_name(below.base_name) or _is_request_log(below, place)]
                else:
                    infos = [below for below in infos if accepts(below.base_name)]
                infos.sort(key=lambda below: str(below.path))
                if not infos:
                    raise InputError(f"the folder {argument} holds no {what}")
            else:
                infos = [info]
    except PermissionError as error:
        raise InputError(f"cannot read {argument}: permission denied") from error
    except OSError as error:
        raise InputError(f"{argument} cannot be read: {reason_of(error)}") from error
    for info in infos:
        location = place.spell(info.path)
        bare = location.partition("?")[0] if "://" in location else location
        folder, _, name = bare.rpartition("/")
        yield CaptureFile(location, folder, name or bare, info.size or 0)


def _no_bucket(place: _Place) -> str:
    """Return the sentence for a missing bucket or container; a store reports only a missing object."""
    from pyarrow.fs import FileType

    bucket = place.path.partition("/")[0]
    if place.filesystem.type_name not in _BUCKETED or place.filesystem.get_file_info(bucket).type != FileType.NotFound:
        return ""
    return f"there is no bucket {bucket}"


def _is_request_log(info: FileInfo, place: _Place) -> bool:
    """Return whether a log holds requests; brokers write many logs into one folder, so the name is not enough."""
    if not info.size or not is_log_name(info.base_name):
        return False
    try:
        return kind_of(place.spell(info.path)) == "request_log"
    except InputError:
        return False


def _list(filesystem: FileSystem, path: str, *, recursive: bool = False) -> list[FileInfo]:
    from pyarrow.fs import FileSelector

    found: list[FileInfo] = filesystem.get_file_info(FileSelector(path, recursive=recursive, allow_not_found=True))
    return found


def _match(filesystem: FileSystem, folder: str, parts: list[str]) -> set[str]:
    from pyarrow.fs import FileType

    first, rest = parts[0], parts[1:]
    below = _list(filesystem, folder, recursive=first == "**")
    if first == "**":
        folders = [folder, *(info.path for info in below if info.type == FileType.Directory)]
        return set().union(*(_match(filesystem, inner, rest or ["*"]) for inner in folders))
    found = [info for info in below if fnmatchcase(info.base_name, first) and (first.startswith(".") or not info.base_name.startswith("."))]
    if not rest:
        return {info.path for info in found}
    return set().union(*(_match(filesystem, info.path, rest) for info in found if info.type == FileType.Directory))


def _identity(location: str) -> str:
    """Return the same text for every spelling of a file."""
    return place_of(location) if "://" in location else os.path.realpath(location)
