"""Frames written byte by byte, with their length, what tests look at in events, and frames that Kafka's own Java classes wrote."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from kwire.protocol import Event, RequestCompleted, ViolationFound

MS = 1_000_000


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def framed_hex(text: str) -> bytes:
    return framed(bytes.fromhex(text))


def text(value: str) -> bytes:
    """A string of a version that is not flexible."""
    return len(value).to_bytes(2, "big") + value.encode()


def varint(value: int) -> bytes:
    """A zigzag varint, as records have them."""
    value = value << 1 if value >= 0 else (-value << 1) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def head(key: int, version: int, correlation_id: int, client_id: bytes = b"app") -> bytes:
    """A request header of version 1: 10 bytes and the client id."""
    fixed = key.to_bytes(2, "big") + version.to_bytes(2, "big") + correlation_id.to_bytes(4, "big", signed=True)
    return fixed + len(client_id).to_bytes(2, "big") + client_id


def heartbeat(correlation_id: int, client_id: bytes = b"app") -> bytes:
    """Heartbeat v0, 28 bytes with its length: group `g1`, generation 0, member `m`."""
    return framed(head(12, 0, correlation_id, client_id) + b"\0\2g1" + bytes(4) + b"\0\1m")


def ok(correlation_id: int, error_code: int = 0) -> bytes:
    """A Heartbeat v0 response, 10 bytes with its length: an error code."""
    return framed(correlation_id.to_bytes(4, "big", signed=True) + error_code.to_bytes(2, "big"))


def metadata(correlation_id: int, *topics: bytes) -> bytes:
    names = b"".join(len(name).to_bytes(2, "big") + name for name in topics)
    return framed(head(3, 1, correlation_id) + len(topics).to_bytes(4, "big") + names)


def produce(correlation_id: int, acks: int, records: bytes = b"", client_id: bytes = b"app") -> bytes:
    """Produce v3 to partition 0 of topic `t`: 2 bytes of transactional id, then the acks."""
    body = b"\xff\xff" + acks.to_bytes(2, "big", signed=True) + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + framed(records)
    return framed(head(0, 3, correlation_id, client_id) + body)


def api_versions(correlation_id: int, version: int = 0, name: bytes = b"kgo", software: bytes = b"v1") -> bytes:
    """ApiVersions, from version 3 on with a software name and version, from 5 on for any cluster and node."""
    any_node = b"\0\xff\xff\xff\xff" if version >= 5 else b""
    body = b"\0" + bytes([len(name) + 1]) + name + bytes([len(software) + 1]) + software + any_node + b"\0" if version >= 3 else b""
    return framed(head(18, version, correlation_id) + body)


def handshake(correlation_id: int, version: int, mechanism: bytes) -> bytes:
    return framed(head(17, version, correlation_id) + len(mechanism).to_bytes(2, "big") + mechanism)


def shaken(correlation_id: int, error_code: int = 0) -> bytes:
    """A SaslHandshake response that lists no mechanism."""
    return framed(correlation_id.to_bytes(4, "big") + error_code.to_bytes(2, "big") + bytes(4))


def played(connection: Any, *steps: tuple[Any, ...]) -> list[Event]:
    """What is said of steps a millisecond apart: bytes that a client `asks` or a server `answers`, `cut` by snaplen, or calls by name."""
    said: list[Event] = []
    for at, (name, *args) in enumerate(steps):
        method = {"asks": "receive_request_bytes", "answers": "receive_response_bytes", "cut": "lost"}.get(name, name)
        times = () if name == "begins_late" else (at * MS,)
        said += getattr(connection, method)(*args, *times, **({"cut": True} if name == "cut" else {}))
    return said


def rows(events: Iterable[Event]) -> list[RequestCompleted]:
    return [event for event in events if isinstance(event, RequestCompleted)]


def states(events: Iterable[Event]) -> list[tuple[int | None, str]]:
    return [(row.correlation_id, row.state) for row in rows(events)]


def rules(events: Iterable[Event]) -> list[str]:
    return [event.rule for event in events if isinstance(event, ViolationFound)]


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
