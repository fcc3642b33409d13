"""What can be said of TLS: who cannot complete a handshake and why, who speaks behind TLS without secrets, and what its clients offer.

All of it shows without secrets: hellos, certificates of TLS 1.2 and early alerts are in clear.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.amounts import bytes_of, count, moment
from kwire.report.analysis_folder import AnalysisFolder, tally
from kwire.report.listings import Column, Listing
from kwire.report.wire_text import SENTENCE, visible

__all__ = ["HOW_TO_READ", "read_encryption", "unread_clients"]

HOW_TO_READ: Final = (
    "To read them, log TLS secrets while you capture, at a broker (the Java agent extract-tls-secrets attaches without a restart) or at a "
    "client (SSLKEYLOGFILE), and analyze with --tls-keys FILE."
)
_RULES: Final = {
    "tls_handshake_failed": "handshake failed",
    "tls_certificate_expired": "certificate",
    "tls_version_old": "old version",
    "tls_keys_do_not_fit": "secrets do not fit",
}
_UNREAD: Final = ("no_keys", "failed")
_WORDS: Final = {"no_keys": "no secrets", "failed": "secrets do not fit"}
_OF_CONNECTION: Final = (
    "connection_id", "client_address", "server_address", "server_port", "tls_version", "tls_sni", "tls_ja4", "last_seen",
)  # fmt: skip


class _Group(NamedTuple):
    """What one line of a list is about."""

    client: str
    listener: str
    what: str
    why: str


def read_encryption(folder: AnalysisFolder) -> tuple[Listing, ...]:
    """Read the lists, empty ones among them; none where no connection has spoken TLS."""
    if not _has_tls(folder):
        return ()
    return _faults(folder), _unread(folder)


def _has_tls(folder: AnalysisFolder) -> bool:
    return any(
        batch["tls_version"].null_count < len(batch) or "tls" in tally(batch["protocol"])
        for batch in folder.scan("connections", ("tls_version", "protocol"))
    )


def unread_clients(folder: AnalysisFolder) -> Counter[str]:
    """Connections behind TLS that could not be decrypted, by the client's address."""
    found: Counter[str] = Counter()
    for batch in folder.scan("connections", ("client_address", "tls_decrypted")):
        table = pa.Table.from_batches([batch]).filter(pc.field("tls_decrypted").isin(list(_UNREAD)))
        found.update(address or "?" for address in table["client_address"].to_pylist())
    return found


def _faults(folder: AnalysisFolder) -> Listing:
    """Violations of TLS by client, listener and sentence, with what the connection's hello says."""
    told = folder.rows("violations", ("rule", "connection_id", "explanation", "count"), pc.field("rule").isin(list(_RULES)))
    named = pa.array({row["connection_id"] for row in told}, pa.string())
    connections: dict[str, dict[str, Any]] = {}
    for batch in folder.scan("connections", _OF_CONNECTION):
        table = pa.Table.from_batches([batch]).filter(pc.field("connection_id").isin(named))
        connections.update({row["connection_id"]: row for row in table.to_pylist()})
    counted: Counter[_Group] = Counter()
    last: dict[_Group, tuple[datetime, dict[str, Any]]] = {}
    for row in told:
        connection = connections.get(row["connection_id"])
        if connection is None:
            continue
        group = _Group(
            connection["client_address"] or "?", _listener(connection), _RULES[row["rule"]], visible(row["explanation"] or "", SENTENCE)
        )
        counted[group] += row["count"] or 1
        if group not in last or connection["last_seen"] > last[group][0]:
            last[group] = connection["last_seen"], connection
    order = {name: place for place, name in enumerate(_RULES.values())}
    rows = tuple(
        (
            group.client,
            group.listener,
            group.what,
            group.why,
            count(number),
            last[group][1]["tls_version"] or "",
            last[group][1]["tls_sni"] or "",
            last[group][1]["tls_ja4"] or "",
            moment(last[group][0]),
        )
        for group, number in sorted(counted.items(), key=lambda each: (order[each[0].what], -each[1], each[0]))
    )
    return Listing(
        id="tls-faults",
        title="Who cannot complete a TLS handshake, and why",
        lead="Also expired certificates, versions below TLS 1.2 and secrets that do not fit. A fingerprint (JA4) names a TLS library.",
        columns=(
            Column("Client"), Column("Listener"), Column("What", "words"), Column("Why", "words"), Column("Times", "number"),
            Column("TLS"), Column("Server name"), Column("Fingerprint"), Column("Last seen (UTC)", "time"),
        ),
        rows=rows,
        nothing="Every TLS handshake that was seen was completed, as far as the packets show.",
        noun="clients",
    )  # fmt: skip


def _unread(folder: AnalysisFolder) -> Listing:
    """Connections that stay encrypted, by client and listener."""
    names = (
        "client_address",
        "server_address",
        "server_port",
        "tls_version",
        "tls_ja4",
        "tls_decrypted",
        "request_bytes",
        "response_bytes",
    )
    counted: Counter[tuple[str, ...]] = Counter()
    size: Counter[tuple[str, ...]] = Counter()
    for batch in folder.scan("connections", names):
        table = pa.Table.from_batches([batch]).filter(pc.field("tls_decrypted").isin(list(_UNREAD)))
        for row in table.to_pylist():
            group = (
                row["client_address"] or "?", _listener(row), row["tls_version"] or "", row["tls_ja4"] or "", _WORDS[row["tls_decrypted"]],
            )  # fmt: skip
            counted[group] += 1
            size[group] += (row["request_bytes"] or 0) + (row["response_bytes"] or 0)
    rows = tuple(
        (client, listener, count(number), bytes_of(size[client, listener, *rest]), *rest)
        for (client, listener, *rest), number in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    )
    return Listing(
        id="tls-unread",
        title="Clients behind TLS that could not be read",
        lead=HOW_TO_READ,
        columns=(
            Column("Client"), Column("Listener"), Column("Connections", "number"), Column("Bytes", "number"), Column("TLS"),
            Column("Fingerprint"), Column("Why", "words"),
        ),
        rows=rows,
        nothing="Every TLS connection with data was decrypted.",
        noun="clients",
    )  # fmt: skip


def _listener(row: dict[str, Any]) -> str:
    return f"{row['server_address'] or '?'}:{row['server_port'] or 0}"
