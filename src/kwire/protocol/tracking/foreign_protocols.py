"""Protocol of a connection by its first bytes: Kafka, a PROXY header before another protocol, or a foreign protocol.

The result depends only on a prefix of the bytes, not on their chunks, and is returned as soon as it is certain.
"""

from __future__ import annotations

import ipaddress
from typing import Final, NamedTuple

__all__ = ["MORE", "ProxyHeader", "Verdict", "recognise", "recognise_middle", "recognise_server"]


class ProxyHeader(NamedTuple):
    """PROXY protocol header (HAProxy's proxy-protocol.txt, versions 1 and 2); no address for LOCAL and UNKNOWN."""

    size: int
    address: str | None


class Verdict(NamedTuple):
    """Result: `kafka` for possible Kafka, the name of a foreign protocol, `unknown`, `proxy` for a PROXY header, `more` if undecided."""

    protocol: str
    proxy: ProxyHeader | None = None


MORE: Final = Verdict("more")
_KAFKA: Final = Verdict("kafka")
_UNKNOWN: Final = Verdict("unknown")

_PROXY_V1: Final = b"PROXY "
_PROXY_V1_LONGEST: Final = 107
_PROXY_V2: Final = bytes.fromhex("0d0a0d0a000d0a515549540a")

_CLIENT_OPENINGS: Final[dict[bytes, str]] = {
    **{
        method + b" ": "http"
        for method in (b"GET", b"POST", b"PUT", b"HEAD", b"DELETE", b"OPTIONS", b"PATCH", b"CONNECT", b"TRACE", b"PROPFIND")
    },
    b"PRI * HTTP/2": "http2",
    b"SSH-": "ssh",
    b"AMQP": "amqp",
    b"EHLO ": "smtp",
    b"HELO ": "smtp",
    b"PING\r\n": "redis",
    b"QUIT\r\n": "redis",
    b"INFO\r\n": "redis",
    b"ruok": "zookeeper",
    b"\x80\x01\x00\x01": "thrift",  # without frames: a call in the binary protocol
    b"\x82\x21": "thrift",  # in the compact protocol
    b"\x81\x00\x00\x44": "smb",  # NetBIOS: a session request
    b"\x16\x03": "tls",
    b"\x15\x03": "tls",
    _PROXY_V1: "proxy",
    _PROXY_V2: "proxy",
}
_SERVER_OPENINGS: Final[dict[bytes, str]] = {
    b"HTTP/": "http",
    b"SSH-": "ssh",
    b"AMQP": "amqp",
    b"220 ": "smtp",
    b"220-": "smtp",
    b"-ERR ": "redis",
    b"+PONG": "redis",
    b"\x16\x03": "tls",
    b"\x15\x03": "tls",
}
# Behind a 4-byte length, where Kafka has api key and version.
_FRAMED_OPENINGS: Final[dict[bytes, str]] = {
    **{bytes((version,)) + b"SMB": "smb" for version in (0xFF, 0xFE, 0xFD, 0xFC)},
    **{bytes((request, size)): "kerberos" for request in (0x6A, 0x6C) for size in (0x81, 0x82, 0x83)},  # AS-REQ and TGS-REQ in DER
    b"\x80\x01\x00\x01": "thrift",  # a call and a oneway call in the binary protocol, in the compact protocol, and THeader
    b"\x80\x01\x00\x04": "thrift",
    b"\x82\x21": "thrift",
    b"\x82\x81": "thrift",
    b"\x0f\xff": "thrift",
    b"\x01ActiveMQ": "openwire",
}
# ZooKeeper's ConnectRequest: its size, with and without the flag for read-only, and where it has the length of the password, 16.
_ZOOKEEPER_SIZES: Final = (44, 45)
_ZOOKEEPER_PASSWORD: Final = slice(28, 32)
# Pulsar's CONNECT behind the size of the command: BaseCommand.type is 2, and field 2 is there.
_PULSAR_CONNECT: Final = b"\x08\x02\x12"
# PostgreSQL's SSLRequest, GSSENCRequest and CancelRequest.
_POSTGRES_CODES: Final = frozenset(((1234 << 16) + 5678, (1234 << 16) + 5679, (1234 << 16) + 5680))
_POSTGRES_V3: Final = 3 << 16
_POSTGRES_PARAMETERS: Final = (b"user\0", b"database\0", b"application_name\0", b"client_encoding\0", b"replication\0")


def _tls(data: bytes) -> Verdict:
    """Recognize handshake and alert records. `16 03 01 00 00` is a Kafka frame length, because TLS records are never empty."""
    if len(data) < 3:
        return MORE
    if data[2] > 4:
        return _UNKNOWN
    if len(data) < 6:
        return MORE
    size = int.from_bytes(data[3:5], "big")
    kinds = (1, 2) if data[0] == 0x16 else (1, 2, 0)
    return Verdict("tls") if 0 < size <= 16640 and data[5] in kinds else _UNKNOWN


def _proxy_v1(data: bytes) -> Verdict:
    end = data.find(b"\r\n", 0, _PROXY_V1_LONGEST)
    if end < 0:
        return MORE if len(data) < _PROXY_V1_LONGEST else _UNKNOWN
    words = data[:end].decode("latin-1").split(" ")
    address = None
    if len(words) >= 6 and words[1] in ("TCP4", "TCP6") and words[4].isdecimal():
        try:
            address = _join(ipaddress.ip_address(words[2]), int(words[4]))
        except ValueError:
            return _UNKNOWN
    return Verdict("proxy", ProxyHeader(end + 2, address))


def _proxy_v2(data: bytes) -> Verdict:
    if len(data) < 16:
        return MORE
    if data[12] >> 4 != 2:
        return _UNKNOWN
    size = int.from_bytes(data[14:16], "big")
    if len(data) < 16 + size:
        return MORE
    address = None
    if data[12] & 15:  # 0 is LOCAL: a health check of the proxy itself
        family = data[13] >> 4
        if family == 1 and size >= 12:
            address = _join(ipaddress.IPv4Address(data[16:20]), int.from_bytes(data[24:26], "big"))
        elif family == 2 and size >= 36:
            address = _join(ipaddress.IPv6Address(data[16:32]), int.from_bytes(data[48:50], "big"))
    return Verdict("proxy", ProxyHeader(16 + size, address))


def _join(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> str:
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def _opening(data: bytes, openings: dict[bytes, str]) -> Verdict | None:
    undecided = False
    for opening, name in openings.items():
        if data.startswith(opening):
            if name == "tls":
                return _tls(data)
            if name == "proxy":
                return _proxy_v1(data) if opening is _PROXY_V1 else _proxy_v2(data)
            return Verdict(name)
        undecided = undecided or opening.startswith(data)
    return MORE if undecided else None


def _redis(data: bytes) -> Verdict | None:
    if data[:1] != b"*":
        return None
    end = data.find(b"\r\n", 0, 8)
    if end < 0:
        return MORE if len(data) < 8 else None
    if len(data) < end + 3:
        return MORE
    return Verdict("redis") if data[1:end].isdigit() and data[end + 2 : end + 3] == b"$" else None


def _framed(data: bytes) -> Verdict:
    """Distinguish Kafka from other protocols with a 4-byte length, such as a PostgreSQL start-up, which reads as `Metadata v0`."""
    size = int.from_bytes(data[:4], "big")
    if len(data) < 8:
        return MORE if len(data) < 4 + size else _KAFKA
    verdict = _opening(data[4:], _FRAMED_OPENINGS)
    if verdict is not None:
        return verdict
    code = int.from_bytes(data[4:8], "big")
    if code == 0 and size in _ZOOKEEPER_SIZES:
        if len(data) < _ZOOKEEPER_PASSWORD.stop:
            return MORE
        return Verdict("zookeeper") if int.from_bytes(data[_ZOOKEEPER_PASSWORD], "big") == 16 else _KAFKA
    if code == size - 4:
        if data[8:].startswith(_PULSAR_CONNECT):
            return Verdict("pulsar")
        return MORE if _PULSAR_CONNECT.startswith(data[8:]) else _KAFKA
    if code in _POSTGRES_CODES:
        return Verdict("postgres")
    if code != _POSTGRES_V3:
        return _KAFKA
    rest = data[8:]
    if any(rest.startswith(name) for name in _POSTGRES_PARAMETERS):
        return Verdict("postgres")
    return MORE if any(name.startswith(rest) for name in _POSTGRES_PARAMETERS) else _KAFKA


def recognise(data: bytes, max_frame: int) -> Verdict:
    """Classify the first bytes of the client, at the start or behind a PROXY header."""
    verdict = _opening(data, _CLIENT_OPENINGS) or _redis(data)
    if verdict is not None:
        return verdict
    if len(data) < 4:
        return MORE
    return _framed(data) if 0 <= int.from_bytes(data[:4], "big", signed=True) <= max_frame else _UNKNOWN


def recognise_server(data: bytes, max_frame: int) -> Verdict:
    """Classify the first bytes of the server, which sends first in SSH, SMTP and MySQL."""
    verdict = _opening(data, _SERVER_OPENINGS)
    if verdict is not None:
        return verdict
    if len(data) < 4:
        return MORE
    if 0 <= int.from_bytes(data[:4], "big", signed=True) <= max_frame:
        return _KAFKA
    if len(data) < 6:
        return MORE
    # MySQL's greeting: little-endian length, packet number 0, protocol 10, then the server's version in digits.
    return Verdict("mysql") if data[2:5] == b"\0\0\x0a" and chr(data[5]).isdecimal() else _UNKNOWN


def recognise_middle(data: bytes) -> Verdict:
    """Classify the first captured bytes of a connection joined late: a segment often begins with a TLS record."""
    if data[0] not in range(0x14, 0x18) or (len(data) > 1 and data[1] != 3):
        return _KAFKA
    if len(data) < 5:
        return MORE
    return Verdict("tls") if data[2] <= 4 and 0 < int.from_bytes(data[3:5], "big") <= 16640 else _KAFKA
