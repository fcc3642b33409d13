"""An interpreter that ends while daemon threads decode ends cleanly: with the status that was asked for, and without a word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.codec.impl import Twin

# Threads that nobody joins, in and between the calls that let go of the GIL (header columns, message columns, record batches, packets) and
# those that keep it (objects, the tracker). The first turn of each is over when the main thread ends.
PROGRAM = """
import atexit, gzip, struct, sys, threading, time
from kwire.capture.files.formats import identify
from kwire.codec.classes import CompiledCatalog
from kwire.codec.columns import Columns
from kwire.codec.decoding import FrameReader
from kwire.codec.header_scan import HeaderScan
from kwire.codec.impl import load_twin
from kwire.codec.records import record_reader
from kwire.errors import WireError
from kwire.protocol.tracking.connection import Connection as PureConnection
from kwire.schema import catalog

twin, way, capture = sys.argv[1:]
compiled = CompiledCatalog(catalog(), twin)
frames, scan, columns, records = FrameReader(compiled), HeaderScan(compiled), Columns(compiled), record_reader(twin)
connection = PureConnection if twin == "pure" else load_twin("protocol", "tracker", twin).Connection
packets = load_twin("capture", "packets", twin)

# Heartbeat v0 of the group g: generation 0, member m
frame = bytes.fromhex("000c0000" "00000007" "000163" "000167" "00000000" "00016d")
stream = (len(frame).to_bytes(4, "big") + frame) * (20_000 if twin == "native" else 20)
# MetadataResponse v0: no brokers; the topic t with 3 partitions without replicas
partition = bytes(2) + bytes(4) + bytes(4) + bytes(4) + bytes(4)
body = bytes(4) + struct.pack(">ihh", 1, 0, 1) + b"t" + struct.pack(">i", 3) + partition * 3
bodies = [body] * (5000 if twin == "native" else 5)
# message set v0 without a checksum that holds: one record, key k, value v
message = bytes(4) + b"\\0\\0" + struct.pack(">i", 1) + b"k" + struct.pack(">i", 1) + b"v"
batches = (bytes(8) + struct.pack(">i", len(message)) + message) * (5000 if twin == "native" else 5)
with gzip.open(capture) as file:
    captured = file.read()


def fail():
    try:
        frames.decode_request(frame[:-1])
    except WireError:
        pass
    else:
        raise AssertionError


def track():
    made = connection()
    made.receive_request_bytes(stream[:8000], 1)
    made.finish(2)


def packet_columns():
    state, start = identify(captured[:24])
    packets.scan(captured, start, state)


WORK = [
    lambda: frames.decode_request(frame), fail, lambda: scan.scan_headers(stream), lambda: columns.to_arrow("MetadataResponse", bodies, 0),
    lambda: records.to_arrow([batches], check_crc=False), track, packet_columns,
]
turns = [0] * len(WORK)


def loop(number):
    while True:
        WORK[number]()
        turns[number] += 1


threads = [threading.Thread(target=loop, args=(number,), daemon=True) for number in range(len(WORK))]
sys.setswitchinterval(1e-4)
for thread in threads:
    thread.start()
while not all(turns):
    assert all(thread.is_alive() for thread in threads)
    time.sleep(0.01)
if way == "atexit":
    atexit.register(lambda: [scan.scan_headers(stream) for _ in range(3)])
elif way == "exit":
    sys.exit(7)
elif way == "error":
    sys.excepthook = lambda *_: None
    raise RuntimeError
"""
STATUS = {"end": 0, "atexit": 0, "exit": 7, "error": 1}


@pytest.mark.parametrize("way", STATUS)
def test_threads_that_decode(way: str, twin: Twin) -> None:
    environment = {**os.environ, "PYTHONMALLOC": "debug", "PYTHONFAULTHANDLER": "1"}
    capture = Path(__file__).parents[2] / "captures" / "data" / "sasl.pcap.gz"
    command = [sys.executable, "-c", PROGRAM, twin, way, str(capture)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (STATUS[way], "")
