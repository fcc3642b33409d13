"""Values for a relay's counters from the first bytes of passing frames: client id, software, error code."""

from __future__ import annotations

from functools import cache
from typing import Final

from kwire.codec.classes import compiled
from kwire.codec.plan import FIXED_SIZE
from kwire.errors import WireError
from kwire.protocol.tracking.prefix_reading import read_damaged
from kwire.protocol.tracking.reading import header_reader
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of

__all__ = ["MOST_OBSERVED", "MOST_TEXT", "OTHER", "UNKNOWN", "Software", "client_of", "error_at", "error_of", "is_flexible", "software_of"]

Software = tuple[str, str]  # name and version

MOST_OBSERVED: Final = 1024  # bytes of a request that are looked at
MOST_TEXT: Final = 255  # bytes of a text; a longer one counts as `OTHER`, and so does one that is not UTF-8
OTHER: Final = "other"
UNKNOWN: Final = "unknown"  # software of clients that send no name (KIP-511)
_CLIENT_AT: Final = 8  # behind api key, version and correlation id
_REPLACED: Final = "\ufffd"
_ERROR: Final = "error_code"


def client_of(payload: bytes, header_version: int | None) -> str | None:
    """Return the client id in the first bytes of a request, None without one; `OTHER` if it is long, not UTF-8 or cut."""
    if not header_version:
        return None
    if len(payload) < _CLIENT_AT + 2:
        return OTHER
    size = int.from_bytes(payload[_CLIENT_AT : _CLIENT_AT + 2], "big", signed=True)
    if size < 0:
        return None
    text = payload[_CLIENT_AT + 2 : _CLIENT_AT + 2 + size]
    return OTHER if len(text) < size else _text(text)


def _text(text: bytes) -> str:
    found = text.decode("utf-8", "replace")
    return OTHER if len(text) > MOST_TEXT or _REPLACED in found else found


def software_of(payload: bytes, version: int) -> Software | None:
    """Return the software in an ApiVersions request (KIP-511); None below version 3 and if cut, `OTHER` for a long or invalid text."""
    if version < 3:
        return None
    try:
        _, offset = header_reader().read(payload, strict=False)
    except WireError:
        return None
    message = read_damaged(compiled().plan("ApiVersionsRequest", version), payload, offset).message
    name, number = (getattr(message, field, None) for field in ("client_software_name", "client_software_version"))
    if not isinstance(name, str) or not isinstance(number, str):
        return None
    return _text(name.encode("utf-8", "surrogatepass")), _text(number.encode("utf-8", "surrogatepass"))


@cache
def error_at(api_key: int, version: int) -> int:
    """Return the offset of the error code in a response's frame, or -1 if it is not among the leading fixed-size fields.

    The offset assumes that a header of version 1 has no tagged fields; `error_of` checks that.
    """
    message = catalog().response(api_key)
    if message is None or version not in message.valid_versions:
        return -1
    plan = compiled().plan(message.name, version)
    at = 4 + header_version_of(message.header_versions, version)  # the correlation id, and the count of tagged fields
    first = plan.blocks[0]
    for index in range(first.first, first.first + first.untagged):
        if plan.attribute(0, index) == _ERROR:
            return at
        size = FIXED_SIZE.get(plan.operation(index).code)
        if size is None:
            return -1
        at += size
    return -1


@cache
def is_flexible(api_key: int, version: int) -> bool:
    message = catalog().response(api_key)
    return message is not None and version in message.valid_versions and header_version_of(message.header_versions, version) > 0


def error_of(payload: bytes, api_key: int, version: int) -> int | None:
    at = error_at(api_key, version)
    if at < 0 or len(payload) < at + 2 or (is_flexible(api_key, version) and payload[4]):
        return None
    return int.from_bytes(payload[at : at + 2], "big", signed=True)
