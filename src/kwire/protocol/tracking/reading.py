"""Reader of request and response frames for the tracker: header, first fields and faults. It never raises for bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, Final

from kwire.codec.classes import compiled
from kwire.codec.decoding import decode_response
from kwire.codec.frames import Opaque
from kwire.codec.impl import load_twin
from kwire.errors import Fault, WireError
from kwire.protocol.events import Body
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.rules import rule_of_fault, shown
from kwire.protocol.tracking.first_fields import column_values, error_code_of, request_fields, response_fields, text_fields, topics_of
from kwire.protocol.tracking.prefix_reading import Anomaly, read_damaged
from kwire.schema import catalog
from kwire.schema.header_versions import header_version_of, request_header_versions

__all__ = [
    "Fact", "RequestReading", "ResponseReading", "api_label", "header_reader", "peek_correlation_id", "read_header", "read_request",
    "read_response", "released_header", "request_decoder", "response_decoders", "trailing_fact",
]  # fmt: skip

# Every request header version begins so: api key, api version, correlation id.
REQUEST_HEAD: Final = struct.Struct(">hhi")
RESPONSE_HEAD: Final = struct.Struct(">i")
_UNKNOWN_API_HEADER: Final = 1  # brokers read the header of an api that they do not know so

Fact = tuple[str, dict[str, object]]  # a rule that was broken, and the facts of its sentence


@dataclass(slots=True)
class RequestReading:
    """Contents of a request frame; None for parts cut off."""

    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    header_version: int | None = None  # None if the API or its version is unknown
    client_id: str | None = None
    body: Body = "truncated"
    message: Any = None  # first fields; of a cut body those before the cut
    broken: list[Fact] = field(default_factory=list)
    client_instance_id: bytes | None = None  # KIP-1313
    counts: dict[str, int] | None = None  # of a cut body (`Prefix`)

    def __repr__(self) -> str:
        # The message may be a SaslAuthenticate.
        return f"RequestReading(api {self.api_key} v{self.api_version}, {self.body})"


@dataclass(slots=True)
class ResponseReading:
    """Contents of a response frame, read in `version`; an ApiVersions refusal has version 0."""

    body: Body
    version: int
    message: Any = None
    error_code: int | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    broken: list[Fact] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"ResponseReading(v{self.version}, {self.body})"


@cache
def header_reader() -> Any:
    source = compiled()
    decoders = {version: source.decoder("RequestHeader", version) for version in source.message("RequestHeader").valid_versions}
    return load_twin("codec", "headers", source.twin).HeaderReader(
        decoders, partial(request_header_versions, catalog()), _UNKNOWN_API_HEADER
    )


@cache
def request_decoder(api_key: int, version: int, whole: bool = False) -> Any:
    """Return a cached decoder of a request's first fields or whole body; the codec's own cache of projections is too small."""
    message = catalog().request(api_key)
    assert message is not None
    return compiled().decoder(message.name, version, None if whole else request_fields(api_key, version).projection)


@cache
def response_decoders(api_key: int, version: int, whole: bool = False) -> tuple[Any, Any]:
    message = catalog().response(api_key)
    assert message is not None
    header = compiled().decoder("ResponseHeader", header_version_of(message.header_versions, version))
    return header, compiled().decoder(message.name, version, None if whole else response_fields(api_key, version).projection)


@cache
def _text_decoder(api_key: int, version: int, is_request: bool) -> Any:
    message = catalog().request(api_key) if is_request else catalog().response(api_key)
    assert message is not None
    paths = text_fields(message, version)
    return compiled().decoder(message.name, version, paths) if paths else None


def api_label(api_key: int | None, api_version: int | None) -> str:
    name = None if api_key is None else catalog().api_name(api_key)
    return f"{name or f'api {api_key}'} v{api_version}"


def peek_correlation_id(payload: bytes) -> int | None:
    return int(RESPONSE_HEAD.unpack_from(payload)[0]) if len(payload) >= RESPONSE_HEAD.size else None


def _of_anomalies(anomalies: list[Anomaly], message: str) -> list[Fact]:
    broken: list[Fact] = []
    for kind, offset, value in anomalies:
        if kind == "negative_length":
            broken.append(
                ("length_impossible", {"message": message, "reason": f"length {value} at byte {offset} is neither null nor a length"})
            )
        elif kind == "tag_repeated":
            broken.append(("tag_repeated", {"message": message, "tag": value}))
        else:
            broken.append(("tags_out_of_order", {"message": message, "tags": ", ".join(map(str, value[:8]))}))
    return broken


def _tags_broken(message: Any, name: str) -> list[Fact]:
    """Check that unknown tags ascend too; the codec checks only defined ones."""
    tags = [tag for tag, _ in message.unknown_tagged_fields]
    broken: list[Fact] = []
    if len(set(tags)) < len(tags):
        broken.append(("tag_repeated", {"message": name, "tag": next(tag for tag in tags if tags.count(tag) > 1)}))
    elif tags != sorted(tags):
        broken.append(("tags_out_of_order", {"message": name, "tags": ", ".join(map(str, tags[:8]))}))
    return broken


def _text_broken(api_key: int, version: int, is_request: bool, payload: bytes, offset: int, label: str) -> list[Fact]:
    """Find the first string of a whole body that is not UTF-8: brokers and clients read it with replacement characters."""
    if payload.isascii() or (decoder := _text_decoder(api_key, version, is_request)) is None:
        return []
    try:
        decoder.decode(payload, offset)
    except WireError as error:
        return [_fault(error, label)] if error.code is Fault.BAD_UTF8 else []
    return []


def _reason(error: WireError) -> str:
    return f"{error.reason} at byte {error.offset}" + (f" in {error.path}" if error.path else "")


def _fault(error: WireError, label: str) -> Fact:
    return rule_of_fault(error.code), {"message": label, "reason": _reason(error)}


def trailing_fact(label: str, count: int, end: int) -> Fact:
    return "trailing_bytes", {"message": label, "reason": f"{count} trailing {'byte' if count == 1 else 'bytes'} at offset {end}"}


def read_header(payload: bytes, damaged: bool = False) -> tuple[RequestReading, int | None]:
    """Read a request's header; return it and the body's offset, None if there is no readable body (`body` has the reason)."""
    reading = RequestReading()
    if len(payload) < REQUEST_HEAD.size:
        return reading, None
    key, version, reading.correlation_id = REQUEST_HEAD.unpack_from(payload)
    reading.api_key, reading.api_version = key, version
    released, reading.header_version = released_header(key, version)
    offset = _read_header(reading, payload, damaged)
    if not released:
        reading.broken.append(_unreleased(key, version))
    if offset is None:
        reading.body = "truncated" if damaged else "malformed"
    elif not released:
        reading.body = "truncated" if damaged else "unsupported"
    return reading, offset if released else None


def read_request(payload: bytes, damaged: bool = False) -> RequestReading:
    """Read a request frame, or the bytes before the loss of a damaged one."""
    reading, offset = read_header(payload, damaged)
    key, version = reading.api_key, reading.api_version
    if offset is None or key is None or version is None:
        return reading
    if damaged:
        prefix = read_damaged(request_decoder(key, version, whole=True).plan, payload, offset)
        reading.message, reading.counts = prefix.message, prefix.counts
    else:
        _read_request_body(reading, payload, offset, key, version)
    return reading


def _read_header(reading: RequestReading, payload: bytes, damaged: bool) -> int | None:
    try:
        header, offset = header_reader().read(payload, strict=False)
    except WireError as error:
        if not damaged:
            reading.broken.append(("header_malformed", {"reason": _reason(error)}))
        return None
    client_id = reading.client_id = header.client_id
    reading.client_instance_id = getattr(header, "client_instance_id", None)
    if client_id is not None and "�" in client_id and client_id.encode() not in payload[:offset]:
        reading.broken.append(("client_id_not_utf8", {"text": shown(client_id)}))
    if header.unknown_tagged_fields:
        reading.broken += _tags_broken(header, "the request header")
    return int(offset)


@lru_cache(maxsize=4096)
def released_header(key: int, version: int) -> tuple[bool, int | None]:
    """Return whether any release has this request, and its header version, which unknown versions have too (KIP-511)."""
    message = catalog().request(key)
    if message is None or version < 0:
        return False, None
    return version in message.valid_versions, header_version_of(message.header_versions, version)


def _unreleased(key: int, version: int) -> Fact:
    message = catalog().request(key)
    if message is None:
        return "unknown_api_key", {"api_key": key}
    name = catalog().api_name(key)
    if version < 0:
        return "negative_version", {"api": name, "version": version}
    if key == API_VERSIONS:
        return "api_versions_unreleased", {"version": version}
    return "unsupported_version", {"api": name, "version": version, "versions": message.valid_versions}


def _read_request_body(reading: RequestReading, payload: bytes, offset: int, key: int, version: int) -> None:
    label = f"{api_label(key, version)} request"
    decoder = request_decoder(key, version)
    try:
        message, end = decoder.decode(payload, offset, True)
    except WireError as error:
        reading.body = "malformed"
        reading.broken.append(_fault(error, label))
        return
    reading.body = "decoded"
    reading.message = message
    if end != len(payload):
        reading.broken.append(trailing_fact(label, len(payload) - end, end))
    if message.unknown_tagged_fields:
        reading.broken += _tags_broken(message, label)
    reading.broken += _text_broken(key, version, True, payload, offset, label)
    fields = request_fields(key, version)
    if fields.topics is not None and topics_of(message, fields)[1] is None:
        # Null topics are legal, and any negative count is read as null: only -1 may stand there.
        reading.broken += _of_anomalies(read_damaged(decoder.plan, payload, offset).anomalies, label)


def read_response(payload: bytes, api_key: int, api_version: int, damaged: bool = False) -> ResponseReading:
    """Read a response frame of at least 4 bytes, or the bytes before the loss of a damaged one; API and version are the request's."""
    message = catalog().response(api_key)
    if message is None or (api_version not in message.valid_versions and api_key != API_VERSIONS):
        return ResponseReading("truncated" if damaged else "unsupported", api_version)
    label = f"{api_label(api_key, api_version)} response"
    if api_key == API_VERSIONS:
        reading = _read_api_versions(payload, api_version, damaged, label)
    else:
        reading = _read_response_body(payload, api_key, api_version, damaged, label)
    if reading.message is not None:
        fields = response_fields(api_key, reading.version)
        reading.error_code = error_code_of(reading.message, fields, reading.body == "decoded")
        reading.columns = column_values(reading.message, fields)
    return reading


def _read_response_body(payload: bytes, api_key: int, api_version: int, damaged: bool, label: str) -> ResponseReading:
    header, decoder = response_decoders(api_key, api_version)
    try:
        _, offset = header.decode(payload)
        if damaged:
            whole = response_decoders(api_key, api_version, whole=True)[1]
            return ResponseReading("truncated", api_version, _before_the_cut(whole, payload, offset))
        message, end = decoder.decode(payload, offset, True)
    except WireError as error:
        if damaged:
            return ResponseReading("truncated", api_version)
        return ResponseReading("malformed", api_version, broken=[_fault(error, label)])
    reading = ResponseReading("decoded", api_version, message)
    if end != len(payload):
        reading.broken.append(trailing_fact(label, len(payload) - end, end))
    reading.broken += _text_broken(api_key, api_version, False, payload, offset, label)
    return reading


def _before_the_cut(decoder: Any, payload: bytes, offset: int) -> Any:
    return read_damaged(decoder.plan, payload, min(offset, len(payload))).message


def _read_api_versions(payload: bytes, api_version: int, damaged: bool, label: str) -> ResponseReading:
    message = catalog().response(API_VERSIONS)
    assert message is not None
    if damaged:
        # Error 35 comes in version 0 form whatever was asked (KIP-511); the header is version 0 always.
        error = int.from_bytes(payload[4:6], "big", signed=True) if len(payload) >= 6 else None
        version = 0 if error == 35 or api_version not in message.valid_versions else api_version
        whole = response_decoders(API_VERSIONS, version, whole=True)[1]
        return ResponseReading("truncated", version, _before_the_cut(whole, payload, RESPONSE_HEAD.size))
    try:
        response = decode_response(payload, API_VERSIONS, api_version, strict=False)
    except WireError as fault:
        return ResponseReading("malformed", api_version, broken=[_fault(fault, label)])
    if isinstance(response.body, Opaque):
        state: Body = "unsupported" if response.body.reason.code is Fault.UNSUPPORTED_VERSION else "malformed"
        broken = [] if state == "unsupported" else [_fault(response.body.reason, label)]
        return ResponseReading(state, api_version if api_version in message.valid_versions else 0, broken=broken)
    reading = ResponseReading("decoded", response.api_version, response.body)
    if response.violation is not None:
        reading.broken.append(_fault(response.violation, label))
    reading.broken += _text_broken(API_VERSIONS, response.api_version, False, payload, RESPONSE_HEAD.size, label)
    keys = [each.api_key for each in response.body.api_keys]
    if len(set(keys)) < len(keys):
        reading.broken.append(("api_versions_key_repeated", {"api_key": next(key for key in keys if keys.count(key) > 1)}))
    return reading
