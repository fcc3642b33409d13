"""One request with its response as an entry of a broker's JSON request log: of a capture's bytes, or of those that pass a proxy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

from kwire.capture.request_logs.json_entries import BUILT_IN, carried_by, error_entry, in_names_of, request_entry, response_entry
from kwire.codec import Codec
from kwire.errors import WireError
from kwire.protocol.events import RequestCompleted

__all__ = ["exchange_entry"]

_API_VERSIONS: Final = 18


def exchange_entry(
    event: RequestCompleted,
    connection: str,
    request: bytes | None,
    response: bytes | None,
    highest: Mapping[int, int],
    codec: Codec = BUILT_IN,
) -> dict[str, Any]:
    """Make the entry.

    Arguments:
        event: what a tracker says of it.
        connection: its name as brokers write it, `SERVER:PORT-CLIENT:PORT-N`.
        request, response: frames without their lengths; None where bytes are missing or there is none.
        highest: by api key the highest version that the broker advertised.
        codec: reads the frames.
    """
    entry: dict[str, Any]
    carried = None
    if request is None:
        entry = {
            "requestHeader": _known_header(event),
            "request": None,
            "error": {"code": "TRUNCATED", "message": "bytes of the request are lost"},
        }
    else:
        try:
            read = codec.decode_request(request, strict=False)
            entry, carried = request_entry(read, codec), carried_by(read, codec)
        except WireError as error:
            entry = {"requestHeader": _known_header(event), "request": None, "error": error_entry(error)}
    if entry["request"] is not None and event.api_key is not None:
        entry["request"] = in_names_of(highest, entry["request"], event.api_key)
    entry["response"] = None
    if response is not None and event.api_key is not None and event.api_version is not None:
        _add_response(codec, entry, response, event.api_key, event.api_version, carried)
    entry |= {
        "connection": connection,
        "time": _time(event.request_time),
        "totalTimeMs": None if event.latency_us is None else event.latency_us / 1000,
        "principal": event.principal or "User:ANONYMOUS",
        "clientInformation": {"softwareName": event.software_name, "softwareVersion": event.software_version},
        "state": event.state,
    }
    return entry


def _add_response(
    codec: Codec, entry: dict[str, Any], frame: bytes, api_key: int, api_version: int, carried: tuple[int, int] | None
) -> None:
    try:
        response = codec.decode_response(frame, api_key, api_version, strict=False)
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
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}Z"
