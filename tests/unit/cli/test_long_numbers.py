"""Numbers of any length in text from captures, logs, metrics and rules: Python reads none of more than 4,300 digits."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kafka_bytes import framed
from kwire.analysis.known_clients import software_of
from kwire.capture.request_logs.bodies import BodyFault, read_body
from kwire.capture.request_logs.entry import UnreadableLine, connection_name
from kwire.cli import report_options
from kwire.cli.entry import commands
from kwire.cli.terminal import INSTANT
from kwire.errors import InputError
from kwire.protocol.telemetry.metric_catalog import split_name
from kwire.proxy.config import host_and_port
from kwire.schema.version_numbers import version_numbers

LONG = "9" * 4301
LIBRARIES = ("kgo", "apache-kafka-java", "librdkafka", "confluent-kafka-python", "sarama", "unheard-of")
SYN, ACK = 2, 16
HEARTBEAT = struct.pack(">hhih3sh1sih1s", 12, 0, 2, 3, b"app", 1, b"g", 5, 1, b"m")


def api_versions(name: str, version: str) -> bytes:
    """ApiVersions v3: compact texts, whose length of one more is a varint."""
    size = len(version) + 1
    texts = bytes([len(name) + 1]) + name.encode() + bytes([size & 127 | 128, size >> 7]) + version.encode()
    return framed(struct.pack(">hhih3s", 18, 3, 1, 3, b"app") + b"\0" + texts + b"\0")


# ApiVersions v3: no error; Heartbeat v0 to v4 and ApiVersions v0 to v3; no throttling.
OFFERS = framed(struct.pack(">ihB", 1, 0, 3) + struct.pack(">hhhB", 12, 0, 4, 0) + struct.pack(">hhhB", 18, 0, 3, 0) + bytes(5))


def packet(number: int, client: int, is_request: bool, seq: int, ack: int, flags: int, payload: bytes) -> bytes:
    """A record of a pcap file with an IPv4 packet."""
    ends = [(0x0A000001 + client, 40000), (0x0A800001, 9092)]
    (source, source_port), (target, target_port) = ends if is_request else ends[::-1]
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + len(payload), 0, 0, 64, 6, 0, source, target)
    data = ip + struct.pack(">HHIIBBHHH", source_port, target_port, seq, ack, 5 << 4, flags, 1000, 0, 0) + payload
    return struct.pack("<IIII", 1_790_000_000, number, len(data), len(data)) + data


def connection(client: int, name: str, version: str) -> bytes:
    asked = api_versions(name, version)
    first, second = 1 + len(asked), 1 + len(OFFERS)
    beat, beaten = framed(HEARTBEAT), framed(struct.pack(">ih", 2, 0))
    steps = [
        (True, 0, 0, SYN, b""), (False, 0, 1, SYN | ACK, b""), (True, 1, 1, ACK, asked), (False, 1, first, ACK, OFFERS),
        (True, first, second, ACK, beat), (False, second, first + len(beat), ACK, beaten),
    ]  # fmt: skip
    return b"".join(packet(10 * client + number, client, *step) for number, step in enumerate(steps))


def test_an_analysis_of_clients_with_long_versions(tmp_path: Path) -> None:
    """KIP-511 allows any digits, so the row of such a client has no library version; the report has the text that it sent."""
    sent = dict.fromkeys(LIBRARIES, f"1.{LONG}.0")
    capture = tmp_path / "long.pcap"
    packets = b"".join(connection(number, name, version) for number, (name, version) in enumerate([*sent.items(), ("sarama", "1.45.0")]))
    capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + packets)
    out = tmp_path / "out"
    forms = [word for form in report_options.FORMS for word in ("--format", form)]
    result = CliRunner().invoke(commands, ["analyze", str(capture), "--out", str(out), *forms])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stderr.count("Traceback")) == (0, 0)
    clients = pq.read_table(out / "clients").to_pylist()
    assert sorted((row["software_name"], row["software_version"]) for row in clients) == sorted([*sent.items(), ("sarama", "1.45.0")])
    assert all((out / name).stat().st_size for name in ("report.html", "report.md", "report.json", "report.sarif", "report.prom"))
    assert LONG in (out / "report.json").read_text()
    assert LONG in (out / "report.html").read_text()
    assert (out / "report.csv").read_text().count("(4,305 characters)") == len(sent)  # spreadsheets take short cells
    again = CliRunner().invoke(commands, ["diff", str(out), str(out)])
    assert again.exit_code == 0, again.output


def test_versions() -> None:
    assert version_numbers("v1.4.2-rc1") == (1, 4, 2)
    assert version_numbers("") == version_numbers("unknown") == version_numbers(LONG) == version_numbers(f"1.{LONG}") == ()
    assert version_numbers("20240131.0" + "0" * 8) == (20240131, 0)
    for name in LIBRARIES:
        assert software_of(name, LONG, None).version is None


def test_names_of_connections() -> None:
    """The broker counts connections with an int."""
    assert connection_name("10.0.0.1:9092-10.0.0.2:40000-2-2147483647").life == "-2-2147483647"
    with pytest.raises(UnreadableLine, match="is no connection"):
        connection_name(f"10.0.0.1:9092-10.0.0.2:40000-2-{LONG}")


def test_doubles_of_request_logs() -> None:
    def body(value: Any) -> Any:
        ops = [{"key": "producer_byte_rate", "value": value, "remove": False}]
        read = read_body("AlterClientQuotasRequest", 1, None, {"entries": [{"entity": [], "ops": ops}], "validateOnly": False}, True)
        return read.entries[0].ops[0].value

    assert body(1e300) == 1e300
    with pytest.raises(BodyFault, match="value cannot be"):
        body(json.loads("9" * 400))


def test_metrics_settings_and_options() -> None:
    name = f"client.request.rtt.avg{LONG}s"
    assert tuple(split_name(name)) == (name, None)
    with pytest.raises(InputError, match="is not host:port"):
        host_and_port(f"broker:{LONG}", "address")
    for ago in (f"-{LONG}d", "-999999d"):  # the latter is before the year 1
        with pytest.raises(click.BadParameter, match="is not a time"):
            INSTANT.convert(ago, None, None)
