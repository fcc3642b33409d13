"""Lines of a JSON request log by the types that brokers write: msgspec reads them in one go and leaves the bodies as they are.

The short way of `kwire.capture.request_log_lines`, which is the contract: what has another type, or is not there, is None here and left
to that, good or bad. So this never says that a line is broken. It says something of a line that the long way refuses in one case alone: a
value that nobody asks for is good JSON, and yet more than Python reads (a number of thousands of digits, brackets a thousand deep).
"""

from __future__ import annotations

from datetime import tzinfo
from typing import Annotated, Any, Final

import msgspec

from kwire.capture.request_log_entry import LogEntry, connection_name
from kwire.capture.request_log_json import ANONYMOUS, MARK
from kwire.capture.request_log_times import LONGEST_MS, find_stamp

__all__ = ["EntryReader"]

_MARK: Final = MARK.encode()
_OPENING: Final = b'{"'
_BRACE: Final = 0x7B
# Of Kafka's own layout, `[2026-01-01 00:00:00,000] DEBUG `.
_TO_THE_MINUTE: Final = 17
_STAMP: Final = 25
_MOST_BEFORE: Final = _STAMP + 8
_LEVELS: Final = frozenset(("TRACE", "DEBUG", "INFO", "WARN", "ERROR"))
_MOST_KEPT: Final = 4096

_Int16 = Annotated[int, msgspec.Meta(ge=-0x8000, le=0x7FFF)]
_Int32 = Annotated[int, msgspec.Meta(ge=-0x8000_0000, le=0x7FFF_FFFF)]
# `kwire decode` writes these two fields; brokers never do.
_Never = msgspec.UnsetType


class _Header(msgspec.Struct, gc=False):
    api_key: _Int16 = msgspec.field(name="requestApiKey")
    api_version: _Int16 = msgspec.field(name="requestApiVersion")
    correlation_id: _Int32 | None = msgspec.field(name="correlationId", default=None)
    client_id: str | None = msgspec.field(name="clientId", default=None)
    deprecated: bool = msgspec.field(name="requestApiVersionDeprecated", default=False)


class _Software(msgspec.Struct, gc=False):
    name: str = msgspec.field(name="softwareName")
    version: str = msgspec.field(name="softwareVersion")


_NULL: Final = msgspec.Raw(b"null")


class _Line(msgspec.Struct, gc=False):
    header: _Header = msgspec.field(name="requestHeader")
    connection: str
    is_forwarded: bool = msgspec.field(name="isForwarded", default=False)
    request: msgspec.Raw = _NULL
    response: msgspec.Raw = _NULL
    total: float | None = msgspec.field(name="totalTimeMs", default=None)
    queue: float | None = msgspec.field(name="requestQueueTimeMs", default=None)
    local: float | None = msgspec.field(name="localTimeMs", default=None)
    remote: float | None = msgspec.field(name="remoteTimeMs", default=None)
    security_protocol: str | None = msgspec.field(name="securityProtocol", default=None)
    principal: str | None = None
    listener: str | None = None
    software: _Software | None = msgspec.field(name="clientInformation", default=None)
    time: _Never = msgspec.UNSET
    state: _Never = msgspec.UNSET


_decode: Final = msgspec.json.Decoder(_Line).decode


def _body(raw: Any) -> bytes | None:
    body = bytes(raw)
    return body if body[0] == _BRACE else None


def _duration(milliseconds: float | None) -> int | None:
    return round(milliseconds * 1000) if milliseconds is not None and 0 <= milliseconds <= LONGEST_MS else None


class EntryReader:
    """Reads the lines of a log.

    Args:
        zone: of stamps that do not name theirs.
    """

    __slots__ = ("_levels", "_minutes", "_zone")

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._minutes: dict[bytes, int] = {}
        self._levels: dict[bytes, str] = {}

    def read(self, line: bytes, number: int) -> LogEntry | None:
        """Make an entry of a line, its bodies still JSON; None for a line that the long way has to read.

        Args:
            line: without its end.
            number: of it in its file, from 1.
        """
        level = logged_us = None
        try:
            if line.startswith(b"["):
                at = line.find(_MARK, _STAMP, _MOST_BEFORE + len(_MARK))
                if at < 0:
                    return None
                level = self._levels.get(line[_STAMP:at]) or self._level(line[_STAMP:at])
                logged_us = self._instant(line[:_STAMP])
                if level is None or logged_us is None:
                    return None
                at += len(_MARK)
                if line.startswith(b" ", at):
                    at += 1
                if not line.startswith(_OPENING, at):
                    return None
                found = _decode(line[at : line.rfind(b"}") + 1])
            elif line.startswith(_OPENING):
                found = _decode(line[: line.rfind(b"}") + 1])
            else:
                return None
            name = connection_name(found.connection)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, no JSON, UTF-8 that is none, no connection
            return None
        header, software, principal = found.header, found.software, found.principal
        return LogEntry(
            line=number,
            api_key=header.api_key,
            api_version=header.api_version,
            correlation_id=header.correlation_id,
            client_id=header.client_id,
            connection=name,
            request=_body(found.request),
            response=_body(found.response),
            exact=True,
            is_forwarded=found.is_forwarded,
            deprecated=header.deprecated,
            level=level,
            logged_us=logged_us,
            total_us=_duration(found.total),
            queue_us=_duration(found.queue),
            local_us=_duration(found.local),
            remote_us=_duration(found.remote),
            principal=None if principal == ANONYMOUS else principal or None,
            software=None if software is None else (software.name, software.version),
            security_protocol=found.security_protocol,
            listener=found.listener,
            other={},
        )

    def _level(self, text: bytes) -> str | None:
        """The level in what stands between stamp and mark; None for what does not look so."""
        level = text.strip(b" ").decode()
        if level not in _LEVELS or not text.startswith(b" "):
            return None
        self._levels[text] = level
        return level

    def _instant(self, stamp: bytes) -> int | None:
        """Microseconds since 1970 of Kafka's own stamp; None for any other."""
        rest = stamp[18:20] + stamp[21:24]
        if stamp[17] != 0x3A or stamp[20] not in b",." or stamp[24] != 0x5D or not rest.isdigit() or rest >= b"70":
            return None
        minute = stamp[:_TO_THE_MINUTE]
        base = self._minutes.get(minute)
        if base is None:
            base = find_stamp(f"{minute.decode('ascii')}:00]", self._zone)
            if base is None:
                return None
            if len(self._minutes) >= _MOST_KEPT:
                self._minutes.clear()
            self._minutes[minute] = base
        return base + int(rest) * 1000
