"""Columns of the largest table, `requests`. Each is declared once; all writers of rows and the redaction use this table.

To add a column for a field of message bodies, add a line here and an attribute of `kwire.protocol.events.RequestCompleted`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = [
    "BODY_COLUMNS", "MOST_BODY_COLUMNS", "REQUEST_BODIES", "REQUEST_COLUMNS", "RESPONSE_BODIES", "Body", "Column", "ColumnClass",
    "columns_from",
]  # fmt: skip

ColumnType = Literal["bool", "int32", "int64", "string", "strings", "ints", "time"]

ColumnClass = Literal[
    "plain",  # numbers, times, words of Kafka and of kwire, names and versions of libraries
    "client_key",
    "address",
    "address_and_port",
    "connection",  # server_ip:port-client_ip:port-n
    "host",  # a name or an address
    "principal",
    "client",  # client id
    "instance",  # client instance id
    "topic",
    "topic_id",
    "topic_partitions",  # topic:0,1,2
    "subscription",  # a topic, or regex:...
    "group",
    "member",
    "transaction",
    "cluster",
    "rack",
    "file",
    "series",
    "sentence",  # ours, with quotes from the wire and names of files in it
    "difference",  # between two generations of a group
    "wire_text",  # written by a client
    "protocol",  # a protocol, assignor or mechanism: Kafka's own or not
    "metric",  # name of a metric
    "attributes",  # of metrics
]

# Where the value of a column comes from, where it is not a body:
#   writer   the writer of rows knows it: names of files and connections, a word for a number
#   state    what is known of a connection or of one exchange: the attribute of this name of `RequestCompleted` or `ConnectionSummary`
#   time     the same in nanoseconds; the column has microseconds
#   tcp      the reassembly of streams (`kwire.capture.tcp.TcpConnection`)
#   series   filled in when all of a series was read
#   log      request logs alone have it
Source = Literal["writer", "state", "time", "tcp", "series", "log"]


class Body(NamedTuple):
    """Field of message bodies, found by a plan with a projection."""

    side: Literal["request", "response"]
    field: str = ""  # attribute of the message, dotted if deeper; for an array the first value that is not null
    entity: str = ""  # instead: outermost string of this entity type of Kafka's definitions
    api: str = ""  # name of the only API; empty for all


class Column(NamedTuple):
    """Column of a table."""

    name: str
    type: ColumnType  # Arrow's, with `time` for UTC microseconds; `int32` or `string` for a column from a body
    source: Source | Body
    redaction: ColumnClass  # `kwire.analysis.redaction` hashes all but `plain`
    description: str  # contents, with their unit


REQUEST_COLUMNS: Final = (
    Column("series", "string", "writer", "series", "file group that the capture belongs to"),
    Column("capture", "string", "writer", "file", "file in which the request's first byte lies"),
    Column("connection_id", "string", "writer", "connection", "server_ip:port-client_ip:port-n"),
    Column("client_key", "string", "series", "client_key", "of the connection, as it holds at its end"),
    Column("request_index", "int64", "writer", "plain", "order in the connection, from 0; null for an orphan response"),
    Column("api_key", "int32", "state", "plain", "number of the API"),
    Column("api_name", "string", "state", "plain", "Kafka's name of the API; null for an API that the catalog does not have"),
    Column("api_version", "int32", "state", "plain", "version of the request"),
    Column("header_version", "int32", "state", "plain", "version of the request's header; null where the API or its version is unknown"),
    Column("correlation_id", "int32", "state", "plain", "of the request's header"),
    Column("client_id", "string", "state", "client", "of the request's header"),
    Column("client_instance_id", "string", "state", "instance", "in force at the request, in Kafka's 22 letters (KIP-714)"),
    Column("software_name", "string", "state", "plain", "in force at the request; `unknown`: sent none; null: not observed (KIP-511)"),
    Column("software_version", "string", "state", "plain", "in force at the request, as software_name"),
    Column("principal", "string", "state", "principal", "in force at the request, such as User:alice; null without authentication"),
    Column("request_time", "time", "time", "plain", "arrival of the request's last byte"),
    Column("response_time", "time", "time", "plain", "arrival of the response's last byte"),
    Column("latency_us", "int64", "state", "plain", "microseconds from request to response; null across a gap"),
    Column("request_bytes", "int64", "state", "plain", "bytes of the request's frame with its length"),
    Column("response_bytes", "int64", "state", "plain", "bytes of the response's frame with its length"),
    Column("error_code", "int32", "state", "plain", "of the whole response, if 0 the first inside that is not; null if a cut hides it"),
    Column("error_name", "string", "writer", "plain", "Kafka's name of error_code"),
    Column("is_error", "bool", "writer", "plain", "error_code is neither 0 nor an expected step of the protocol; null without a code"),
    Column("throttle_time_ms", "int32", Body("response", "throttle_time_ms"), "plain", "milliseconds that the broker throttled the client"),
    Column("acks", "int32", Body("request", "acks"), "plain", "acknowledgements that a Produce asks for: -1 for all, 0 for no response"),
    Column("first_topic", "string", "state", "topic", "name of the first topic of the request"),
    Column("topic_count", "int32", "state", "plain", "how many topics the request names; null for all topics"),
    Column("group_id", "string", Body("request", entity="groupId"), "group", "the request's group"),
    Column("transactional_id", "string", Body("request", entity="transactionalId"), "transaction", "the request's transactional id"),
    Column("rack_id", "string", Body("request", "rack_id", api="Fetch"), "rack", "rack of the consumer, empty without one (KIP-392)"),
    Column("max_wait_ms", "int32", Body("request", "max_wait_ms", api="Fetch"), "plain", "milliseconds that a Fetch lets the broker wait"),
    Column("state", "string", "state", "plain", "answered, no_response_expected, unanswered, abandoned, unseen or orphan_response"),
    Column("body", "string", "state", "plain", "how the request's body was read: decoded, truncated, malformed, unsupported or skipped"),
    Column("queue_time_us", "int64", "log", "plain", "microseconds in the broker's request queue; from a request log only"),
    Column("local_time_us", "int64", "log", "plain", "microseconds of the broker's own work; from a request log only"),
    Column("remote_time_us", "int64", "log", "plain", "microseconds of waiting for other brokers; from a request log only"),
    Column("packet_number", "int64", "writer", "plain", "packet of the frame's first byte in its file; of a request log the line"),
    Column("stream_offset", "int64", "state", "plain", "bytes of its direction before the frame"),
)  # fmt: skip

MOST_BODY_COLUMNS: Final = 12
"""Largest number of such columns in a row of the native tracker (`MOST_COLUMNS` of pyx/protocol/request_rows.pxd)."""

# The order of these is that of the native rows' slots, and of the values of `kwire.tables.request_logs`.
BODY_COLUMNS: Final = tuple(each for each in REQUEST_COLUMNS if isinstance(each.source, Body))


def _bodies(side: str) -> tuple[tuple[Column, Body], ...]:
    return tuple((each, each.source) for each in BODY_COLUMNS if isinstance(each.source, Body) and each.source.side == side)


# Columns that requests feed, and that responses do, each with its field.
REQUEST_BODIES: Final = _bodies("request")
RESPONSE_BODIES: Final = _bodies("response")


def columns_from(columns: tuple[Column, ...], *sources: Source) -> tuple[str, ...]:
    return tuple(each.name for each in columns if each.source in sources)
