"""Columns of `connections`, and of topics and groups, each declared once; `kwire.protocol.row_columns` declares those of `requests`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kwire.protocol.row_columns import REQUEST_COLUMNS, Column, columns_from

__all__ = ["CONNECTION_COLUMNS", "DECLARED", "GROUP_STEP_COLUMNS", "TOPIC_USE_COLUMNS", "SUMMARY_COLUMNS", "in_order"]

CONNECTION_COLUMNS: Final = (
    Column("series", "string", "writer", "series", "file group that the capture belongs to"),
    Column("capture", "string", "writer", "file", "file where the connection begins"),
    Column("connection_id", "string", "writer", "connection", "server_ip:port-client_ip:port-n"),
    Column("client_key", "string", "writer", "client_key", "hash of software, client id, principal and address: joins all tables"),
    Column("client_address", "string", "writer", "address", "IP address of the client"),
    Column("client_port", "int32", "writer", "plain", "TCP port of the client"),
    Column("server_address", "string", "writer", "address", "IP address of the server"),
    Column("server_port", "int32", "writer", "plain", "TCP port of the server"),
    Column("proxied_address", "string", "state", "address_and_port", "address:port of the client in a PROXY v1 or v2 header"),
    Column("node_id", "int32", "series", "plain", "node of the cluster that listens at the server's end, as responses name it"),
    Column("first_seen", "time", "tcp", "plain", "time of the first packet"),
    Column("last_seen", "time", "tcp", "plain", "time of the last packet"),
    Column("request_frames", "int64", "state", "plain", "frames of the client, whole and damaged"),
    Column("response_frames", "int64", "state", "plain", "frames of the server, whole and damaged"),
    Column("request_bytes", "int64", "state", "plain", "bytes of the client that were seen"),
    Column("response_bytes", "int64", "state", "plain", "bytes of the server that were seen"),
    Column("gaps", "int64", "tcp", "plain", "lost ranges of the directions that are in the capture"),
    Column("bytes_cut", "int64", "tcp", "plain", "bytes that the snap length cut off"),
    Column("retransmissions", "int64", "tcp", "plain", "packets whose bytes had come before"),
    Column("state", "string", "state", "plain", "complete, joined_late, open or reset"),
    Column("closed_by", "string", "state", "plain", "client or server; null while open"),
    Column("last_api_name", "string", "state", "plain", "API of the latest request"),
    Column("protocol", "string", "state", "plain", "kafka, tls, http, ssh, silent, unknown and others"),
    Column("tls_version", "string", "state", "plain", "of TLS that was agreed on, else offered"),
    Column("tls_cipher", "string", "state", "plain", "cipher suite, by IANA's name"),
    Column("tls_sni", "string", "state", "host", "name of the server that the client asks for"),
    Column("tls_alpn", "string", "state", "protocol", "application protocol that TLS agreed on"),
    Column("tls_client_subject", "string", "state", "principal", "subject of the client certificate, as RFC 2253 has it"),
    Column("tls_decrypted", "string", "state", "plain", "yes, partly, failed or no_keys"),
    Column("tls_ja3", "string", "state", "plain", "JA3 hash of the ClientHello"),
    Column("tls_ja4", "string", "state", "plain", "JA4 fingerprint of the ClientHello"),
    Column("sasl_mechanism", "string", "state", "protocol", "that the client tried, also in vain"),
    Column("attempted_principal", "string", "state", "principal", "that the client tried to be, also in vain"),
    Column("principal", "string", "state", "principal", "after authentication, such as User:alice"),
    Column("auth_failures", "int64", "state", "plain", "attempts to authenticate that failed"),
    Column("software_name", "string", "state", "plain", "`unknown`: sent none; null: nothing was observed (KIP-511)"),
    Column("software_version", "string", "state", "plain", "as software_name"),
    Column("identity_source", "string", "state", "plain", "where they come from: api_versions, not_sent or not_observed"),
    Column("client_id", "string", "state", "client", "the most frequent one that is not empty"),
    Column("client_instance_id", "string", "state", "instance", "in Kafka's 22 letters (KIP-714)"),
    Column("role", "string", "state", "plain", "client, broker or controller"),
)  # fmt: skip

TOPIC_USE_COLUMNS: Final = (
    Column("connection_id", "string", "writer", "connection", "server_ip:port-client_ip:port-n"),
    Column("client_id", "string", "state", "client", "of the requests"),
    Column("direction", "string", "state", "plain", "produce or fetch"),
    Column("topic", "string", "state", "topic", "name; null where the version of the messages knows topics by id only"),
    Column("topic_id", "string", "state", "topic_id", "in Kafka's 22 letters"),
    Column("requests", "int64", "state", "plain", "that name the topic"),
    Column("errors", "int64", "state", "plain", "partitions that were answered with an error"),
    Column("records", "int64", "state", "plain", "that travelled; these four of what was seen, null where nothing was seen whole"),
    Column("batches", "int64", "state", "plain", "record batches that travelled whole"),
    Column("bytes", "int64", "state", "plain", "bytes of record batches"),
    Column("max_batch_bytes", "int64", "state", "plain", "bytes of the largest batch"),
    Column("first_seen", "time", "time", "plain", "time of the first request"),
    Column("last_seen", "time", "time", "plain", "time of the last request"),
    Column("magic", "ints", "state", "plain", "formats of record batches"),
    Column("compression", "ints", "state", "plain", "numbers of codecs"),
    Column("acks", "ints", "state", "plain", "that Produce requests ask for"),
    Column("partitions", "ints", "state", "plain", "numbers of the partitions"),
    Column("error_codes", "ints", "state", "plain", "codes that partitions were answered with"),
    Column("unseen_requests", "int64", "state", "plain", "with more records than were seen, it may be"),
)  # fmt: skip

GROUP_STEP_COLUMNS: Final = (
    Column("series", "string", "writer", "series", "file group that the capture belongs to"),
    Column("capture", "string", "writer", "file", "file where the connection begins"),
    Column("connection_id", "string", "writer", "connection", "server_ip:port-client_ip:port-n"),
    Column("client_key", "string", "series", "client_key", "of the connection, as it holds at its end"),
    Column("request_index", "int64", "state", "plain", "order in the connection, from 0"),
    Column("client_id", "string", "state", "client", "of the request's header"),
    Column("group_id", "string", "state", "group", "the group"),
    Column("event", "string", "state", "plain", "what was done, as `GroupStep.kind`"),
    Column("protocol", "string", "state", "plain", "classic, consumer, share or streams"),
    Column("member_id", "string", "state", "member", "as the member has it after the answer"),
    Column("group_instance_id", "string", "state", "member", "of a static member (KIP-345)"),
    Column("generation", "int32", "state", "plain", "of the answer where it has one; the member epoch of the newer protocols"),
    Column("protocol_type", "string", "state", "protocol", "such as consumer or connect"),
    Column("protocol_name", "string", "state", "protocol", "assignor that was chosen, or asked for"),
    Column("leader", "string", "state", "member", "member id of the leader"),
    Column("subscription", "strings", "state", "subscription", "topics that the member wants, sorted; a pattern as `regex:...`"),
    Column("assignment", "strings", "state", "topic_partitions", "topic:partition,partition"),
    Column("members", "string", "state", "member", "JSON: [[member id, group instance id, [topics] or null, reason, error code], ...]"),
    Column("session_timeout_ms", "int32", "state", "plain", "milliseconds without a heartbeat after which the member is put out"),
    Column("rebalance_timeout_ms", "int32", "state", "plain", "milliseconds that members have to join again"),
    Column("error_code", "int32", "state", "plain", "of the response, 0 without one"),
    Column("reason", "string", "state", "wire_text", "why, in the client's words (KIP-800)"),
    Column("time", "time", "time", "plain", "arrival of the request"),
    Column("response_time", "time", "time", "plain", "arrival of the response"),
)  # fmt: skip

DECLARED: Final = {
    "requests": REQUEST_COLUMNS, "connections": CONNECTION_COLUMNS, "topic_use": TOPIC_USE_COLUMNS, "group_steps": GROUP_STEP_COLUMNS,
}  # fmt: skip

# What a row of `connections` takes from `kwire.protocol.events.ConnectionSummary` as it stands there.
SUMMARY_COLUMNS: Final = columns_from(CONNECTION_COLUMNS, "state")


def in_order(columns: tuple[Column, ...], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of a row in the order of its columns; missing ones are null."""
    row = tuple([values.get(each.name) for each in columns])
    if len(values) > len(columns) or not values.keys() <= {each.name for each in columns}:
        raise ValueError(f"no columns: {', '.join(sorted(values.keys() - {each.name for each in columns}))}")
    return row
