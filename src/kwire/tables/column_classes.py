"""What each column of each table says of somebody: the classes by which a redaction knows what to hash.

Every column has a class, so that a new one cannot slip through: a test names those without, and a redaction empties them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

__all__ = ["ColumnClass", "class_of"]

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
    "attributes",  # of metrics
]

_BY_CLASS: Final[dict[ColumnClass, str]] = {
    "client_key": "client_key",
    "address": "client_address server_address addresses",
    "address_and_port": "proxied_address server",
    "connection": "connection_id evidence_connection_id",
    "host": "tls_sni",
    "principal": "principal principals attempted_principal tls_client_subject",
    "client": "client_id client_ids",
    "instance": "client_instance_id",
    "topic": "topic first_topic",
    "topic_id": "topic_id",
    "topic_partitions": "assignment",
    "subscription": "subscription",
    "group": "group_id group_ids",
    "member": "member_id trigger_member_id group_instance_id leader",
    "transaction": "transactional_id",
    "cluster": "cluster_id",
    "rack": "rack",
    "file": "capture",
    "series": "series",
    "sentence": "explanation",
    "difference": "diff",
    "wire_text": "reason",
    "attributes": "attributes resource",
    "plain": """
        source sha256 start end packets packets_dropped snaplen bytes bytes_cut bytes_damaged bytes_lost bytes_opaque
        bytes_decrypted
        connections connections_refused joined_late one_way requests unanswered unseen client_port server_port node_id first_seen last_seen
        request_frames response_frames request_bytes response_bytes gaps retransmissions state closed_by last_api_name protocol
        tls_version tls_cipher tls_alpn tls_decrypted tls_ja3 tls_ja4
        sasl_mechanism auth_failures software_name software_version identity_source role request_index api_key
        api_name api_version header_version correlation_id request_time response_time latency_us error_code error_name
        throttle_time_ms acks topic_count body queue_time_us local_time_us remote_time_us packet_number stream_offset rule severity
        library_guess library_guess_after library_guess_before library_guess_tried confidence errors disconnects error_names
        latency_p50_us latency_p99_us target_release verdict verdict_basis evidence_request_index remedy cure_version cure_kind
        refused_by owner contact port versions release_guess subscription_id terminating metric type temporality value count buckets
        start_time time direction unseen_requests records batches max_batch_bytes magic compression partitions event generation
        protocol_type protocol_name members_before members_after session_timeout_ms rebalance_timeout_ms duration_us hour
        throttle_ms latency_histogram
    """,
}

# Columns that are something else in one table.
_OF_TABLE: Final[dict[tuple[str, str], ColumnClass]] = {
    ("brokers", "host"): "host",
    ("brokers", "addresses"): "address_and_port",
    ("upgrade_impact", "reason"): "plain",  # of a version and a release alone
}


def _by_column() -> Iterator[tuple[str, ColumnClass]]:
    for name, columns in _BY_CLASS.items():
        for column in columns.split():
            yield column, name


_CLASSES: Final[dict[str, ColumnClass]] = dict(_by_column())


def class_of(table: str, column: str) -> ColumnClass | None:
    """The class of a column, None when it has none."""
    return _OF_TABLE.get((table, column)) or _CLASSES.get(column)
