"""The JSON form of a request log, which brokers write from 2.8 on (KIP-673), with or without a layout around it."""

from __future__ import annotations

import json
from datetime import tzinfo
from typing import Any, Final

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine, api_key_of, connection_name, int_of
from kwire.capture.request_logs.times import duration_us, stamp_us
from kwire.json_encoding import encode_json

__all__ = ["ANONYMOUS", "MARK", "entry_of_object", "is_entry", "parse_json", "wrapped_text"]

MARK: Final = "Completed request:"

ANONYMOUS: Final = "User:ANONYMOUS"
# Where JSON layouts and shippers put the instant of a line (log4j's JsonTemplateLayout and JsonLayout, logstash, Filebeat, Fluent Bit).
_INSTANTS: Final = ("@timestamp", "timestamp", "time", "timeMillis", "ts", "date")
_LEVELS: Final = ("level", "log.level", "severity", "loglevel")
_DECODER: Final = json.JSONDecoder()
_LONGEST_INTEGER: Final = 400  # digits; of thousands Python makes no integer, because it takes too long


def parse_json(text: str, at: int = 0) -> Any:
    """Read the JSON value that begins at an offset; the rest of the text is ignored."""
    try:
        try:
            value, _ = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            raise
        except ValueError:
            value, _ = json.JSONDecoder(parse_int=_bounded).raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it nests too deep"
        raise UnreadableLine(f"its JSON cannot be read: {reason[:1].lower()}{reason[1:]}") from error
    if "\\u" in text:  # half of a surrogate pair is legal in JSON and in no other place
        value = json.loads(encode_json(value, ascii_only=False).encode("utf-8", "replace"))
    return value


def _bounded(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


def is_entry(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("requestHeader"), dict)


def wrapped_text(value: Any, zone: tzinfo) -> tuple[str, int | None, str | None] | None:
    """Unwrap an entry from a JSON layout; return its message, time and level."""
    if not isinstance(value, dict):
        return None
    message = next((text for text in value.values() if isinstance(text, str) and MARK in text), None)
    if message is None:
        return None
    instant = next((found for name in _INSTANTS if (found := stamp_us(value.get(name), zone)) is not None), None)
    if instant is None and isinstance(parts := value.get("instant"), dict):
        instant = _instant_of(parts)
    level = next((found for name in _LEVELS if isinstance(found := value.get(name), str)), None)
    return message, instant, level


def _instant_of(parts: dict[str, Any]) -> int | None:
    """Read log4j 2's own JsonLayout: ``{"epochSecond": 1795255936, "nanoOfSecond": 6000000}``."""
    seconds, nanoseconds = parts.get("epochSecond"), parts.get("nanoOfSecond", 0)
    if not isinstance(seconds, int) or not isinstance(nanoseconds, int) or not 0 <= seconds < 1 << 40 or not 0 <= nanoseconds < 10**9:
        return None
    return seconds * 1_000_000 + nanoseconds // 1000


def entry_of_object(value: dict[str, Any], line: int, zone: tzinfo) -> LogEntry:
    header = value["requestHeader"]
    key = header.get("requestApiKey")
    if key is None and isinstance(name := header.get("requestApiKeyName"), str):
        key = api_key_of(name)
    client_id = header.get("clientId")
    correlation_id = header.get("correlationId")
    connection = value.get("connection")
    if not isinstance(connection, str):
        raise UnreadableLine("it names no connection")
    request, response = value.get("request"), value.get("response")
    principal, information = value.get("principal"), value.get("clientInformation")
    software = None
    if isinstance(information, dict):
        name, version = information.get("softwareName"), information.get("softwareVersion")
        software = (name, version) if isinstance(name, str) and isinstance(version, str) else None
    return LogEntry(
        line=line,
        api_key=int_of(key, 16, "api key"),
        api_version=int_of(header.get("requestApiVersion"), 16, "api version"),
        correlation_id=None if correlation_id is None else int_of(correlation_id, 32, "correlation id"),
        client_id=_text(client_id),
        connection=connection_name(connection),
        form="json",
        request=request if isinstance(request, dict) else None,
        response=response if isinstance(response, dict) else None,
        total_us=duration_us(value.get("totalTimeMs")),
        queue_us=duration_us(value.get("requestQueueTimeMs")),
        local_us=duration_us(value.get("localTimeMs")),
        remote_us=duration_us(value.get("remoteTimeMs")),
        principal=_text(principal) if principal not in ("", ANONYMOUS) else None,
        software=software,
        is_forwarded=value.get("isForwarded") is True,
        deprecated=header.get("requestApiVersionDeprecated") is True,
        arrived_us=stamp_us(value.get("time"), zone),
        state=_text(value.get("state")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
