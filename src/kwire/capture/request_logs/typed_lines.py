"""Reader of brokers' JSON lines with msgspec: a struct of the line, and typed structs of its bodies (`typed_bodies`).

`lines` is the reference and the fallback: a line in any other form gives None here. Only unused values may differ: this reader accepts
numbers of thousands of digits and brackets nested a thousand deep, which `lines` rejects.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import tzinfo
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec

from kwire.capture.request_logs.bodies import INTEGER_BOUNDS
from kwire.capture.request_logs.entry import LogEntry, WantedBodies, connection_name
from kwire.capture.request_logs.json_form import ANONYMOUS, MARK
from kwire.capture.request_logs.times import duration_us, find_stamp
from kwire.capture.request_logs.typed_bodies import Decode, body_decoders
from kwire.codec.plan import Op

__all__ = ["line_reader"]

# Kafka's own layout before the object: `[2026-01-01 00:00:00,000] DEBUG Completed request:`.
_LAYOUT: Final = re.compile(
    rb"\[([0-9-]{10} [0-9]{2}:[0-9]{2}):([0-6][0-9])[.,]([0-9]{3})\] +(TRACE|DEBUG|INFO|WARN|ERROR) *%b ?(?=\{)" % MARK.encode()
)
_API_VERSIONS: Final = 18
_FIRST_WITH_NAME: Final = 3  # version of ApiVersions (KIP-511)
_EMPTY: Final = msgspec.Raw(b"{}")
_LONGEST_KEPT: Final = 4096
_MOST_KEPT: Final = 2048

_Int16 = Annotated[int, msgspec.Meta(ge=INTEGER_BOUNDS[Op.INT16][0], le=INTEGER_BOUNDS[Op.INT16][1])]
_Int32 = Annotated[int, msgspec.Meta(ge=INTEGER_BOUNDS[Op.INT32][0], le=INTEGER_BOUNDS[Op.INT32][1])]


class _Header(msgspec.Struct, rename="camel", gc=False):
    request_api_key: _Int16
    request_api_version: _Int16
    correlation_id: _Int32 | None = None
    client_id: str | None = None
    request_api_version_deprecated: bool = False


class _Software(msgspec.Struct, rename="camel", gc=False):
    software_name: str
    software_version: str


class _Line(msgspec.Struct, rename="camel", gc=False):
    request_header: _Header
    connection: str
    request: msgspec.Raw = msgspec.Raw(b"null")
    response: msgspec.Raw = msgspec.Raw(b"null")
    total_time_ms: float | None = None
    request_queue_time_ms: float | None = None
    local_time_ms: float | None = None
    remote_time_ms: float | None = None
    principal: str | None = None
    client_information: _Software | None = None
    is_forwarded: bool = False
    time: None = None  # `kwire decode` writes these two; brokers never do
    state: None = None


_decode_line: Final = msgspec.json.Decoder(_Line).decode


def line_reader(zone: tzinfo, wanted: Callable[[int, int], WantedBodies | None]) -> Callable[[bytes, int], LogEntry | None]:
    """Return a function that converts a line and its number to an entry, or to None if the fallback must read the line."""

    @lru_cache(maxsize=4096)
    def decoders_of(key: int, version: int) -> tuple[tuple[Decode, ...], tuple[Decode, ...]] | None:
        found = wanted(key, version)
        return None if found is None else (body_decoders(version, found, False), body_decoders(version, found, True))

    @lru_cache(maxsize=1024)
    def minute_of(stamp: bytes) -> int | None:
        return find_stamp(f"{stamp.decode()}:00", zone)

    def read(line: bytes, number: int) -> LogEntry | None:
        level = logged_us = None
        at = 0
        if line[:1] == b"[":
            layout = _LAYOUT.match(line)
            if layout is None or (minute := minute_of(layout[1])) is None:
                return None
            logged_us = minute + int(layout[2] + layout[3]) * 1000
            level, at = layout[4].decode(), layout.end()
        try:
            found = _decode_line(line[at : line.rfind(b"}") + 1])
            header = found.request_header
            key, version = header.request_api_key, header.request_api_version
            decoders = decoders_of(key, version)
            if decoders is None:
                return None
            if key == _API_VERSIONS and version >= _FIRST_WITH_NAME and found.request == _EMPTY:
                request: Any = {}  # a broker that does not know the version reads a request without fields (KIP-511)
            else:
                request = _body(decoders[0], bytes(found.request))
            response = _body(decoders[1], bytes(found.response))
            connection = connection_name(found.connection)
        except (msgspec.MsgspecError, ValueError, RecursionError):  # another type, not JSON, not UTF-8, not a connection
            return None
        principal, software = found.principal, found.client_information
        return LogEntry._make(
            (
                number, key, version, header.correlation_id, header.client_id, connection, "typed", request, response, level, logged_us,
                duration_us(found.total_time_ms), duration_us(found.request_queue_time_ms), duration_us(found.local_time_ms),
                duration_us(found.remote_time_ms), None if principal == ANONYMOUS else principal or None,
                None if software is None else (software.software_name, software.software_version),
                found.is_forwarded, header.request_api_version_deprecated, None, None,
            )
        )  # fmt: skip

    return read


def _body(decoders: tuple[Decode, ...], text: bytes) -> Any:
    """Return the message of a body, or its text if no decoder is given; None if it is not an object. Produce without acks has `""`."""
    if text[0] != 0x7B:
        return None
    if not decoders:
        return text
    return _kept(decoders, text) if len(text) <= _LONGEST_KEPT else _decoded(decoders, text)


def _decoded(decoders: tuple[Decode, ...], text: bytes) -> Any:
    for decode in decoders[:-1]:
        try:
            return decode(text)
        except msgspec.ValidationError:  # the next one may fit
            pass
    return decoders[-1](text)


_kept = lru_cache(maxsize=_MOST_KEPT)(_decoded)  # many bodies come again; messages are not changed
