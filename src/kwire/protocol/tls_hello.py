"""Reads what a TLS handshake shows in clear: version, server name (SNI) and fingerprint (JA3) of its hello messages (RFC 8446, RFC 6066).

    record     type uint8 (22 handshake), version uint16, length uint16, fragment
    handshake  type uint8 (1 ClientHello, 2 ServerHello), length uint24, legacy version uint16, random 32, session id, ciphers, ...

Nothing is decrypted, and no more is kept than the hello message itself.
"""

from __future__ import annotations

import hashlib
from typing import Final

__all__ = ["HelloReader"]

_LONGEST: Final = 1 << 16  # a ClientHello with post-quantum key shares takes 2 KiB
_HANDSHAKE: Final = 22
_CLIENT_HELLO: Final = 1
_SERVER_HELLO: Final = 2
_SERVER_NAME: Final = 0
_GROUPS: Final = 10
_POINT_FORMATS: Final = 11
_SUPPORTED_VERSIONS: Final = 43
_NAMES: Final = {0x0300: "SSL 3.0", 0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}


class _Short(Exception):
    """The message ends before a value does."""


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0

    def take(self, size: int) -> bytes:
        if self.pos + size > len(self.data):
            raise _Short
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, width: int) -> bytes:
        return self.take(self.number(width))


def _pairs(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data) - 1, 2)]


class _Ja3:
    """What the fingerprint is made of."""

    __slots__ = ("ciphers", "curves", "extensions", "formats", "version")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self.ciphers: list[int] = []
        self.extensions: list[int] = []
        self.curves: list[int] = []
        self.formats: list[int] = []

    def digest(self) -> str:
        lists = (self.ciphers, self.extensions, self.curves, self.formats)
        fields = ["-".join(str(value) for value in values if not _is_grease(value)) for values in lists]
        return hashlib.md5(",".join([str(self.version), *fields]).encode(), usedforsecurity=False).hexdigest()


def _is_grease(value: int) -> bool:
    """Values that do not exist, which browsers and some libraries sprinkle in (RFC 8701): 0a0a, 1a1a, ... fafa."""
    return value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF


class HelloReader:
    """Collects one direction of a handshake until its hello is whole.

    Attributes:
        done: nothing more is wanted.
        version: what a ServerHello chose, or the highest that a ClientHello offers, `TLS 1.3`.
        server_name: of a ClientHello.
        ja3: fingerprint of a whole ClientHello: the MD5, as hex, of its version, ciphers, extensions, curves and point formats, without
            GREASE (the JA3 of Althouse, Atkinson and Atkins). It names a TLS library, not a program.
    """

    __slots__ = ("_data", "_ja3", "done", "ja3", "server_name", "version")

    def __init__(self) -> None:
        self._data = b""
        self.done = False
        self.version: str | None = None
        self.server_name: str | None = None
        self.ja3: str | None = None
        self._ja3 = _Ja3()

    def take(self, data: bytes) -> None:
        """Take the next bytes of the direction."""
        if self.done:
            return
        self._data += data[: _LONGEST - len(self._data)]
        message = self._message()
        # A hello may never be finished: what there is of it counts.
        if len(message) >= 4:
            self._read(message)
            self.done = self.done or len(message) >= 4 + int.from_bytes(message[1:4], "big")
        self.done = self.done or len(self._data) >= _LONGEST
        if self.done:
            self._data = b""

    def _message(self) -> bytes:
        """The first handshake message as far as it came, put together from its records."""
        message, pos = b"", 0
        while pos + 5 <= len(self._data):
            if self._data[pos] != _HANDSHAKE:
                self.done = True
                break
            end = pos + 5 + int.from_bytes(self._data[pos + 3 : pos + 5], "big")
            message += self._data[pos + 5 : end]
            pos = end
        return message

    def _read(self, message: bytes) -> None:
        kind = message[0]
        if kind not in (_CLIENT_HELLO, _SERVER_HELLO):
            self.done = True
            return
        cursor = _Cursor(message[4 : 4 + int.from_bytes(message[1:4], "big")])
        try:
            version = cursor.number(2)
            ja3 = self._ja3 = _Ja3(version)
            self.version = _NAMES.get(version)
            cursor.take(32)
            cursor.vector(1)
            if kind == _CLIENT_HELLO:
                ja3.ciphers = _pairs(cursor.vector(2))
                cursor.vector(1)
            else:
                cursor.take(3)
            if cursor.pos < len(cursor.data):  # SSL 3.0 and TLS 1.0 may end here
                cursor.take(2)
            while cursor.pos < len(cursor.data):
                self._extension(kind, cursor.number(2), _Cursor(cursor.vector(2)))
        except _Short:
            return
        if kind == _CLIENT_HELLO and len(message) >= 4 + int.from_bytes(message[1:4], "big"):
            self.ja3 = ja3.digest()

    def _extension(self, kind: int, number: int, body: _Cursor) -> None:
        self._ja3.extensions.append(number)
        if number == _GROUPS:
            self._ja3.curves = _pairs(body.vector(2))
        elif number == _POINT_FORMATS:
            self._ja3.formats = list(body.vector(1))
        elif number == _SUPPORTED_VERSIONS:
            listed = body.vector(1) if kind == _CLIENT_HELLO else body.take(2)
            known = [version for version in _pairs(listed) if version in _NAMES]  # GREASE is among them
            if known:
                self.version = _NAMES[max(known)]
        elif number == _SERVER_NAME and kind == _CLIENT_HELLO:
            names = _Cursor(body.vector(2))
            if names.number(1) == 0:
                self.server_name = names.vector(2).decode("ascii", "replace")
