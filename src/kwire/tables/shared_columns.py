"""Columns of all tables but `requests` and `connections`, each declared once: type, class of redaction, and contents.

A column with the same name has the same type and meaning in every table; `OF_TABLES` has what is special in one of them. The columns of
`requests` and `connections` are declared in `kwire.protocol.row_columns` and `kwire.tables.columns`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from kwire.protocol.row_columns import ColumnClass, ColumnType

__all__ = ["CLASSES_OF_TABLES", "OF_TABLES", "SHARED", "Shared"]


class Shared(NamedTuple):
    """Column of several tables; counts and measures end their description with the unit in brackets."""

    type: ColumnType | Literal["double", "map", "buckets", "ranges"]
    redaction: ColumnClass
    description: str


SHARED: Final = {
    "acks": Shared("ints", "plain", "acks of Produce: 0, 1 or -1 for all [number]"),
    "addresses": Shared("strings", "address", "addresses of the client's connections, sorted"),
    "api_key": Shared("int32", "plain", "Kafka's number of the API [number]"),
    "api_name": Shared("string", "plain", "Kafka's name of the API, such as ApiVersions"),
    "api_version": Shared("int32", "plain", "version of the API [number]"),
    "assignment": Shared("strings", "topic_partitions", "partitions assigned to the member, each text topic:partition,partition; for "
        "Connect connector:task,task, where -1 is the connector itself; null where not decoded"),
    "attributes": Shared("map", "attributes", "attributes of the metric point"),
    "batches": Shared("int64", "plain", "record batches seen; null where none was seen whole [count]"),
    "buckets": Shared("string", "plain", "buckets of a histogram as JSON"),
    "bytes": Shared("int64", "plain", "bytes of the packets of the file as they were on the wire [bytes]"),
    "bytes_cut": Shared("int64", "plain", "bytes that the snap length cut off [bytes]"),
    "bytes_damaged": Shared("int64", "plain", "bytes of the file, decompressed, that make no packet records; null for request logs "
        "[bytes]"),
    "bytes_decrypted": Shared("int64", "plain", "application data of TLS that was decrypted [bytes]"),
    "bytes_lost": Shared("int64", "plain", "bytes in gaps of the streams [bytes]"),
    "bytes_opaque": Shared("int64", "plain", "bytes of TLS that was not decrypted and of protocols other than Kafka's [bytes]"),
    "capture": Shared("string", "file", "file in which it begins"),
    "client_address": Shared("string", "address", "address of the client"),
    "client_id": Shared("string", "client", "client id of the request header"),
    "client_ids": Shared("strings", "client", "client ids seen, sorted"),
    "client_instance_id": Shared("string", "instance", "client instance id (KIP-714, KIP-1313)"),
    "client_key": Shared("string", "client_key", "hash that names the client in all tables: software, version, client id with digits "
        "folded, principal"),
    "cluster_id": Shared("string", "cluster", "id of the cluster"),
    "compression": Shared("strings", "plain", "compression codecs of the record batches"),
    "confidence": Shared("string", "plain", "how sure it is: high, medium or low"),
    "connection_id": Shared("string", "connection", "server_ip:port-client_ip:port-n; n counts reuse of the four-tuple in the series, "
        "from 0"),
    "connections": Shared("int64", "plain", "TCP connections [count]"),
    "connections_refused": Shared("int64", "plain", "connections that only a reset answered [count]"),
    "contact": Shared("string", "plain", "how to reach the owner, from the owners file"),
    "count": Shared("int64", "plain", "1; of the row behind the first hundred of a kind in a connection how many more there were [count]"),
    "cure_kind": Shared("string", "plain", "where the fix is made: library, config or proxy"),
    "cure_version": Shared("string", "plain", "version of the library, or value, that fixes it"),
    "diff": Shared("string", "difference", "what changed in the group, in words"),
    "direction": Shared("string", "plain", "produce or fetch"),
    "disconnects": Shared("int64", "plain", "requests that the server hung up on [count]"),
    "duration_us": Shared("int64", "plain", "how long the step took [microseconds]"),
    "end": Shared("time", "plain", "time of the last packet or line [UTC]"),
    "error_name": Shared("string", "plain", "Kafka's name of the error code"),
    "error_names": Shared("strings", "plain", "names of the errors that count, sorted"),
    "errors": Shared("int64", "plain", "answers with an error code (requests.is_error), and requests that the server hung up on [count]"),
    "event": Shared("string", "plain", "kind of step: join, sync, leave, rebalance, heartbeat_error, offset_commit_error, "
        "consumer_heartbeat or expired"),
    "evidence_connection_id": Shared("string", "connection", "connection of a request that shows it"),
    "evidence_request_index": Shared("int64", "plain", "place of that request in its connection, from 0 [index]"),
    "explanation": Shared("string", "sentence", "what is wrong, in a sentence"),
    "first_seen": Shared("time", "plain", "time of the first packet or request [UTC]"),
    "generation": Shared("int32", "plain", "generation or member epoch of the group [number]"),
    "group_id": Shared("string", "group", "consumer group"),
    "group_ids": Shared("strings", "group", "groups that the client fetches for, sorted"),
    "group_instance_id": Shared("string", "member", "static member's instance id (group.instance.id)"),
    "host": Shared("string", "host", "host that the broker advertises"),
    "hour": Shared("time", "plain", "hour that the row counts, its beginning [UTC]"),
    "identity_source": Shared("string", "plain", "where the software name is from: api_versions, fingerprint, not_sent or not_observed"),
    "joined_late": Shared("int64", "plain", "connections that were open before the capture began [count]"),
    "last_seen": Shared("time", "plain", "time of the last packet or request [UTC]"),
    "latency_histogram": Shared("buckets", "plain", "requests by latency: upper bound of a bucket and how many [microseconds, count]"),
    "latency_p50_us": Shared("int64", "plain", "median latency, from a histogram [microseconds]"),
    "latency_p99_us": Shared("int64", "plain", "99th percentile of the latency, from a histogram [microseconds]"),
    "leader": Shared("string", "member", "member id of the group's leader"),
    "library_guess": Shared("string", "plain", "library and range of versions that send what was seen, in words"),
    "library_guess_after": Shared("string", "plain", "the nearest earlier versions known to differ; null where none is known"),
    "library_guess_before": Shared("string", "plain", "the nearest later versions known to differ; null where none is known"),
    "library_guess_tried": Shared("strings", "plain", "known versions in between that send the same"),
    "link_types_unread": Shared("string", "plain", "link types that are not read, each as NAME (NUMBER): PACKETS; null where there are "
        "none"),
    "magic": Shared("ints", "plain", "versions of the record format [number]"),
    "max_batch_bytes": Shared("int64", "plain", "largest record batch [bytes]"),
    "member_id": Shared("string", "member", "member of the group"),
    "members_after": Shared("int32", "plain", "members after the step [count]"),
    "members_before": Shared("int32", "plain", "members before the step [count]"),
    "metric": Shared("string", "metric", "name of the metric"),
    "node_id": Shared("int32", "plain", "broker's node id [number]"),
    "one_way": Shared("int64", "plain", "connections of which only one direction is in the capture [count]"),
    "owner": Shared("string", "plain", "team that the owners file assigns the client to"),
    "packet_number": Shared("int64", "plain", "number of the packet in its file, from 1, as Wireshark counts [number]"),
    "packets": Shared("int64", "plain", "packets in the file [count]"),
    "packets_dropped": Shared("int64", "plain", "packets that the capturing program lost; null where the file cannot know [count]"),
    "packets_unread": Shared("int64", "plain", "packets of link types that are not read [count]"),
    "partitions": Shared("ints", "plain", "partition numbers, sorted [number]"),
    "port": Shared("int32", "plain", "TCP port that the broker advertises [number]"),
    "principal": Shared("string", "principal", "authenticated principal, such as User:alice; null without authentication"),
    "principals": Shared("strings", "principal", "principals seen, sorted"),
    "protocol": Shared("string", "plain", "protocol of the connection: kafka, tls, http, ssh, silent, unknown and others"),
    "protocol_name": Shared("string", "protocol", "assignor or protocol that the group chose"),
    "protocol_type": Shared("string", "protocol", "protocol type of the group, such as consumer or connect"),
    "rack": Shared("string", "rack", "rack of the broker"),
    "reason": Shared("string", "wire_text", "why, in a sentence"),
    "rebalance_timeout_ms": Shared("int32", "plain", "rebalance timeout that the member asked for [milliseconds]"),
    "records": Shared("int64", "plain", "records seen; null where none was seen whole [count]"),
    "refused_by": Shared("string", "plain", "of a deprecated use the first later release that refuses the client for it; null without one"),
    "release_guess": Shared("string", "plain", "release that the broker names in its own requests, else those that advertise these "
        "versions; null if none"),
    "remedy": Shared("string", "plain", "what to do, in a sentence"),
    "request_bytes": Shared("int64", "plain", "bytes of request frames, with their lengths [bytes]"),
    "request_index": Shared("int64", "plain", "place of the request in its connection, from 0; null for an orphan response [index]"),
    "requests": Shared("int64", "plain", "requests [count]"),
    "resource": Shared("map", "attributes", "attributes of the resource that the metrics are of"),
    "response_bytes": Shared("int64", "plain", "bytes of response frames, with their lengths [bytes]"),
    "role": Shared("string", "plain", "what the client is: client, broker or controller"),
    "rule": Shared("string", "plain", "id of the rule that is broken (docs: violations)"),
    "series": Shared("string", "series", "file group: the rotated files of a capture"),
    "server": Shared("string", "address_and_port", "address:port of the broker"),
    "session_timeout_ms": Shared("int32", "plain", "session timeout that the member asked for [milliseconds]"),
    "severity": Shared("string", "plain", "error, warning or info"),
    "sha256": Shared("string", "plain", "SHA-256 of the file as stored; of a divided file sha256-4MiB: and the SHA-256 over those of its "
        "4 MiB blocks"),
    "snaplen": Shared("int64", "plain", "most bytes of a packet that the file holds [bytes]"),
    "software_name": Shared("string", "plain", "client software (KIP-511); unknown where the client sends none, null where nothing was "
        "observed"),
    "software_version": Shared("string", "plain", "version of the client software (KIP-511)"),
    "source": Shared("string", "plain", "kind of file: pcap, request_log, request_log_deprecated or proxy"),
    "start": Shared("time", "plain", "time of the first packet or line [UTC]"),
    "start_time": Shared("time", "plain", "beginning of the interval that the point covers [UTC]"),
    "stream_offset": Shared("int64", "plain", "offset of the frame in the byte stream of its direction [bytes]"),
    "subscription": Shared("strings", "subscription", "topics that the member subscribed to"),
    "subscription_id": Shared("int32", "plain", "telemetry subscription that the broker gave (KIP-714) [number]"),
    "target_release": Shared("string", "plain", "Kafka release that the verdict is about"),
    "temporality": Shared("string", "plain", "delta or cumulative"),
    "terminating": Shared("bool", "plain", "the client's last push before it ended"),
    "throttle_ms": Shared("int64", "plain", "sum of the throttle times in responses [milliseconds]"),
    "time": Shared("time", "plain", "time of the point or step [UTC]"),
    "topic": Shared("string", "topic", "topic; null if no captured message has the name of the id"),
    "topic_id": Shared("string", "topic_id", "topic id (KIP-516)"),
    "trigger_member_id": Shared("string", "member", "member that caused the step"),
    "type": Shared("string", "plain", "gauge, sum, histogram, exponential_histogram or summary"),
    "unanswered": Shared("int64", "plain", "requests without an answer, where one was expected [count]"),
    "unseen": Shared("int64", "plain", "requests whose answer may lie in bytes that the capture lacks [count]"),
    "unseen_requests": Shared("int64", "plain", "requests whose records may be outside the capture; null from a request log [count]"),
    "value": Shared("double", "plain", "value of the point; of histograms and summaries the sum [unit of the metric]"),
    "verdict": Shared("string", "plain", "breaks, unknown, deprecated or compatible"),
    "verdict_basis": Shared("string", "plain", "why: observed_refusal, own_maximum, no_negotiation, known_client, broker_ceiling, "
        "inside_range or removed_feature"),
    "versions": Shared("ranges", "plain", "versions of each API that the broker advertises [number]"),
}  # fmt: skip

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
"""Descriptions by table and column, for columns with a special meaning in a table."""

CLASSES_OF_TABLES: Final[dict[tuple[str, str], ColumnClass]] = {
    ("brokers", "addresses"): "address_and_port",
    ("upgrade_impact", "reason"): "plain",  # of a version and a release alone
}
"""Classes by table and column, for columns that are something else in a table."""
