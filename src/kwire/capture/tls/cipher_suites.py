"""Cipher suites of TLS by number (IANA's registry): name, cipher, hash."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = ["SUITES", "Suite", "suite_name"]

Cipher = Literal["gcm", "ccm", "ccm_8", "chacha20", "cbc"]


class Suite(NamedTuple):
    """A cipher suite."""

    name: str  # as IANA has it
    cipher: Cipher
    key_bytes: int
    hash: str  # of the key schedule and, in TLS 1.2, the PRF: `sha256` or `sha384`
    mac: str | None = None  # of a CBC suite: `sha1`, `sha256` or `sha384`


_TLS13: Final = {
    0x1301: Suite("TLS_AES_128_GCM_SHA256", "gcm", 16, "sha256"),
    0x1302: Suite("TLS_AES_256_GCM_SHA384", "gcm", 32, "sha384"),
    0x1303: Suite("TLS_CHACHA20_POLY1305_SHA256", "chacha20", 32, "sha256"),
    0x1304: Suite("TLS_AES_128_CCM_SHA256", "ccm", 16, "sha256"),
    0x1305: Suite("TLS_AES_128_CCM_8_SHA256", "ccm_8", 16, "sha256"),
}

# Key exchange -> numbers of its suites with AES-128 and AES-256: GCM; CBC with SHA-256 (or SHA-384 behind 256 bits); CBC with SHA-1.
_FAMILIES: Final[dict[str, tuple[tuple[int, int], tuple[int, int] | None, tuple[int, int]]]] = {
    "RSA": ((0x009C, 0x009D), (0x003C, 0x003D), (0x002F, 0x0035)),
    "DHE_RSA": ((0x009E, 0x009F), (0x0067, 0x006B), (0x0033, 0x0039)),
    "DHE_DSS": ((0x00A2, 0x00A3), (0x0040, 0x006A), (0x0032, 0x0038)),
    "PSK": ((0x00A8, 0x00A9), (0x00AE, 0x00AF), (0x008C, 0x008D)),
    "ECDHE_ECDSA": ((0xC02B, 0xC02C), (0xC023, 0xC024), (0xC009, 0xC00A)),
    "ECDH_ECDSA": ((0xC02D, 0xC02E), (0xC025, 0xC026), (0xC004, 0xC005)),
    "ECDHE_RSA": ((0xC02F, 0xC030), (0xC027, 0xC028), (0xC013, 0xC014)),
    "ECDH_RSA": ((0xC031, 0xC032), (0xC029, 0xC02A), (0xC00E, 0xC00F)),
    "DH_anon": ((0x00A6, 0x00A7), (0x006C, 0x006D), (0x0034, 0x003A)),
}
# With SHA-256 behind 256 bits too (RFC 5246), where the newer families have SHA-384 (RFC 5289).
_SHA256_ONLY: Final = frozenset(("RSA", "DHE_RSA", "DHE_DSS", "DH_anon"))
_CHACHA20: Final = {0xCCA8: "ECDHE_RSA", 0xCCA9: "ECDHE_ECDSA", 0xCCAA: "DHE_RSA", 0xCCAB: "PSK", 0xCCAC: "ECDHE_PSK"}
_CCM: Final = {
    0xC09C: ("RSA", 16, ""), 0xC09D: ("RSA", 32, ""), 0xC09E: ("DHE_RSA", 16, ""), 0xC09F: ("DHE_RSA", 32, ""),
    0xC0A0: ("RSA", 16, "_8"), 0xC0A1: ("RSA", 32, "_8"), 0xC0A2: ("DHE_RSA", 16, "_8"), 0xC0A3: ("DHE_RSA", 32, "_8"),
    0xC0AC: ("ECDHE_ECDSA", 16, ""), 0xC0AD: ("ECDHE_ECDSA", 32, ""), 0xC0AE: ("ECDHE_ECDSA", 16, "_8"),
    0xC0AF: ("ECDHE_ECDSA", 32, "_8"),
}  # fmt: skip


def _tls12() -> dict[int, Suite]:
    found: dict[int, Suite] = {}
    for exchange, (gcm, cbc, cbc_sha1) in _FAMILIES.items():
        for index, key_bytes in enumerate((16, 32)):
            prefix = f"TLS_{exchange}_WITH_AES_{key_bytes * 8}"
            digest = "sha384" if index else "sha256"
            found[gcm[index]] = Suite(f"{prefix}_GCM_{digest.upper()}", "gcm", key_bytes, digest)
            found[cbc_sha1[index]] = Suite(f"{prefix}_CBC_SHA", "cbc", key_bytes, "sha256", "sha1")
            if cbc is not None:
                mac = "sha256" if exchange in _SHA256_ONLY else digest
                found[cbc[index]] = Suite(f"{prefix}_CBC_{mac.upper()}", "cbc", key_bytes, mac, mac)
    for number, exchange in _CHACHA20.items():
        found[number] = Suite(f"TLS_{exchange}_WITH_CHACHA20_POLY1305_SHA256", "chacha20", 32, "sha256")
    for number, (exchange, key_bytes, short) in _CCM.items():
        name = f"TLS_{exchange}_WITH_AES_{key_bytes * 8}_CCM{short}"
        found[number] = Suite(name, "ccm_8" if short else "ccm", key_bytes, "sha256")
    return found


SUITES: Final[dict[int, Suite]] = {**_TLS13, **_tls12()}


def suite_name(number: int) -> str:
    suite = SUITES.get(number)
    return f"0x{number:04x}" if suite is None else suite.name
