"""SASL tokens without secrets: names stay, passwords, proofs, nonces, salts and bearer tokens go.

A token keeps its length and format, so that a later reader finds the same name and outcome. Unrecognised tokens are blanked as a whole.
"""

from __future__ import annotations

import base64
from typing import Final

from kwire.json_encoding import encode_json
from kwire.protocol.sasl import attempted_name, is_kerberos_token

__all__ = ["FILL", "blank_client_token", "blank_server_token"]

FILL: Final = 0x78
"""Replacement byte for secrets: `x` is valid text, but an impossible frame length and an unknown API key."""

_KERBEROS_HEAD: Final = 24  # up to behind the mechanism's object identifier


def _filled(size: int) -> bytes:
    return bytes((FILL,)) * size


def _plain(token: bytes) -> bytes | None:
    parts = token.split(b"\0")
    return b"\0".join((*parts[:2], _filled(len(parts[2])))) if len(parts) == 3 else None


def _scram_part(part: bytes) -> bytes:
    return part[:2] + _filled(len(part) - 2) if part[1:2] == b"=" else _filled(len(part))


def _scram(token: bytes) -> bytes:
    # client-first-message: gs2 flag, authorization id, n=user, r=nonce; client-final-message: c=binding, r=nonce, p=proof (RFC 5802)
    parts = token.split(b",")
    first = parts[0] in (b"n", b"y") or parts[0].startswith(b"p=")
    shown = []
    for index, part in enumerate(parts):
        named = first and (index < 2 or part.startswith(b"n=") or part == b"tokenauth=true")
        shown.append(part if named else _scram_part(part))
    return b",".join(shown)


def _bearer(value: bytes, subject: str) -> bytes | None:
    scheme, space, token = value.partition(b" ")
    segments = token.split(b".")
    if len(segments) != 3:
        return None
    claims = encode_json({"sub": subject}, ascii_only=False).encode()
    size = len(segments[1].rstrip(b"=")) * 3 // 4
    if len(claims) > size:
        return None
    payload = base64.urlsafe_b64encode(claims.ljust(size)).rstrip(b"=")
    payload += b"=" * (len(segments[1]) - len(payload))
    return scheme + space + b".".join((_filled(len(segments[0])), payload, _filled(len(segments[2]))))


def _oauth(token: bytes) -> bytes | None:
    # gs2 header, then key=value pairs between 0x01 (RFC 7628)
    subject = attempted_name("OAUTHBEARER", token)
    parts = token.split(b"\x01")
    if len(parts) < 2 or parts[0][:2] not in (b"n,", b"y,", b"p="):
        return None
    shown = []
    for index, part in enumerate(parts):
        key, equals, value = part.partition(b"=")
        bearer = _bearer(value, subject) if subject is not None and key == b"auth" else None
        shown.append(_filled(len(part)) if index and bearer is None else part if bearer is None else key + equals + bearer)
    return b"\x01".join(shown)


def blank_client_token(mechanism: str | None, token: bytes) -> bytes:
    """Blank the secrets of a client's token; its length and `attempted_name` stay the same."""
    blanked: bytes | None = None
    if mechanism == "PLAIN":
        blanked = _plain(token)
    elif mechanism is not None and mechanism.startswith("SCRAM-"):
        blanked = _scram(token)
    elif mechanism == "OAUTHBEARER":
        blanked = _oauth(token)
    elif is_kerberos_token(token):
        blanked = token[:_KERBEROS_HEAD] + _filled(len(token) - _KERBEROS_HEAD)
    if blanked is None or len(blanked) != len(token) or attempted_name(mechanism, blanked) != attempted_name(mechanism, token):
        return _filled(len(token))
    return blanked


def blank_server_token(mechanism: str | None, token: bytes) -> bytes:
    """Blank salt, nonce and signature in a server's token; a SCRAM error, `e=...`, stays (RFC 5802)."""
    if mechanism is not None and mechanism.startswith("SCRAM-"):
        return token if token.startswith(b"e=") else b",".join(_scram_part(part) for part in token.split(b","))
    return _filled(len(token))
