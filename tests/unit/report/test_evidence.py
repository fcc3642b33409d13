"""What proves a verdict: packet, filter, command and the requests around it, worked out by hand from a few rows."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from kwire.analysis.digests import wanted
from kwire.report.evidence import Evidence, read_evidence, wireshark_filter
from kwire.report.verdicts import read_upgrade_matrix

START = datetime(2026, 9, 8, 10, 0, tzinfo=timezone.utc)
CONNECTION = "10.0.0.3:9092-10.1.0.4:40000-0"


def request(index: int | None, api: str = "Fetch", version: int = 1, connection: str = CONNECTION, **more: Any) -> dict[str, Any]:
    of_index = {"packet_number": None if index is None else 100 + 2 * index, "request_time": START + timedelta(seconds=index or 0)}
    whole = {"connection_id": connection, "request_index": index, "api_name": api, "api_version": version, "state": "answered"}
    return {"capture": "kafka.pcap", **whole, **of_index, "error_name": "NONE", **more}


def impact(api: str, index: int, connection: str = CONNECTION, verdict: str = "breaks", key: str = "old") -> dict[str, Any]:
    proof = {"evidence_connection_id": connection, "evidence_request_index": index}
    return {"client_key": key, "api_name": api, "api_version": 1, "requests": 3, "target_release": "4.0.2", "verdict": verdict, **proof}


@pytest.fixture
def found_in(folder_of: Any) -> Any:
    def read(impacts: list[dict[str, Any]], requests: list[dict[str, Any]]) -> dict[str, Evidence]:
        folder = folder_of(upgrade_impact=impacts, requests=requests)
        return read_evidence(folder, read_upgrade_matrix(folder).clients)

    return read


def test_a_finding_has_file_packet_and_time(found_in: Any) -> None:
    proof = found_in([impact("Fetch", 1)], [request(0, "Metadata"), request(1)])["old"]
    place = proof.places[CONNECTION, 1]
    assert (place.capture, place.packet_number, place.time) == ("kafka.pcap", 102, START + timedelta(seconds=1))
    assert proof.wireshark == "ip.addr == 10.1.0.4 && tcp.port == 40000 && tcp.port == 9092"
    assert proof.command == "tshark -r kafka.pcap -d tcp.port==9092,kafka -Y 'frame.number == 102' -O kafka"


def test_the_first_requests_and_those_around_the_proof_are_shown(found_in: Any) -> None:
    """Four from the beginning, six before the proof, three after it: 14 of 60, and where others are left out it says how many."""
    proof = found_in([impact("Fetch", 40)], [request(n) for n in reversed(range(60))])["old"]
    assert [step.index for step in proof.steps] == [0, 1, 2, 3, *range(34, 44)]
    assert [(step.index, step.skipped) for step in proof.steps if step.skipped] == [(34, 30)]
    assert [step.index for step in proof.steps if step.is_proof] == [40]


def test_findings_on_other_connections_have_their_place_and_are_not_in_the_sequence(found_in: Any) -> None:
    other = "10.0.0.3:9092-10.1.0.4:40001-0"
    proof = found_in([impact("Fetch", 1), impact("Produce", 0, other)], [request(0), request(1), request(0, "Produce", 1, other)])["old"]
    assert {step.index for step in proof.steps} == {0, 1}
    assert proof.places[other, 0].packet_number == 100


def test_only_what_breaks_or_might_is_looked_up(found_in: Any) -> None:
    rows = [impact("Fetch", 0, key="fine", verdict="compatible"), impact("Fetch", 0, key="later", verdict="deprecated")]
    assert found_in([*rows, impact("Fetch", 0, key="may", verdict="unknown")], [request(0)]).keys() == {"may"}


def test_a_request_that_is_not_in_the_table_proves_nothing(found_in: Any) -> None:
    assert found_in([impact("Fetch", 0, "10.0.0.3:9092-10.9.9.9:1-0")], [request(0), request(None)]) == {}


def test_a_table_that_is_too_large_is_not_searched(found_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wanted, "MOST_REQUESTS", 1)
    assert found_in([impact("Fetch", 0)], [request(0), request(1)]) == {}


def test_a_request_log_has_no_packets_and_another_command(found_in: Any) -> None:
    rows = [request(0, capture="it's a log", packet_number=None)]
    assert found_in([impact("Fetch", 0)], rows)["old"].command == "kwire inspect 'it'\"'\"'s a log' --json --address 10.1.0.4"


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        ("[2001:db8::1]:9092-[2001:db8::2]:40000-0", "ipv6.addr == 2001:db8::2 && tcp.port == 40000 && tcp.port == 9092"),
        ("2001:db8::1:9092-2001:db8::2:40000-3", "ipv6.addr == 2001:db8::2 && tcp.port == 40000 && tcp.port == 9092"),
        ("addr_9f2c:9092-addr_77aa:40000-0", ""),  # pseudonyms
        ("10.0.0.3:9092-10.1.0.4:1' || 'x-0", ""),
        ("", ""),
    ],
)
def test_a_filter_is_made_of_addresses_only(connection: str, expected: str) -> None:
    assert wireshark_filter(connection) == expected
