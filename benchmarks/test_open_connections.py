"""Memory of a connection that is half-open or undecided, as a SYN flood and a port scan leave them; a nanosecond of the table is a byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORK = "memory of a connection"
COUNT = 170_000
PACKETS = {"a SYN": ("2", "", 256), "one byte": ("24", "00", 1024)}  # flags, payload, and the bytes that it may take
BYTE = 1e-9


@pytest.mark.parametrize("packet", PACKETS)
def test_open_connections(record, packet):
    flags, payload, limit = PACKETS[packet]
    worker = [sys.executable, str(Path(__file__).with_name("open_connections_worker.py")), str(COUNT), flags, payload]
    done = subprocess.run(worker, check=True, capture_output=True, text=True)
    record(WORK, packet, int(done.stdout) * BYTE, COUNT, 0)
    record(WORK, f"limit of {packet}", limit * BYTE, 1, 0)
