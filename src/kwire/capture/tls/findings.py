"""Faults of a TLS connection, known at its end: failed handshakes and their reasons. Most are visible without keys.

Alerts of TLS 1.2 before encryption starts are readable, and so are those of a TLS 1.3 client that rejects the ServerHello. Later alerts of
TLS 1.3 are encrypted, but their record is shorter than a Finished, which contains a hash (RFC 8446, 4.4.4).
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

from kwire.capture.tls.connection import LEAST_FINISHED, TlsConnection
from kwire.protocol.tls_handshake import TLS_1_2, VERSION_NAMES

__all__ = ["Finding", "findings"]

_OLD_VERSIONS: Final = frozenset(name for number, name in VERSION_NAMES.items() if number < TLS_1_2)


class Finding(NamedTuple):
    """Violation of a rule of `kwire.protocol.rules`, with its position (0 for the end of the connection) and facts for its sentence."""

    rule: str
    side: int | None  # side at fault, None if unknown
    time: int
    packet: int
    facts: dict[str, Any]


def findings(tls: TlsConnection, state: str, closed_by: str | None) -> list[Finding]:
    found: list[Finding] = []
    failed = _failed(tls, state, closed_by)
    if failed is not None:
        found.append(failed)
    if tls.decrypted == "failed":
        found.append(Finding("tls_keys_do_not_fit", None, 0, 0, {}))
    for side, begin, end, time, packet in tls.certificate_faults:
        name = "client" if side == tls.client_side else "server"
        found.append(Finding("tls_certificate_expired", side, time, packet, {"side": name, "begin": _day(begin), "end": _day(end)}))
    version = _old_version(tls)
    if version is not None:
        found.append(Finding("tls_version_old", tls.client_side, 0, 0, {"version": version}))
    if tls.renegotiated:
        found.append(Finding("tls_renegotiated", tls.client_side, 0, 0, {}))
    if tls.unverified_bytes:
        found.append(Finding("tls_unverified", None, 0, 0, {"size": tls.unverified_bytes}))
    return found


def _old_version(tls: TlsConnection) -> str | None:
    """Return the negotiated version, or the highest one offered, if it is below TLS 1.2."""
    if tls.version is not None:
        return tls.version if tls.version in _OLD_VERSIONS else None
    if tls.hello is not None and tls.hello.highest_version < TLS_1_2:
        return VERSION_NAMES.get(tls.hello.highest_version, "SSL 2.0")
    return None


def _failed(tls: TlsConnection, state: str, closed_by: str | None) -> Finding | None:
    if tls.decrypted_bytes:
        return None
    for alert in tls.alerts:
        if alert.fatal:
            sender = "client" if alert.side == tls.client_side else "server"
            return Finding("tls_handshake_failed", alert.side, alert.time, alert.packet, {"reason": f"the {sender} sent {alert.name}"})
    if tls.hello is None or tls.client_side is None or tls.lost or state == "joined_late":
        return None
    if closed_by is None:
        return None
    reason, side = _unfinished(tls, closed_by)
    return None if reason is None else Finding("tls_handshake_failed", side, 0, 0, {"reason": reason})


def _unfinished(tls: TlsConnection, closed_by: str) -> tuple[str | None, int]:
    """Return the reason why a handshake without a readable alert failed; None if it may have succeeded."""
    assert tls.client_side is not None
    client_side = tls.client_side
    closer = client_side if closed_by == "client" else 1 - client_side
    client, server = tls.direction(client_side), tls.direction(1 - client_side)
    if tls.server is None:
        if tls.retried:
            return f"the {closed_by} closed it behind a HelloRetryRequest", closer
        if closed_by == "server":
            return "the server closed it without a ServerHello: it may not speak TLS on this port", closer
        return "the client closed it before a ServerHello came", closer
    if tls.is_13:
        if not client.protected:
            return f"the {closed_by} closed it behind the ServerHello", closer
        if not client.opened and client.largest < LEAST_FINISHED:
            return "the client ended it with an encrypted alert in the place of its Finished", client_side
    elif not (client.encrypted and server.encrypted):
        return f"the {closed_by} closed it before it was complete", closer
    return None, closer


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, timezone.utc).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "an impossible day"
