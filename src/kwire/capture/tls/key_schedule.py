"""Derivation of traffic keys from secrets: HKDF-Expand-Label of TLS 1.3 (RFC 8446, 7.1 to 7.3) and the PRF of TLS 1.2 (RFC 5246, 5, 6.3 and
8.1)."""

from __future__ import annotations

import hashlib
from functools import cache
from hmac import HMAC
from typing import Final, NamedTuple

from kwire.capture.tls.cipher_suites import Suite

__all__ = ["MASTER_BYTES", "Keys", "expand_label", "keys_12", "keys_13", "mac", "master_secret", "next_secret", "prf"]

MASTER_BYTES: Final = 48
_IV_BYTES: Final = 12


class Keys(NamedTuple):
    """Keys of the records of one direction, which `repr` does not show."""

    key: bytes
    iv: bytes  # the salt of GCM and CCM in TLS 1.2 (4 bytes), empty for CBC
    mac_key: bytes = b""  # of a CBC suite

    def __repr__(self) -> str:
        return "Keys(...)"


def mac(keyed: HMAC, text: bytes) -> bytes:
    """Return the HMAC of a text; `keyed` serves many texts under one secret."""
    begun = keyed.copy()
    begun.update(text)
    return begun.digest()


@cache
def _info(label: str, length: int) -> bytes:
    full = b"tls13 " + label.encode()
    return length.to_bytes(2, "big") + bytes((len(full),)) + full


def expand_label(secret: bytes, label: str, context: bytes, length: int, digest: str) -> bytes:
    """Return HKDF-Expand-Label for a label without `tls13 `; the output has at most 255 times the hash's size."""
    return _expand(HMAC(secret, None, digest), _info(label, length) + bytes((len(context),)) + context, length)


def _expand(keyed: HMAC, info: bytes, length: int) -> bytes:
    made = block = b""
    count = 0
    while len(made) < length:
        count += 1
        block = mac(keyed, block + info + bytes((count,)))
        made += block
    return made[:length]


def keys_13(secret: bytes, suite: Suite) -> Keys:
    """Return the traffic keys of a TLS 1.3 traffic secret (RFC 8446, 7.3)."""
    keyed = HMAC(secret, None, suite.hash)
    key = _expand(keyed, _info("key", suite.key_bytes) + b"\0", suite.key_bytes)
    return Keys(key, _expand(keyed, _info("iv", _IV_BYTES) + b"\0", _IV_BYTES))


def next_secret(secret: bytes, suite: Suite) -> bytes:
    """Return the traffic secret after a KeyUpdate (RFC 8446, 7.2)."""
    return expand_label(secret, "traffic upd", b"", len(secret), suite.hash)


def prf(secret: bytes, label: bytes, seed: bytes, length: int, digest: str) -> bytes:
    """Return the PRF of TLS 1.2: P_hash(secret, label + seed)."""
    seed, keyed = label + seed, HMAC(secret, None, digest)
    made, step = b"", seed
    while len(made) < length:
        step = mac(keyed, step)
        made += mac(keyed, step + seed)
    return made[:length]


def master_secret(premaster: bytes, client_random: bytes, server_random: bytes, suite: Suite, session_hash: bytes | None) -> bytes:
    """Return the master secret of a premaster secret, or the extended one (RFC 7627) if there is a session hash."""
    if session_hash is not None:
        return prf(premaster, b"extended master secret", session_hash, MASTER_BYTES, suite.hash)
    return prf(premaster, b"master secret", client_random + server_random, MASTER_BYTES, suite.hash)


def keys_12(master: bytes, client_random: bytes, server_random: bytes, suite: Suite) -> tuple[Keys, Keys]:
    """Return keys of the client's and of the server's direction (RFC 5246, 6.3): MAC keys, keys, IVs, each the client's first."""
    mac_bytes = hashlib.new(suite.mac).digest_size if suite.mac else 0
    iv_bytes = {"cbc": 0, "chacha20": _IV_BYTES}.get(suite.cipher, 4)
    sizes = (mac_bytes, mac_bytes, suite.key_bytes, suite.key_bytes, iv_bytes, iv_bytes)
    block = prf(master, b"key expansion", server_random + client_random, sum(sizes), suite.hash)
    parts, at = [], 0
    for size in sizes:
        parts.append(block[at : at + size])
        at += size
    return Keys(parts[2], parts[4], parts[0]), Keys(parts[3], parts[5], parts[1])
