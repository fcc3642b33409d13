"""Evidence for a verdict: its requests with file and packet, a Wireshark filter, and the neighboring requests.

The requests around a finding are missing if the table of requests has more than `MOST_REQUESTS` rows.
"""

from __future__ import annotations

import ipaddress
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kwire.analysis.digests.of_rows import AFTER, BEFORE, HEAD
from kwire.analysis.digests.wanted import MOST_CLIENTS
from kwire.report.analysis_folder import AnalysisFolder, rows_of
from kwire.report.records import record
from kwire.report.verdicts import ClientVerdicts, Finding

__all__ = ["Evidence", "Place", "Step", "read_evidence", "wireshark_filter"]

_URGENT: Final = ("breaks", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Request of the connection that is evidence for a verdict; `skipped` is the number of requests since the previous step."""

    index: int
    api_name: str
    api_version: int | None
    time: datetime | None
    state: str
    error_name: str
    packet_number: int | None
    is_proof: bool
    skipped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Position of one request: file, packet (as Wireshark numbers them; None in a request log) and time."""

    capture: str
    packet_number: int | None
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Evidence for the worst finding of a client; `steps` has 5 to 14 requests of its connection, if it has so many.

    Attributes:
        places: positions of the requests in findings of this client, by (connection, request).
        wireshark: display filter for the connection; empty for redacted addresses.
        command: command that shows the packet of the worst finding; empty if unknown.
    """

    connection_id: str
    steps: tuple[Step, ...]
    places: Mapping[tuple[str, int], Place]
    wireshark: str
    command: str


def read_evidence(folder: AnalysisFolder, clients: Iterable[ClientVerdicts]) -> dict[str, Evidence]:
    """Look up the evidence that clients break or may break, by client key; `clients` are sorted worst first."""
    chosen = {line.client_key: _urgent(line) for line in clients if line.worst in _URGENT}
    chosen = {key: found for key, found in list(chosen.items())[:MOST_CLIENTS] if found}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(folder.digest, "evidence"):
        rows[row["connection_id"]].append(row)
    return {key: _evidence(found, rows) for key, found in chosen.items() if found[0].evidence_connection_id in rows}


def _urgent(line: ClientVerdicts) -> list[Finding]:
    return [
        one for one in line.findings if one.verdict in _URGENT and one.evidence_connection_id and one.evidence_request_index is not None
    ]


def _evidence(found: list[Finding], rows: Mapping[str, list[dict[str, Any]]]) -> Evidence:
    connection, centre = found[0].evidence_connection_id, found[0].evidence_request_index or 0
    proofs = {(one.evidence_connection_id, one.evidence_request_index or 0) for one in found}
    steps: list[Step] = []
    before = -1
    for row in rows[connection]:
        index = row["request_index"]
        if index >= HEAD and not -BEFORE <= index - centre <= AFTER:
            continue
        name, is_proof = row["api_name"] or "unknown API", (connection, index) in proofs
        steps.append(record(Step, row, index=index, api_name=name, time=row["request_time"], is_proof=is_proof, skipped=index - before - 1))
        before = index
    places = {
        (row["connection_id"], row["request_index"]): record(Place, row, time=row["request_time"])
        for name in {one.evidence_connection_id for one in found}
        for row in rows.get(name, ())
        if (row["connection_id"], row["request_index"]) in proofs
    }
    place = places.get((connection, centre))
    return Evidence(
        connection_id=connection,
        steps=tuple(steps),
        places=places,
        wireshark=wireshark_filter(connection),
        command=_command(place, connection) if place else "",
    )


def _ends(connection_id: str) -> tuple[str, str, str, str] | None:
    """Return address and port of server and client of a connection id; None for redacted addresses."""
    server, _, client = connection_id.rpartition("-")[0].partition("-")
    ends = []
    for end in (server, client):
        address, _, port = end.rpartition(":")
        address = address.strip("[]")
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return None
        if not (port.isascii() and port.isdigit()):
            return None
        ends += [address, port]
    return ends[0], ends[1], ends[2], ends[3]


def wireshark_filter(connection_id: str) -> str:
    """Return a display filter for a connection id; several connections of the same ports share it; empty for redacted addresses."""
    ends = _ends(connection_id)
    if ends is None:
        return ""
    field = "ipv6.addr" if ":" in ends[2] else "ip.addr"
    return f"{field} == {ends[2]} && tcp.port == {ends[3]} && tcp.port == {ends[1]}"


def _command(place: Place, connection_id: str) -> str:
    ends = _ends(connection_id)
    if ends is None or not place.capture:
        return ""
    file = shlex.quote(place.capture)
    if place.packet_number is None:
        return f"kwire inspect {file} --json --address {ends[2]}"
    return f"tshark -r {file} -d tcp.port=={ends[1]},kafka -Y 'frame.number == {place.packet_number}' -O kafka"
