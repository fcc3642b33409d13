"""A series read by way of the packets of each share gives the tables of one task, wherever its files are divided.

Expected are the tables of the same files read one after the other by one task, which other tests hold against the logs of brokers.
"""

from __future__ import annotations

import gzip
import json
import pickle
import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kwire import tables
from kwire.capture.dividing import record_borders
from kwire.capture.dividing.packet_routing import RangeFacts, join_ranges
from kwire.errors import InputError
from kwire.tables import impl
from kwire.tables.carry_state import unpack_carry
from kwire.tables.series_rows import SPOOLED
from routed_series import Routed, at_once, same
from tls_capture import KEY_LOG, blocks, with_keys

DATA = Path(__file__).parent / "data"
SECOND = 10**9


def records(data: bytes) -> list[bytes]:
    found, at = [], 24
    while at < len(data):
        size = 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        found.append(data[at : at + size])
        at += size
    return found


def restamped(data: bytes, chance: random.Random, factor: int) -> bytes:
    """The same packets over a longer time, with clocks that jump now and then: connections end because time goes by."""
    first, out, ahead = None, [data[:24]], 0
    for record in records(data):
        seconds, micros = struct.unpack_from("<II", record)
        time = seconds * 10**6 + micros
        first = time if first is None else first
        if chance.random() < 0.02:
            ahead = chance.choice((0, 0, 40_000_000, 100_000_000, -20_000_000))
        time = max(first + (time - first) * factor + ahead, 0)
        out.append(struct.pack("<II", time // 10**6, time % 10**6) + record[8:])
    return b"".join(out)


CAPTURES = [path.name for path in sorted(DATA.glob("*.pcap*.gz")) if path.name not in ("sasl.pcap.gz", "topicids.pcap.gz")]


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.whole] if n % 3 else []) for n, each in enumerate(CAPTURES)])
def test_every_capture_in_parts_and_shares(name: str, tmp_path: Path) -> None:
    path = tmp_path / name.removesuffix(".gz")
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    routed = Routed([path], 5, 3)
    same(routed.tables(), at_once([path]))
    if path.suffix == ".pcap" and path.stat().st_size > 100_000:
        assert len(routed.ranges[0]) > 1
    if path.suffix == ".pcapng":
        assert len(routed.ranges[0]) == 1


@pytest.mark.parametrize("name", ["seed.pcap.gz", "gap-request.pcap.gz"])
def test_a_file_of_several_times_in_parts(name: str, tmp_path: Path) -> None:
    """A lone packet, then months without one, twice: every packet is read in any part, and one violation says so."""
    data = gzip.decompress((DATA / name).read_bytes())
    found = records(data)
    away = {len(found) // 2: 60 * 86_400, len(found) - 1: -100 * 86_400, 0: -400 * 86_400}
    moved = [struct.pack("<I", int.from_bytes(each[:4], "little") + away.get(at, 0)) + each[4:] for at, each in enumerate(found)]
    path = tmp_path / "moved.pcap"
    path.write_bytes(data[:24] + b"".join(moved))
    once = at_once([path])
    routed = Routed([path], 5, 3)
    same(routed.tables(), once)
    assert len(routed.ranges[0]) > 1
    with tables.read_series([path], "x") as rows:
        (capture,) = rows.table("captures").to_pylist()
        assert (capture["packets"], capture["bytes_damaged"]) == (len(found), 0)
        rules = [(row["rule"], row["severity"]) for row in rows.table("violations").to_pylist() if row["rule"].startswith("capture_")]
        assert rules == [("capture_times", "info")]


def without_principals(rows: Counter[str]) -> Counter[str]:
    left = ("principal", "client_key")
    return Counter(json.dumps({name: value for name, value in json.loads(row).items() if name not in left}) for row in rows.elements())


def test_secrets_of_a_capture_reach_every_share_and_no_pickle(tmp_path: Path) -> None:
    """A Decryption Secrets Block travels as its place in the file."""
    path = tmp_path / "x.pcapng"
    path.write_bytes(with_keys(blocks()))
    routed = Routed([path], 5, 3)
    found, expected = routed.tables(), at_once([path])
    assert any('"tls_decrypted": "yes"' in row for row in found["connections"])
    # a resumed session has its principal from another connection, so a job with key logs does not share a series (kwire.runs.planning)
    assert without_principals(found["requests"]) == without_principals(expected["requests"])
    packed = pickle.dumps((routed.files, routed.ranges))
    secrets = [line.split()[2] for line in KEY_LOG.read_bytes().splitlines() if line and not line.startswith(b"#")]
    assert secrets
    assert not any(secret in packed or bytes.fromhex(secret.decode()) in packed for secret in secrets)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(draw=st.data())
def test_any_cut_into_files_parts_and_shares(draw: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Real captures whose time is stretched until connections linger, are forgotten and begin again, cut in files at any packet."""
    name = draw.draw(st.sampled_from(["seed", "tcp-tricks", "gap-response", "reordered-duplicated", "hostile-requests", "late-join"]))
    chance = random.Random(draw.draw(st.integers(0, 1 << 16)))
    data = restamped(gzip.decompress((DATA / f"{name}.pcap.gz").read_bytes()), chance, draw.draw(st.sampled_from([1, 7, 60])))
    packets = records(data)
    cuts = sorted(chance.sample(range(1, len(packets)), min(draw.draw(st.sampled_from([0, 1, 9])), len(packets) - 1)))
    folder = tmp_path_factory.mktemp("cut")
    files = []
    for number, (start, end) in enumerate(pairwise([0, *cuts, len(packets)])):
        path = folder / f"x_{number:05d}.pcap{'.gz' if number % 3 == 2 else ''}"
        piece = data[:24] + b"".join(packets[start:end])
        path.write_bytes(gzip.compress(piece, 1) if path.suffix == ".gz" else piece)
        files.append(path)
    longest = max(map(len, packets))
    routed = Routed(files, draw.draw(st.sampled_from([1, 2, 10, 100])), draw.draw(st.sampled_from([1, 2, 7, 33])), longest)
    assert not routed.again
    same(routed.tables(), at_once(files))


def ip(payload: bytes, protocol: int, number: int, more: bool, at: int) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), number & 0xFFFF, (0x2000 if more else 0) | at >> 3, 64, protocol, 0)
    return head + bytes((10, 9, 0, 1, 10, 9, 0, 2)) + payload


def tunnelled(data: bytes, chance: random.Random) -> bytes:
    """Each packet in a VXLAN tunnel that is narrower than the packets: most of them are in fragments, some of those in the wrong order."""
    out: list[bytes] = []
    for number, record in enumerate(records(data)):
        frame = record[16:]
        outer = struct.pack(">HHHH", 40_000, 4789, 16 + len(frame), 0) + b"\x08" + bytes(7) + frame
        size = chance.choice((96, 400, 1400))
        pieces = [
            b"\x02" * 12 + b"\x08\0" + ip(outer[at : at + size], 17, number, at + size < len(outer), at)
            for at in range(0, len(outer), size)
        ]
        if chance.random() < 0.2:
            chance.shuffle(pieces)
        out += [record[:8] + struct.pack("<II", len(piece), len(piece)) + piece for piece in pieces]
    for _ in range(20):  # neighbours of different packets change places
        at = chance.randrange(len(out) - 1)
        out[at], out[at + 1] = out[at + 1], out[at]
    return data[:24] + b"".join(out)


@pytest.mark.parametrize("seed", [1, 2])
def test_fragments_across_parts_and_files(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    data = tunnelled(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()), chance)
    packets = records(data)
    middle = chance.randrange(len(packets) // 3, len(packets) // 2)
    files = [tmp_path / "x_00001.pcap", tmp_path / "x_00002.pcap"]
    files[0].write_bytes(data[:24] + b"".join(packets[:middle]))
    files[1].write_bytes(data[:24] + b"".join(packets[middle:]))
    expected = at_once(files)
    assert sum(expected["requests"].values()) > 60
    routed = Routed(files, 4, 5, 1600)
    assert [len(ranges) > 2 for ranges in routed.ranges] == [True, True]
    same(routed.tables(), expected)


def test_exported_pdus_are_numbered_across_parts(tmp_path: Path) -> None:
    """They have no sequence numbers of their own: those of a share are the same as those of all."""
    path = tmp_path / "x.pcap"
    path.write_bytes(gzip.decompress((DATA / "wireshark-pdus.pcap.gz").read_bytes()))
    expected = at_once([path])
    assert sum(expected["requests"].values()) > 20
    routed = Routed([path], 4, 4, max(map(len, records(path.read_bytes()))))
    assert len(routed.ranges[0]) > 1
    same(routed.tables(), expected)


def _damage(data: bytes, at: int, junk: bytes) -> bytes:
    return data[:at] + junk + data[at + len(junk) :]


@pytest.mark.parametrize(
    ("harm", "again"),
    [
        (lambda data: data[: len(data) * 3 // 5 + 3], False),  # ends inside a record
        (lambda data: _into_length(data, 0xFFFFFFFF), True),  # where the scan of a part stops
        (lambda data: _into_length(data, 100_000), True),  # where it leaps over the border of a part
        (lambda data: data[:24], False),  # no packet
    ],
    ids=["cut", "impossible", "leap", "empty"],
)
def test_damaged_files_are_read_as_far_as_one_task_reads_them(
    harm: Callable[[bytes], bytes], again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_borders, "_CHECKED_BYTES", 1000)  # the damage of a large file is not at its beginning
    path, other = tmp_path / "x_00001.pcap", tmp_path / "x_00002.pcap"
    whole = gzip.decompress((DATA / "dribble.pcap.gz").read_bytes())
    path.write_bytes(harm(whole))
    other.write_bytes(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
    routed = Routed([path, other], 8, 3)
    assert bool(routed.again) == again
    same(routed.tables(), at_once([path, other]))


def _into_length(data: bytes, length: int) -> bytes:
    at = 24 + sum(map(len, records(data)[:1500]))
    return _damage(data, at + 8, struct.pack("<I", length))


def test_files_that_are_no_captures_are_left_out(tmp_path: Path) -> None:
    good, bad, none = tmp_path / "x_00001.pcap", tmp_path / "x_00002.pcap", tmp_path / "x_00003.pcap"
    good.write_bytes(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
    bad.write_text("overwritten by mistake")
    files = [good, bad, none]
    routed = Routed(files, 3, 2)
    same(routed.tables(), at_once(files))
    assert [bool(file.error) for file in routed.files] == [False, True, True]
    with pytest.raises(InputError, match="is not a capture file"):
        tables.read_series(Routed([bad], 3, 2).pieces(1), "x", share=(1, 2))


def test_a_request_log_among_them_is_read_by_one_share(tmp_path: Path) -> None:
    """A rule of the user's own may put anything together."""
    capture, log = tmp_path / "x.pcap", DATA / "sasl-requests.jsonl.gz"
    capture.write_bytes(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()))
    same(Routed([capture, log], 3, 2).tables(), at_once([capture, log]))


def test_the_pure_twin_reads_what_is_routed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(restamped(gzip.decompress((DATA / "tcp-tricks.pcap.gz").read_bytes()), random.Random(3), 60))
    expected = at_once([path])
    monkeypatch.setattr(impl, "_chosen", ("pure", None))
    same(Routed([path], 3, 3).tables(), expected)


def test_a_series_goes_on_in_either_way(tmp_path: Path) -> None:
    """What a share leaves behind is the same, so the next run may read as it likes."""
    data = restamped(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()), random.Random(8), 20)
    packets = records(data)
    files = [tmp_path / f"x_{number:05d}.pcap" for number in range(3)]
    for path, start in zip(files, range(0, len(packets), len(packets) // 3 + 1), strict=True):
        path.write_bytes(data[:24] + b"".join(packets[start : start + len(packets) // 3 + 1]))
    expected = at_once(files)
    routed, found, shares = Routed(files, 4, 3), [], 3
    for share in range(shares):
        mine: list[Any] = list(routed.pieces(share))
        mixed = [[mine[0]], [files[1]], [mine[2]]] if share % 2 else [[files[0]], [mine[1]], [files[2]]]
        state, kept = b"", []
        waiting: dict[str, list[Any]] = {}
        for pieces in mixed:
            resume = (unpack_carry(state), waiting) if state else None
            rows = tables.read_series(pieces, "x", share=(share, shares), resume=resume, keep_state=True)
            kept += [row for batch in _settled(rows, "requests") for row in batch.to_pylist()]
            state = rows.state
            waiting = {name: [batch for fate, batch in rows.by_status(name) if fate == "waiting"] for name in SPOOLED}
            last = rows
        kept += [row for fate, batch in last.by_status("requests") if fate != "settled" for row in batch.to_pylist()]
        found += kept
    assert Counter(json.dumps(row, default=str, sort_keys=True) for row in found) == expected["requests"]


def _settled(rows: tables.SeriesRows, table: str) -> Iterator[Any]:
    return (batch for fate, batch in rows.by_status(table) if fate == "settled")


def test_ranges_that_do_not_follow_each_other_are_refused() -> None:
    first = RangeFacts(0, start=24, border=100, end=100)
    second = RangeFacts(1, start=100, end=150)
    joined = join_ranges("x", [second, RangeFacts(2), first])
    assert joined is not None
    assert joined.packets_before.keys() == {0, 1}
    assert join_ranges("x", [replace(first, end=90), second]) is None
    # a part is not read on behind damage: that is for one task that reads the file from its beginning
    damaged = replace(second, end=130, stopped=True, reason="damage")
    assert join_ranges("x", [first, damaged]) is None
    alone = join_ranges("x", [replace(damaged, part=0, start=0)])
    assert alone is not None
    assert alone.facts is not None
    assert (alone.facts.cut_at, alone.facts.cut_reason) == (130, "damage")
