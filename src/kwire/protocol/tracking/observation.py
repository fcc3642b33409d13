"""Events of an exchange beyond its row: topics used, names of topic ids, steps of groups, metrics pushed.

Whole frames are read with separate projections. The native reader builds rows without Python objects and passes only the frames that
`watch_of` selects.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache, partial
from typing import Any

from kwire.codec.classes import compiled
from kwire.codec.prefix import read_prefix
from kwire.errors import InputError, WireError
from kwire.protocol.events import Event, MetricsPushed, RequestCompleted, TopicsNamed, TopicsUsed, ViolationFound
from kwire.protocol.groups.exchange_checks import CHECKED_APIS, exchange_faults
from kwire.protocol.rules import RULES, explain
from kwire.protocol.telemetry import first_points
from kwire.protocol.tracking.group_steps import GROUP_APIS, GROUP_ERROR_APIS, group_step
from kwire.protocol.tracking.reading import header_reader
from kwire.protocol.tracking.topic_names import names_in, naming_paths
from kwire.protocol.tracking.topic_use import TOPIC_USERS, noted, used
from kwire.schema import Message, catalog
from kwire.schema.header_versions import header_version_of

__all__ = [
    "Watch",
    "group_faults",
    "names_topics_alone",
    "note_request",
    "observe",
    "observe_messages",
    "observed_paths",
    "topics_named",
    "watch_of",
]

_PUSH_TELEMETRY = 72
_TELEMETRY_PATHS = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics")


class Watch(IntEnum):
    """Selection of observed exchanges of an API version, and whether the request's frame is needed."""

    NO = 0
    RESPONSE = 1  # the response alone, of every exchange
    BOTH = 2
    BOTH_ON_ERROR = 3  # only where the response has an error code


@cache
def watch_of(api_key: int, version: int) -> Watch:
    request, response = catalog().request(api_key), catalog().response(api_key)
    if request is None or response is None or version not in request.valid_versions:
        return Watch.NO
    if api_key in TOPIC_USERS or api_key in GROUP_APIS or api_key == _PUSH_TELEMETRY or naming_paths(api_key, version, False):
        return Watch.BOTH
    if api_key in GROUP_ERROR_APIS:
        return Watch.BOTH_ON_ERROR
    return Watch.RESPONSE if naming_paths(api_key, version, True) else Watch.NO


def _message(api_key: int, is_response: bool) -> Message:
    message = catalog().response(api_key) if is_response else catalog().request(api_key)
    assert message is not None
    return message


@cache
def observed_paths(api_key: int, version: int, is_response: bool) -> tuple[str, ...] | None:
    """Return the projection of a watched API's message for `observe_messages`; None for all fields."""
    if api_key in TOPIC_USERS:
        paths = (("error_code",) if is_response else ()) + TOPIC_USERS[api_key][is_response].paths
    elif api_key == _PUSH_TELEMETRY and not is_response:
        paths = _TELEMETRY_PATHS
    else:
        paths = naming_paths(api_key, version, is_response)
        if not paths:
            return () if not is_response and watch_of(api_key, version) is Watch.RESPONSE else None
    name = _message(api_key, is_response).name
    return tuple(path for path in paths if _has(name, path))


def _has(message: str, path: str) -> bool:
    """Return whether any version of the message has the field; Fetch has a top error code from version 7 on only, Produce never."""
    definition = compiled().message(message)
    struct = message
    for step in path.split("."):
        field = next((each for each in definition.structs[struct].fields if each.attribute == step), None)
        if field is None:
            return False
        struct = field.element_type
    return True


@cache
def _readers(api_key: int, version: int, is_response: bool) -> tuple[Any, Any]:
    message = _message(api_key, is_response)
    decoder = compiled().decoder(message.name, version, observed_paths(api_key, version, is_response))
    if not is_response:
        return partial(header_reader().read, strict=False), decoder
    return compiled().decoder("ResponseHeader", header_version_of(message.header_versions, version)).decode, decoder


def _read(api_key: int, version: int, is_response: bool, payload: bytes, damaged: bool) -> Any:
    read_header, decoder = _readers(api_key, version, is_response)
    try:
        _, offset = read_header(payload)
        if damaged:
            return read_prefix(compiled().plan(_message(api_key, is_response).name, version), payload, offset, strict=False).message
        return decoder.decode(payload, offset, True)[0]
    except WireError:
        return None


def note_request(api_key: int, version: int, payload: bytes, damaged: bool = False) -> Any:
    """Return data of a request to keep until its outcome, or None; `damaged`: bytes behind `payload` are lost."""
    if watch_of(api_key, version) < Watch.BOTH:
        return None
    if api_key in TOPIC_USERS:
        message = _read(api_key, version, False, payload, damaged)
        return None if message is None else noted(api_key, message)
    return (payload, damaged)


def observe(row: RequestCompleted, note: Any, payload: bytes | None, damaged: bool = False) -> list[Event]:
    """Return the events of a complete exchange besides its row; `payload` is the response frame, None if missing."""
    key, version = row.api_key, row.api_version
    if key is None or version is None or not _is_observed(row):
        return []
    response = None if payload is None else _read(key, version, True, payload, damaged)
    if key in TOPIC_USERS:
        return _topics(row, note or [], response, not damaged)
    request = None if note is None else _read(key, version, False, *note)
    return _whole_body_events(key, version, row, request, response)


def group_faults(key: int | None, version: int | None, note: Any, payload: bytes, damaged: bool) -> list[tuple[str, dict[str, object]]]:
    """Return faults between a group's request and response (`groups.exchange_faults`); skip truncated frames, because the missing bytes may
    be valid."""
    if key not in CHECKED_APIS or version is None or note is None or damaged or note[1]:
        return []
    return exchange_faults(key, version, _read(key, version, False, *note), _read(key, version, True, payload, damaged))


def observe_messages(row: RequestCompleted, request: Any, response: Any) -> list[Event]:
    """Return the events of a complete exchange besides its row, from messages of a request log (None if unknown)."""
    key, version = row.api_key, row.api_version
    if key is None or version is None or not _is_observed(row):
        return []
    if key in TOPIC_USERS:
        return _topics(row, [] if request is None else noted(key, request), response)
    return _whole_body_events(key, version, row, request, response)


def _is_observed(row: RequestCompleted) -> bool:
    assert row.api_key is not None
    assert row.api_version is not None
    watch = watch_of(row.api_key, row.api_version)
    return watch is not Watch.NO and (watch is not Watch.BOTH_ON_ERROR or bool(row.error_code))


def names_topics_alone(api_key: int) -> bool:
    return api_key != _PUSH_TELEMETRY and api_key not in GROUP_APIS and api_key not in GROUP_ERROR_APIS


def _whole_body_events(key: int, version: int, row: RequestCompleted, request: Any, response: Any) -> list[Event]:
    if key == _PUSH_TELEMETRY:
        return _metrics(row, request)
    if not names_topics_alone(key):
        step = group_step(row, request, response)
        return [] if step is None else [step]
    return topics_named(key, version, row.response_time or row.request_time or 0, request, response)


def topics_named(key: int, version: int, time: Any, request: Any, response: Any) -> list[Event]:
    names = names_in(key, version, False, request) | names_in(key, version, True, response)
    return [TopicsNamed(time, names)] if names else []


def _topics(row: RequestCompleted, note: Any, response: Any, is_whole: bool = True) -> list[Event]:
    assert row.api_key is not None
    if response is None:
        is_whole = row.state not in ("answered", "unseen")  # else it cannot be read, or may have come
    uses = used(row.api_key, note, response, row.body == "decoded", is_whole)
    if not uses:
        return []
    return [
        TopicsUsed(
            request_index=row.request_index,
            time=row.request_time or 0,
            direction="produce" if row.api_key == 0 else "fetch",
            client_id=row.client_id,
            acks=row.acks,
            error_code=getattr(response, "error_code", 0),
            uses=uses,
        )
    ]


def _metrics(row: RequestCompleted, request: Any) -> list[Event]:
    metrics = getattr(request, "metrics", None)
    if metrics is None:
        return []
    try:
        points, held = first_points(metrics, request.compression_type)
    except (WireError, InputError):  # they cannot be read, or opentelemetry-proto is not there: that they were pushed is known all the same
        points, held = [], 0
    cut: list[Event] = []
    if held > len(points):
        cut.append(
            ViolationFound(
                rule="telemetry_cut",
                severity=RULES["telemetry_cut"].severity,
                direction="request",
                request_index=row.request_index,
                packet_number=row.packet_number,
                stream_offset=row.stream_offset,
                time=row.request_time or 0,
                software_name=row.software_name,
                client_id=row.client_id,
                explanation=explain("telemetry_cut", size=len(metrics), held=held, kept=len(points)),
            )
        )
    return [
        *cut,
        MetricsPushed(
            request_index=row.request_index,
            time=row.request_time or 0,
            client_id=row.client_id,
            software_name=row.software_name,
            software_version=row.software_version,
            principal=row.principal,
            client_instance_id=str(request.client_instance_id),
            subscription_id=request.subscription_id,
            terminating=request.terminating,
            points=points,
        ),
    ]
