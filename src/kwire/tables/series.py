"""Reading of a series file by file: each call takes one file and the carry (the state), and returns rows; the end returns the last rows.

    carry = begin_series("eth0", ports=(9092,))
    for location in pieces:
        batches = read_piece(location, carry)      # table -> record batches
    batches, facts = finish_series(carry)

`kwire.tables.series_rows` reads all files and fills in client keys and node ids, which are known only at the end. The carry is the only
state, so the rows do not depend on how a series is divided into files, except for their source.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa

from kwire.capture import reader
from kwire.capture.carry import MAX_OPEN
from kwire.capture.dividing.packet_routing import RoutedPiece, read_routed
from kwire.capture.files.piece_kinds import kind_of, look_ahead
from kwire.capture.files.sized_file import SizedFile
from kwire.capture.half_open import attachment_of
from kwire.capture.impl import series_carry
from kwire.capture.link_types import link_type_name
from kwire.capture.reader import FileFacts
from kwire.capture.request_logs.reader import LogFileFacts, iter_log
from kwire.capture.request_logs.times import zone_of
from kwire.capture.tls.session_keys import current_tls_options
from kwire.errors import InputError
from kwire.files.file_systems import place_of_file
from kwire.protocol.events import Asked
from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.request_logs.rows import LogRows
from kwire.tables.row_sink import PACKET_BITS, FileCounts, RowSink, begun_of
from kwire.tables.schemas import CAPTURES, VIOLATIONS

if TYPE_CHECKING:
    from kwire.capture.carry import SeriesCarry

__all__ = [
    "Batches", "TablesCarry", "begin_series", "finish_series", "forget_files", "iter_log_part", "iter_piece", "no_kafka", "read_piece",
    "rename_files", "skip_piece", "take_rows",
]  # fmt: skip

Batches = dict[str, list[pa.RecordBatch]]

_DAY_NS: Final = 86_400 * 1_000_000_000
# A file whose packets are further apart is seldom one capture.
_MOST_DAYS: Final = 30


class TablesCarry:
    """State of a series between two files.

    Attributes:
        streams: connections with their detectors.
        facts: facts of the files read; None for request logs, whose facts are in `log`.
        disorder: sentence about an odd order of the files, or empty.
        share: share (k, n) of the connections.
        unread: the newest file, if it was unreadable, and the reason; a later run retries it.
    """

    __slots__ = ("disorder", "ends_told", "facts", "hashed", "log", "series", "share", "sink", "streams", "unread")

    def __init__(
        self,
        series: str,
        ports: frozenset[int],
        disorder: str,
        log_zone: str | None,
        share: tuple[int, int],
        observing: bool,
        hashed: bool,
        asked: Asked | None = None,
    ) -> None:
        self.series = series
        self.disorder = disorder
        self.share = share
        self.hashed = hashed
        self.streams = self._new_streams()
        self.sink = RowSink(series, ports, observing, asked)
        self.log = LogRows(self.sink, zone_of(log_zone))
        self.facts: list[FileFacts | None] = []
        self.unread: tuple[str, str] | None = None
        self.ends_told = 0  # files of which it is said, where it is so, that they end early or are empty

    def _new_streams(self) -> SeriesCarry:
        # A connection that resumes a TLS session has its client certificate, or its secret, from another one of the same hosts.
        return series_carry(self.share, by_hosts=bool(current_tls_options().key_logs))

    def count_on(self, before: TablesCarry) -> None:
        """Continue the connection numbers of an ended series; call it before the first file."""
        self.streams = self._new_streams()
        self.streams.lives = before.streams.lives
        self.log.count_on(before.log)


def begin_series(
    series: str,
    ports: Iterable[int] = (),
    *,
    disorder: str = "",
    log_zone: str | None = None,
    share: tuple[int, int] = (0, 1),
    observing: bool = True,
    hashed: bool = True,
    asked: Asked | None = None,
) -> TablesCarry:
    """Return the carry for the first file.

    Args:
        series: name of the file group, as in the rows.
        disorder: sentence if the order of the files is in doubt (`kwire.capture.files.series.Series`); it becomes a violation.
        log_zone: time zone of request logs, such as ``Europe/Berlin``; None for UTC.
        share: (k, n) to read only share k (from 0) of n of the connections of captures. Rows about files and all rows of request logs
            belong to share 0.
        observing: whether to make the tables of `kwire.tables.observed_rows.OBSERVED` and topic names too.
        hashed: whether to hash the files, for `captures`.
        asked: message whose frames to return (`kwire.tables.message_frames`).
    """
    return TablesCarry(series, frozenset(ports), disorder, log_zone, share, observing, hashed, asked)


def read_piece(location: str | os.PathLike[str] | BinaryIO, carry: TablesCarry) -> Batches:
    """Read the next file of a series; a file that is not a capture leaves the carry unchanged.

    Client keys are still null except in `connections`.
    """
    whole: Batches = {}
    for batches in iter_piece(location, carry, flush=False):
        for table, found in batches.items():
            whole.setdefault(table, []).extend(found)
    return whole


def iter_piece(
    location: str | os.PathLike[str] | BinaryIO,
    carry: TablesCarry,
    *,
    progress: Callable[[int], None] | None = None,
    flush: bool = True,
) -> Iterator[Batches]:
    """Read the next file of a series as `read_piece` does, and yield the rows of each chunk; `flush` yields partial batches too.

    `progress` is called with the number of bytes read since its last call.
    """
    place = os.fspath(location) if isinstance(location, str | os.PathLike) else location
    routed = location if isinstance(location, RoutedPiece) and not location.file.is_log else None
    kind, place = ("packets", place) if routed else (kind_of(place), place) if isinstance(place, str) else look_ahead(place)
    if kind == "request_log":
        if carry.share[0]:
            return
        yield from _iter_log(location if isinstance(location, SizedFile) else place, carry, progress, flush)
        return
    given = location if isinstance(location, SizedFile) else place
    known = _read_before(location, carry)
    if known is not None:
        carry.facts.pop()
    else:
        given = replace(given, before=None) if isinstance(given, SizedFile) else given
        _begin_file(carry, place if isinstance(place, str) else "standard input")
    # readers of the other shares read the same files
    hashed = carry.hashed and len(carry.facts) % carry.share[1] == carry.share[0]
    if routed:
        steps = read_routed(routed, carry.streams, carry.sink, progress=progress)
    else:
        steps = reader.iter_piece(given, carry.streams, carry.sink, progress=progress, hashed=hashed)
    try:
        while True:
            next(steps)
            yield _take(carry.sink, whole=flush)
    except StopIteration as end:
        facts: FileFacts = end.value
    except InputError:
        if known is None:
            carry.sink.forget_file()
        else:
            carry.facts.append(known)
        raise
    carry.facts.append(facts)
    if not carry.share[0]:
        _tell_damages(facts, carry, 0 if known is None else known.damage_count)
    if not isinstance(location, SizedFile | RoutedPiece):
        _tell_ends(carry)  # a file that was read as a whole has no later part
    yield _take(carry.sink)


def _read_before(location: object, carry: TablesCarry) -> FileFacts | None:
    known = carry.facts[-1] if isinstance(location, SizedFile) and location.before and carry.facts else None
    return known if known is not None and isinstance(location, SizedFile) and known.stored_bytes == location.before else None


def _iter_log(
    given: str | BinaryIO | SizedFile, carry: TablesCarry, progress: Callable[[int], None] | None, flush: bool
) -> Iterator[Batches]:
    place, limit = (given.location, given.size) if isinstance(given, SizedFile) else (given, None)
    name = place if isinstance(place, str) else "standard input"
    number = len(carry.sink.files)
    before = None
    if isinstance(given, SizedFile) and given.before is not None and carry.facts and carry.facts[-1] is None:
        before = carry.log.read_before(number - 1, given.before)
    if before is None:
        _begin_file(carry, name)
        carry.log.begin_file(number)
    else:
        number -= 1
        carry.sink.files[number] = name  # it has another one where the log was rolled
    try:
        facts = yield from _entries(iter_log(place, number, carry.log.folder, progress=progress, limit=limit, before=before), carry, flush)
        carry.log.end_file(number, facts)
    except InputError:
        if before is None:
            carry.log.forget_file(number)
            carry.sink.forget_file()
        raise
    if before is None:
        carry.facts.append(None)
    yield _take(carry.sink)


def _entries(steps: Generator[Any, None, LogFileFacts], carry: TablesCarry, flush: bool) -> Generator[Batches, None, LogFileFacts]:
    while True:
        try:
            items = next(steps)
        except StopIteration as end:
            facts: LogFileFacts = end.value
            return facts
        carry.log.take(items)
        yield _take(carry.sink, whole=flush)


def iter_log_part(
    part: BinaryIO, carry: TablesCarry, *, name: str, number: int | None = None, lines_before: int = 0, last: bool
) -> Generator[Batches, None, tuple[int, int]]:
    """Read the next lines of a request log that may still be growing.

    The part consists of whole decompressed lines; only the last line of a file may lack its end. `number` and `lines_before` are the result
    of the part
    before it: the number of the file in the series, and the number of its lines read.
    """
    if number is None:
        number = len(carry.sink.files)
        carry.sink.begin_file(name)
        carry.log.begin_file(number)
        carry.facts.append(None)
    facts = yield from _entries(iter_log(part, number, carry.log.folder, lines_before=lines_before), carry, True)
    if last:
        carry.log.end_file(number, replace(facts, location=name, sha256=""))
    yield _take(carry.sink)
    return number, facts.lines


def forget_files(carry: TablesCarry, log: int | None = None) -> None:
    """Drop files in which no open connection begins, except for a request log that is still being read; `captures` then lacks them."""
    newest = len(carry.sink.files) if log is None else log
    carry.log.forget_files(newest)
    attachments = (
        *(connection.attachment for connection in carry.streams.connections()),
        *map(attachment_of, carry.streams.half_open.values()),
    )
    begun = (place >> PACKET_BITS for place in map(begun_of, attachments) if place is not None)
    oldest = min(carry.log.oldest_begun(newest), carry.log.folder.waiting_file(newest), min(begun, default=newest))
    carry.sink.settle()
    nothing = FileCounts()
    for number in range(oldest):
        carry.sink.files[number], carry.sink.counts[number], carry.facts[number] = "", nothing, None


def rename_files(carry: TablesCarry, names: Mapping[str, str]) -> None:
    """Rename rolled request logs in later rows; `names` has the new names by former place (`place_of_file`)."""
    files = carry.sink.files
    files[:] = [names.get(place_of_file(name), name) if names else name for name in files]


def take_rows(carry: TablesCarry) -> Batches:
    return _take(carry.sink)


def skip_piece(location: str, carry: TablesCarry, error: InputError, *, given: object = None) -> Batches:
    """Add a row in `violations` for an unreadable file.

    For a `SizedFile`, the row is added when the next file begins or the series ends, because a later run retries it.
    """
    _tell_unread(carry)
    carry.unread = location, f"{error}"
    if not isinstance(given, SizedFile):
        _tell_unread(carry)
    return _take(carry.sink)


def finish_series(carry: TablesCarry) -> tuple[Batches, dict[str, pa.Table]]:
    """End a series, and return the last batches and the facts. To continue it later, pack the carry first (`kwire.tables.carry_state`)."""
    sink = carry.sink
    _tell_unread(carry)
    _tell_ends(carry)
    carry.streams.finish(sink)
    carry.log.finish()
    sink.settle()
    sink.violations.all_over()
    packets = [facts for facts in carry.facts if facts is not None]
    if carry.disorder and not carry.share[0]:
        text = f"{carry.disorder[:1].upper()}{carry.disorder[1:]}."
        sink.violations.add(_file_violation(carry, None, "series_order", "warning", text))
    if carry.streams.ended_early:
        early = f"the {carry.streams.ended_early:,} that were oldest or silent for longest were ended early"
        text = f"More than {MAX_OPEN:,} connections were open at the same time; {early}."
        sink.violations.add(_file_violation(carry, None, "series_connections", "warning", text))
    if carry.share[1] == 1 and not any(counts.requests for counts in sink.counts) and any(facts.packets for facts in packets):
        text = no_kafka(sum(facts.packets for facts in packets), sink.ports)
        sink.violations.add(_file_violation(carry, packets[0].location, "no_kafka", "warning", text))
    batches = _take(sink)
    captures = ColumnBuilder(CAPTURES)
    for row in carry.log.capture_rows():
        captures.add(row)
    for facts, counts in zip(carry.facts, sink.counts, strict=True):
        if facts is None:
            continue
        of_file = (
            facts.sha256 or None, _us(facts.start_ns), _us(facts.end_ns), facts.packets, facts.packets_dropped,
            sum(facts.unread.values()), _link_types(facts) or None, facts.snaplen,
            facts.packet_bytes, facts.bytes_cut, facts.damaged_bytes,
        )  # fmt: skip
        captures.add(
            (
                facts.location, carry.series, "pcap", *of_file, counts.bytes_lost, counts.bytes_opaque, counts.bytes_decrypted,
                counts.connections, counts.refused, counts.joined_late, counts.one_way, counts.requests, counts.unanswered, counts.unseen,
            )
        )  # fmt: skip
    batches["captures"] = captures.take(whole=True)
    return batches, sink.facts.tables()


def no_kafka(packets: int, ports: Iterable[int]) -> str:
    where = f" on port {', '.join(map(str, sorted(ports)))}" if ports else ""
    return f"No Kafka request was found{where} in {packets} packets."


def _take(sink: RowSink, *, whole: bool = True) -> Batches:
    return {
        "requests": sink.take("requests", whole=whole),
        "violations": sink.violations.take(whole=whole),
        "connections": sink.take("connections", whole=whole),
        **{name: builder.take(whole=whole) for name, builder in sink.observed.builders.items()},
    }


def _begin_file(carry: TablesCarry, name: str) -> None:
    _tell_unread(carry)
    _tell_ends(carry)
    carry.sink.begin_file(name)


def _tell_unread(carry: TablesCarry) -> None:
    unread, carry.unread = carry.unread, None
    if unread is not None and not carry.share[0]:
        location, reason = unread
        carry.sink.violations.add(_file_violation(carry, location, "capture_unreadable", "error", reason))


def _tell_damages(facts: FileFacts, carry: TablesCarry, before: int) -> None:
    add = carry.sink.violations.add
    for each in facts.damages[before:]:
        text = f"{each.size:,} bytes at offset {each.at} are not packet records and are lost; the records after them are read."
        add(_file_violation(carry, facts.location, "capture_damaged", "warning", text))
    if facts.damage_count > max(before, len(facts.damages)):
        text = f"{facts.damage_count:,} parts of the file make no packet records, together {facts.damaged_bytes:,} bytes, which are lost."
        add(_file_violation(carry, facts.location, "capture_damaged", "warning", text))


def _tell_ends(carry: TablesCarry) -> None:
    """Report files that end early, are empty or have distant times; report the newest only when it is complete."""
    add = carry.sink.violations.add
    for facts in carry.facts[carry.ends_told :] if not carry.share[0] else ():
        if facts is not None and facts.cut_at is not None:
            text = f"The file ends early, at byte {facts.cut_at}: {facts.cut_reason}. What was before it is read."
            add(_file_violation(carry, facts.location, "capture_cut", "warning", text))
        elif facts is not None and not facts.packets:
            add(_file_violation(carry, facts.location, "capture_empty", "info", "The file holds no packet."))
        if facts is not None and facts.unread:
            text = f"Packets of link types that kwire does not read: {_link_types(facts)}."
            add(_file_violation(carry, facts.location, "capture_link_type", "warning", text))
        days = 0 if facts is None else ((facts.end_ns or 0) - (facts.start_ns or 0)) // _DAY_NS
        if facts is not None and days >= _MOST_DAYS:
            text = f"The times of its packets are {days} days apart: a clock was set, or captures of different times were joined."
            add(_file_violation(carry, facts.location, "capture_times", "info", text))
    carry.ends_told = len(carry.facts)


def _link_types(facts: FileFacts) -> str:
    return ", ".join(f"{link_type_name(number)} ({number}): {count}" for number, count in sorted(facts.unread.items()))


def _file_violation(carry: TablesCarry, location: str | None, rule: str, severity: str, text: str) -> Sequence[Any]:
    row = dict.fromkeys(VIOLATIONS.names)
    row |= {"series": carry.series, "capture": location, "rule": rule, "severity": severity, "explanation": text}
    return tuple(row.values())


def _us(time_ns: int | None) -> int | None:
    return None if time_ns is None else time_ns // 1000
