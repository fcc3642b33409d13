"""Schema of each table, one line per column.

Spark accepts all types unchanged (there are no unsigned, dictionary or large types): times are UTC in microseconds, ports, keys and
versions are 32-bit, counts and bytes 64-bit. Every column may be null: null is "not known", never 0 or "". The columns of `requests` and
`connections` are declared in `kwire.protocol.row_columns` and `kwire.tables.columns`.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from kwire.protocol.row_columns import REQUEST_COLUMNS, Column
from kwire.tables.column_comments import with_comments
from kwire.tables.columns import CONNECTION_COLUMNS

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
RANGES: Final = pa.list_(
    pa.field(
        "element",
        pa.struct(
            [
                pa.field("api_key", INT),
                pa.field("api_name", TEXT),
                pa.field("min_version", INT),
                pa.field("max_version", INT),
            ]
        ),
    )
)


_ARROW: Final[dict[str, pa.DataType]] = {
    "bool": BOOL, "int32": INT, "int64": LONG, "string": TEXT, "strings": TEXTS, "ints": INTS, "time": TIME,
}  # fmt: skip


def schema_of(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """Create a schema from (name, type) pairs; every column may be null."""
    return pa.schema([pa.field(name, kind) for name, kind in columns])


def schema_from(columns: tuple[Column, ...]) -> pa.Schema:
    return schema_of(*((column.name, _ARROW[column.type]) for column in columns))


CAPTURES: Final = schema_of(
    ("capture", TEXT),
    ("series", TEXT),
    ("source", TEXT),  # pcap, request_log, request_log_deprecated, proxy
    ("sha256", TEXT),
    ("start", TIME),
    ("end", TIME),
    ("packets", LONG),
    ("packets_dropped", LONG),  # null when the file cannot know
    ("packets_unread", LONG),  # of link types that are not read
    ("link_types_unread", TEXT),  # each with its number and packets; null without any
    ("snaplen", LONG),
    ("bytes", LONG),
    ("bytes_cut", LONG),  # by the snap length
    ("bytes_damaged", LONG),  # of the file, decompressed, that make no records; null for request logs
    ("bytes_lost", LONG),  # in gaps; a direction that is not in the capture at all has none
    ("bytes_opaque", LONG),  # TLS that could not be deciphered, and other protocols
    ("bytes_decrypted", LONG),  # application data of TLS
    ("connections", LONG),
    ("connections_refused", LONG),  # of these, attempts that only a reset answered
    ("joined_late", LONG),
    ("one_way", LONG),
    ("requests", LONG),
    ("unanswered", LONG),
    ("unseen", LONG),  # requests whose answer may lie in bytes that the capture lacks
)

CONNECTIONS: Final = schema_from(CONNECTION_COLUMNS)
REQUESTS: Final = schema_from(REQUEST_COLUMNS)

VIOLATIONS: Final = schema_of(
    ("series", TEXT),
    ("capture", TEXT),
    ("connection_id", TEXT),
    ("rule", TEXT),
    ("severity", TEXT),  # error, warning, info
    ("client_key", TEXT),
    ("request_index", LONG),
    ("packet_number", LONG),
    ("stream_offset", LONG),
    ("software_name", TEXT),
    ("client_id", TEXT),
    ("explanation", TEXT),
    ("count", LONG),  # 1; of the row behind the first hundred of a kind in a connection how many there were more
)

MESSAGE_EVIDENCE: Final = schema_of(  # what stands beside a message that was asked for: its frame, and the request that it is or answers
    ("series", TEXT),
    ("capture", TEXT),  # the file where the frame begins
    ("connection_id", TEXT),
    ("request_index", LONG),
    ("correlation_id", INT),
    ("client_id", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("principal", TEXT),
    ("time", TIME),  # of the frame's last byte
    ("packet_number", LONG),
    ("stream_offset", LONG),
)

MESSAGE_FRAMES: Final = pa.schema([*MESSAGE_EVIDENCE, pa.field("frame", pa.binary())])

TELEMETRY: Final = schema_of(  # a metric point that a client pushed (KIP-714)
    ("series", TEXT),
    ("capture", TEXT),
    ("connection_id", TEXT),
    ("client_key", TEXT),
    ("request_index", LONG),
    ("client_instance_id", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("client_id", TEXT),
    ("principal", TEXT),
    ("subscription_id", INT),
    ("terminating", BOOL),
    ("metric", TEXT),
    ("type", TEXT),  # gauge, sum, histogram, exponential_histogram, summary
    ("temporality", TEXT),  # delta, cumulative
    ("value", DOUBLE),  # of histograms and summaries the sum
    ("count", LONG),  # of observations
    ("buckets", TEXT),  # JSON, as `kwire.protocol.telemetry.decode_metrics` gives them
    ("attributes", TEXT_MAP),
    ("resource", TEXT_MAP),
    ("start_time", TIME),
    ("time", TIME),
)

TOPIC_ACCESS: Final = schema_of(  # client x topic x direction
    ("client_key", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("client_id", TEXT),
    ("principals", TEXTS),
    ("addresses", TEXTS),
    ("group_ids", TEXTS),  # groups of a client that fetches
    ("topic", TEXT),  # null where no captured message has the name of the id
    ("topic_id", TEXT),
    ("direction", TEXT),  # produce, fetch
    ("requests", LONG),
    ("errors", LONG),  # partitions that were answered with an error
    ("error_names", TEXTS),
    ("unseen_requests", LONG),  # of which records may have travelled that are not in the capture; null from a request log
    ("records", LONG),  # these four of what was seen; null where nothing was seen whole
    ("batches", LONG),
    ("bytes", LONG),  # of record batches
    ("max_batch_bytes", LONG),
    ("magic", INTS),
    ("compression", TEXTS),
    ("acks", INTS),
    ("partitions", INTS),
    ("first_seen", TIME),
    ("last_seen", TIME),
)

GROUP_EVENTS: Final = schema_of(  # a step of a group
    ("series", TEXT),
    ("capture", TEXT),
    ("connection_id", TEXT),
    ("request_index", LONG),
    ("group_id", TEXT),
    ("event", TEXT),  # join, sync, leave, rebalance, heartbeat_error, offset_commit_error, consumer_heartbeat, expired
    ("protocol", TEXT),  # classic, consumer, share, streams
    ("trigger_member_id", TEXT),
    ("member_id", TEXT),
    ("group_instance_id", TEXT),
    ("client_key", TEXT),
    ("client_id", TEXT),
    ("client_address", TEXT),
    ("generation", INT),
    ("protocol_type", TEXT),
    ("protocol_name", TEXT),
    ("leader", TEXT),
    ("subscription", TEXTS),
    ("assignment", TEXTS),  # topic:partition,partition
    ("members_before", INT),
    ("members_after", INT),
    ("session_timeout_ms", INT),
    ("rebalance_timeout_ms", INT),
    ("duration_us", LONG),
    ("error_name", TEXT),
    ("reason", TEXT),
    ("diff", TEXT),
    ("time", TIME),
)

CLIENT_HOURLY: Final = schema_of(  # client x node x api x version x hour
    ("client_key", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("hour", TIME),
    ("server", TEXT),  # address:port
    ("node_id", INT),
    ("api_key", INT),
    ("api_name", TEXT),
    ("api_version", INT),
    ("requests", LONG),
    ("errors", LONG),
    ("connections", LONG),  # with such a request in this hour
    ("request_bytes", LONG),
    ("response_bytes", LONG),
    ("throttle_ms", LONG),
    ("latency_histogram", BUCKETS),
)

CLIENTS: Final = schema_of(
    ("client_key", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("identity_source", TEXT),  # api_versions, fingerprint, not_sent, not_observed
    ("library_guess", TEXT),  # library and range of versions, in words
    ("library_guess_after", TEXT),  # the nearest versions known to differ: later than this one, null where none is known
    ("library_guess_before", TEXT),  # earlier than this one
    ("library_guess_tried", TEXTS),  # known versions in between that send the same
    ("confidence", TEXT),  # of the guess: high, medium, low
    ("client_ids", TEXTS),
    ("addresses", TEXTS),
    ("principals", TEXTS),
    ("role", TEXT),
    ("owner", TEXT),  # team, by --owners
    ("contact", TEXT),
    ("connections", LONG),
    ("requests", LONG),
    ("errors", LONG),  # the sum of api_usage's
    ("request_bytes", LONG),
    ("response_bytes", LONG),
    ("first_seen", TIME),
    ("last_seen", TIME),
)

API_USAGE: Final = schema_of(
    ("client_key", TEXT),
    ("software_name", TEXT),
    ("software_version", TEXT),
    ("client_id", TEXT),
    ("api_key", INT),
    ("api_name", TEXT),
    ("api_version", INT),
    ("requests", LONG),
    ("errors", LONG),  # answers with an error code, and requests that the server hung up on
    ("disconnects", LONG),  # of these, the ones that it hung up on
    ("error_names", TEXTS),
    ("latency_p50_us", LONG),
    ("latency_p99_us", LONG),
    ("first_seen", TIME),
    ("last_seen", TIME),
)

UPGRADE_IMPACT: Final = pa.schema(
    [
        *API_USAGE,
        *schema_of(
            ("addresses", TEXTS),
            ("principals", TEXTS),
            ("owner", TEXT),
            ("contact", TEXT),
            ("target_release", TEXT),
            ("verdict", TEXT),  # breaks, unknown, deprecated, compatible
            ("verdict_basis", TEXT),  # `kwire.analysis.verdicts.Basis`
            ("confidence", TEXT),  # high, medium, low
            ("evidence_connection_id", TEXT),
            ("evidence_request_index", LONG),
            ("reason", TEXT),  # one sentence
            ("remedy", TEXT),
            ("cure_version", TEXT),
            ("cure_kind", TEXT),  # library, config, proxy
            ("refused_by", TEXT),  # of a deprecated use: the first later release that refuses the client for it, null without one
        ),
    ]
)

BROKERS: Final = schema_of(
    ("node_id", INT),
    ("host", TEXT),
    ("addresses", TEXTS),
    ("port", INT),
    ("rack", TEXT),
    ("cluster_id", TEXT),
    ("versions", RANGES),  # advertised, which is not the same as accepted
    ("release_guess", TEXT),
    ("first_seen", TIME),
    ("last_seen", TIME),
)

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
