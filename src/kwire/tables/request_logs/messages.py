"""Bodies of entries of a request log as messages in their version."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from kwire.capture.request_logs.bodies import BodyFault, read_body
from kwire.capture.request_logs.entry import LogEntry, UnreadableLine
from kwire.capture.request_logs.json_form import parse_json
from kwire.protocol.events import Body
from kwire.protocol.tracking.brokers import ranges_of
from kwire.tables.request_logs.exchange_kinds import API_VERSIONS, BodyKind, ExchangeKind, exchange_kind

__all__ = ["request_of", "response_of"]

_UNSUPPORTED_VERSION: Final = 35
_EPOCH: Final = b'"finalizedFeaturesEpoch":'
_EPOCH_DIGITS: Final = 18  # which fit into its 64 bits


def request_of(entry: LogEntry, kind: ExchangeKind) -> tuple[Body, Any]:
    """Return the state and the message of an entry's request, None if it cannot be read."""
    if kind.request is None:
        return "unsupported", None
    if entry.api_key == API_VERSIONS and entry.api_version >= 3 and not entry.request:
        # A broker that does not know the version reads, and logs, the request as one of version 0, which has no fields (KIP-511).
        return "skipped", None
    return _message(kind.request, entry.api_version, entry.request, entry.form != "text")


def response_of(entry: LogEntry, kind: ExchangeKind) -> tuple[ExchangeKind, Any]:
    """Return the kind and the message of an entry's response, None if it cannot be read.

    An ApiVersions message has the attribute `ranges` too, which must not be changed.
    """
    version, body = entry.api_version, entry.response
    if entry.api_key == API_VERSIONS and body is not None:
        return _api_versions_in(body, version) if isinstance(body, bytes) else _read_api_versions(body, version, entry.form != "text")
    return kind, None if kind.response is None else _message(kind.response, version, body, entry.form != "text")[1]


@lru_cache(maxsize=64)  # the fast path gives the same text as the same object, whose hash is known
def _api_versions_in(text: bytes, version: int) -> tuple[ExchangeKind, Any]:
    return _api_versions(_without_epoch(text), version)


def _without_epoch(text: bytes) -> bytes:
    """Set the epoch in an ApiVersions response to 0, so that few distinct responses remain.

    The epoch is not used, and each change of the cluster's metadata increases it (KIP-584).
    """
    before, name, behind = text.rpartition(_EPOCH)
    rest = behind.lstrip(b"0123456789")
    digits = len(behind) - len(rest)
    return before + name + b"0" + rest if 0 < digits <= _EPOCH_DIGITS else text


@lru_cache(maxsize=64)
def _api_versions(text: bytes, version: int) -> tuple[ExchangeKind, Any]:
    try:
        return _read_api_versions(parse_json(text.decode("utf-8", "replace")), version, True)
    except UnreadableLine:  # msgspec stepped over a number of thousands of digits
        return exchange_kind(API_VERSIONS, version), None


def _read_api_versions(body: dict[str, Any], version: int, exact: bool) -> tuple[ExchangeKind, Any]:
    """Read an ApiVersions response, in version 0 if the broker does not support the request's version (KIP-511)."""
    code = body.get("errorCode", body.get("error_code"))
    kind = exchange_kind(API_VERSIONS, version)
    if kind.response is None or str(code) == str(_UNSUPPORTED_VERSION):
        version, kind = 0, exchange_kind(API_VERSIONS, 0)
    assert kind.response is not None
    message = _message(kind.response, version, body, exact)[1]
    if message is not None:
        message.ranges = ranges_of(message)
    return kind, message


def _message(kind: BodyKind, version: int, body: Any, exact: bool) -> tuple[Body, Any]:
    if body is None:
        return "skipped", None
    if body.__class__ is not dict:  # the fast path has made a message of it
        return "decoded", body
    try:
        return "decoded", read_body(kind.name, version, kind.fields, body, exact)
    except BodyFault:
        return "malformed" if exact else "skipped", None
