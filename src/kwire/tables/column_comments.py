"""Description of each column of each table, a sentence; counts and measures end with their unit in brackets.

Columns of `requests` and `connections` are described at their declarations (`kwire.protocol.row_columns`, `kwire.tables.columns`), all
others here. `kwire.tables.schemas.SCHEMAS`, the data source, the Parquet files and the tables of a catalog have these texts as field
metadata `comment`. A test finds columns without a description.
"""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

from kwire.codec.arrow_types import spark_type
from kwire.json_encoding import encode_json
from kwire.protocol.row_columns import REQUEST_COLUMNS
from kwire.tables.columns import CONNECTION_COLUMNS

__all__ = ["COMMENT", "COMMENTS", "DECLARED", "OF_TABLES", "comment_of", "commented_ddl", "with_comments"]

COMMENT: Final = b"comment"
"""Key of field metadata for the comment of a column, as in Spark."""

DECLARED: Final = {
    "requests": {column.name: column.description for column in REQUEST_COLUMNS},
    "connections": {column.name: column.description for column in CONNECTION_COLUMNS},
}
"""Comments from the declarations of columns, by table; their units are in the sentences."""

_SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"

COMMENTS: Final[dict[str, str]] = {
    "acks": "acks of Produce: 0, 1 or -1 for all [number]",
    "addresses": "addresses of the client's connections, sorted",
    "api_key": "Kafka's number of the API [number]",
    "api_name": "Kafka's name of the API, such as ApiVersions",
    "api_version": "version of the API [number]",
    "assignment": "partitions assigned to the member, each text topic:partition,partition; for Connect connector:task,task, "
    "where -1 is the connector itself; null where not decoded",
    "attributes": "attributes of the metric point",
    "batches": "record batches seen; null where none was seen whole [count]",
    "buckets": "buckets of a histogram as JSON",
    "bytes": "bytes of the packets of the file as they were on the wire [bytes]",
    "bytes_cut": "bytes that the snap length cut off [bytes]",
    "bytes_damaged": "bytes of the file, decompressed, that make no packet records; null for request logs [bytes]",
    "bytes_decrypted": "application data of TLS that was decrypted [bytes]",
    "bytes_lost": "bytes in gaps of the streams [bytes]",
    "bytes_opaque": "bytes of TLS that was not decrypted and of protocols other than Kafka's [bytes]",
    "capture": "file in which it begins",
    "client_address": "address of the client",
    "client_id": "client id of the request header",
    "client_ids": "client ids seen, sorted",
    "client_instance_id": "client instance id (KIP-714, KIP-1313)",
    "client_key": "hash that names the client in all tables: software, version, client id with digits folded, principal",
    "cluster_id": "id of the cluster",
    "compression": "compression codecs of the record batches",
    "confidence": "how sure it is: high, medium or low",
    "connection_id": "server_ip:port-client_ip:port-n; n counts reuse of the four-tuple in the series, from 0",
    "connections": "TCP connections [count]",
    "connections_refused": "connections that only a reset answered [count]",
    "contact": "how to reach the owner, from the owners file",
    "count": "1; of the row behind the first hundred of a kind in a connection how many more there were [count]",
    "cure_kind": "where the fix is made: library, config or proxy",
    "cure_version": "version of the library, or value, that fixes it",
    "diff": "what changed in the group, in words",
    "direction": "produce or fetch",
    "disconnects": "requests that the server hung up on [count]",
    "duration_us": "how long the step took [microseconds]",
    "end": "time of the last packet or line [UTC]",
    "error_name": "Kafka's name of the error code",
    "error_names": "names of the errors that count, sorted",
    "errors": "answers with an error code (requests.is_error), and requests that the server hung up on [count]",
    "event": "kind of step: join, sync, leave, rebalance, heartbeat_error, offset_commit_error, consumer_heartbeat or expired",
    "evidence_connection_id": "connection of a request that shows it",
    "evidence_request_index": "place of that request in its connection, from 0 [index]",
    "explanation": "what is wrong, in a sentence",
    "first_seen": "time of the first packet or request [UTC]",
    "generation": "generation or member epoch of the group [number]",
    "group_id": "consumer group",
    "group_ids": "groups that the client fetches for, sorted",
    "group_instance_id": "static member's instance id (group.instance.id)",
    "host": "host that the broker advertises",
    "hour": "hour that the row counts, its beginning [UTC]",
    "identity_source": "where the software name is from: api_versions, fingerprint, not_sent or not_observed",
    "joined_late": "connections that were open before the capture began [count]",
    "last_seen": "time of the last packet or request [UTC]",
    "latency_histogram": "requests by latency: upper bound of a bucket and how many [microseconds, count]",
    "latency_p50_us": "median latency, from a histogram [microseconds]",
    "latency_p99_us": "99th percentile of the latency, from a histogram [microseconds]",
    "leader": "member id of the group's leader",
    "library_guess": "library and range of versions that send what was seen, in words",
    "library_guess_after": "the nearest earlier versions known to differ; null where none is known",
    "library_guess_before": "the nearest later versions known to differ; null where none is known",
    "library_guess_tried": "known versions in between that send the same",
    "link_types_unread": "link types that are not read, each as NAME (NUMBER): PACKETS; null where there are none",
    "magic": "versions of the record format [number]",
    "max_batch_bytes": "largest record batch [bytes]",
    "member_id": "member of the group",
    "members_after": "members after the step [count]",
    "members_before": "members before the step [count]",
    "metric": "name of the metric",
    "node_id": "broker's node id [number]",
    "one_way": "connections of which only one direction is in the capture [count]",
    "owner": "team that the owners file assigns the client to",
    "packet_number": "number of the packet in its file, from 1, as Wireshark counts [number]",
    "packets": "packets in the file [count]",
    "packets_dropped": "packets that the capturing program lost; null where the file cannot know [count]",
    "packets_unread": "packets of link types that are not read [count]",
    "partitions": "partition numbers, sorted [number]",
    "port": "TCP port that the broker advertises [number]",
    "principal": "authenticated principal, such as User:alice; null without authentication",
    "principals": "principals seen, sorted",
    "protocol": "protocol of the connection: kafka, tls, http, ssh, silent, unknown and others",
    "protocol_name": "assignor or protocol that the group chose",
    "protocol_type": "protocol type of the group, such as consumer or connect",
    "rack": "rack of the broker",
    "reason": "why, in a sentence",
    "rebalance_timeout_ms": "rebalance timeout that the member asked for [milliseconds]",
    "records": "records seen; null where none was seen whole [count]",
    "refused_by": "of a deprecated use the first later release that refuses the client for it; null without one",
    "release_guess": "release that the broker names in its own requests, else those that advertise these versions; null if none",
    "remedy": "what to do, in a sentence",
    "request_bytes": "bytes of request frames, with their lengths [bytes]",
    "request_index": "place of the request in its connection, from 0; null for an orphan response [index]",
    "requests": "requests [count]",
    "resource": "attributes of the resource that the metrics are of",
    "response_bytes": "bytes of response frames, with their lengths [bytes]",
    "role": "what the client is: client, broker or controller",
    "rule": "id of the rule that is broken (docs: violations)",
    "series": "file group: the rotated files of a capture",
    "server": "address:port of the broker",
    "session_timeout_ms": "session timeout that the member asked for [milliseconds]",
    "severity": "error, warning or info",
    "sha256": "SHA-256 of the file as stored; of a divided file sha256-4MiB: and the SHA-256 over those of its 4 MiB blocks",
    "snaplen": "most bytes of a packet that the file holds [bytes]",
    "software_name": "client software (KIP-511); unknown where the client sends none, null where nothing was observed",
    "software_version": "version of the client software (KIP-511)",
    "source": "kind of file: pcap, request_log, request_log_deprecated or proxy",
    "start": "time of the first packet or line [UTC]",
    "start_time": "beginning of the interval that the point covers [UTC]",
    "stream_offset": "offset of the frame in the byte stream of its direction [bytes]",
    "subscription": "topics that the member subscribed to",
    "subscription_id": "telemetry subscription that the broker gave (KIP-714) [number]",
    "target_release": "Kafka release that the verdict is about",
    "temporality": "delta or cumulative",
    "terminating": "the client's last push before it ended",
    "throttle_ms": "sum of the throttle times in responses [milliseconds]",
    "time": "time of the point or step [UTC]",
    "topic": "topic; null if no captured message has the name of the id",
    "topic_id": "topic id (KIP-516)",
    "trigger_member_id": "member that caused the step",
    "type": "gauge, sum, histogram, exponential_histogram or summary",
    "unanswered": "requests without an answer, where one was expected [count]",
    "unseen": "requests whose answer may lie in bytes that the capture lacks [count]",
    "unseen_requests": "requests whose records may be outside the capture; null from a request log [count]",
    "value": "value of the point; of histograms and summaries the sum [unit of the metric]",
    "verdict": "breaks, unknown, deprecated or compatible",
    "verdict_basis": "why: observed_refusal, own_maximum, no_negotiation, known_client, broker_ceiling, inside_range or removed_feature",
    "versions": "versions of each API that the broker advertises [number]",
}
"""Comments by column name, for columns with the same meaning in every table."""

OF_TABLES: Final[dict[tuple[str, str], str]] = {
    ("brokers", "addresses"): "addresses that the broker was reached at, sorted",
    ("captures", "capture"): "the file, path or URI",
    ("client_hourly", "connections"): "connections with such a request in this hour [count]",
    ("client_hourly", "errors"): "requests answered with an error code (requests.is_error) [count]",
    ("clients", "request_bytes"): "bytes of request frames of all connections [bytes]",
    ("clients", "response_bytes"): "bytes of response frames of all connections [bytes]",
    ("group_events", "protocol"): "group protocol: classic, consumer, share or streams",
    ("group_events", "reason"): "reason that the member or the coordinator gave",
    ("telemetry", "count"): "observations of a histogram or summary [count]",
    ("topic_access", "acks"): "acks of Produce seen, sorted [number]",
    ("topic_access", "bytes"): "bytes of record batches; null where none was seen whole [bytes]",
    ("topic_access", "errors"): "partitions that were answered with an error [count]",
}
"""Comments by table and column, for columns with a special meaning in a table."""


def comment_of(table: str, column: str) -> str:
    declared = DECLARED.get(table, {})
    return declared[column] if column in declared else OF_TABLES.get((table, column)) or COMMENTS[column]


def commented_ddl(schema: pa.Schema) -> str:
    """Return a schema as Spark's DDL, with the comments in its metadata."""
    return ", ".join(f"`{field.name}` {spark_type(field.type)}{_ddl_comment(field)}" for field in schema)


def _ddl_comment(field: pa.Field[Any]) -> str:
    comment = (field.metadata or {}).get(COMMENT, b"").decode().replace("\\", "\\\\").replace("'", "\\'")
    return f" COMMENT '{comment}'" if comment else ""


def with_comments(table: str, schema: pa.Schema) -> pa.Schema:
    """Return a schema whose fields carry the comments of a table, with Spark's own form of them for Parquet files."""
    fields = [field.with_metadata({COMMENT: comment_of(table, field.name).encode()}) for field in schema]
    described = [
        {"name": field.name, "type": _spark_json(field.type), "nullable": True, "metadata": {"comment": comment_of(table, field.name)}}
        for field in schema
    ]
    spark = encode_json({"type": "struct", "fields": described})
    return pa.schema(fields, metadata={_SPARK_SCHEMA: spark.encode()})


_SPARK_NAMES: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "boolean", pa.int32(): "integer", pa.int64(): "long", pa.float64(): "double", pa.string(): "string", pa.binary(): "binary",
    pa.timestamp("us", tz="UTC"): "timestamp",
}  # fmt: skip


def _spark_json(kind: Any) -> Any:
    if pa.types.is_map(kind):
        return {"type": "map", "keyType": _spark_json(kind.key_type), "valueType": _spark_json(kind.item_type), "valueContainsNull": True}
    if pa.types.is_list(kind):
        return {"type": "array", "elementType": _spark_json(kind.value_type), "containsNull": True}
    if pa.types.is_struct(kind):
        inner = [kind.field(index) for index in range(kind.num_fields)]
        fields = [{"name": each.name, "type": _spark_json(each.type), "nullable": True, "metadata": {}} for each in inner]
        return {"type": "struct", "fields": fields}
    return _SPARK_NAMES[kind]
