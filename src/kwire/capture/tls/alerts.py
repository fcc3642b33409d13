"""Alerts of TLS: numbers to names (RFC 8446, 6; RFC 5246, 7.2)."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["Alert", "alert_bytes", "read_alert"]

_NAMES: Final = {
    0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow",
    30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate", 42: "bad_certificate", 43: "unsupported_certificate",
    44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca",
    49: "access_denied", 50: "decode_error", 51: "decrypt_error", 60: "export_restriction", 70: "protocol_version",
    71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation",
    109: "missing_extension", 110: "unsupported_extension", 111: "certificate_unobtainable", 112: "unrecognized_name",
    113: "bad_certificate_status_response", 114: "bad_certificate_hash_value", 115: "unknown_psk_identity", 116: "certificate_required",
    120: "no_application_protocol",
}  # fmt: skip
_FATAL: Final = 2


class Alert(NamedTuple):
    """Alert of a side, 0 or 1; `fatal` if a fault ends the connection."""

    side: int
    name: str
    fatal: bool
    time: int
    packet: int


def read_alert(side: int, data: bytes, time: int, packet: int) -> Alert | None:
    """Read the two bytes of an alert; None for anything else."""
    if len(data) != 2:
        return None
    return Alert(side, _NAMES.get(data[1]) or f"alert {data[1]}", data[0] == _FATAL and data[1] not in (0, 90), time, packet)


def alert_bytes(alert: Alert) -> bytes:
    number = next((number for number, name in _NAMES.items() if name == alert.name), None)
    return bytes((_FATAL if alert.fatal else 1, int(alert.name.split()[-1]) if number is None else number))
