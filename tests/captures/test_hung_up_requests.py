"""Requests that a broker hung up on, in real captures: counted from the rows of requests and connections, as a reader of them would."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire import analysis

DATA = Path(__file__).parent / "data"


def hung_up(tables: dict[str, pa.Table]) -> Counter[tuple[Any, ...]]:
    """The first request without an answer behind the last answer, of each connection without a gap that the server closed, by its use."""
    requests: dict[str, list[dict[str, Any]]] = {}
    for row in tables["requests"].to_pylist():
        if row["state"] != "orphan_response":
            requests.setdefault(row["connection_id"], []).append(row)
    found: Counter[tuple[Any, ...]] = Counter()
    for connection in tables["connections"].to_pylist():
        rows = sorted(requests.get(connection["connection_id"], ()), key=lambda row: row["request_index"])
        last = max((at for at, row in enumerate(rows) if row["state"] == "answered"), default=-1)
        waiting = rows[last + 1 :]
        if connection["closed_by"] == "server" and not connection["gaps"] and any(row["state"] == "unanswered" for row in waiting):
            found[connection["client_key"], waiting[0]["api_key"], waiting[0]["api_version"]] += 1
    return found


@pytest.mark.parametrize(
    ("name", "least", "ports"),
    [("hostile-requests.pcap.gz", 5, [20192]), ("hostile-responses.pcap.gz", 1, [20196]), ("telemetry.pcapng.gz", 2, [])],
)
def test_each_is_an_error_of_its_use_and_its_client(name: str, least: int, ports: list[int]) -> None:
    tables = analysis.run([str(DATA / name)], ports=ports)
    expected = hung_up(tables)
    assert expected.total() >= least
    usage = tables["api_usage"].to_pylist()
    found: Counter[tuple[Any, ...]] = Counter()
    for row in usage:
        found[row["client_key"], row["api_key"], row["api_version"]] += row["disconnects"]
    assert +found == expected
    failed = Counter(row["client_key"] for row in tables["requests"].to_pylist() if row["is_error"])
    for client in tables["clients"].to_pylist():
        mine = sum(number for (key, *_), number in expected.items() if key == client["client_key"])
        assert client["errors"] == failed[client["client_key"]] + mine
