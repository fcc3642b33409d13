"""What a damaged capture says is what the whole one says, or null: nothing is invented, and nobody is accused because packets are missing.

Expected are the rows of the capture as it is, which other tests hold against the log of its broker.
"""

from __future__ import annotations

import gzip
import io
import random
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import pcap_files

from kwire.codec.impl import load_twin
from kwire.tables import impl
from kwire.tables.series_rows import read_series

DATA = Path(__file__).parent / "data"
FLEET = Path(__file__).parents[2] / "examples" / "upgrade-fleet.pcap.gz"
PORTS = {"upgrade-fleet": 19092, "sasl": 9092, "topicids": 9092}

Rows = list[dict[str, Any]]
Packet = tuple[int, bytes]  # its number in the whole capture, and its record
Damage = Callable[[list[Packet], int, random.Random], list[Packet]]

# Where a row lies in the capture, and what follows from the whole of its connection.
PLACE = {"capture", "series", "packet_number", "stream_offset", "request_index", "client_key", "connection_id"}
TIMES = {"request_time", "response_time", "latency_us"}
# A state says what was seen: it may only become one that claims less.
WEAKER = {
    ("answered", "unseen"), ("unanswered", "unseen"), ("abandoned", "unseen"), ("no_response_expected", "unseen"),
    ("unanswered", "abandoned"),
}  # fmt: skip
OF_CONNECTIONS = (
    "software_name", "software_version", "client_id", "client_instance_id", "principal", "attempted_principal", "sasl_mechanism", "role",
    "protocol", "closed_by", "proxied_address", "server_port", "client_port",
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    requests: Rows
    violations: Rows
    connections: Rows
    topic_use: Rows
    captures: Rows


def read(records: list[bytes], head: bytes, port: int) -> Found:
    with read_series([io.BytesIO(head + b"".join(records))], "s", [port], observing=True, hashed=False) as rows:
        return Found(**{name: rows.table(name).to_pylist() for name in Found.__annotations__})


def load(name: str) -> tuple[bytes, list[Packet]]:
    data = gzip.decompress((FLEET if name == "upgrade-fleet" else DATA / f"{name}.pcap.gz").read_bytes())
    return data[: pcap_files.HEADER], list(enumerate(pcap_files.records_of(data), 1))


def segment_of(record: bytes) -> tuple[int, int, int, int]:
    """Ports, sequence number and length of the payload; the captures here are Ethernet and IPv4."""
    frame = record[16:]
    tcp = 14 + (frame[14] & 15) * 4
    source, target, sequence = struct.unpack_from(">HHI", frame, tcp)
    return source, target, sequence, struct.unpack_from(">H", frame, 16)[0] + 14 - tcp - (frame[tcp + 12] >> 4) * 4


def sent_twice(packets: list[Packet]) -> set[bytes]:
    """Records of payloads that are in the capture more than once: without the first, the time of the second is what is left."""
    seen: dict[tuple[int, int, int], list[bytes]] = defaultdict(list)
    for _, record in packets:
        source, target, sequence, size = segment_of(record)
        if size:
            seen[source, target, sequence].append(record)
    return {record for found in seen.values() if len(found) > 1 for record in found}


def dropped(share: float) -> Damage:
    def damage(packets: list[Packet], _port: int, chance: random.Random) -> list[Packet]:
        twice = sent_twice(packets)
        return [packet for packet in packets if packet[1] in twice or chance.random() >= share]

    return damage


def swapped(packets: list[Packet], _port: int, chance: random.Random) -> list[Packet]:
    made, at, twice = list(packets), 0, sent_twice(packets)
    while at < len(made) - 1:
        if made[at][1] not in twice and made[at + 1][1] not in twice and chance.random() < 0.05:
            made[at], made[at + 1] = made[at + 1], made[at]
            at += 1
        at += 1
    return made


def repeated(packets: list[Packet], _port: int, chance: random.Random) -> list[Packet]:
    return [packet for packet in packets for _ in range(2 if chance.random() < 0.05 else 1)]


def from_the_middle(packets: list[Packet], _port: int, chance: random.Random) -> list[Packet]:
    return packets[chance.randrange(len(packets) // 4, 3 * len(packets) // 4) :]


def one_direction(to_server: bool) -> Damage:
    return lambda packets, port, _chance: [each for each in packets if (segment_of(each[1])[1] == port) == to_server]


def cut_to(snaplen: int) -> Damage:
    def damage(packets: list[Packet], _port: int, _chance: random.Random) -> list[Packet]:
        return [
            (number, record[:8] + struct.pack("<I", min(len(record) - 16, snaplen)) + record[12 : 16 + snaplen])
            for number, record in packets
        ]

    return damage


DAMAGES: dict[str, Damage] = {
    "drop-0.1%": dropped(0.001), "drop-1%": dropped(0.01), "drop-5%": dropped(0.05), "swap": swapped, "repeat": repeated,
    "middle": from_the_middle, "requests": one_direction(True), "responses": one_direction(False), "snaplen-96": cut_to(96),
    "snaplen-128": cut_to(128), "snaplen-256": cut_to(256),
}  # fmt: skip
SEEDS = {"drop-0.1%": 4, "drop-1%": 4, "drop-5%": 4, "swap": 2, "repeat": 1, "middle": 4}


def cases() -> Iterator[Any]:
    """Whole: every damage of every capture. A share: of each capture some damages, each damage somewhere."""
    for at, name in enumerate(PORTS):
        for number, damage in enumerate(DAMAGES):
            for seed in range(SEEDS.get(damage, 1)):
                stands = seed == 0 and number % len(PORTS) == at
                yield pytest.param(name, damage, seed, id=f"{name}-{damage}-{seed}", marks=() if stands else pytest.mark.whole)


def ends_of(row: dict[str, Any]) -> str:
    return str(row["connection_id"].rpartition("-")[0])


def requests_of(found: Found) -> Rows:
    return [row for row in found.requests if row["state"] != "orphan_response"]


def compare_requests(whole: Found, got: Found, numbers: list[int]) -> list[str]:
    faults: list[str] = []
    known = defaultdict(list)
    for row in requests_of(whole):
        for packet in (row["packet_number"], None):
            known[ends_of(row), row["correlation_id"], row["api_key"], row["api_version"], packet].append(row)
    answered: dict[str, int] = {}
    for row in requests_of(got):
        if row["state"] == "answered":
            answered[row["connection_id"]] = max(answered.get(row["connection_id"], 0), row["request_index"])
    for row in requests_of(got):
        key = (ends_of(row), row["correlation_id"], row["api_key"], row["api_version"])
        candidates = known.get((*key, numbers[row["packet_number"] - 1])) or known.get((*key, None))
        if not candidates:
            faults.append(f"invented: {row}")
            continue
        expected = min(candidates, key=lambda each: sum(each[name] != value for name, value in row.items() if value is not None))
        for name in row.keys() - PLACE:
            value, right = row[name], expected[name]
            if value is None or value == right or (name == "body" and value == "truncated"):
                continue
            if name == "state":
                # The last answer may be lost without a trace: the client left, and nothing that follows shows it.
                is_last = row["request_index"] > answered.get(row["connection_id"], -1)
                if (right, value) in WEAKER or (is_last and (right, value) == ("answered", "abandoned")):
                    continue
            faults.append(f"{name} is {value}, not {right}: {key}")
    return faults


def compare_rest(whole: Found, got: Found) -> list[str]:
    faults: list[str] = []
    accused = {(row["rule"], ends_of(row)) for row in whole.violations if row["severity"] == "error"}
    faults += [
        f"accused: {row['rule']} {row['explanation']}"
        for row in got.violations
        if row["severity"] == "error" and (row["rule"], ends_of(row)) not in accused
    ]
    connections = defaultdict(list)
    for row in whole.connections:
        connections[ends_of(row)].append(row)
    for row in got.connections:
        for name in OF_CONNECTIONS:
            right = {each[name] for each in connections[ends_of(row)]}
            unread = name == "protocol" and row[name] in ("silent", "unknown")
            unasked = name == "role" and row[name] == "client"  # what makes a broker of it was not seen
            if row[name] is not None and row[name] not in right and not unread and not unasked:
                faults.append(f"{name} of a connection is {row[name]}, not {right}")
    used: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    names = ("client_id", "direction", "topic", "topic_id")
    for row in whole.topic_use:
        for name in ("requests", "records", "batches", "bytes"):
            used[(ends_of(row), *(row[each] for each in names))][name] += row[name]
    for row in got.topic_use:
        right = used[(ends_of(row), *(row[each] for each in names))]
        for name in ("records", "batches", "bytes"):
            is_part = row["unseen_requests"] or row["requests"] < right["requests"]
            if row[name] is not None and (row[name] > right[name] or (row[name] < right[name] and not is_part)):
                faults.append(f"{name} of {row['topic']} is {row[name]}, not {right[name]}")
    return faults


@pytest.mark.parametrize(("name", "damage", "seed"), list(cases()))
def test_a_damaged_capture_says_what_the_whole_one_says_or_nothing(
    name: str, damage: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, packets = load(name)
    damaged = DAMAGES[damage](packets, PORTS[name], random.Random(seed))
    numbers = [number for number, _ in damaged]
    found: dict[str, Found] = {}
    for twin in ("native", "pure"):
        monkeypatch.setattr(impl, "_chosen", (twin, None if twin == "pure" else load_twin("tables", "bulk", "native")))
        found[twin] = read([record for _, record in damaged], head, PORTS[name])
    assert found["native"] == found["pure"]
    whole = read([record for _, record in packets], head, PORTS[name])
    assert compare_requests(whole, found["pure"], numbers) + compare_rest(whole, found["pure"]) == []


@pytest.mark.parametrize(("to_server", "state"), [(True, "unseen"), (False, "orphan_response")])
def test_of_a_direction_that_is_not_there_nothing_is_lost(to_server: bool, state: str) -> None:
    """Requests alone: nobody knows whether they were answered; only acks=0 wants no answer for sure."""
    head, packets = load("upgrade-fleet")
    found = read([record for _, record in one_direction(to_server)(packets, 19092, random.Random(0))], head, 19092)
    assert {row["state"] for row in found.requests} - {"no_response_expected"} == {state}
    assert all(row["acks"] == 0 for row in found.requests if row["state"] == "no_response_expected")
    assert {row["gaps"] for row in found.connections} == {0}
    (capture,) = found.captures
    unseen = sum(row["state"] == "unseen" for row in found.requests)
    assert (capture["bytes_lost"], capture["unanswered"], capture["unseen"]) == (0, 0, unseen)
    if to_server:
        fetched = [row for row in found.topic_use if row["direction"] == "fetch"]
        assert fetched
        assert all((row["records"], row["batches"], row["bytes"]) == (None, None, None) for row in fetched)
        assert all(row["unseen_requests"] == row["requests"] for row in fetched)
