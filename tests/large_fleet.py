"""The tables of a large fleet, thousands of clients, made as Arrow columns: what the page has to open with, for its test and its benchmark.

Libraries, versions and verdicts are of the kinds that a real fleet has; names, addresses, times and counts are invented.
"""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kwire.tables.schemas import SCHEMAS

CLIENTS = 10_000
TEAMS, TOPICS = 120, 2_000
TARGETS = ("4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0")
START = int(datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc).timestamp()) * 1_000_000
HOUR = 3_600_000_000
HOSTILE = '<img src=x onerror="window.__hacked = 1">\n\x1b[31m'

# library, versions, whether it is refused by 4.x, and what it sends: api, key, version, the lowest version that 4.x takes
OLD = (("Metadata", 3, 2, 0), ("Produce", 0, 2, 3), ("Fetch", 1, 3, 4), ("ListOffsets", 2, 0, 1), ("OffsetCommit", 8, 2, 2))
NEW = (("ApiVersions", 18, 3, 0), ("Metadata", 3, 12, 0), ("Produce", 0, 9, 3), ("Fetch", 1, 12, 4), ("OffsetCommit", 8, 8, 2))
LIBRARIES = (
    *(("apache-kafka-java", f"3.{minor}.{patch}", NEW) for minor in range(9) for patch in range(2)),
    *(("librdkafka", f"2.{minor}.0", NEW) for minor in range(9)),
    *(("sarama", f"v1.{minor}.1", NEW) for minor in range(30, 44)),
    *(("kafka-clients", f"0.{minor}.0", OLD) for minor in (9, 10, 11)),
    *(("sarama-old", f"v1.{minor}", OLD) for minor in (10, 12, 15)),
)
FIXES = {"kafka-clients": "Upgrade kafka-clients to 2.1.0 or later.", "sarama-old": "Set Version in sarama's Config to V2_1_0_0 or later."}


def write_large_fleet(folder: Path, clients: int = CLIENTS) -> Path:
    """Write the tables of so many clients into `folder`; one of those that break is a hostile one."""
    number = np.arange(clients)
    library = number * 7919 % len(LIBRARIES)
    hostile = int(np.flatnonzero([LIBRARIES[at][2] is OLD for at in library])[-1])
    requests = 10 + number * 104_729 % 90_000
    who: dict[str, Any] = {
        "client_key": [f"{at:016x}" for at in number],
        "software_name": [LIBRARIES[at][0] for at in library],
        "software_version": [LIBRARIES[at][1] for at in library],
        "client_id": [HOSTILE if at == hostile else f"team-{at % TEAMS}.service-{at}" for at in number],
        "owner": [f"Team {at % TEAMS}" for at in number],
        "contact": [f"#team-{at % TEAMS}-oncall" for at in number],
        "addresses": [[f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}"] for at in number],
        "principals": [[f"User:team-{at % TEAMS}"] for at in number],
        "first_seen": (START + number * 311_111 % HOUR).tolist(),
        "last_seen": START + HOUR,
    }
    folder.mkdir(parents=True, exist_ok=True)
    _write(
        folder, "captures", capture=["kafka.pcap"], source=["pcap"], start=[START], end=[START + HOUR], packets=[10**8], bytes=[10**11],
        connections=[3 * clients], requests=[int(requests.sum())],
    )  # fmt: skip
    _write(
        folder, "clients", **who, identity_source=["api_versions"] * clients, role=["client"] * clients, requests=requests,
        client_ids=[[name] for name in who["client_id"]], connections=np.full(clients, 3), errors=number * 0,
    )  # fmt: skip
    _write(folder, "connections", **_of(who, np.repeat(number, 3)), protocol=["kafka"] * clients * 3, state=["complete"] * clients * 3)
    uses = [(at, *use) for at, kind in zip(number, library, strict=True) for use in LIBRARIES[kind][2]]
    client, api, key, version, lowest = (list(column) for column in zip(*uses, strict=True))
    used = {**_of(who, np.array(client)), "api_name": api, "api_key": key, "api_version": version, "requests": requests[client]}
    _write(folder, "api_usage", **used, errors=[0] * len(uses))
    judged = np.repeat(np.arange(len(uses)), len(TARGETS))
    refused = np.array(version)[judged] < np.array(lowest)[judged]
    target = list(TARGETS) * len(uses)
    _write(
        folder, "upgrade_impact", **_of(used, judged), target_release=target, verdict=np.where(refused, "breaks", "compatible"),
        verdict_basis=np.where(refused, "own_maximum", "inside_range"), confidence=["high"] * len(judged),
        evidence_connection_id=[f"10.0.0.3:9092-{used['addresses'][at][0]}:40000-0" for at in judged], evidence_request_index=judged % 9,
        reason=[f"Kafka {release} requires {api[at]} v{lowest[at]} or later; this client sends v{version[at]}." if bad else None
                for at, release, bad in zip(judged, target, refused, strict=True)],
        remedy=[FIXES[used["software_name"][at]] if bad else None for at, bad in zip(judged, refused, strict=True)],
        cure_version=["2.1.0" if bad else None for bad in refused], cure_kind=["library" if bad else None for bad in refused],
    )  # fmt: skip
    old = np.flatnonzero([LIBRARIES[at][2] is OLD for at in library])
    steps = np.repeat(old, 10)  # the connections that prove it, ten requests each
    sent = np.arange(len(steps)) % 10
    _write(
        folder, "requests", capture=["kafka.pcap"] * len(steps), client_key=[who["client_key"][at] for at in steps], request_index=sent,
        connection_id=[f"10.0.0.3:9092-{who['addresses'][at][0]}:40000-0" for at in steps], state=["answered"] * len(steps),
        api_name=[OLD[at % 5][0] for at in sent], api_version=[OLD[at % 5][2] for at in sent], packet_number=np.arange(len(steps)) * 7_919,
        request_time=(START + steps * 311_111 % HOUR + sent * 1_009).tolist(), latency_us=900 + steps % 700, error_code=[0] * len(steps),
    )  # fmt: skip
    edges = np.repeat(number, 2)
    _write(
        folder, "topic_access", **_of(who, edges), direction=["produce", "fetch"] * clients, records=requests[edges] * 20,
        topic=[f"topic-{(at // 2 * 31 + at % 2 * 7) % TOPICS}" for at in range(len(edges))],
        bytes=requests[edges] * 2_000, requests=requests[edges],
    )  # fmt: skip
    steps = np.repeat(number[: clients // 10], 3)
    _write(
        folder, "group_events", **_of(who, steps), group_id=[f"group-{at // 3}" for at in steps], generation=np.arange(len(steps)) % 50,
        event=["rebalance"] * len(steps), members_before=np.arange(len(steps)) % 4, members_after=1 + np.arange(len(steps)) % 4,
        duration_us=np.full(len(steps), 350_000), reason=["a member joined"] * len(steps), diff=["+1 member"] * len(steps),
        time=(START + np.arange(len(steps)) * 1_000_003 % HOUR).tolist(),
    )  # fmt: skip
    broken = number[::4]
    _write(
        folder, "violations", **_of(who, broken), rule=[f"rule_{at % 12}" for at in broken], capture=["kafka.pcap"] * len(broken),
        severity=[("error", "warning", "info")[at % 3] for at in broken], explanation=["A frame is not as it has to be."] * len(broken),
        connection_id=[f"10.0.0.3:9092-{who['addresses'][at][0]}:40000-0" for at in broken], packet_number=broken, request_index=broken % 9,
    )  # fmt: skip
    return folder


def _of(columns: dict[str, Any], rows: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {name: column if isinstance(column, int) else [column[at] for at in rows] for name, column in columns.items()}


def _write(folder: Path, name: str, **columns: Any) -> None:
    """Write a table; a column that is one number has it in every row, one that is not given is null."""
    length = max(len(column) for column in columns.values() if np.ndim(column))
    given = {field.name: columns.get(field.name) for field in SCHEMAS[name]}
    arrays = [
        pa.array(column if np.ndim(column) else [column] * length, SCHEMAS[name].field(column_name).type)
        for column_name, column in given.items()
    ]
    (folder / name).mkdir()
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCHEMAS[name]), folder / name / "part-0.parquet")
