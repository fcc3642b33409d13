"""Grouping of files into series, and their order.

Capture tools name rotating files in these forms: ``x.pcap x.pcap1 x.pcap2`` (tcpdump -C, padded with -W), ``x-20240101120000.pcap``
(tcpdump -G), ``x_00001_20240101120000.pcapng`` (dumpcap -b, editcap), ``x.pcap x.pcap.1 x.pcap.2.gz`` (logrotate; the higher number is
older). A number of one or two digits inside a name is not a rotation number: ``broker-1.pcap`` and ``broker-2.pcap`` are two series.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timezone
from itertools import pairwise
from typing import Final

from kwire.capture import impl
from kwire.capture.files.capture_points import location_of_points
from kwire.capture.files.formats import PCAP_HEADER_BYTES, identify
from kwire.capture.files.inputs import CaptureFile
from kwire.capture.files.piece_kinds import first_logged_us, kind_of
from kwire.capture.files.source import HEAD_BYTES, open_capture
from kwire.capture.request_logs.names import log_rotation
from kwire.errors import InputError

__all__ = ["Series", "first_packet_ns", "group_series", "in_order", "is_log", "is_overlap", "points_key", "series_key"]

_COMPRESSED: Final = re.compile(r"\.(gz|zst|zstd)$", re.IGNORECASE)
_EXTENSION: Final = re.compile(
    r"^(?P<stem>.*?)(?P<extension>\.(?:pcap|pcapng|cap|ntar|dmp))(?:(?P<count>[0-9]+)|\.(?P<age>[0-9]+))?$", re.IGNORECASE
)
_DATE: Final = r"(?:19|20)[0-9]{2}([-_.]?)[01][0-9]\1[0-3][0-9]"
_CLOCK: Final = r"[0-2][0-9]([-_.:h]?)[0-5][0-9](?:\2[0-5][0-9])?"
_TIME: Final = re.compile(rf"(?<![0-9])(?:{_DATE}(?:[-_.T ]?{_CLOCK})?Z?|1[0-9]{{9}})(?![0-9])")
_NUMBER: Final = re.compile(r"(?<=[-_])[0-9]{3,}(?![0-9])")


@dataclass(frozen=True, slots=True)
class Series:
    """The files of one file group, in reading order."""

    name: str  # folder and file name with ``*`` for the rotating part
    pieces: tuple[CaptureFile, ...]
    disorder: str = ""  # sentence for the user if names and first packets give different orders, else empty


@dataclass(frozen=True, slots=True)
class _Rotation:
    template: str
    order: tuple[int, ...]
    aged: bool


def group_series(
    files: Sequence[CaptureFile], rule: str = "name", *, first_packet: Callable[[str], int | None] | None = None
) -> list[Series]:
    """Group files into series and order each; `first_packet` returns the time of a location's first packet.

    Args:
        rule: ``name`` (files of one folder whose names differ only in a rotation number or time), ``folder`` (all files of a folder),
            ``all`` (one series), ``file`` (each file alone), ``match:REGEX`` (files with equal group values of the expression in their
            locations), ``overlap`` (the same traffic captured at several points, distinguished by ``name``; each packet counts once), or
            ``overlap:REGEX`` (the same, separately for each group value). ``points`` is the earlier name of ``overlap``.

    Raises:
        InputError: the rule is invalid.
    """
    read_time = first_packet or first_packet_ns
    if is_overlap(rule):
        return _seen_twice(files, rule, read_time)
    groups: dict[str, list[CaptureFile]] = {}
    key_of = series_key(rule)
    for file in files:
        groups.setdefault(key_of(file), []).append(file)
    kinds = groups.items() if rule == "name" else _of_one_kind(groups)
    return [in_order(name if len(group) > 1 else group[0].location, group, read_time) for name, group in kinds]


def is_overlap(rule: str) -> bool:
    """Return whether the files of a rule have the same traffic, captured at several points."""
    return rule.partition(":")[0] in ("overlap", "points")


def _seen_twice(files: Sequence[CaptureFile], rule: str, read_time: Callable[[str], int | None]) -> list[Series]:
    """Make each group of files a series of one item: the files of all its points, read together."""
    groups: dict[str, list[CaptureFile]] = {}
    key_of = points_key(rule)
    for file in files:
        groups.setdefault(key_of(file), []).append(file)
    found = []
    for group in groups.values():
        points = group_series(group, first_packet=read_time)
        logs = [series for series in points if all(map(is_log, series.pieces))]
        points = [series for series in points if series not in logs]
        if len(points) > 1:
            location = location_of_points([[file.location for file in series.pieces] for series in points])
            name = " + ".join(series.name for series in points)
            sizes = tuple(file.size for series in points for file in series.pieces)
            whole = CaptureFile(location, "", name, sum(sizes), sizes)
            points = [Series(name, (whole,), "; ".join(series.disorder for series in points if series.disorder))]
        found += points + logs
    return found


def _of_one_kind(groups: dict[str, list[CaptureFile]]) -> Iterator[tuple[str, list[CaptureFile]]]:
    """Split captures and request logs, which have no common order, into separate series."""
    for name, group in groups.items():
        logs = [file for file in group if is_log(file)] if len(group) > 1 else []
        packets = [file for file in group if file not in logs]
        if packets:
            yield name, packets
        if logs:
            yield f"{name} (request log)" if packets else name, logs


def is_log(file: CaptureFile) -> bool:
    """Return whether a file is a request log; False if unreadable."""
    try:
        return kind_of(file.location) == "request_log"
    except InputError:
        return False


def first_packet_ns(location: str) -> int | None:
    """Return the time of a file's first packet or log entry, nanoseconds since 1970; None without one."""
    try:
        with open_capture(location, block_bytes=HEAD_BYTES) as source:
            head = source.read(HEAD_BYTES)
    except InputError:
        return None
    known = identify(head[:PCAP_HEADER_BYTES])
    if known is None:
        logged = first_logged_us(location, timezone.utc)
        return None if logged is None else logged * 1000
    state, at = known
    impl.packets.scan(head, at, state)
    return state.start_ns


def series_key(rule: str) -> Callable[[CaptureFile], str]:
    """Return a function that gives the name of a file's series, by a rule of `group_series` except ``points``. Raises InputError: it is
    invalid."""
    if rule == "name":
        return lambda file: f"{file.folder}/{_rotation(file.name).template}" if file.folder else _rotation(file.name).template
    if rule == "folder":
        return lambda file: file.folder or "."
    if rule == "all":
        return lambda _file: "all"
    if rule == "file":
        return lambda file: file.location
    if rule.startswith("match:"):
        try:
            pattern = re.compile(rule.removeprefix("match:"))
        except re.error as error:
            raise InputError(f"the rule {rule} for file groups is not a regular expression: {error}") from error
        return lambda file: _matched(pattern, file.location)
    raise InputError(f"invalid rule {rule} for file groups; choose name, folder, all, file, overlap, overlap:REGEX or match:REGEX")


def points_key(rule: str) -> Callable[[CaptureFile], str]:
    """Return a function that gives the name of a file's traffic, by ``overlap`` or ``overlap:REGEX``. Raises InputError: REGEX is
    invalid."""
    return series_key(f"match:{rule.partition(':')[2]}" if ":" in rule else "all")


def _matched(pattern: re.Pattern[str], location: str) -> str:
    found = pattern.search(location)
    return location if found is None else "/".join(text or "" for text in found.groups()) or found.group()


def _rotation(name: str) -> _Rotation:
    """Split a name into its template and its sort numbers."""
    bare = _COMPRESSED.sub("", name)
    split = _EXTENSION.match(bare)
    if split is None:
        log = log_rotation(bare)
        return _Rotation(name, (), False) if log is None else _Rotation(*log)
    numbers: list[int] = []

    def take(found: re.Match[str]) -> str:
        numbers.append(int(re.sub("[^0-9]", "", found.group())))
        return "*"

    # times first, so that the digits of a date are not taken for a number; number before time in the order, as dumpcap counts
    stem = _TIME.sub(take, split["stem"])
    times, numbers = numbers, []
    stem = _NUMBER.sub(take, stem)
    count, age = split["count"], split["age"]
    order = (*numbers, *times, -int(age) if age else int(count or 0))
    return _Rotation(stem + split["extension"].lower(), order, age is not None)


def in_order(name: str, group: list[CaptureFile], read_time: Callable[[str], int | None]) -> Series:
    """Order the files of a series by rotation number; those of a ring by the times that `read_time` returns."""
    if len(group) == 1:
        return Series(name, tuple(group))
    rotations = {file.location: _rotation(file.name) for file in group}
    times = {file.location: read_time(file.location) for file in group}

    def time_of(file: CaptureFile) -> int:
        found = times[file.location]
        return -(1 << 63) if found is None else found

    by_time = sorted(group, key=lambda file: (time_of(file), rotations[file.location].order, file.location))
    if len({rotation.template for rotation in rotations.values()}) > 1:
        return Series(name, tuple(by_time))  # put together by a rule: their numbers do not compare
    by_name = sorted(group, key=lambda file: (rotations[file.location].order, time_of(file), file.location))
    if _rises(by_name, times):
        return Series(name, tuple(by_name))
    if any(rotation.aged for rotation in rotations.values()):
        backwards = sorted(group, key=lambda file: tuple(abs(number) for number in rotations[file.location].order))
        if _rises(backwards, times):
            return Series(name, tuple(backwards))
    turned = by_name.index(next(file for file in by_time if times[file.location] is not None))
    ring = by_name[turned:] + by_name[:turned]
    if _rises(ring, times):
        return Series(
            name,
            tuple(ring),
            f"the files of {name} are a ring that begins again at {by_name[0].name}: they are read by their first packets",
        )
    first = next(late for early, late in pairwise(by_name) if time_of(late) < time_of(early))
    return Series(name, tuple(by_name), f"{first.name} of {name} begins before the file that its number follows: they are read by number")


def _rises(files: Sequence[CaptureFile], times: dict[str, int | None]) -> bool:
    known = [time for file in files if (time := times[file.location]) is not None]
    return all(early <= late for early, late in pairwise(known))
