"""Plaintext parts of a TLS handshake: version, server name (SNI) and fingerprints of its hello messages (RFC 8446, RFC 6066)."""

from __future__ import annotations

from typing import Final

from kwire.protocol.tls_fingerprints import ja3, ja4
from kwire.protocol.tls_handshake import CLIENT_HELLO, SERVER_HELLO, VERSION_NAMES, read_client_hello, read_server_hello

__all__ = ["HelloReader"]

_LONGEST: Final = 1 << 16  # a ClientHello with post-quantum key shares takes 2 KiB
_HANDSHAKE: Final = 22


class HelloReader:
    """Reader of one direction of a handshake up to its hello message; only that message is kept."""

    __slots__ = ("_data", "done", "ja3", "ja4", "server_name", "version")

    def __init__(self) -> None:
        self._data = b""
        self.done = False
        self.version: str | None = None
        self.server_name: str | None = None
        self.ja3: str | None = None
        self.ja4: str | None = None

    def take(self, data: bytes) -> None:
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
        if message[0] == CLIENT_HELLO:
            hello = read_client_hello(message)
            if hello is not None:
                self.version, self.server_name = VERSION_NAMES.get(hello.highest_version), hello.server_name
                if hello.is_whole:
                    self.ja3, self.ja4 = ja3(hello), ja4(hello)
        elif message[0] == SERVER_HELLO:
            answer = read_server_hello(message)
            if answer is not None:
                self.version = VERSION_NAMES.get(answer.version)
        else:
            self.done = True
