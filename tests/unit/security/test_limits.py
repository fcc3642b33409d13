"""The limits that SECURITY.md promises are those that the code has: each row of the table, number by number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kwire.capture.carry import MAX_OPEN
from kwire.capture.files.capture_chunks import MAX_INTERFACES
from kwire.capture.packet_columns import MAX_FRAGMENT_BYTES, MAX_FRAGMENTED_PACKETS
from kwire.codec import columns, decoding
from kwire.codec.records import compression, reading
from kwire.protocol.relay.heads import MAX_AUTHENTICATION
from kwire.protocol.telemetry import metric_points
from kwire.protocol.tracking import frames, pairing
from kwire.proxy.config import ProxyConfig, TelemetryConfig
from kwire.proxy.proxy_protocol import MAX_HEADER

PAGE = Path(__file__).resolve().parents[3] / "SECURITY.md"
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}
CONFIG = ProxyConfig(listeners=())
PUSHED = TelemetryConfig(file="pushed.jsonl")
BOUNDS = {
    "a frame": [frames.MAX_FRAME],
    "objects of a message": [decoding.MEMORY_MULTIPLE, decoding.MEMORY_MULTIPLE_OF_VIEWS, decoding.MESSAGE_BYTES],
    "columns": [columns.MEMORY_MULTIPLE, columns.ROW_BYTES, 64],
    "records, as objects or columns": [reading.MEMORY_MULTIPLE],
    "records of a compressed batch; of one call": [compression.MAX_DECOMPRESSED, compression.UNPACKED_BYTES, 64],
    "client telemetry of one push": [metric_points.MAX_METRICS, metric_points.MAX_POINTS],
    "requests of a connection that wait for their responses": [pairing.MAX_WAITING, pairing.MAX_WAITING_BYTES],
    "responses of a connection whose request was not found yet": [pairing.MAX_HELD, pairing.MAX_HELD_BYTES],
    # measured by test_tables_memory.py
    "a connection of a capture: half-open; undecided after 384 bytes of one side at most; undecided later; open": [
        256, 1 << 10, 13 << 10, 4 << 10,
    ],
    "open connections of a capture set; half-open ones": [MAX_OPEN],
    "interfaces of a pcapng section": [MAX_INTERFACES],
    "IP fragments that wait": [MAX_FRAGMENTED_PACKETS, MAX_FRAGMENT_BYTES],
    "a proxied request that authenticates, or ApiVersions": [MAX_AUTHENTICATION],
    "a proxied connection; all of a proxy": [CONFIG.max_held, CONFIG.max_held_in_all],
    "client telemetry that the proxy stores of a connection": [PUSHED.max_pushed, PUSHED.max_files, PUSHED.max_bytes],
    "connections to a proxy's port": [CONFIG.max_connections, CONFIG.max_connections_of_address, CONFIG.max_handshakes_of_address],
    "answers of TLS itself that a client does not read, in the native loop": [1 << 20],  # test_proxy_key_updates.py
    "clients of a port with the PROXY protocol that have not sent their header": [CONFIG.first_frame_seconds, MAX_HEADER],
    "log lines about proxied clients": [],
}  # fmt: skip


def rows() -> dict[str, str]:
    section = PAGE.read_text("utf-8").split("## Limits", 1)[1].split("\n## ", 1)[0]
    cells = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return {cell[0]: cell[1] for cell in cells[1:]}


def numbers(text: str) -> list[int]:
    """`64 MiB` is 67108864, `4,096` is 4096; a name in backticks is none."""
    found = re.findall(r"\b(\d[\d,]*)(?: (KiB|MiB)\b)?", re.sub(r"`[^`]*`", "", text))
    return [int(digits.replace(",", "")) * UNITS.get(unit, 1) for digits, unit in found]


def test_every_row_is_checked() -> None:
    assert set(rows()) == set(BOUNDS)


@pytest.mark.parametrize("what", BOUNDS)
def test_the_numbers_of_a_row_are_those_of_the_code(what: str) -> None:
    assert numbers(rows()[what]) == BOUNDS[what]
