"""Schema of each table.

Spark accepts all types unchanged (there are no unsigned, dictionary or large types): times are UTC in microseconds, ports, keys and
versions are 32-bit, counts and bytes 64-bit. Every column may be null: null is "not known", never 0 or "". The columns of `requests`,
`connections` and all others are declared in `kwire.protocol.row_columns`, `kwire.tables.columns` and `kwire.tables.shared_columns`.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kwire.protocol.row_columns import REQUEST_COLUMNS, Column
from kwire.tables.column_comments import with_comments
from kwire.tables.columns import CONNECTION_COLUMNS
from kwire.tables.shared_columns import SHARED

BOOL: Final = pa.bool_()
INT: Final = pa.int32()
LONG: Final = pa.int64()
TEXT: Final = pa.string()
TEXTS: Final = pa.list_(pa.field("element", TEXT))
TIME: Final = pa.timestamp("us", tz="UTC")
DOUBLE: Final = pa.float64()
INTS: Final = pa.list_(pa.field("element", INT))
TEXT_MAP: Final = pa.map_(TEXT, TEXT)
BUCKETS: Final = pa.list_(pa.field("element", pa.struct([pa.field("up_to_us", LONG), pa.field("requests", LONG)])))
RANGES: Final = pa.list_(pa.field("element", pa.struct([("api_key", INT), ("api_name", TEXT), ("min_version", INT), ("max_version", INT)])))

_ARROW: Final[dict[str, pa.DataType]] = {
    "bool": BOOL, "int32": INT, "int64": LONG, "string": TEXT, "strings": TEXTS, "ints": INTS, "time": TIME, "double": DOUBLE,
    "map": TEXT_MAP, "buckets": BUCKETS, "ranges": RANGES,
}  # fmt: skip


def schema_of(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """Create a schema from (name, type) pairs; every column may be null."""
    return pa.schema([pa.field(name, kind) for name, kind in columns])


def schema_from(columns: tuple[Column, ...]) -> pa.Schema:
    return schema_of(*((column.name, _ARROW[column.type]) for column in columns))


TYPES: Final = {
    **{column.name: _ARROW[column.type] for column in (*CONNECTION_COLUMNS, *REQUEST_COLUMNS)},
    **{name: _ARROW[column.type] for name, column in SHARED.items()},
}
"""Types of columns by name, for columns of the same type in all tables."""


def schema_named(names: str, **types: pa.DataType) -> pa.Schema:
    """Create a schema from names in a text; `types` has those of columns that are in no table of an analysis."""
    return schema_of(*((name, types[name] if name in types else TYPES[name]) for name in names.split()))


CONNECTIONS: Final = schema_from(CONNECTION_COLUMNS)
REQUESTS: Final = schema_from(REQUEST_COLUMNS)

CAPTURES: Final = schema_named("""
    capture series source sha256 start end packets packets_dropped packets_unread link_types_unread snaplen bytes bytes_cut
    bytes_damaged bytes_lost bytes_opaque bytes_decrypted connections connections_refused joined_late one_way requests unanswered unseen
""")
VIOLATIONS: Final = schema_named("""
    series capture connection_id rule severity client_key request_index packet_number stream_offset software_name client_id explanation
    count
""")
# What stands beside a message that was asked for: its frame, and the request that it is or answers.
MESSAGE_EVIDENCE: Final = schema_named("""
    series capture connection_id request_index correlation_id client_id software_name software_version principal time packet_number
    stream_offset
""")
MESSAGE_FRAMES: Final = pa.schema([*MESSAGE_EVIDENCE, pa.field("frame", pa.binary())])
# A metric point that a client pushed (KIP-714).
TELEMETRY: Final = schema_named("""
    series capture connection_id client_key request_index client_instance_id software_name software_version client_id principal
    subscription_id terminating metric type temporality value count buckets attributes resource start_time time
""")
# Client x topic x direction.
TOPIC_ACCESS: Final = schema_named("""
    client_key software_name software_version client_id principals addresses group_ids topic topic_id direction requests errors
    error_names unseen_requests records batches bytes max_batch_bytes magic compression acks partitions first_seen last_seen
""")
# A step of a group.
GROUP_EVENTS: Final = schema_named("""
    series capture connection_id request_index group_id event protocol trigger_member_id member_id group_instance_id client_key
    client_id client_address generation protocol_type protocol_name leader subscription assignment members_before members_after
    session_timeout_ms rebalance_timeout_ms duration_us error_name reason diff time
""")
# Client x node x api x version x hour.
CLIENT_HOURLY: Final = schema_named("""
    client_key software_name software_version hour server node_id api_key api_name api_version requests errors connections request_bytes
    response_bytes throttle_ms latency_histogram
""")
CLIENTS: Final = schema_named("""
    client_key software_name software_version identity_source library_guess library_guess_after library_guess_before library_guess_tried
    confidence client_ids addresses principals role owner contact connections requests errors request_bytes response_bytes first_seen
    last_seen
""")
API_USAGE: Final = schema_named("""
    client_key software_name software_version client_id api_key api_name api_version requests errors disconnects error_names
    latency_p50_us latency_p99_us first_seen last_seen
""")
UPGRADE_IMPACT: Final = schema_named(f"""
    {" ".join(API_USAGE.names)}
    addresses principals owner contact target_release verdict verdict_basis confidence evidence_connection_id evidence_request_index
    reason remedy cure_version cure_kind refused_by
""")
BROKERS: Final = schema_named("""
    node_id host addresses port rack cluster_id versions release_guess first_seen last_seen
""")

_TABLES: Final[dict[str, pa.Schema]] = {
    "captures": CAPTURES,
    "connections": CONNECTIONS,
    "requests": REQUESTS,
    "violations": VIOLATIONS,
    "telemetry": TELEMETRY,
    "group_events": GROUP_EVENTS,
    "topic_access": TOPIC_ACCESS,
    "client_hourly": CLIENT_HOURLY,
    "clients": CLIENTS,
    "api_usage": API_USAGE,
    "upgrade_impact": UPGRADE_IMPACT,
    "brokers": BROKERS,
}

SCHEMAS: Final = {table: with_comments(table, schema) for table, schema in _TABLES.items()}
"""Tables of an analysis; the metadata `comment` of each field describes the column."""

# The tables whose rows come straight out of a capture; the others are made from these by `kwire.analysis`.
ROW_TABLES: Final = ("captures", "connections", "requests", "violations", "telemetry")
