"""A client that asks a broker or a proxy what it likes, version by version."""

from __future__ import annotations

import socket
from typing import Any

import kwire
from kwire import messages


class Port:
    """A client that asks what it likes, and connects again after it was closed."""

    def __init__(self, where: str) -> None:
        host, _, port = where.rpartition(":")
        self._where = host, int(port)
        self._end: socket.socket | None = None

    def ask(self, body: Any, key: int, version: int) -> Any:
        """The body of the answer; None where the connection ends instead."""
        header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=7, client_id="c")
        frame = kwire.encode_request(header, body)
        if self._end is None:
            self._end = socket.create_connection(self._where, timeout=30)
        try:
            self._end.sendall(len(frame).to_bytes(4, "big") + frame)
            size = int.from_bytes(self._got(4), "big")
            return kwire.decode_response(self._got(size), key, version).body
        except ConnectionError:
            self.close()
            return None

    def _got(self, size: int) -> bytes:
        assert self._end is not None
        found = b""
        while len(found) < size:
            data = self._end.recv(size - len(found))
            if not data:
                raise ConnectionError
            found += data
        return found

    def close(self) -> None:
        if self._end is not None:
            self._end.close()
            self._end = None
