"""When an analysis rests on too little: limits worked out by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kwire.analysis.quality import too_little
from kwire.tables.schemas import CAPTURES

WHOLE = {
    "source": "pcap", "packets": 1000, "packets_dropped": 0, "bytes": 100_000, "bytes_lost": 0, "bytes_opaque": 0, "connections": 10,
    "connections_refused": 0, "one_way": 0, "requests": 200,
}  # fmt: skip


def captures(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([{name: {**WHOLE, **row}.get(name) for name in CAPTURES.names} for row in rows], schema=CAPTURES)


@pytest.mark.parametrize(
    ("enough", "not_enough", "words"),
    [
        ({"requests": 1}, {"requests": 0}, "No Kafka request"),
        ({"packets_dropped": 110}, {"packets_dropped": 112}, "dropped 112 of 1,112 packets"),
        ({"bytes_lost": 11_000}, {"bytes_lost": 11_200}, "11,200 bytes are missing"),
        ({"packets_unread": 100}, {"packets_unread": 101}, "101 of 1,000 packets have link types"),
        ({"one_way": 5}, {"one_way": 6}, "6 of 10 connections"),
        ({"bytes_opaque": 90_000}, {"bytes_opaque": 90_001}, "90,001 of 100,000 bytes are TLS"),
    ],
)
def test_each_limit(enough: dict[str, int], not_enough: dict[str, int], words: str) -> None:
    assert too_little(captures(enough)) == []
    (sentence,) = too_little(captures(not_enough))
    assert words in sentence


def test_files_count_together() -> None:
    assert too_little(captures({"requests": 0}, {})) == []
    assert too_little(captures({"one_way": 9}, {}, {})) == []
    assert len(too_little(captures({"one_way": 9, "connections_refused": 5}, {"connections": 2}))) == 1


def test_a_log_that_does_not_count_requests_is_no_reason() -> None:
    assert too_little(captures({"source": "request_log_deprecated", "requests": None})) == []


def test_drops_that_nobody_counted_are_no_reason() -> None:
    assert too_little(captures({"packets_dropped": None})) == []
