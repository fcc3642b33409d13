"""A broker's request log to rows, its fallback and the mere parsing as peers; and a capture trimmed, with the pure twin as the peer."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from datetime import timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kwire.capture.request_logs import folding
from kwire.capture.trimming import streams as trimmed_streams
from kwire.capture.trimming import trim as trimming
from kwire.codec.impl import load_twin
from kwire.protocol.secrets.frame_blanking import FrameBlanker
from kwire.protocol.tracking.direction_detection import DirectionDetector
from kwire.tables.request_logs.exchange_kinds import wanted_bodies
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


def of_short_connections(log: bytes) -> bytes:
    """The log with other connections in each copy of its lines, so that none has more requests than it really had.

    The epoch of the cluster's features rises with each line.
    """
    lines = log.splitlines(keepends=True)
    copy = len(lines) // COPIES
    connection, epoch = re.compile(rb'("connection":"[^"]*-)([0-9]+")'), re.compile(rb'("finalizedFeaturesEpoch":)[0-9]+')
    return b"".join(epoch.sub(rb"\g<1>%d" % n, connection.sub(rb"\g<1>%d\g<2>" % (n // copy + 1), line)) for n, line in enumerate(lines, 1))


def rows_of(log: bytes) -> int:
    carry = begin_series("log")
    rows = sum(batch.num_rows for found in iter_piece(io.BytesIO(log), carry) for batch in found["requests"])
    finish_series(carry)
    return rows


@pytest.mark.parametrize("who", ["fast path", "msgspec values"])
def test_request_log_of_short_connections_to_rows(race: Callable[..., None], who: str) -> None:
    log, lines = request_log()
    log = of_short_connections(log)
    decode = msgspec.json.Decoder().decode

    def values() -> int:
        return sum(1 for line in log.splitlines() if decode(line[line.index(b'{"') : line.rindex(b"}") + 1])["requestHeader"])

    run = values if who == "msgspec values" else lambda: rows_of(log)
    assert run() == lines
    race("request log of short connections to rows", who, run, messages=lines, size=len(log))


@pytest.mark.parametrize("who", ["fast path", "fallback", "json.loads", "msgspec", "msgspec values"])
def test_request_log_to_rows(race: Callable[..., None], who: str) -> None:
    log, lines = request_log()
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode  # the members of a line, their values unread
    parse = {"json.loads": json.loads, "msgspec": decode, "msgspec values": msgspec.json.Decoder().decode}.get(who)
    typed_reader = folding.typed_reader

    def run() -> int:
        if who == "fallback":
            folding.typed_reader = lambda _zone, _wanted: None
        try:
            return rows_of(log) if parse is None else parsed(parse)
        finally:
            folding.typed_reader = typed_reader

    def parsed(parse: Callable[[bytes], Any]) -> int:
        return sum(1 for line in log.splitlines() if parse(line[line.index(b'{"') : line.rindex(b"}") + 1])["requestHeader"])

    assert typed_reader(timezone.utc, wanted_bodies) is not None
    assert run() == lines
    race("request log to rows", who, run, messages=lines, size=len(log))


@pytest.mark.parametrize("who", ["native", "pure"])
def test_trim(race: Callable[..., None], who: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("trim")
    source, target = folder / "seed.pcap", folder / f"trimmed-{who}.pcap"
    source.write_bytes(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
    native = trimming.impl.packets, trimmed_streams.DirectionDetector, trimmed_streams.frame_blanker
    pure = load_twin("capture", "packets", "pure"), DirectionDetector, lambda: FrameBlanker

    def take(twin: tuple[Any, Any, Any]) -> None:
        trimming.impl.packets, trimmed_streams.DirectionDetector, trimmed_streams.frame_blanker = twin  # type: ignore[misc]

    def run() -> Any:
        take(native if who == "native" else pure)
        try:
            return trimming.trim([(str(source), str(target))], overwrite=True)
        finally:
            take(native)

    assert run()[0].packets > 100
    race("capture trimmed", who, run, messages=run()[0].packets, size=source.stat().st_size)
