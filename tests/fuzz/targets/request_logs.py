"""Request logs of brokers, as JSON and as older brokers' text."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from parity.test_request_logs_parity import LOGS, STAMP, same


def seeds() -> Iterator[bytes]:
    for path in LOGS:
        lines = [line for line in gzip.decompress(path.read_bytes()).splitlines()[::15] if len(line) < 1500]
        for number in range(0, len(lines), 3):
            stamp = STAMP % (number % 60, number % 1000) if number % 2 and lines[number][:1] == b"{" else b""
            yield b"".join(stamp + line + b"\n" for line in lines[number : number + 3])


def compare(data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        same(patch, [data])
