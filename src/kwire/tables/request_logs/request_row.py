"""The one place where an entry of a request log becomes a row of `requests`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES
from kwire.schema import error_name
from kwire.tables.request_logs.exchange_kinds import ExchangeKind, FirstFields

__all__ = ["LOGGED_COLUMNS", "Sender", "request_row"]

# The columns of `kwire.tables.schemas.REQUESTS` that a log knows, in the order of the tuple below; all others are null.
LOGGED_COLUMNS: Final = (
    "series", "capture", "connection_id", "client_id", "client_instance_id", "software_name", "software_version", "principal",
    "api_key", "api_name", "api_version", "header_version", "request_index", "correlation_id",
    "request_time", "response_time", "latency_us", "error_code", "error_name",
    *(column.name for column, _ in RESPONSE_BODIES), *(column.name for column, _ in REQUEST_BODIES), "first_topic", "topic_count",
    "state", "body",
    "queue_time_us", "local_time_us", "remote_time_us", "packet_number",
)  # fmt: skip

# What the rows of a connection have in common while its client stays the same: the columns from series to principal.
Sender = tuple[str, str, str, str | None, str | None, str | None, str | None, str | None]


def request_row(
    sender: Sender, kind: ExchangeKind, outcome: tuple[str, str], index: int, correlation_id: int | None, arrived: int | None,
    responded: int | None, latency: int | None, code: int | None, answered: Sequence[Any], first: FirstFields, queue: int | None,
    local: int | None, remote: int | None, line: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Make a row of `LOGGED_COLUMNS`; times and durations in microseconds, None for what is not known.

    Args:
        sender: what it shares with other rows; identity as in force at the request.
        kind: of the api at the version.
        outcome: state and body.
        index: order of the request in the connection.
        code: error code of the response.
        answered, first: what the response and the request say, as of `ExchangeKind`.
        line: number of the line.
    """
    return (
        *sender, kind.api_key, kind.api_name, kind.version, kind.header_version, index, correlation_id, arrived, responded, latency,
        code, "NONE" if code == 0 else None if code is None else error_name(code), *answered, *first, *outcome, queue, local, remote, line,
    )  # fmt: skip
