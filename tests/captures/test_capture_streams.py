"""Real captures and what is known of them: connections, gaps, and streams that no cut into files changes."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carried_state import carried
from kwire.capture.carry import SeriesCarry
from kwire.capture.reader import read_piece

DATA = Path(__file__).parent / "data"
NAMES = sorted(json.loads((DATA / "truth.json").read_text()))
PCAPS = [name for name in NAMES if name.endswith(".pcap")]
# Made from seed.pcap without losing a byte of it.
SAME_STREAMS = ["big-endian", "nanosecond", "openbsd-loop", "overlapping-segments", "raw-ip", "reordered-duplicated", "seq-wrap", "vlan"]

Notes = Callable[[], Any]


def read(notes: Notes, *pieces: Any) -> Any:
    heard = notes()
    carry = SeriesCarry()
    for piece in pieces:
        read_piece(piece, carry, heard)
        carry = carried(carry)
    carry.finish(heard)
    return heard


def location(name: str) -> str:
    return str(DATA / f"{name}.gz")


@pytest.mark.parametrize("name", NAMES)
def test_connections_and_gaps(notes: Notes, capture_truth: dict[str, Any], name: str) -> None:
    heard = read(notes, location(name))
    truth = capture_truth[name]
    assert len(heard.events) == truth["connections"]
    found = heard.gaps()
    if name == "snaplen-96.pcap":  # its truth lists the first of many
        assert all(gap in found for gap in truth["gaps"])
    else:
        assert sorted(found, key=str) == sorted(truth.get("gaps", []), key=str)


@pytest.mark.parametrize("name", [*(f"{name}.pcap" for name in SAME_STREAMS), "sections.pcapng"])
def test_streams_are_those_of_the_undamaged_capture(notes: Notes, name: str) -> None:
    assert sorted(read(notes, location(name)).streams().items()) == sorted(read(notes, location("seed.pcap")).streams().items())


def test_lives_of_one_four_tuple(notes: Notes, capture_truth: dict[str, Any]) -> None:
    heard = read(notes, location("tcp-tricks.pcap"))
    cases = [case for case in capture_truth["tcp-tricks.pcap"]["per_connection"] if case["case"].startswith("reuse-4-tuple")]
    lives = [connection for connection in heard.connections if cases[0]["client_port"] in (connection.a.port, connection.b.port)]
    assert [connection.n for connection in lives] == [0, 1, 2] == list(range(len(cases)))
    assert all(connection.flows[0].bytes and connection.closed_ns is not None for connection in lives)


def test_keepalive_and_copies_of_any_are_no_retransmissions(notes: Notes) -> None:
    for name in ("tcp-tricks.pcap", "any-sll2.pcap"):
        heard = read(notes, location(name))
        assert sum(flow.retransmissions for connection in heard.connections for flow in connection.flows) == 0


def test_retransmissions_are_counted(notes: Notes) -> None:
    """seed.pcap holds two, by tshark's count too; copies of packets add none."""
    for name in ("seed.pcap", "reordered-duplicated.pcap"):
        heard = read(notes, location(name))
        assert sum(flow.retransmissions for connection in heard.connections for flow in connection.flows) == 2


def test_late_joins(notes: Notes, capture_truth: dict[str, Any]) -> None:
    heard = read(notes, location("late-join.pcap"))
    without_syn = [connection for connection in heard.connections if connection.opened_by is None]
    assert len(without_syn) == capture_truth["late-join.pcap"]["connections_without_syn"]
    assert not any(flow.gaps for connection in heard.connections for flow in connection.flows)


def cut(data: bytes, pieces: int, seed: int) -> list[bytes]:
    order = "<" if data[:1] in (b"\xd4", b"\x4d") else ">"
    starts = [24]
    while starts[-1] + 16 <= len(data):
        starts.append(starts[-1] + 16 + struct.unpack_from(order + "I", data, starts[-1] + 8)[0])
    borders = sorted(random.Random(seed).choices(starts[:-1], k=pieces - 1))
    return [data[:24] + data[start:end] for start, end in zip([24, *borders], [*borders, len(data)], strict=True)]


@pytest.mark.parametrize("name", PCAPS)
def test_no_cut_into_files_changes_an_event(notes: Notes, name: str) -> None:
    with gzip.open(location(name)) as file:
        data = file.read()
    whole = read(notes, io.BytesIO(data)).events
    for seed, pieces in enumerate((2, 5, 40)):
        assert read(notes, *map(io.BytesIO, cut(data, pieces, seed))).events == whole


def test_a_sweep_between_files_changes_nothing(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that linger are forgotten after so much time of the series, wherever a file ends."""
    monkeypatch.setattr("kwire.capture.carry.SWEEP_BITS", 22)
    monkeypatch.setattr("kwire.capture.carry.LINGER_NS", 10_000_000)
    monkeypatch.setattr("kwire.capture.carry.HELD_NS", 10_000_000)
    for name in ("seed.pcap", "gap-response.pcap", "tcp-tricks.pcap"):
        with gzip.open(location(name)) as file:
            data = file.read()
        whole = read(notes, io.BytesIO(data)).events
        assert read(notes, *map(io.BytesIO, cut(data, 9, 3))).events == whole
