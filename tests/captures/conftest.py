"""Fixtures of the capture tests: the captures, what is true of them, and a sink that notes what it hears."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.tcp import TcpConnection

DATA = Path(__file__).parent / "data"


class StreamNotes:
    """Notes the events of every connection, without packet numbers and with adjacent data joined: what no cut into files may change."""

    def __init__(self) -> None:
        self.events: dict[tuple[bytes, int], list[tuple[Any, ...]]] = defaultdict(list)
        self.connections: list[TcpConnection] = []

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        self.connections.append(connection)
        self.events[connection.key, connection.n].append(("opened", connection.opened_by, time_ns))

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        self.events[connection.key, connection.n].append(("data", direction, data, time_ns))

    def lost(self, connection: TcpConnection, direction: int, count: int, cut: bool, time_ns: int, packet: int) -> None:
        self.events[connection.key, connection.n].append(("lost", direction, count, cut, time_ns))

    def closed(self, connection: TcpConnection, direction: int, reset: bool, time_ns: int, packet: int) -> None:
        self.events[connection.key, connection.n].append(("closed", direction, reset, time_ns))

    def ended(self, connection: TcpConnection) -> None:
        flows = [(flow.packets, flow.bytes, flow.gaps, flow.retransmissions, flow.duplicates) for flow in connection.flows]
        self.events[connection.key, connection.n].append(("ended", connection.first_ns, connection.last_ns, *flows))

    def streams(self) -> dict[tuple[bytes, int, int], list[bytes | int]]:
        """Per connection and direction: runs of bytes, and the lengths of what is missing between them."""
        out: dict[tuple[bytes, int, int], list[bytes | int]] = defaultdict(list)
        for (key, n), events in self.events.items():
            for event in events:
                if event[0] in ("data", "lost"):
                    stream = out[key, n, event[1]]
                    if event[0] == "data" and stream and isinstance(stream[-1], bytes):
                        stream[-1] += event[2]
                    else:
                        stream.append(event[2])
        return out

    def gaps(self) -> list[dict[str, int]]:
        """Missing ranges as the truth writes them."""
        out = []
        for connection in self.connections:
            ports = (connection.a.port, connection.b.port)
            for direction in (0, 1):
                at = 0
                for run in self.streams().get((connection.key, connection.n, direction), []):
                    if isinstance(run, int):
                        out.append(
                            {"from_port": ports[direction], "to_port": ports[1 - direction], "stream_offset": at, "bytes_missing": run}
                        )
                    at += run if isinstance(run, int) else len(run)
        return out


@pytest.fixture
def notes() -> type[StreamNotes]:
    return StreamNotes


@pytest.fixture(scope="session")
def capture_truth() -> dict[str, dict[str, Any]]:
    truth: dict[str, dict[str, Any]] = json.loads((DATA / "truth.json").read_text())
    return truth


@pytest.fixture
def job_in_process(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """The job runs its tasks in this process, without Spark; `job_in_process(attempts)`: each by `attempts`."""
    from kwire.runs import read_running
    from kwire.runs.series_task import SeriesResult, SeriesTask, run_task
    from kwire.spark import job

    def without_spark(attempts: Callable[[SeriesTask], SeriesResult] = run_task) -> None:
        def run_each(_spark: object, items: Sequence[Any], work: Callable[[Any], Any]) -> tuple[list[Any], float]:
            return [work(item) for item in items], 0.0

        monkeypatch.setattr(job, "open_spark", nullcontext)
        monkeypatch.setattr(job, "ship_for_job", lambda _spark: [])
        monkeypatch.setattr(job, "check_shared_with", lambda *_asked: None)
        monkeypatch.setattr(job, "slots_of", lambda _spark: 1)
        monkeypatch.setattr(read_running, "run_each", run_each)
        monkeypatch.setattr(read_running, "run_task", attempts)

    without_spark()
    return without_spark
