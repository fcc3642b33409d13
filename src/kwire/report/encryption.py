"""TLS without secrets: failed handshakes and their reasons, clients that could not be decrypted, and their offers.

Hello messages, certificates of TLS 1.2 and early alerts are not encrypted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

from kwire.report.amounts import bytes_of, count, moment
from kwire.report.analysis_folder import AnalysisFolder, rows_of
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
_WORDS: Final = {"no_keys": "no secrets", "failed": "secrets do not fit"}


class _Group(NamedTuple):
    client: str
    listener: str
    what: str
    why: str


def read_encryption(folder: AnalysisFolder) -> tuple[Listing, ...]:
    has_tls = any(row["tls"] for row in rows_of(folder.digest, "streams"))
    return (_faults(folder), _unread(folder)) if has_tls else ()


def unread_clients(folder: AnalysisFolder) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows_of(folder.digest, "unread"):
        found[row["client_address"] or "?"] += row["connections"]
    return found


def _faults(folder: AnalysisFolder) -> Listing:
    counted: dict[_Group, dict[str, Any]] = {}
    for row in rows_of(folder.digest, "handshakes"):
        why = visible(row["explanation"] or "", SENTENCE)
        group = _Group(row["client_address"] or "?", row["listener"], _RULES[row["rule"]], why)
        known = counted.setdefault(group, row | {"times": 0})
        known["times"] += row["times"]
    order = {name: place for place, name in enumerate(_RULES.values())}
    rows = tuple(
        (
            group.client,
            group.listener,
            group.what,
            group.why,
            count(found["times"]),
            found["tls_version"] or "",
            found["tls_sni"] or "",
            found["tls_ja4"] or "",
            moment(found["last_seen"]),
        )
        for group, found in sorted(counted.items(), key=lambda each: (order[each[0].what], -each[1]["times"], each[0]))
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
        nothing="All captured TLS handshakes succeeded, as far as the packets show.",
        noun="clients",
    )  # fmt: skip


def _unread(folder: AnalysisFolder) -> Listing:
    counted: Counter[tuple[str, ...]] = Counter()
    size: Counter[tuple[str, ...]] = Counter()
    for row in rows_of(folder.digest, "unread"):
        group = (
            row["client_address"] or "?", row["listener"], row["tls_version"] or "", row["tls_ja4"] or "", _WORDS[row["tls_decrypted"]],
        )  # fmt: skip
        counted[group] += row["connections"]
        size[group] += row["bytes"]
    rows = tuple(
        (*group[:2], count(number), bytes_of(size[group]), *group[2:])
        for group, number in sorted(counted.items(), key=lambda each: (-each[1], each[0]))
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
