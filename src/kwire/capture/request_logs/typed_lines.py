"""The fast path through a JSON request log: msgspec reads a line and both bodies in one pass, by the types that brokers write.

`kwire.capture.request_logs.lines` is the contract and the fallback: what has another type, or is not there, is None here and left to that,
good or bad. So this never says that a line is broken. It accepts a line that the fallback refuses in one case alone: a value that was not
asked for is good JSON, and yet more than Python reads (a number of thousands of digits, brackets a thousand deep).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import tzinfo
from functools import cache
from typing import Annotated, Any, Final

import msgspec

from kwire.capture.request_logs.entry import LogEntry, WantedBodies, connection_name
from kwire.capture.request_logs.json_form import ANONYMOUS, MARK
from kwire.capture.request_logs.times import LONGEST_MS, find_stamp
from kwire.capture.request_logs.typed_bodies import OLDER_NAMES, converted, struct_of
from kwire.codec.classes import compiled

__all__ = ["LineReader"]

_OPENING: Final = b'{"'
# Kafka's own layout before the object: `[2026-01-01 00:00:00,000] DEBUG Completed request:`.
_SECOND: Final = re.compile(rb"\[([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-6][0-9])[,.]")
_SECOND_BYTES: Final = 21
_STAMP_BYTES: Final = 24
_MARKED: Final = re.compile(rb"\] +(TRACE|DEBUG|INFO|WARN|ERROR) *" + MARK.encode() + rb" ?")
_LONGEST_MARK: Final = 64
# How brokers begin the object; the api and its version stand before anything that a client chose.
_HEADER: Final = re.compile(
    rb'\{"isForwarded":(?:false|true),"requestHeader":\{"requestApiKey":(-?[0-9]{1,5}),"requestApiVersion":(-?[0-9]{1,5})'
)
_HEADER_END: Final = b',"correlationId"'
_LONGEST_HEADER: Final = 128
_MOST_KEPT: Final = 4096

_new: Final = tuple.__new__  # of all values: calling the class costs more than reading the line

_Int16 = Annotated[int, msgspec.Meta(ge=-0x8000, le=0x7FFF)]
_Int32 = Annotated[int, msgspec.Meta(ge=-0x8000_0000, le=0x7FFF_FFFF)]
# `kwire decode` writes these two fields; brokers never do.
_Never = msgspec.UnsetType
_Decode = Callable[[bytes], Any]


class _Header(msgspec.Struct, gc=False):
    api_key: _Int16 = msgspec.field(name="requestApiKey")
    api_version: _Int16 = msgspec.field(name="requestApiVersion")
    correlation_id: _Int32 | None = msgspec.field(name="correlationId", default=None)
    client_id: str | None = msgspec.field(name="clientId", default=None)
    deprecated: bool = msgspec.field(name="requestApiVersionDeprecated", default=False)


class _Software(msgspec.Struct, gc=False):
    name: str = msgspec.field(name="softwareName")
    version: str = msgspec.field(name="softwareVersion")


class _Line(msgspec.Struct, gc=False):
    header: _Header = msgspec.field(name="requestHeader")
    connection: str
    is_forwarded: bool = msgspec.field(name="isForwarded", default=False)
    total: float | None = msgspec.field(name="totalTimeMs", default=None)
    queue: float | None = msgspec.field(name="requestQueueTimeMs", default=None)
    local: float | None = msgspec.field(name="localTimeMs", default=None)
    remote: float | None = msgspec.field(name="remoteTimeMs", default=None)
    principal: str | None = None
    software: _Software | None = msgspec.field(name="clientInformation", default=None)
    time: _Never = msgspec.UNSET
    state: _Never = msgspec.UNSET


_NULL: Final = msgspec.Raw(b"null")


class LineReader:
    """Reads the lines of a log.

    Args:
        zone: of stamps that do not name theirs.
        wanted: which bodies are wanted of an api at a version; see `WantedBodies`.
    """

    __slots__ = ("_decoders", "_levels", "_seconds", "_wanted", "_zone")

    def __init__(self, zone: tzinfo, wanted: Callable[[int, int], WantedBodies | None]) -> None:
        self._zone = zone
        self._wanted = wanted
        self._seconds: dict[bytes, int] = {}
        self._levels: dict[bytes, str] = {}
        # by how the object begins: api, version, what reads it, and reads it as former releases wrote it, whether the response stays text
        self._decoders: dict[bytes, tuple[int, int, _Decode, _Decode | None, bool] | None] = {}

    def read(self, line: bytes, number: int) -> LogEntry | None:
        """Make an entry of a line; None for a line that the fallback has to read.

        Args:
            line: without its end.
            number: of it in its file, from 1.
        """
        at = 0
        level = logged_us = None
        try:
            if line[:1] == b"[":
                at = line.find(_OPENING, _STAMP_BYTES, _LONGEST_MARK)
                before, second, rest = line[_STAMP_BYTES:at], line[:_SECOND_BYTES], line[_SECOND_BYTES:_STAMP_BYTES]
                level = self._levels.get(before) or self._level(before)
                logged_us = self._seconds.get(second) or self._second(second)
                if logged_us is None or level is None or not rest.isdigit():
                    return None
                logged_us += int(rest) * 1000
            opening = line[at : line.find(_HEADER_END, at, at + _LONGEST_HEADER)]
            known = self._decoders[opening] if opening in self._decoders else self._decoder(opening)
            if known is None:
                return None
            key, version, decode, decode_older, as_text = known
            text = line[at : line.rfind(b"}") + 1]
            try:
                found = decode(text)
            except msgspec.ValidationError:
                if decode_older is None:
                    return None
                found = decode_older(text)
            name = connection_name(found.connection)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, not JSON, not UTF-8, not a connection
            return None
        header, response, software, principal = found.header, found.response, found.software, found.principal
        if header.api_key != key or header.api_version != version:  # it has two of them
            return None
        if as_text:
            response = bytes(response)
            if response[:1] != b"{":
                response = None
        elif response.__class__ is str:  # Produce without acknowledgement has an empty text in place of a response
            response = None
        total, queue, local, remote = found.total, found.queue, found.local, found.remote
        return _new(
            LogEntry,
            (
                number, key, version, header.correlation_id, header.client_id, name, "typed", found.request, response, level, logged_us,
                round(total * 1000) if total is not None and 0 <= total <= LONGEST_MS else None,
                round(queue * 1000) if queue is not None and 0 <= queue <= LONGEST_MS else None,
                round(local * 1000) if local is not None and 0 <= local <= LONGEST_MS else None,
                round(remote * 1000) if remote is not None and 0 <= remote <= LONGEST_MS else None,
                None if principal == ANONYMOUS else principal or None, None if software is None else (software.name, software.version),
                found.is_forwarded, header.deprecated, None, None,
            ),
        )  # fmt: skip

    def _level(self, before: bytes) -> str | None:
        """The level in what stands between stamp and object; None for what is not Kafka's own layout."""
        found = _MARKED.fullmatch(before)
        return None if found is None else _keep(self._levels, before, found[1].decode())

    def _second(self, stamp: bytes) -> int | None:
        """Microseconds since 1970 of a stamp as far as its second; None for any other stamp than Kafka's own."""
        found = _SECOND.fullmatch(stamp)
        instant = None if found is None else find_stamp(found[1].decode("ascii"), self._zone)
        return None if instant is None else _keep(self._seconds, stamp, instant)

    def _decoder(self, opening: bytes) -> tuple[int, int, _Decode, _Decode | None, bool] | None:
        """What reads the objects that begin so; None where that is not known."""
        found = _HEADER.fullmatch(opening)
        known = None
        if found is not None:
            key, version = int(found[1]), int(found[2])
            wanted = self._wanted(key, version)
            if wanted is not None:
                known = (key, version, _decoder(version, wanted, False), _older_decoder(version, wanted), wanted.response is None)
        _keep(self._decoders, opening, known)
        return known


def _older_decoder(version: int, wanted: WantedBodies) -> _Decode | None:
    """What reads objects as former releases wrote them; None where they wrote what today's do."""
    names = {wanted.request[0], wanted.response and wanted.response[0]}
    return _decoder(version, wanted, True) if names & {message for message, _name in OLDER_NAMES} else None


@cache
def _decoder(version: int, wanted: WantedBodies, older: bool) -> _Decode:
    """What reads the objects of an api at a version; with `older` the fields have their `OLDER_NAMES`."""
    name, fields = wanted.request
    request: Any = struct_of(compiled().plan(name, version, fields), older=older)
    response: Any = msgspec.Raw
    absent: msgspec.Raw | None = _NULL
    if wanted.response is not None:
        name, fields = wanted.response
        response, absent = struct_of(compiled().plan(name, version, fields), older=older) | str | None, None
    members = [("request", request | None, None), ("response", response, absent)]
    return msgspec.json.Decoder(msgspec.defstruct("Line", members, bases=(_Line,), gc=False), dec_hook=converted).decode


def _keep(kept: dict[bytes, Any], key: bytes, value: Any) -> Any:
    """Remember a value; what hostile lines make of it stays bounded."""
    if len(kept) >= _MOST_KEPT:
        kept.clear()
    kept[key] = value
    return value
