"""Frames that Kafka's own Java classes wrote, with a correlation id of one's own."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any


class Frames:
    """Kafka's frames by api and version, with their bodies in several cases."""

    def __init__(self, vectors: Callable[[str], list[dict[str, Any]]]) -> None:
        self.headers: dict[tuple[int, int, str], bytes] = {}
        self.bodies: dict[tuple[int, int, str], list[bytes]] = {}
        for line in vectors("frames-sample"):
            kind = line["api_key"], line["version"], line["kind"]
            self.headers[kind] = bytes.fromhex(line["hex"])[4 : 4 + line["header_size"]]
            self.bodies[kind] = [bytes.fromhex(line["hex"])[4 + line["header_size"] :]]
        for line in vectors("messages-sample"):
            kind = line.get("api_key"), line["version"], line["kind"]
            if kind in self.bodies:
                self.bodies[kind].append(bytes.fromhex(line["hex"]))
        self.apis = sorted({(key, version) for key, version, kind in self.headers if kind == "request"})

    def frame(self, api: tuple[int, int], kind: str, case: int, correlation_id: int) -> bytes:
        header = bytearray(self.headers[(*api, kind)])
        struct.pack_into(">i", header, 4 if kind == "request" else 0, correlation_id)
        cases = self.bodies[(*api, kind)]
        return bytes(header) + cases[case % len(cases)]
