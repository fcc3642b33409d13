"""Bodies of entries of a request log as messages, in the version that they are of."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from kwire.capture.request_log_bodies import BodyFault, read_body
from kwire.capture.request_log_entry import LogEntry, UnreadableLine
from kwire.capture.request_log_json import parse_json
from kwire.protocol.brokers import ranges_of
from kwire.protocol.events import Body
from kwire.protocol.reading import RequestReading
from kwire.tables.request_log_kinds import Kind, kind_of, released

__all__ = ["advertised_by", "read_request", "read_response", "response_version"]

_API_VERSIONS: Final = 18
_UNSUPPORTED_VERSION: Final = 35


def read_request(entry: LogEntry) -> RequestReading:
    """What the request of an entry says."""
    key, version = entry.api_key, entry.api_version
    reading = RequestReading(api_key=key, api_version=version, correlation_id=entry.correlation_id, client_id=entry.client_id)
    if not released(key, version):
        reading.body = "unsupported"
        return reading
    kind = kind_of(key, version, False)
    reading.header_version = kind.header_version
    reading.body, reading.message = _message(kind, version, entry.request, entry)
    if key == _API_VERSIONS and version >= 3 and _is_empty(entry.request):
        # A broker that does not know the version reads, and logs, the request as one of version 0, which has no fields (KIP-511).
        reading.body, reading.message = "skipped", None
    return reading


def _is_empty(body: dict[str, Any] | bytes | None) -> bool:
    """Whether a body says nothing."""
    return not (body.strip(b"{} \t\r\n") if isinstance(body, bytes) else body)


@lru_cache(maxsize=64)  # a broker says the same to everybody
def _api_versions(text: bytes, version: int) -> tuple[Body, Any]:
    return _read(kind_of(_API_VERSIONS, version, True), version, text, True)


@lru_cache(maxsize=64)
def advertised_by(text: bytes, version: int) -> dict[int, tuple[int, int]]:
    """The ranges of versions in the text of an ApiVersions response, which `read_response` could read; nobody changes them."""
    return ranges_of(_api_versions(text, version)[1])


def response_version(entry: LogEntry) -> int:
    """An ApiVersions request of a version that the broker does not have is answered in version 0 (KIP-511)."""
    if entry.api_key != _API_VERSIONS:
        return entry.api_version
    response, code = entry.response, None
    if isinstance(response, bytes):
        # nearly all answer so; what is refused is short
        plain = b'"errorCode":0,' in response and response.count(b'"errorCode"') == 1 and b'"error_code"' not in response
        try:
            response = None if plain else parse_json(response.decode("utf-8", "replace"))
        except UnreadableLine:  # then it has no code either
            response = None
    if response is not None:
        code = response.get("errorCode", response.get("error_code"))
    return 0 if str(code) == str(_UNSUPPORTED_VERSION) or not released(_API_VERSIONS, entry.api_version) else entry.api_version


def read_response(entry: LogEntry) -> Any:
    """The response of an entry, None where there is none that can be read."""
    version = response_version(entry)
    if not released(entry.api_key, version):
        return None
    return _message(kind_of(entry.api_key, version, True), version, entry.response, entry)[1]


def _message(kind: Kind, version: int, body: Any, entry: LogEntry) -> tuple[Body, Any]:
    """The body as a message, and what became of it."""
    if body.__class__ is bytes and kind.name == "ApiVersionsResponse":
        return _api_versions(body, version)
    return _read(kind, version, body, entry.exact)


def _read(kind: Kind, version: int, body: Any, exact: bool) -> tuple[Body, Any]:
    if body is None or kind.name is None:
        return "skipped", None
    try:
        return "decoded", read_body(kind.name, version, kind.fields, body, exact)
    except BodyFault:
        return "malformed" if exact else "skipped", None
