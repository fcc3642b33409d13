"""Frames in the form of the broker's JSON request log (kafka.network.RequestConvertToJson, KIP-673).

Records are replaced by their size. An unreadable body is null, and `error` has the reason. Callers must blank secrets in frames first.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

from kwire.codec import Codec, Opaque, Request, Response
from kwire.errors import WireError
from kwire.schema import Message, camel_name, catalog, releases, snake_name
from kwire.schema.release_table import name_in, release_key

__all__ = [
    "BUILT_IN", "api_key_name", "carried_by", "error_entry", "header_version_written", "in_names_of", "is_written_plainly",
    "read_request", "read_response", "release_of_names", "releases_before_renames", "request_entry", "response_entry",
]  # fmt: skip

BUILT_IN: Final = Codec(catalog())
_ENVELOPE: Final = 58
_SHARE_FETCH: Final = 78
_FIRST_RELEASE: Final = "2.8"  # KIP-673
# Their entries are not their JSON: a refusal of ApiVersions has another version, and ShareFetch no sizes.
_LOOKED_INTO: Final = frozenset((18, _ENVELOPE, _SHARE_FETCH))


def read_request(codec: Codec, frame: bytes, blanked: bytes) -> Request:
    """Decode a request; return the body of the blanked frame and the violation of the original one."""
    read = codec.decode_request(frame, strict=False)
    if blanked != frame and not isinstance(read.body, Opaque):
        read.body = codec.decode_request(blanked, strict=False).body
    return read


def read_response(codec: Codec, frame: bytes, blanked: bytes, api_key: int, api_version: int) -> Response:
    read = codec.decode_response(frame, api_key, api_version, strict=False)
    if blanked != frame and not isinstance(read.body, Opaque):
        read.body = codec.decode_response(blanked, api_key, api_version, strict=False).body
    return read


def _body(codec: Codec, body: Any, version: int) -> dict[str, Any] | None:
    return None if isinstance(body, Opaque) else codec.to_json(body, version, records=False)


@cache
def releases_before_renames(message: str) -> tuple[str, ...]:
    """Return the last minor release with JSON logs of each former field name of a message, oldest first."""
    fields = (field for struct in catalog()[message].structs.values() for field in struct.fields)
    found = {last for field in fields for _, last in field.former_names if release_key(last) >= release_key(_FIRST_RELEASE)}
    return tuple(sorted(found, key=release_key))


@cache
def _highest_in(minor: str) -> dict[int, int]:
    release = releases().resolve(minor)
    return {key: versions.highest for key in release.api_keys if (versions := release.accepts_anywhere(key, unstable=True)) is not None}


def release_of_names(highest: Mapping[int, int], api_key: int) -> str | None:
    """Return the release whose field names a broker writes in requests of an api, None for current names; arguments as in `in_names_of`."""
    request = BUILT_IN.catalog.request(api_key)
    for minor in releases_before_renames(request.name) if request is not None and api_key in highest else ():
        known = _highest_in(minor)
        if highest[api_key] <= known.get(api_key, -1) and all(top <= known.get(key, -1) for key, top in highest.items()):
            return minor
    return None


def _renamed(value: Any, message: Message, struct: str, minor: str) -> Any:
    if isinstance(value, list):
        return [_renamed(each, message, struct, minor) for each in value]
    if not isinstance(value, dict):
        return value
    fields = {camel_name(field.name): field for field in message.structs[struct].fields} if struct in message.structs else {}
    return {
        camel_name(name_in(fields[name], minor)) if name in fields else name: _renamed(
            held, message, fields[name].element_type if name in fields else "", minor
        )
        for name, held in value.items()
    }


def in_names_of(highest: Mapping[int, int], request: dict[str, Any], api_key: int) -> dict[str, Any]:
    """Return a request's JSON with the field names of the broker's release; without an advertised version, use the newest."""
    minor, message = release_of_names(highest, api_key), BUILT_IN.catalog.request(api_key)
    if minor is None or message is None:
        return request
    written: dict[str, Any] = _renamed(request, message, message.name, minor)
    return written


def _without_sizes(body: dict[str, Any]) -> dict[str, Any]:
    """Replace sizes in answers to ShareFetch by empty records, as brokers log them."""
    for topic in body["responses"]:
        for partition in topic["partitions"]:
            written = [("records", "") if item[0] == "recordsSizeInBytes" else item for item in partition.items()]
            partition.clear()
            partition.update(written)
    return body


def error_entry(error: WireError) -> dict[str, Any]:
    return {"code": error.code.name, "offset": error.offset, "path": error.path, "message": str(error)}


def _header(codec: Codec, header: Any) -> dict[str, Any]:
    written: dict[str, Any] = codec.to_json(header, header_version_written(codec, header.api_key, header.api_version))
    if codec.catalog.api_name(header.api_key) is not None:
        written["requestApiKeyName"] = api_key_name(header.api_key, codec)
    return written


def header_version_written(codec: Codec, api_key: int, api_version: int) -> int:
    """Return the header version of a request; for unknown messages, the version that brokers assume."""
    message = codec.catalog.request(api_key)
    return codec.header_version("request", api_key, api_version) if message is not None and api_version in message.valid_versions else 1


def api_key_name(api_key: int, codec: Codec = BUILT_IN) -> str:
    """Return an api's name as brokers write it, such as `FIND_COORDINATOR`."""
    return snake_name(codec.catalog.api_name(api_key) or "").upper()


def is_written_plainly(api_key: int, api_version: int) -> bool:
    """Tell whether an entry has a request and its response as `to_json` writes them."""
    request, response = BUILT_IN.catalog.request(api_key), BUILT_IN.catalog.response(api_key)
    if request is None or response is None or api_key in _LOOKED_INTO:
        return False
    return all(api_version in message.valid_versions for message in (request, response))


def request_entry(request: Request, codec: Codec = BUILT_IN) -> dict[str, Any]:
    """Return `requestHeader` and `request` of a line, and `error` if the body is invalid."""
    header = request.header
    entry = {"requestHeader": _header(codec, header), "request": _body(codec, request.body, header.api_version)}
    if header.api_key == _ENVELOPE and entry["request"] is not None:
        with suppress(WireError):  # bytes that are no request stay bytes
            entry["request"]["requestData"] = request_entry(codec.decode_request(request.body.request_data, strict=False), codec)
    return entry if request.violation is None else {**entry, "error": error_entry(request.violation)}


def carried_by(request: Request, codec: Codec = BUILT_IN) -> tuple[int, int] | None:
    """Return api key and version of the request inside an Envelope (KIP-590), None for other requests."""
    if request.header.api_key != _ENVELOPE or isinstance(request.body, Opaque):
        return None
    try:
        header = codec.peek_header(request.body.request_data)
    except WireError:
        return None
    return header.api_key, header.api_version


def response_entry(response: Response, carried: tuple[int, int] | None = None, codec: Codec = BUILT_IN) -> dict[str, Any]:
    """Return `responseHeader` and `response` of a line, and `error` for an invalid body; `carried` is the inner request of an Envelope."""
    entry: dict[str, Any] = {
        "responseHeader": {"correlationId": response.header.correlation_id},
        "response": _body(codec, response.body, response.api_version),
    }
    if response.api_key == _SHARE_FETCH and entry["response"] is not None:
        entry["response"] = _without_sizes(entry["response"])
    if response.api_key == _ENVELOPE and carried and entry["response"] is not None and response.body.response_data is not None:
        with suppress(WireError):
            inner = codec.decode_response(response.body.response_data, *carried, strict=False)
            entry["response"]["responseData"] = response_entry(inner, codec=codec)
    return entry if response.violation is None else {**entry, "error": error_entry(response.violation)}
