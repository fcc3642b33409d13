"""The one place where an entry of a request log becomes a row of `requests`."""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.events import Body, RequestState
from kwire.schema import error_name
from kwire.tables.request_logs.exchange_kinds import ExchangeKind

__all__ = ["LOGGED_COLUMNS", "request_row"]

# The columns of `kwire.tables.schemas.REQUESTS` that a log knows, in the order of the tuple below; all others are null.
LOGGED_COLUMNS: Final = (
    "series", "capture", "connection_id", "request_index", "api_key", "api_name", "api_version", "header_version",
    "correlation_id", "client_id", "client_instance_id", "software_name", "software_version", "principal",
    "request_time", "response_time", "latency_us", "error_code", "error_name", "throttle_time_ms",
    "acks", "first_topic", "topic_count", "group_id", "transactional_id", "state", "body",
    "queue_time_us", "local_time_us", "remote_time_us", "packet_number",
)  # fmt: skip


def request_row(
    series: str, capture: str, connection_id: str, index: int, key: int, version: int, kind: ExchangeKind,
    correlation_id: int | None, client_id: str | None, instance_id: str | None,
    software_name: str | None, software_version: str | None, principal: str | None,
    arrived: int | None, responded: int | None, latency: int | None, code: int | None, throttle: int | None,
    acks: int | None, first_topic: str | None, topic_count: int | None, group_id: str | None, transactional_id: str | None,
    state: RequestState, body: Body, queue: int | None, local: int | None, remote: int | None, line: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Make a row of `LOGGED_COLUMNS`; times and durations in microseconds, None for what is not known.

    Args:
        index: order of the request in the connection.
        kind: of the api at the version.
        instance_id, software_name, software_version: of the client, in force at the request.
        code: error code of the response.
        line: number of the line.
    """
    return (
        series, capture, connection_id, index, key, kind.api_name, version, kind.header_version,
        correlation_id, client_id, instance_id, software_name, software_version, principal,
        arrived, responded, latency, code, "NONE" if code == 0 else None if code is None else error_name(code), throttle,
        acks, first_topic, topic_count, group_id, transactional_id, state, body,
        queue, local, remote, line,
    )  # fmt: skip
