"""The tables of an analysis made by hand, for the tests of what renders them: a small fleet on Kafka 3.9.2 that is to move to 4.x.

Clients, versions and what breaks are those of real libraries against real brokers; addresses, times and counts are invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kwire.tables.schemas import SCHEMAS

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
TARGETS = ("3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1")
API_KEYS = {
    "Produce": 0, "Fetch": 1, "ListOffsets": 2, "Metadata": 3, "OffsetCommit": 8, "OffsetFetch": 9, "FindCoordinator": 10, "JoinGroup": 11,
    "Heartbeat": 12, "LeaveGroup": 13, "SyncGroup": 14, "ApiVersions": 18, "InitProducerId": 22,
}  # fmt: skip
LOWEST_IN_4 = {"Produce": 3, "Fetch": 4, "ListOffsets": 1, "OffsetCommit": 2, "OffsetFetch": 1}

# Everything that a careless page or terminal would obey, as one client id each.
HOSTILE_IDS = (
    "<script>window.__hacked = 1</script>",
    '"><img src=x onerror="window.__hacked = 2">',
    "</script><script>window.__hacked = 3</script>",
    "{{ 7 * 7 }} {% raw %}",
    "line one\nline two\ttab",
    "\x1b[31mred\x1b]0;title\x07",
    "right to left \u202etxt.exe\u202c and no\u200bwidth",
    "javascript:window.__hacked=4//",
    "x" * 5000,
    "",
    "   ",
)


@dataclass(frozen=True)
class Used:
    """One client of the fleet: what it says of itself, and which version of which api it sends how often."""

    client_id: str
    name: str = "unknown"
    version: str | None = None
    source: str = "api_versions"
    guess: str | None = None
    principal: str | None = None
    negotiates: bool = True
    connections: int = 4
    versions: Mapping[str, int] = field(default_factory=dict)
    role: str = "client"

    @property
    def key(self) -> str:
        return f"key-{self.client_id}-{self.version}"


JAVA_39 = {"ApiVersions": 4, "Metadata": 12, "Produce": 11, "Fetch": 17, "FindCoordinator": 6, "JoinGroup": 9, "OffsetCommit": 9}
JAVA_010 = {"ApiVersions": 0, "Metadata": 2, "Produce": 2, "Fetch": 3, "FindCoordinator": 0, "JoinGroup": 1, "OffsetCommit": 2}
JAVA_09 = {"Metadata": 0, "Produce": 1, "Fetch": 1, "ListOffsets": 0, "FindCoordinator": 0, "JoinGroup": 0, "OffsetCommit": 2}
SARAMA_OLD = {"Metadata": 5, "Produce": 3, "Fetch": 7, "OffsetCommit": 1, "OffsetFetch": 1, "JoinGroup": 1}
LIBRDKAFKA_19 = {"ApiVersions": 3, "Metadata": 4, "Produce": 7, "Fetch": 11, "FindCoordinator": 2, "JoinGroup": 5, "OffsetCommit": 7}

FLEET = (
    Used("fraud-scorer", "apache-kafka-java", "3.9.2", versions=JAVA_39, connections=7, principal="User:fraud"),
    Used("search-feed", "apache-kafka-java", "3.9.2", versions=JAVA_39, connections=5),
    Used("ad-bidder", "confluent-kafka-python", "1.9.2-rdkafka-1.9.2", versions=LIBRDKAFKA_19, connections=3),
    Used("erp-bridge", source="fingerprint", guess="kafka-clients 0.9", versions=JAVA_09, negotiates=False, connections=5),
    Used("pricing-svc", source="fingerprint", guess="kafka-clients 0.10.2", versions=JAVA_010, connections=5),
    Used("gateway-v2", source="not_sent", versions=SARAMA_OLD, negotiates=False),
    Used("web-frontend", source="not_sent", guess="kafkajs", versions={"Metadata": 6, "Produce": 7, "Fetch": 11, "ApiVersions": 2}),
    Used("late-reader", "", None, source="not_observed", versions={"Fetch": 12, "Heartbeat": 4}),
    Used("broker-3-txn", "apache-kafka-java", "3.9.2", versions={"Metadata": 12}, role="broker", connections=1),
)  # fmt: skip


def verdict_of(client: Used, api: str, version: int, target: str) -> tuple[str, str]:
    """A verdict and its basis; 3.9 marks Metadata v0-3 here, as 3.9.0 did."""
    if target.startswith("4.") and version < LOWEST_IN_4.get(api, 0):
        return "breaks", "own_maximum" if client.negotiates else "no_negotiation"
    if api == "Metadata" and version < 4 and target.startswith("3.9"):
        return "deprecated", "inside_range"
    if client.source == "not_observed" and api == "Fetch" and target.startswith("4."):
        return "unknown", "broker_ceiling"
    return "compatible", "inside_range"


def tables_of(clients: Iterable[Used]) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table but `requests`, which no rendering reads."""
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS if name != "requests"}
    requests = number = 0
    for place, client in enumerate(clients):
        principals = [client.principal] if client.principal else []
        address = f"10.1.{place // 250}.{place % 250 + 1}"
        first, last = START + timedelta(seconds=place * 7 % 240), START + timedelta(seconds=280)
        known = {"software_name": client.name or None, "software_version": client.version, "client_id": client.client_id}
        whole = {"client_key": client.key, **known}
        for index in range(client.connections):
            begin = first + timedelta(seconds=index * 9 % 200)
            connection = f"10.0.0.3:9092-{address}:{40000 + index}-0"
            tables["connections"].append(
                {
                    **whole, "series": "kafka", "capture": "kafka.pcap", "connection_id": connection, "client_address": address,
                    "client_port": 40000 + index, "server_address": "10.0.0.3", "server_port": 9092, "node_id": 3, "first_seen": begin,
                    "last_seen": min(last, begin + timedelta(seconds=20 + index * 30)), "state": ("complete", "open", "reset")[index % 3],
                    "protocol": "kafka", "role": client.role, "principal": client.principal,
                }
            )  # fmt: skip
            number += 1
        of_client = 0
        for position, (api, version) in enumerate(client.versions.items()):
            sent = 3 + (position * 17 + place * 5) % 90
            of_client += sent
            usage = {
                **whole, "api_key": API_KEYS[api], "api_name": api, "api_version": version, "requests": sent,
                "errors": 1 if api == "JoinGroup" else 0, "error_names": ["MEMBER_ID_REQUIRED"] if api == "JoinGroup" else [],
                "latency_p50_us": 800, "latency_p99_us": 9000, "first_seen": first, "last_seen": last,
            }  # fmt: skip
            tables["api_usage"].append(usage)
            for target in TARGETS:
                verdict, basis = verdict_of(client, api, version, target)
                lowest = LOWEST_IN_4.get(api, 0)
                tables["upgrade_impact"].append(
                    {
                        **usage, "addresses": [address], "principals": principals, "target_release": target, "verdict": verdict,
                        "verdict_basis": basis, "confidence": "high", "evidence_connection_id": f"10.0.0.3:9092-{address}:40000-0",
                        "evidence_request_index": position,
                        "reason": f"{target} accepts {api} from v{lowest} on, not v{version}." if verdict == "breaks" else "",
                        "remedy": "Upgrade the client library." if verdict == "breaks" else None,
                        "cure_version": "2.1.0" if verdict == "breaks" and "kafka-clients" in (client.guess or "") else None,
                        "cure_kind": "library" if verdict == "breaks" else None,
                    }
                )  # fmt: skip
        requests += of_client
        tables["clients"].append(
            {
                "client_key": client.key, "software_name": client.name or None, "software_version": client.version,
                "identity_source": client.source, "library_guess": client.guess, "confidence": "medium" if client.guess else None,
                "client_ids": [client.client_id], "addresses": [address], "principals": principals, "role": client.role,
                "connections": client.connections, "requests": of_client, "errors": 1 if "JoinGroup" in client.versions else 0,
                "first_seen": first, "last_seen": last,
            }
        )  # fmt: skip
    tables["captures"].append(
        {
            "capture": "kafka-20260908.pcap", "series": "kafka", "source": "pcap", "start": START, "end": START + timedelta(minutes=5),
            "packets": 4100, "packets_dropped": 0, "snaplen": 262144, "bytes": 547_014, "bytes_cut": 0, "bytes_lost": 0, "bytes_opaque": 0,
            "connections": number, "joined_late": 1, "one_way": 0, "requests": requests, "unanswered": 2,
        }
    )  # fmt: skip
    tables["brokers"].append(
        {
            "node_id": 3, "host": "broker-3.example", "addresses": ["10.0.0.3"], "port": 9092, "cluster_id": "kwireTestCorpusAAAAAA",
            "release_guess": "3.9.2", "first_seen": START, "last_seen": START + timedelta(minutes=5),
            "versions": [
                {"api_key": 0, "api_name": "Produce", "min_version": 0, "max_version": 11},
                {"api_key": 1, "api_name": "Fetch", "min_version": 0, "max_version": 17},
            ],
        }
    )  # fmt: skip
    return tables


def add_traffic(tables: dict[str, list[dict[str, Any]]], names: Iterable[str]) -> None:
    """Give each client that is named topics, a group, metrics and a team that are called after it."""
    wanted = set(names)
    for row in [*tables["clients"], *tables["upgrade_impact"]]:
        name = row["client_ids"][0] if "client_ids" in row else row["client_id"]
        if name in wanted:
            row.update(owner=name or None, contact=name or None)
    for row in tables["clients"]:
        name = row["client_ids"][0]
        if name not in wanted:
            continue
        who = {"client_key": row["client_key"], "client_id": name, "software_name": name}
        of_topic = {**who, "topic": name, "group_ids": [name], "records": 7, "bytes": 70, "compression": [name]}
        tables["topic_access"] += [{**of_topic, "direction": direction} for direction in ("produce", "fetch")]
        for generation in (1, 2):
            told = {"reason": name, "diff": name, "protocol": name, "duration_us": 5_000_000, "generation": generation}
            at = START + timedelta(minutes=generation)
            members = {"members_before": generation - 1, "members_after": generation}
            tables["group_events"].append({**who, **told, **members, "group_id": name, "event": "rebalance", "time": at})
        tables["telemetry"].append({**who, "metric": name, "client_instance_id": name, "time": START})


def tls_connection(index: int = 0) -> dict[str, Any]:
    """A connection that no key opens."""
    return {
        "series": "kafka", "capture": "kafka.pcap", "connection_id": f"10.0.0.3:9093-10.2.0.{index}:5000-0", "first_seen": START,
        "last_seen": START + timedelta(minutes=2), "state": "complete", "protocol": "tls",
    }  # fmt: skip


def violation(rule: str, severity: str, explanation: str, index: int = 0, client_id: str | None = None) -> dict[str, Any]:
    return {
        "series": "kafka", "capture": "kafka-20260908.pcap", "connection_id": "10.0.0.3:9092-10.1.0.4:40000-0", "rule": rule,
        "severity": severity, "request_index": index, "packet_number": 118 + index, "stream_offset": 2048 * index, "client_id": client_id,
        "explanation": explanation,
    }  # fmt: skip


def write_tables(folder: Path, tables: Mapping[str, list[dict[str, Any]]]) -> Path:
    """Write each table that is given as DIR/TABLE/part-0.parquet."""
    for name, rows in tables.items():
        (folder / name).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]), folder / name / "part-0.parquet")
    return folder
