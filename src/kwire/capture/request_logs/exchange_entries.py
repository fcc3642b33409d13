"""Request and response as an entry of a broker's JSON request log, from a capture or a proxy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache, lru_cache
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from kwire.capture.request_logs.json_entries import (
    BUILT_IN,
    api_key_name,
    carried_by,
    error_entry,
    header_version_written,
    in_names_of,
    is_written_plainly,
    read_request,
    read_response,
    release_of_names,
    request_entry,
    response_entry,
)  # fmt: skip
from kwire.codec import Codec
from kwire.codec.classes import compiled
from kwire.codec.impl import load_twin
from kwire.errors import WireError
from kwire.json_encoding import encode_json
from kwire.protocol.events import RequestCompleted
from kwire.protocol.secrets.frame_blanking import may_hold_secrets

if TYPE_CHECKING:
    from kwire.protocol.secrets.frame_blanking import FrameBlanker

__all__ = ["exchange_entry", "exchange_line"]

_API_VERSIONS: Final = 18
_NULL: Final = b"null"
_BEHIND_BODIES: Final = (
    b',"connection":%b,"time":%b,"totalTimeMs":%b,"principal":%b,"clientInformation":{"softwareName":%b,"softwareVersion":%b},"state":%b}\n'
)


def exchange_entry(
    event: RequestCompleted,
    connection: str,
    request: bytes | None,
    response: bytes | None,
    highest: Mapping[int, int],
    blanker: FrameBlanker | None,
    codec: Codec = BUILT_IN,
) -> dict[str, Any]:
    """Create the entry of a request from frames without their lengths; return None if bytes are missing or no entry exists.

    `connection` is `SERVER:PORT-CLIENT:PORT-N`; `highest` has the highest advertised version of each api.
    """
    return _entry(event, connection, request, response, _blanked(event, request, response, blanker, codec), highest, codec)


_Frames: TypeAlias = tuple[bytes | None, bytes | None]


def _blanked(event: RequestCompleted, request: bytes | None, response: bytes | None, blanker: FrameBlanker | None, codec: Codec) -> _Frames:
    if blanker is None:
        return request, response
    index, every = event.request_index, codec is not BUILT_IN
    if request is not None and (every or _may_hold(request[:4])):
        request = blanker.request(request, index=index)
    key, version = event.api_key, event.api_version
    if response is not None and key is not None and version is not None and (every or may_hold_secrets("response", key, version)):
        response = blanker.response(response, key, version, index=index)
    return request, response


@lru_cache(4096)
def _may_hold(begin: bytes) -> bool:
    return may_hold_secrets("request", int.from_bytes(begin[:2], "big", signed=True), int.from_bytes(begin[2:], "big", signed=True))


def _entry(
    event: RequestCompleted,
    connection: str,
    request: bytes | None,
    response: bytes | None,
    blanked: _Frames,
    highest: Mapping[int, int],
    codec: Codec,
) -> dict[str, Any]:
    entry: dict[str, Any]
    carried = None
    if request is None or blanked[0] is None:
        entry = {
            "requestHeader": _known_header(event),
            "request": None,
            "error": {"code": "TRUNCATED", "message": "bytes of the request are lost"},
        }
    else:
        try:
            read = read_request(codec, request, blanked[0])
            entry, carried = request_entry(read, codec), carried_by(read, codec)
        except WireError as error:
            entry = {"requestHeader": _known_header(event), "request": None, "error": error_entry(error)}
    if entry["request"] is not None and event.api_key is not None:
        entry["request"] = in_names_of(highest, entry["request"], event.api_key)
    entry["response"] = None
    if response is not None and blanked[1] is not None and event.api_key is not None and event.api_version is not None:
        _add_response(codec, entry, response, blanked[1], event.api_key, event.api_version, carried)
    entry |= {
        "connection": connection,
        "time": _time(event.request_time),
        "totalTimeMs": None if event.latency_us is None else event.latency_us / 1000,
        "principal": event.principal or "User:ANONYMOUS",
        "clientInformation": {"softwareName": event.software_name, "softwareVersion": event.software_version},
        "state": event.state,
    }
    return entry


class _Bodies(NamedTuple):
    """Writers of an api in one version."""

    begin: bytes  # of a request frame: api key and version
    header: Any
    request: Any
    response: Any
    api_name: bytes  # text that ends a header, Kafka's name of the api in it
    body_at: int  # offset of a response's body if its header has no tagged fields; the bytes from 4 on are zero then


@cache
def _bodies(api_key: int, version: int) -> _Bodies | None:
    """Return None if a line needs more than the JSON of the messages."""
    if not is_written_plainly(api_key, version):
        return None
    known, source = BUILT_IN.catalog, compiled()
    request, response = known.request(api_key), known.response(api_key)
    assert request is not None
    assert response is not None
    writer = load_twin("codec", "json_messages", source.twin).MessageJson
    return _Bodies(
        api_key.to_bytes(2, "big") + version.to_bytes(2, "big"),
        writer(source.decoder("RequestHeader", header_version_written(BUILT_IN, api_key, version))),
        writer(source.decoder(request.name, version), records=False),
        writer(source.decoder(response.name, version), records=False),
        f',"requestApiKeyName":{encode_json(api_key_name(api_key))}}}'.encode(),
        4 + BUILT_IN.header_version("response", api_key, version),
    )


def exchange_line(
    event: RequestCompleted,
    connection: str,
    request: bytes | None,
    response: bytes | None,
    highest: Mapping[int, int],
    blanker: FrameBlanker | None,
) -> bytes:
    """Write the entry of `exchange_entry` as a line of a log, with its line break.

    If possible, frames are written directly, without message objects. Frames with secrets are not, because their faults must be found
    before blanking.
    """
    blanked = _blanked(event, request, response, blanker, BUILT_IN)
    if request is not None and blanked == (request, response):
        written = _plain_line(event, connection, request, response, highest)
        if written is not None:
            return written
    return encode_json(_entry(event, connection, request, response, blanked, highest, BUILT_IN)).encode() + b"\n"


def _plain_line(
    event: RequestCompleted, connection: str, request: bytes, response: bytes | None, highest: Mapping[int, int]
) -> bytes | None:
    """Write a line from the frames; return None if it needs more than the JSON of the messages with current names, or a message is
    invalid."""
    if event.api_key is None or event.api_version is None or release_of_names(highest, event.api_key) is not None:
        return None
    bodies = _bodies(event.api_key, event.api_version)
    if bodies is None or not request.startswith(bodies.begin):
        return None
    header = bodies.header.write(request, 0)
    asked = None if header is None else bodies.request.write(request, header[1])
    if asked is None or asked[1] != len(request):
        return None
    answered = _NULL, 0
    if response is not None:
        if len(response) < bodies.body_at or any(response[4 : bodies.body_at]):
            return None
        answered = bodies.response.write(response, bodies.body_at)
        if answered is None or answered[1] != len(response):
            return None
    latency = b"null" if event.latency_us is None else repr(event.latency_us / 1000).encode()
    line = (
        b'{"requestHeader":' + header[0][:-1] + bodies.api_name + b',"request":' + asked[0] + b',"response":' + answered[0]
        + _BEHIND_BODIES % (
            _text(connection), _quoted(_time(event.request_time)), latency, _text(event.principal or "User:ANONYMOUS"),
            _text(event.software_name), _text(event.software_version), _text(event.state),
        )
    )  # fmt: skip
    return line if line.isascii() and b"\x7f" not in line else None  # other characters are written as their numbers


def _quoted(value: str | None) -> bytes:
    return _NULL if value is None else encode_basestring_ascii(value).encode()


_text = lru_cache(256)(_quoted)  # of what comes again


def _add_response(
    codec: Codec, entry: dict[str, Any], frame: bytes, blanked: bytes, api_key: int, api_version: int, carried: tuple[int, int] | None
) -> None:
    try:
        response = read_response(codec, frame, blanked, api_key, api_version)
    except WireError as error:
        entry.setdefault("error", error_entry(error))
        return
    answer = response_entry(response, carried, codec)
    entry["response"] = answer["response"]
    if "error" in answer:
        entry.setdefault("error", answer["error"])
    if api_key == _API_VERSIONS and response.api_version == 0 < api_version:
        # a broker that does not know the version reads, and logs, the request as one of version 0, which has no fields (KIP-511)
        entry["request"] = {}


def _known_header(event: RequestCompleted) -> dict[str, Any]:
    return {
        "requestApiKey": event.api_key,
        "requestApiVersion": event.api_version,
        "correlationId": event.correlation_id,
        "clientId": event.client_id,
    }


def _time(time_ns: int | None) -> str | None:
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1000:06d}Z"


@lru_cache(16)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}"
