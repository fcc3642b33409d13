"""Class of each column of each table, which decides what a redaction hashes.

Every column has a class; a test finds columns without one, and a redaction empties them. Columns declared in `kwire.protocol.row_columns`
and `kwire.tables.columns` have their class there; columns with the same name in other tables have the same class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kwire.protocol.row_columns import ColumnClass
from kwire.tables.columns import DECLARED

__all__ = ["ColumnClass", "class_of"]

_BY_CLASS: Final[dict[ColumnClass, str]] = {
    "address": "addresses",
    "address_and_port": "server",
    "connection": "evidence_connection_id",
    "principal": "principals",
    "client": "client_ids",
    "group": "group_ids",
    "member": "trigger_member_id",
    "cluster": "cluster_id",
    "rack": "rack",
    "sentence": "explanation",
    "difference": "diff",
    "attributes": "attributes resource",
    "metric": "metric",
    "plain": """
        source sha256 start end packets packets_dropped packets_unread
        link_types_unread snaplen bytes_damaged bytes_lost bytes_opaque bytes_decrypted connections
        connections_refused joined_late one_way unanswered unseen rule severity library_guess library_guess_after library_guess_before
        library_guess_tried confidence disconnects error_names latency_p50_us latency_p99_us target_release verdict verdict_basis
        evidence_request_index remedy cure_version cure_kind refused_by owner contact port versions release_guess subscription_id
        terminating type temporality value count buckets start_time members_before members_after duration_us hour throttle_ms
        latency_histogram
    """,
}

# Columns that are something else in one table.
_OF_TABLE: Final[dict[tuple[str, str], ColumnClass]] = {
    ("brokers", "host"): "host",
    ("brokers", "addresses"): "address_and_port",
    ("upgrade_impact", "reason"): "plain",  # of a version and a release alone
}


def _by_column() -> Iterator[tuple[str, ColumnClass]]:
    for columns in DECLARED.values():
        for declared in columns:
            yield declared.name, declared.redaction
    for name, others in _BY_CLASS.items():
        for column in others.split():
            yield column, name


_CLASSES: Final[dict[str, ColumnClass]] = dict(_by_column())


def class_of(table: str, column: str) -> ColumnClass | None:
    return _OF_TABLE.get((table, column)) or _CLASSES.get(column)
