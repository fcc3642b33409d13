"""A client that asks a broker or a proxy what it likes, version by version."""

from __future__ import annotations

import socket
from typing import Any

import kwire
from kwire import messages


class Port:
    """A client of `host:port` that connects again after it was closed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._end: socket.socket | None = None

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, body: Any, key: int, version: int) -> socket.socket:
        header = messages.RequestHeader(api_key=key, api_version=version, correlation_id=7, client_id="c")
        frame = kwire.encode_request(header, body)
        if self._end is None:
            host, _, port = self.address.rpartition(":")
            self._end = socket.create_connection((host, int(port)), timeout=30)
        self._end.sendall(len(frame).to_bytes(4, "big") + frame)
        return self._end

    def ask(self, body: Any, key: int, version: int) -> Any:
        """The body of the answer; None where the connection ends instead."""
        try:
            end = self.send(body, key, version)
            size = int.from_bytes(_received(end, 4), "big")
            return kwire.decode_response(_received(end, size), key, version).body
        except ConnectionError:
            self.close()
            return None

    def close(self) -> None:
        if self._end is not None:
            self._end.close()
            self._end = None


def _received(end: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        data = end.recv(size - len(found))
        if not data:
            raise ConnectionError
        found += data
    return found
