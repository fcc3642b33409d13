"""Encrypted captures to request rows: against tshark with the same key log, against deciphering alone, and against the same in clear."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from captures import producing, write_connection
from encrypted_captures import KEY_LOG, SERVER_PORTS, decrypt, encrypted_frames, repeat_encrypted
from kwire.capture.tls.session_keys import TlsOptions, tls_options
from kwire.tables import from_capture

COPIES, ROWS_OF_COPY = 60, 87
LARGE_REQUESTS, TURNS = 70, 3


def rows_of(path: Path, log: Path | None = None) -> int:
    with tls_options(TlsOptions() if log is None else TlsOptions((str(log),))):
        return from_capture(str(path), table="requests").num_rows


@pytest.mark.parametrize("who", ["native", "cryptography alone", "plain text"])
@pytest.mark.parametrize("turn", range(TURNS))
def test_large_encrypted_frames(race, tmp_path_factory, who, turn):
    """Records of 16 KiB with AES-128-GCM: `size` is their plaintext, so that the table shows it a second."""
    folder = tmp_path_factory.getbasetemp()
    path, log, plain = folder / "encrypted.pcap", folder / "encrypted.log", folder / "clear.pcap"
    size, records = encrypted_frames(path, log, LARGE_REQUESTS)
    if who == "plain text":
        write_connection(plain, producing(LARGE_REQUESTS))
    else:
        assert rows_of(path, log) == LARGE_REQUESTS
    runs = {"native": lambda: rows_of(path, log), "cryptography alone": lambda: decrypt(records), "plain text": lambda: rows_of(plain)}
    race("large frames behind TLS", who, runs[who], LARGE_REQUESTS, size, rounds=3)


@pytest.mark.parametrize("who", ["native", "tshark"])
def test_encrypted_capture(race, tmp_path, who):
    """Real brokers and seven client libraries, handshakes among it: 3 requests a connection."""
    path = tmp_path / "repeated.pcap"
    size = repeat_encrypted(path, COPIES)
    rows = []
    if who == "native":

        def run() -> None:
            rows.append(rows_of(path, KEY_LOG))

    else:
        tshark = shutil.which("tshark")
        if tshark is None:
            return
        command = [tshark, "-r", str(path), "-o", f"tls.keylog_file:{KEY_LOG}", "-Y", "kafka.api_key", "-T", "fields"]
        for port in SERVER_PORTS:
            command += ["-d", f"tcp.port=={port},{'kafka' if port == 9092 else 'tls'}", "-d", f"tls.port=={port},kafka"]
        for field in ("frame.time_epoch", "ip.src", "kafka.api_key", "kafka.api_version", "kafka.correlation_id", "kafka.client_id"):
            command += ["-e", field]

        def run() -> None:
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert done.stdout.count(b"\n") > COPIES * ROWS_OF_COPY // 2

    race("encrypted capture to request rows", who, run, COPIES * ROWS_OF_COPY, size, rounds=1)
    assert set(rows) <= {COPIES * ROWS_OF_COPY}
