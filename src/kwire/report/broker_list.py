"""Nodes of the cluster and their advertised versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.records import record

__all__ = ["Broker", "VersionRange", "read_brokers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRange:
    api_name: str
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """Row of `brokers`; `release` is a release, or a minor version with the matching patches: `3.9 (3.9.0 to 3.9.2)`."""

    node_id: int | None
    host: str
    port: int | None
    addresses: tuple[str, ...]
    rack: str
    cluster_id: str
    release: str
    versions: tuple[VersionRange, ...]
    first_seen: datetime | None
    last_seen: datetime | None

    @property
    def runs(self) -> str:
        if self.release:
            return f"Kafka {self.release}"
        return "its ApiVersions answer matches no Apache Kafka release" if self.versions else ""


def read_brokers(folder: AnalysisFolder) -> tuple[Broker, ...]:
    """Read all nodes, by cluster and node id; nodes without an id are last."""
    columns = ["node_id", "host", "port", "addresses", "rack", "cluster_id", "release_guess", "versions", "first_seen", "last_seen"]
    found = [
        record(
            Broker,
            row,
            release=row["release_guess"] or "",
            versions=tuple(
                VersionRange(
                    api_name=one["api_name"] or f"api {one['api_key']}", lowest=one["min_version"] or 0, highest=one["max_version"] or 0
                )
                for one in row["versions"] or ()
            ),
        )
        for row in folder.rows("brokers", columns)
    ]
    return tuple(sorted(found, key=lambda one: (one.cluster_id, one.node_id is None, one.node_id or 0, one.host, one.port or 0)))
