"""A broker's request log to rows, the long way and the mere parsing as peers; and a capture trimmed, with the pure twin as the peer."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kwire.capture.request_log_short_way import short_lines

from kwire.capture import request_log_folding, trimmed_streams, trimming
from kwire.codec.impl import load_twin
from kwire.protocol.connection import Connection
from kwire.tables.series import begin_series, finish_series, iter_piece

DATA = Path(__file__).parents[1] / "tests" / "captures" / "data"
COPIES = 2


def request_log() -> tuple[bytes, int]:
    """Lines of a real broker with the stamps of its layout, and how many."""
    lines = gzip.decompress((DATA / "upgrade-fleet-requests.jsonl.gz").read_bytes()).splitlines() * COPIES
    stamped = [
        b"[2026-01-01 00:%02d:%02d,000] DEBUG Completed request:%s (kafka.request.logger)" % (*divmod(n % 3600, 60), line)
        for n, line in enumerate(lines)
    ]
    return b"\n".join(stamped) + b"\n", len(lines)


def rows_of(log: bytes) -> int:
    carry = begin_series("log")
    rows = sum(batch.num_rows for found in iter_piece(io.BytesIO(log), carry) for batch in found["requests"])
    finish_series(carry)
    return rows


@pytest.mark.parametrize("who", ["short way", "long way", "json.loads"])
def test_request_log_to_rows(race: Callable[..., None], who: str) -> None:
    log, lines = request_log()

    def parsed() -> int:
        return sum(1 for line in log.splitlines() if json.loads(line[line.index(b'{"') : line.rindex(b"}") + 1])["requestHeader"])

    def run() -> int:
        if who == "json.loads":
            return parsed()
        request_log_folding.short_lines = short_lines if who == "short way" else lambda: None
        try:
            return rows_of(log)
        finally:
            request_log_folding.short_lines = short_lines

    assert short_lines() is not None
    assert run() == lines
    race("request log to rows", who, run, messages=lines, size=len(log))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_trim(race: Callable[..., None], who: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("trim")
    source, target = folder / "seed.pcap", folder / f"trimmed-{who}.pcap"
    source.write_bytes(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
    twin: tuple[Any, Any] = trimming.impl.packets, trimmed_streams.Connection
    given = twin if who == "native" else (load_twin("capture", "packets", "pure"), Connection)

    def run() -> Any:
        trimming.impl.packets, trimmed_streams.Connection = given  # type: ignore[misc]
        try:
            return trimming.trim([(str(source), str(target))], overwrite=True)
        finally:
            trimming.impl.packets, trimmed_streams.Connection = twin  # type: ignore[misc]

    assert run()[0].packets > 100
    race("capture trimmed", who, run, messages=run()[0].packets, size=source.stat().st_size)
