"""Changes of files that an earlier run has read: they have grown, were rolled, or are captures of several points.

A log is rolled by renaming the newest file; the part read before is found again by its hash. Captures of several points are read together
from their beginnings, because a packet may be a copy of one at another point. When there are new ones, all are read again and their earlier
rows are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from kwire.capture.dividing.block_hash import BLOCK_HASH, block_hash_of
from kwire.capture.files.capture_points import is_of_points, names_in
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.series import Series, is_log, points_key
from kwire.capture.files.source import open_capture
from kwire.errors import InputError
from kwire.files.file_systems import filesystem_of, place_of_file

__all__ = ["check_beginning", "grown_since", "new_names", "place", "present_names", "read_again", "same_points"]

Entry = Mapping[str, Any]


def place(location: str) -> str:
    """Return the same text for a file, regardless of the working folder and of the store's URI."""
    return location if is_of_points(location) else place_of_file(location)


def files_of(locations: Iterable[str]) -> frozenset[str]:
    return frozenset(place(name) for each in locations for name in (names_in(each)[1:] or [each]))


def check_beginning(location: str, size: int, sha256: str) -> None:
    """Raise InputError unless a grown file begins with the bytes read before."""
    if sha256 and not _begins_with(location, size, sha256):
        raise InputError(f"{location} has changed since it was read: its first {size:,} bytes differ; use --overwrite.")


def _begins_with(location: str, size: int, sha256: str) -> bool:
    with open_capture(location, limit=size) as source:
        return (block_hash_of(source.read_stored) if sha256.startswith(BLOCK_HASH) else source.sha256()) == sha256


def present_names(pieces: Sequence[CaptureFile], known: Sequence[tuple[str, int]], sha256: str) -> list[tuple[str, int]]:
    """Return the files read before under their present names, which rolling changes; removed files are left out.

    The files and sizes of `known` and the `pieces` are in order; the result is unchanged if no log was rolled.
    """
    if not known or not sha256 or not _has_other_names(pieces, dict(known), known[-1][0]):
        return list(known)
    for at, file in enumerate(pieces[: len(known)]):
        sizes = [size for _, size in known[len(known) - 1 - at : -1]]
        size = known[-1][1]
        is_like_it = file.size >= size and [each.size for each in pieces[:at]] == sizes and is_log(file)
        if is_like_it and _begins_with(file.location, size, sha256):
            return [(place(each.location), size) for each, size in zip(pieces, (*sizes, size), strict=False)]
    return list(known)


def new_names(before: Sequence[tuple[str, int]], now: Sequence[tuple[str, int]]) -> tuple[tuple[str, str], ...]:
    """Pair the former names of files with those from `present_names`; a removed file gets a unique name."""
    gone = len(before) - len(now)
    pairs = [(location, f"{location} (removed)") for location, _ in before[:gone]] if before[gone:] != [*now] else []
    return (*pairs, *((old, new) for (old, _), (new, _) in zip(before[gone:], now, strict=True) if old != new))


def _has_other_names(pieces: Sequence[CaptureFile], read: Mapping[str, int], newest: str) -> bool:
    for file in pieces:
        size = read.get(place(file.location))
        if place(file.location) == newest:
            return size is None or file.size < size
        if size != file.size:
            return True
    return False


def read_again(series: Sequence[Series], entries: Sequence[Entry], rule: str) -> list[Entry]:
    """Return the entries that this run replaces, because captures of several points have grown.

    Raises:
        InputError: a file read before is missing, but new captures of the same traffic exist.
    """
    found: list[Entry] = []
    of_points = [entry for entry in entries if any(is_of_points(location) for location, _ in entry["files"])]
    key_of = points_key(rule) if of_points else None
    for given in series:
        is_whole = is_of_points(given.pieces[0].location)
        names = files_of(file.location for file in given.pieces)
        for entry in entries if is_whole else of_points:
            before = files_of(location for location, _ in entry["files"])
            if is_whole and before <= names:
                if before < names or entry not in of_points or entry["files"][0][1] != given.pieces[0].size:
                    found.append(entry)
            elif before & names or (key_of and entry in of_points and _meet(before, names, key_of) and not is_log(given.pieces[0])):
                missing = min(before - names) if before - names else min(before)
                raise InputError(
                    f"{missing} was read with overlapping captures and is not given with {given.name}: --append reads overlapping "
                    "captures from their beginnings; give all of their files, or use --overwrite."
                )
    return found


def same_points(series: Sequence[Series], entry: Entry) -> Series | None:
    """Find captures of several points that were read before, regardless of how their files are named."""
    before = files_of(location for location, _ in entry["files"])
    return next((each for each in series if is_of_points(each.pieces[0].location) and files_of([each.pieces[0].location]) == before), None)


def _meet(some: Collection[str], others: Collection[str], key_of: Callable[[CaptureFile], str]) -> bool:
    keys, theirs = ({key_of(CaptureFile(file, "", "", 0)) for file in files} for files in (some, others))
    return not keys.isdisjoint(theirs)


def grown_since(location: str, size: int, sizes: Sequence[int]) -> list[tuple[str, int, int]]:
    """Return location, former size and added bytes of grown files; `sizes` are the former sizes for several points."""
    found = []
    for name, before in zip(names_in(location)[1:], sizes, strict=True) if is_of_points(location) else [(location, size)]:
        filesystem, path = filesystem_of(name)
        more = (filesystem.get_file_info(path).size or 0) - before
        if more > 0:
            found.append((name, before, more))
    return found
