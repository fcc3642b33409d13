"""The proof of a verdict, request by request: where it is in which file, how to see it in Wireshark, and what the client sent around it.

Requests are looked up by the connection and the place that a finding names. A table of requests with more than `MOST_REQUESTS` rows is not
searched for it: then the finding keeps its connection and its place, and the command finds the rest.
"""

from __future__ import annotations

import ipaddress
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder
from kwire.report.verdicts import ClientVerdicts, Finding

__all__ = ["Evidence", "Place", "Step", "read_evidence", "wireshark_filter"]

MOST_REQUESTS: Final = 20_000_000
MOST_CLIENTS: Final = 3_000
"""Clients whose evidence is looked up, worst first; the tables have that of all."""
_HEAD, _BEFORE, _AFTER = 4, 6, 3  # requests shown of a connection: its first ones, and those around the proof: 14 at most
_URGENT: Final = ("rejected", "undetermined")
_COLUMNS: Final = (
    "capture", "connection_id", "request_index", "api_name", "api_version", "request_time", "error_name", "state", "packet_number",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A request of the connection that proves a verdict; `skipped` is how many requests stand between it and the step before."""

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
    """Where one request is: file, packet (as Wireshark numbers them; None in a request log) and time."""

    capture: str
    packet_number: int | None
    time: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What proves the worst finding of a client.

    Attributes:
        connection_id: the connection that is shown.
        steps: 5 to 14 of its requests, fewer where it has fewer.
        places: of the requests that findings of this client name, by (connection, request).
        wireshark: a display filter for the connection; empty where its addresses are pseudonyms.
        command: shows the packet of the worst finding on a terminal; empty where that is not known.
    """

    connection_id: str
    steps: tuple[Step, ...]
    places: Mapping[tuple[str, int], Place]
    wireshark: str
    command: str


def read_evidence(folder: AnalysisFolder, clients: Iterable[ClientVerdicts]) -> dict[str, Evidence]:
    """Look up what proves that clients break or may, by client key.

    Args:
        folder: the analysis.
        clients: in the order of the matrix, worst first.
    """
    chosen = {line.client_key: _urgent(line) for line in clients if line.worst in _URGENT}
    chosen = {key: found for key, found in list(chosen.items())[:MOST_CLIENTS] if found}
    if not chosen or folder.count("requests") > MOST_REQUESTS:
        return {}
    rows = _requests(folder, chosen.values())
    return {key: _evidence(found, rows) for key, found in chosen.items() if found[0].evidence_connection_id in rows}


def _urgent(line: ClientVerdicts) -> list[Finding]:
    return [
        one for one in line.findings if one.verdict in _URGENT and one.evidence_connection_id and one.evidence_request_index is not None
    ]


def _requests(folder: AnalysisFolder, chosen: Iterable[list[Finding]]) -> dict[str, list[dict[str, Any]]]:
    """The requests that are shown or named, by connection, in their order."""
    named: dict[str, set[int]] = defaultdict(set)
    shown: dict[str, int] = {}
    for found in chosen:
        shown.setdefault(found[0].evidence_connection_id, found[0].evidence_request_index or 0)
        for one in found:
            named[one.evidence_connection_id].add(one.evidence_request_index or 0)
    ids = sorted(named)
    wanted = pa.array(ids)
    centre = np.array([shown.get(name, -1_000) for name in ids])
    pairs = np.array(sorted(place << 40 | index for place, name in enumerate(ids) for index in named[name]))
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for batch in folder.scan("requests", _COLUMNS, pc.field("connection_id").isin(wanted) & pc.field("request_index").is_valid()):
        if not batch.num_rows:
            continue
        place = pc.index_in(batch["connection_id"], value_set=wanted).to_numpy(zero_copy_only=False).astype(np.int64)
        index = batch["request_index"].to_numpy(zero_copy_only=False).astype(np.int64)
        around = index - centre[place]
        is_shown = (centre[place] >= 0) & ((index < _HEAD) | ((around >= -_BEFORE) & (around <= _AFTER)))
        keep = is_shown | np.isin(place << 40 | index, pairs)
        for row in batch.filter(pa.array(keep)).to_pylist():
            rows[row["connection_id"]].append(row)
    for of_connection in rows.values():
        of_connection.sort(key=lambda row: row["request_index"])
    return rows


def _evidence(found: list[Finding], rows: Mapping[str, list[dict[str, Any]]]) -> Evidence:
    connection, centre = found[0].evidence_connection_id, found[0].evidence_request_index or 0
    proofs = {(one.evidence_connection_id, one.evidence_request_index or 0) for one in found}
    steps: list[Step] = []
    before = -1
    for row in rows[connection]:
        index = row["request_index"]
        if index >= _HEAD and not -_BEFORE <= index - centre <= _AFTER:
            continue
        steps.append(_step(row, (connection, index) in proofs, index - before - 1))
        before = index
    places = {
        (row["connection_id"], row["request_index"]): Place(
            capture=row["capture"] or "", packet_number=row["packet_number"], time=row["request_time"]
        )
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


def _step(row: dict[str, Any], is_proof: bool, skipped: int) -> Step:
    return Step(
        index=row["request_index"],
        api_name=row["api_name"] or "unknown API",
        api_version=row["api_version"],
        time=row["request_time"],
        state=row["state"] or "",
        error_name=row["error_name"] or "",
        packet_number=row["packet_number"],
        is_proof=is_proof,
        skipped=skipped,
    )


def _ends(connection_id: str) -> tuple[str, str, str, str] | None:
    """Server and client of a connection id, address and port each; None where an address is a pseudonym."""
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
    """A display filter that leaves one connection; empty where the addresses are not addresses.

    Args:
        connection_id: ``server_ip:port-client_ip:port-n``, as in the tables. Ports that are used again make several of the same filter.
    """
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
