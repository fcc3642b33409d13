"""A capture file to one row per request: both twins and tshark from the file, kio from frames that were cut out for it before.

kio gets more than it could have: reassembled frames, paired, with the right schemas at hand. The native twin runs on the same frames too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kio.serial import entity_reader

import peers
from captures import FLEET, FLEET_PORTS, PORT, Exchange, cut_to, exchanges, large_frames, repeat_capture

COPIES = 40
TURNS = 3  # all contenders one after the other, as often as this
ROWS_OF_COPY = 615
ROWS = ROWS_OF_COPY * COPIES
WORK = "capture to request rows"
CUT_COPIES, SNAPLEN = 20, 128
FLEET_COPIES, ROWS_OF_FLEET = 60, 1305  # 64 MB, 270,000 packets
LARGE_REQUESTS = 70
TSHARK_FIELDS = (
    "frame.number", "frame.time_epoch", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport", "kafka.len", "kafka.api_key", "kafka.api_version",
    "kafka.correlation_id", "kafka.client_id", "kafka.error", "kafka.topic_name", "kafka.consumer_group", "kafka.required_acks",
    "kafka.request_frame", "kafka.response_frame",
)  # fmt: skip


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    path = tmp_path_factory.mktemp("captures") / "repeated.pcap"
    return path, repeat_capture(path, COPIES)


@pytest.fixture(scope="module")
def workers() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """A process for each twin, with its modules loaded."""
    script = str(Path(__file__).with_name("capture_rows_worker.py"))
    started = {
        twin: subprocess.Popen(
            [sys.executable, script],
            env={**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0", "KWIRE_REQUIRE_NATIVE": "0" if twin == "pure" else "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for twin in peers.TWINS
    }
    for twin, worker in started.items():
        assert worker.stdout is not None
        assert worker.stdout.readline().strip() == twin
    yield started
    for worker in started.values():
        worker.communicate()


Decode = Callable[[Exchange], tuple[Any, Any, Any]]  # header, request, response or None


def kio_decode() -> Decode:
    readers: dict[tuple[int, int], Any] = {}

    def decode(each: Exchange) -> tuple[Any, Any, Any]:
        pair = each.api_key, each.api_version
        found = readers.get(pair)
        if found is None:
            schemas = [peers.kio_schema(*pair, kind) for kind in ("request", "response")]
            found = readers[pair] = [
                part for schema in schemas for part in (entity_reader(schema.__header_schema__), entity_reader(schema))
            ]
        header, size = found[0](each.request, 0)
        body, _ = found[1](each.request, size)
        if each.response is None:
            return header, body, None
        _, size = found[2](each.response, 0)
        return header, body, found[3](each.response, size)[0]

    return decode


def native_decode() -> Decode:
    """Leniently, for kio does not look at bytes that are left over either."""
    frames = peers.twin_frames("native")

    def decode(each: Exchange) -> tuple[Any, Any, Any]:
        request = frames.decode_request(each.request, strict=False)
        if each.response is None:
            return request.header, request.body, None
        return request.header, request.body, frames.decode_response(each.response, each.api_key, each.api_version, strict=False).body

    return decode


def kio_survives(found: list[Exchange]) -> bool:
    """Tried in a process of its own: where kio takes something else for a count, it may want more memory than there is, and abort."""
    child = os.fork()
    if child == 0:
        status, decode = 1, kio_decode()
        with contextlib.suppress(Exception):  # of many kinds, a few of them its own
            for each in found:
                decode(each)
            status = 0
        os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def known_to_kio(found: list[Exchange]) -> list[Exchange]:
    """The exchanges of the apis and versions that kio decodes: it lacks old ones, and cannot read a refusal of ApiVersions."""
    kinds: dict[tuple[Any, ...], list[Exchange]] = {}
    for each in found:
        refusal = each.api_key == 18 and each.response is not None and each.response[4:6] != bytes(2)
        kinds.setdefault((each.api_key, each.api_version, refusal, each.response is None), []).append(each)
    return [each for kind in kinds.values() if kio_survives(kind) for each in kind]


def make_rows(known: list[Exchange], decode: Decode) -> int:
    rows = []
    for each in known:
        header, body, answer = decode(each)
        rows.append({
            "api_key": each.api_key, "api_version": each.api_version, "correlation_id": header.correlation_id,
            "client_id": header.client_id, "request_bytes": len(each.request), "response_bytes": len(each.response or b""),
            "error_code": getattr(answer, "error_code", None), "throttle_time_ms": getattr(answer, "throttle_time_ms", None),
            "group_id": getattr(body, "group_id", None), "acks": getattr(body, "acks", None),
            "transactional_id": getattr(body, "transactional_id", None),
        })  # fmt: skip
    return len(rows)


def reading(worker: subprocess.Popen[str], path: Path) -> Callable[[], int]:
    """What has a worker read a capture; gives the number of rows."""

    def run() -> int:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(f"{path}\n")
        worker.stdin.flush()
        return int(worker.stdout.readline())

    return run


def printing(path: Path, least: int, ports: tuple[int, ...] = (PORT,)) -> Callable[[], int] | None:
    """What has tshark print a capture, at least so many lines; None without tshark."""
    tshark = shutil.which("tshark")
    if tshark is None:
        return None
    command = [tshark, "-r", str(path), "-Y", "kafka.api_key", "-T", "fields"]
    for port in ports:
        command += ["-d", f"tcp.port=={port},kafka"]
    for field in TSHARK_FIELDS:
        command += ["-e", field]

    def run() -> int:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert done.stdout.count(b"\n") > least
        return 0

    return run


@pytest.mark.parametrize("who", ["native", "pure", "native, frames in", "kio, frames in", "tshark"])
@pytest.mark.parametrize("turn", range(TURNS))
def test_capture_rows(race, capture, workers, who, turn):
    path, size = capture
    expected = ROWS
    if who in peers.TWINS:
        run = reading(workers[who], path)
    elif who == "tshark":
        found = printing(path, ROWS)
        if found is None:
            return
        run, expected = found, 0  # it makes a line of a packet, whatever is in it
    else:
        once = path.with_name("once.pcap")
        repeat_capture(once, 1)
        known = known_to_kio(exchanges(once)) * COPIES
        expected = len(known)
        assert expected > ROWS // 2
        decode = kio_decode() if who.startswith("kio") else native_decode()

        def run() -> int:
            return make_rows(known, decode)

    rows = []
    race(
        WORK,
        who,
        lambda: rows.append(run()),
        expected or ROWS,
        0 if who.endswith("frames in") else size,
        rounds=5 if who.endswith("frames in") else 1,
    )
    assert set(rows) == {expected}


@pytest.mark.parametrize("who", ["native", "tshark"])
@pytest.mark.parametrize("turn", range(TURNS))
def test_fleet_rows(race, tmp_path_factory, workers, who, turn):
    """The same of a fleet of clients that stay longer: 13 requests a connection, where the example has 4."""
    path = tmp_path_factory.getbasetemp() / "fleet.pcap"
    if not path.exists():
        repeat_capture(path, FLEET_COPIES, source=FLEET)
    run = reading(workers["native"], path) if who == "native" else printing(path, 0, FLEET_PORTS)
    if run is None:
        return
    rows = []
    race("fleet of 64 MB to request rows", who, lambda: rows.append(run()), ROWS_OF_FLEET * FLEET_COPIES, path.stat().st_size, rounds=1)
    assert set(rows) == {ROWS_OF_FLEET * FLEET_COPIES if who == "native" else 0}


@pytest.mark.parametrize("who", ["native", "pure", "tshark"])
@pytest.mark.parametrize("turn", range(TURNS))
def test_cut_capture_rows(race, tmp_path_factory, workers, who, turn):
    """What `tcpdump -s 128` leaves of the same traffic: the beginnings of frames."""
    folder = tmp_path_factory.getbasetemp()
    path = folder / "cut.pcap"
    if not path.exists():
        repeat_capture(folder / "whole.pcap", CUT_COPIES)
        cut_to(folder / "whole.pcap", path, SNAPLEN)
    expected = 615 * CUT_COPIES if who in peers.TWINS else 0
    run = reading(workers[who], path) if who in peers.TWINS else printing(path, 0)
    if run is None:
        return
    rows = []
    race("cut capture to request rows", who, lambda: rows.append(run()), 615 * CUT_COPIES, path.stat().st_size, rounds=1)
    assert set(rows) == {expected}


def test_large_frames_rows(race, tmp_path, workers):
    """Produce requests of 900 KB, in packets of an Ethernet."""
    path = tmp_path / "large.pcap"
    size = large_frames(path, LARGE_REQUESTS)
    rows = []
    race("large frames to request rows", "native", lambda: rows.append(reading(workers["native"], path)()), LARGE_REQUESTS, size, rounds=5)
    assert set(rows) == {LARGE_REQUESTS}
