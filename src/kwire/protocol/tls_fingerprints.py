"""JA3 and JA4 of a ClientHello, which identify a TLS library, not a program.

JA3 (Althouse, Atkinson, Atkins): MD5 of version, ciphers, extensions, curves and point formats. JA4 (FoxIO's technical details, JA4 under
BSD 3-Clause): `t13d1516h2_8daaf6152771_e5627efa2ab1`, with ciphers and extensions sorted. Both leave GREASE out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from kwire.protocol.tls_handshake import ClientHello, is_grease

__all__ = ["ja3", "ja4"]

_VERSIONS = {0x0304: "13", 0x0303: "12", 0x0302: "11", 0x0301: "10", 0x0300: "s3", 0x0002: "s2"}
_SERVER_NAME = 0
_MOST_KEPT = 500  # numbers of a hello whose fingerprint is kept: a hostile one has thousands
_ALPN = 16


def _without_grease(values: Iterable[int]) -> list[int]:
    return [value for value in values if not is_grease(value)]


def ja3(hello: ClientHello) -> str:
    lists = (tuple(hello.ciphers), tuple(hello.extensions), tuple(hello.curves), tuple(hello.formats))
    return (_ja3 if sum(map(len, lists)) < _MOST_KEPT else _ja3.__wrapped__)(hello.version, *lists)


@lru_cache(maxsize=4096)  # clients have few hellos, and many connections
def _ja3(version: int, *lists: tuple[int, ...]) -> str:
    fields = ["-".join(map(str, _without_grease(values))) for values in lists]
    return hashlib.md5(",".join([str(version), *fields]).encode(), usedforsecurity=False).hexdigest()


def ja4(hello: ClientHello) -> str:
    offered = max(_without_grease(hello.versions), default=hello.version)
    lists = (tuple(hello.ciphers), tuple(hello.extensions), tuple(hello.signatures))
    made = _ja4 if sum(map(len, lists)) < _MOST_KEPT else _ja4.__wrapped__
    return made(offered, *lists, hello.alpn[0] if hello.alpn else b"")


@lru_cache(maxsize=4096)
def _ja4(offered: int, all_ciphers: tuple[int, ...], all_extensions: tuple[int, ...], all_signatures: tuple[int, ...], alpn: bytes) -> str:
    ciphers, extensions = _without_grease(all_ciphers), _without_grease(all_extensions)
    version = _VERSIONS.get(offered, "00")
    name = "d" if _SERVER_NAME in extensions else "i"
    hashed = sorted(f"{each:04x}" for each in extensions if each not in (_SERVER_NAME, _ALPN))
    signatures = [f"{each:04x}" for each in _without_grease(all_signatures)]
    rest = ",".join(hashed) + ("_" + ",".join(signatures) if signatures else "")
    head = f"t{version}{name}{min(len(ciphers), 99):02}{min(len(extensions), 99):02}{_ends(alpn)}"
    return f"{head}_{_digest(','.join(sorted(f'{each:04x}' for each in ciphers)))}_{_digest(rest if extensions else '')}"


def _ends(first: bytes) -> str:
    if not first:
        return "00"
    ends = (first[:1] + first[-1:]).decode("latin-1")
    if ends.isascii() and ends.isalnum():
        return ends
    return first.hex()[0] + first.hex()[-1]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else "0" * 12
