"""Conversion of request log entries to rows of the tables of captures.

A log does not have the ends of connections. A connection ends when its endpoints have a new one, when the series ends, or when more than
`MOST_LIVE` others had later entries, which limits memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timezone, tzinfo
from typing import Any, Final

from kwire.capture.request_logs.entry import ConnectionName, LogEntry
from kwire.capture.request_logs.folding import EntryFolder, Item, LineFault
from kwire.capture.request_logs.reader import LogFileFacts, LogPosition, torn_line
from kwire.protocol.events import Event
from kwire.tables.observed_rows import TOPIC_USE
from kwire.tables.request_logs.connection import LogConnection
from kwire.tables.request_logs.exchange_kinds import API_VERSIONS, wanted_bodies
from kwire.tables.row_sink import PACKET_BITS, RowSink
from kwire.tables.schemas import CAPTURES, CONNECTIONS, VIOLATIONS

__all__ = ["MOST_LIVE", "LogRows"]

# More than any broker holds open; a connection takes about 2 KB.
MOST_LIVE: Final = 65_536

_DIRECTION, _ERRORS, _BYTES, _FIRST_SEEN, _MAGIC, _ACKS = map(
    TOPIC_USE.names.index, ("direction", "errors", "bytes", "first_seen", "magic", "acks")
)


# What a log cannot know is null; asking a schema for its names takes longer than all else that a row does.
_CAPTURE, _CONNECTION, _VIOLATION = (dict.fromkeys(schema.names) for schema in (CAPTURES, CONNECTIONS, VIOLATIONS))


def _row(nulls: dict[str, None], **values: Any) -> Sequence[Any]:
    return tuple((nulls | values).values())


class _LogFile:
    """Sums of a file's row in `captures`."""

    __slots__ = ("connections", "end_us", "facts", "number", "requests", "start_us", "untimed")

    def __init__(self, number: int) -> None:
        self.number = number
        self.facts: LogFileFacts | None = None
        self.connections = self.requests = self.untimed = 0
        self.start_us: int | None = None
        self.end_us: int | None = None

    def count(self, entry: LogEntry) -> None:
        self.requests += 1
        self.untimed += entry.arrived_us is None and entry.logged_us is None
        for time in (entry.arrived_us, entry.logged_us):
            if time is not None:
                if self.start_us is None or time < self.start_us:
                    self.start_us = time
                if self.end_us is None or time > self.end_us:
                    self.end_us = time


class LogRows:
    """Request logs of a series; `live` has the connections that may have more entries, the most recent last."""

    def __init__(self, sink: RowSink, zone: tzinfo = timezone.utc, most_live: int = MOST_LIVE) -> None:
        self.folder = EntryFolder(zone, wanted_bodies)
        self._sink = sink
        self._most_live = most_live
        self.files: dict[int, _LogFile] = {}
        # of the newest file, where more of it may come
        self._position: LogPosition | None = None
        self.live: OrderedDict[ConnectionName, LogConnection] = OrderedDict()
        self._lives: dict[tuple[str, int, str, int], int] = {}
        self._latest: dict[tuple[str, int, str, int], ConnectionName] = {}
        # by server and processor, the lowest number of a connection that began inside the log
        self._began: dict[tuple[str, int, str], int] = {}
        self.deprecated_only = True

    # Files.

    def begin_file(self, number: int) -> None:
        """Begin the file with an index in the series; the previous file is complete."""
        self._end_newest()
        self.files[number] = _LogFile(number)

    def forget_file(self, number: int) -> None:
        del self.files[number]

    def end_file(self, number: int, facts: LogFileFacts) -> None:
        self.files[number].facts = replace(facts, position=None)
        self._position = facts.position
        if facts.position is None:
            self._tell_damage(number, facts.lines)

    def read_before(self, number: int, size: int) -> LogPosition | None:
        """Return the position at which to continue in a file of which `size` stored bytes were read; None if that is not the size read."""
        file = self.files.get(number)
        is_known = file is not None and file.facts is not None and file.facts.stored_bytes == size
        return self._position if is_known else None

    def _end_newest(self) -> None:
        position, self._position = self._position, None
        if position is not None:
            number = max(self.files)
            self.take(torn_line(position, number, self.folder))
            self._tell_damage(number, position.lines + (position.size > 0))

    def _tell_damage(self, number: int, lines: int) -> None:
        facts = self.files[number].facts
        if facts is not None and facts.damage:
            text = f"The file ends early, behind line {lines}: {facts.damage}. What was before it is read."
            self._file_violation(number, "capture_cut", "warning", text)

    def take(self, items: Iterable[Item]) -> None:
        sink, logged = self._sink, self._sink.logged
        take_event: Callable[[Any, Event], None] = sink.take_event
        for item in items:
            if isinstance(item, LineFault):
                self.take_fault(item)
                continue
            number, entry = item
            name = entry.connection
            if sink.ports and name.server_port not in sink.ports:
                continue
            self.files[number].count(entry)
            # from 3.9.1 on the logger at INFO writes deprecated requests alone, the rest are DEBUG
            self.deprecated_only = self.deprecated_only and entry.deprecated and entry.level not in ("DEBUG", "TRACE")
            connection = self.live.get(name)
            if connection is None:
                connection = self.begin(number, entry)
            else:
                self.live.move_to_end(name)
            row, events = connection.take(entry, sink.series, sink.files[number], number << PACKET_BITS | entry.line)
            logged.add(row)
            for event in events:
                take_event(connection, event)

    def client_keys(self) -> dict[str, str]:
        return {each.connection_id: each.client_key() for each in self.live.values()}

    def finish(self) -> None:
        if self._position is not None and self._position.has_more:
            self._position = None  # the rest of its last line is there, for another run
        self._end_newest()
        self.take(self.folder.finish())
        while self.live:
            self._end(next(iter(self.live)))
        for number in self.files:
            self._sum_up(number)

    def forget_files(self, before: int) -> None:
        """Sum up and drop files with lower indexes and no incomplete line; `capture_rows` then lacks them."""
        for number in [number for number in self.files if number < min(before, self.folder.waiting_file(before))]:
            self._sum_up(number)
            del self.files[number]
            self.folder.foreign.pop(number, None)

    def _sum_up(self, number: int) -> None:
        file = self.files[number]
        if foreign := self.folder.foreign.get(number):
            one = foreign == 1
            text = f"{foreign} {'line' if one else 'lines'} of the file {'is' if one else 'are'} not of the request log."
            self._file_violation(number, "log_lines_foreign", "info", text)
        if file.untimed:
            text = f"{file.untimed} of {file.requests} requests have no time: the log was written by a layout without one."
            self._file_violation(number, "log_without_times", "info", text)
        if not file.requests:
            self._file_violation(number, "capture_empty", "info", "The file holds no request.")

    def oldest_begun(self, default: int) -> int:
        return min((each.begun >> PACKET_BITS for each in self.live.values()), default=default)

    def count_on(self, before: LogRows) -> None:
        self._lives = before._lives

    def capture_rows(self) -> list[Sequence[Any]]:
        requests = sum(file.requests for file in self.files.values())
        source = "request_log_deprecated" if requests and self.deprecated_only else "request_log"
        rows: list[Sequence[Any]] = []
        for number, file in self.files.items():
            if file.facts is not None:
                rows.append(
                    _row(
                        _CAPTURE, capture=self._sink.files[number], series=self._sink.series, source=source,
                        sha256=file.facts.sha256 or None, start=file.start_us, end=file.end_us,
                        connections=file.connections, requests=file.requests,
                    )
                )  # fmt: skip
        return rows

    # Entries.

    def begin(self, number: int, entry: LogEntry) -> LogConnection:
        """Begin a connection at its first entry, or at the first one after it was dropped."""
        name = entry.connection
        ends = name[:4]
        before = self._latest.get(ends)
        if before is not None and before in self.live:
            self._end(before)
        n = self._lives.get(ends, 0)
        self._lives[ends] = n + 1
        self._latest[ends] = name
        self.files[number].connections += 1
        found = self.live[name] = LogConnection(name, n, number << PACKET_BITS | entry.line, self._begins(name, entry))
        if len(self.live) > self._most_live:
            self._end(next(iter(self.live)))
        return found

    def _begins(self, name: ConnectionName, entry: LogEntry) -> bool:
        """Tell whether the first entry of a connection is its first request too.

        Each processor of a broker numbers connections as it accepts them. So if one begins with ApiVersions, which is always the first
        request, every connection with a higher number also began inside the log.
        """
        processor, _, index = name.life.rpartition("-")
        if not index:
            return entry.api_key == API_VERSIONS
        place, at = (name.server_address, name.server_port, processor), int(index)
        lowest = self._began.get(place)
        if entry.api_key == API_VERSIONS and (lowest is None or at < lowest):
            lowest = self._began[place] = at
        return lowest is not None and at >= lowest

    def _end(self, name: ConnectionName) -> None:
        connection = self.live.pop(name)
        if self._latest.get(name[:4]) == name:
            del self._latest[name[:4]]
        identity = connection.identity
        software = identity.software
        self._sink.rows.add_connection(
            _row(
                _CONNECTION, series=self._sink.series, capture=self._sink.files[connection.begun >> PACKET_BITS],
                connection_id=connection.connection_id, client_key=connection.client_key(), client_address=name.client_address,
                client_port=name.client_port, server_address=name.server_address, server_port=name.server_port,
                first_seen=connection.first_us, last_seen=connection.last_us, request_frames=connection.requests,
                response_frames=connection.responses, last_api_name=connection.last_api_name, protocol="kafka",
                principal=connection.principal, software_name=software[0], software_version=software[1],
                identity_source=identity.source, client_id=identity.client_id, client_instance_id=identity.instance_id, role=identity.role,
            )
        )  # fmt: skip
        for row in connection.topics.rows(connection.connection_id):
            head, size = row[:_ERRORS], row[_BYTES]
            if row[_DIRECTION] == "fetch" and not connection.sizes_known:
                size = None
            errors = row[_ERRORS] if connection.exact else None  # text forms up to 0.11 have no answers
            seen, lists = row[_FIRST_SEEN:_MAGIC], row[_ACKS:]
            # of record batches a log has no more than how many bytes they were
            self._sink.observed.builders["topic_use"].add((*head, errors, None, None, size, None, *seen, [], [], *lists[:-1], None))
        self._sink.violations.over(connection.connection_id)
        server = f"{name.server_address}:{name.server_port}"
        for (key, version), index in connection.unsupported.items():
            self._sink.facts.refusals.append((connection.connection_id, server, index, key, version, "unsupported_version"))

    # Lines that cannot be read.

    def take_fault(self, fault: LineFault) -> None:
        if fault.torn:
            text = f"The file ends inside line {fault.line}, and no other file continues it: {fault.reason}."
            self._file_violation(fault.file, "log_line_torn", "warning", text, fault.line)
        else:
            text = f"Line {fault.line} looks like a request and cannot be parsed: {fault.reason}."
            self._file_violation(fault.file, "log_line_unreadable", "error", text, fault.line)

    def _file_violation(self, number: int, rule: str, severity: str, text: str, line: int | None = None) -> None:
        self._sink.violations.add(
            _row(
                _VIOLATION, series=self._sink.series, capture=self._sink.files[number], rule=rule, severity=severity, packet_number=line,
                explanation=text,
            )
        )  # fmt: skip
