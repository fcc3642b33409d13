"""A proxy's two taps on the same traffic: the capture and the request log of a real fleet's connections lead to the same analysis."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire import analysis
from kwire.analysis import Options
from kwire.capture.impl import series_carry
from kwire.capture.reader import read_piece
from kwire.capture.sink import StreamSink
from kwire.capture.tcp import TcpConnection
from kwire.proxy.config import ListenerConfig, ProxyConfig, TapConfig
from kwire.proxy.logged_connection import LoggedConnection
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile
from kwire.proxy.taps import Tapped, Taps
from kwire.tables import read_series

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
FLEET = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
SASL = str(DATA / "sasl.pcap.gz")
# What a request is, wherever it is read from.
SAME = (
    "client_key", "api_key", "api_name", "api_version", "header_version", "correlation_id", "client_id", "software_name",
    "software_version", "principal", "acks", "first_topic", "topic_count", "group_id", "transactional_id", "state",
    "error_code", "error_name", "request_time",
)  # fmt: skip


class Played(StreamSink):
    """Gives the bytes of a capture's connections to taps, as a proxy does with those of its sockets."""

    def __init__(self, taps: Taps, port: int) -> None:
        self._taps, self._port = taps, port
        self._looking: dict[int, Tapped] = {}

    def _side(self, connection: TcpConnection) -> bool:
        return connection.b.port == self._port

    def opened(self, connection: TcpConnection, time_ns: int, packet: int) -> None:
        if self._port not in (connection.a.port, connection.b.port):
            connection.ignored = True
            return
        client, server = (connection.a, connection.b) if self._side(connection) else (connection.b, connection.a)
        made = self._taps.connected(Peer(client.address, client.port, 1), (server.address, server.port))
        assert made is not None
        self._looking[id(connection)] = made

    def data(self, connection: TcpConnection, direction: int, data: bytes, time_ns: int, packet: int) -> None:
        looking = self._looking[id(connection)]
        if (direction == 0) == self._side(connection):
            looking.from_client(data, time_ns)
        else:
            looking.to_client([data[: len(data) // 2], data[len(data) // 2 :]], time_ns)

    def ended(self, connection: TcpConnection) -> None:
        looking = self._looking.pop(id(connection), None)
        if looking is not None:
            looking.closed(connection.last_ns)


def played(capture: str, port: int, folder: Path, **more: Any) -> tuple[str, str]:
    made = {
        name: TapConfig(file=str(folder / f"{name}.{suffix}"), **more) for name, suffix in (("tap", "pcapng"), ("request_log", "jsonl"))
    }
    taps = Taps(ProxyConfig(listeners=[ListenerConfig(listen=":0", broker="b:1")], **made))
    carry, sink = series_carry(), Played(taps, port)
    read_piece(capture, carry, sink)
    carry.finish(sink)
    taps.close()
    return str(folder / "tap_00001.pcapng"), str(folder / "request_log_00001.jsonl")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return played(FLEET, 19092, tmp_path_factory.mktemp("fleet"))


def rows_of(path: str) -> Iterator[dict[str, Any]]:
    with read_series([path]) as rows:
        found = rows.table("requests").to_pylist()
    # a log has lines in the order in which requests ended
    for row in sorted(found, key=lambda row: (row["request_time"], row["client_key"], row["correlation_id"])):
        yield {name: row[name] for name in SAME}


def test_both_taps_have_the_same_requests(fleet: tuple[str, str]) -> None:
    captured, logged = (list(rows_of(path)) for path in fleet)
    assert len(captured) > 500
    assert logged == captured


def verdicts(path: str) -> list[tuple[Any, ...]]:
    found: dict[str, pa.Table] = analysis.run([path], (19092,), Options(target_releases=["4.3"]))
    columns = (
        "software_name",
        "software_version",
        "client_id",
        "api_name",
        "api_version",
        "requests",
        "errors",
        "target_release",
        "verdict",
    )
    return sorted(tuple(row[name] for name in columns) for row in found["upgrade_impact"].to_pylist())


def test_both_taps_lead_to_the_same_verdicts(fleet: tuple[str, str]) -> None:
    captured, logged = map(verdicts, fleet)
    assert {each[-1] for each in captured} >= {"compatible", "breaks"}
    assert logged == captured


def test_principals_are_there_and_passwords_are_not(tmp_path: Path) -> None:
    """User payments of the capture authenticates by PLAIN with the password `pay-secret`."""
    _, log = played(SASL, 9094, tmp_path)
    lines = [json.loads(line) for line in Path(log).read_text().splitlines()]
    assert "User:payments" in {line["principal"] for line in lines}
    assert {line["requestHeader"]["requestApiKeyName"] for line in lines} >= {"SASL_HANDSHAKE", "SASL_AUTHENTICATE"}
    assert "pay-secret" not in Path(log).read_text()


def test_the_body_of_a_long_frame_is_null(tmp_path: Path) -> None:
    """A request of more bytes than the snap length is counted all the same."""
    _, log = played(FLEET, 19092, tmp_path, snaplen=100)
    lines = [json.loads(line) for line in Path(log).read_text().splitlines()]
    long = [line for line in lines if line["request"] is None]
    assert long
    assert {line["error"]["code"] for line in long} == {"TRUNCATED"}
    assert all(line["requestHeader"]["requestApiKey"] is not None for line in long)


def test_a_fault_of_the_log_ends_it_for_that_connection_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(*given: Any, **more: Any) -> Any:
        raise RuntimeError("a fault")

    file = TapFile(tmp_path / "log.jsonl", max_bytes=1 << 20, max_files=1, max_queued=1 << 20, head=b"")
    one, other, third = (LoggedConnection(file, Peer("10.0.0.9", port, 1), ("10.0.0.1", 9092), port, 100) for port in (1, 2, 3))
    asked = bytes.fromhex("0000000d 0012 0000 00000007 0003 666f6f")  # ApiVersions v0
    answered = bytes.fromhex("0000000a 00000007 0000 00000000")
    third.from_client(asked, 1)
    with monkeypatch.context() as patched:
        patched.setattr("kwire.proxy.logged_connection.exchange_line", faulty)
        one.from_client(asked, 1)
        one.to_client([answered], 2)
        third.closed(3)
    one.to_client([answered], 3)
    other.from_client(asked, 1)
    other.to_client([answered], 1_000_001)
    other.closed(4)
    file.close()
    assert caplog.text.count("the request log stops looking at a connection") == 2
    (line,) = map(json.loads, file.files()[0].read_text().splitlines())
    assert (line["connection"], line["totalTimeMs"], line["requestHeader"]["clientId"]) == ("10.0.0.1:9092-10.0.0.9:2-2", 1.0, "foo")
    assert line["response"] == {"errorCode": 0, "apiKeys": []}
