"""Reads what a TLS handshake shows in clear: the version and the server name (SNI) of its two hello messages (RFC 8446, RFC 6066).

    record     type uint8 (22 handshake), version uint16, length uint16, fragment
    handshake  type uint8 (1 ClientHello, 2 ServerHello), length uint24, legacy version uint16, random 32, session id, ciphers, ...

Nothing is decrypted, and no more is kept than the hello message itself.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HelloReader"]

_LONGEST: Final = 1 << 16  # a ClientHello with post-quantum key shares takes 2 KiB
_HANDSHAKE: Final = 22
_CLIENT_HELLO: Final = 1
_SERVER_HELLO: Final = 2
_SERVER_NAME: Final = 0
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


class HelloReader:
    """Collects one direction of a handshake until its hello is whole.

    Attributes:
        done: nothing more is wanted.
        version: what a ServerHello chose, or the highest that a ClientHello offers, `TLS 1.3`.
        server_name: of a ClientHello.
    """

    __slots__ = ("_data", "done", "server_name", "version")

    def __init__(self) -> None:
        self._data = b""
        self.done = False
        self.version: str | None = None
        self.server_name: str | None = None

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
            self.version = _NAMES.get(cursor.number(2))
            cursor.take(32)
            cursor.vector(1)
            if kind == _CLIENT_HELLO:
                cursor.vector(2)
                cursor.vector(1)
            else:
                cursor.take(3)
            cursor.take(2)
            while cursor.pos < len(cursor.data):
                self._extension(kind, cursor.number(2), _Cursor(cursor.vector(2)))
        except _Short:
            return

    def _extension(self, kind: int, number: int, body: _Cursor) -> None:
        if number == _SUPPORTED_VERSIONS:
            listed = body.vector(1) if kind == _CLIENT_HELLO else body.take(2)
            offered = [int.from_bytes(listed[at : at + 2], "big") for at in range(0, len(listed) - 1, 2)]
            # Browsers and some libraries sprinkle in values that do not exist (GREASE, RFC 8701).
            known = [version for version in offered if version in _NAMES]
            if known:
                self.version = _NAMES[max(known)]
        elif number == _SERVER_NAME and kind == _CLIENT_HELLO:
            names = _Cursor(body.vector(2))
            if names.number(1) == 0:
                self.server_name = names.vector(2).decode("ascii", "replace")
