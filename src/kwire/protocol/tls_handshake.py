"""Parts of TLS handshake messages that a capture reader needs (RFC 5246, RFC 8446).

message     type uint8, length uint24, body
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

__all__ = [
    "CERTIFICATE", "CLIENT_HELLO", "CLIENT_KEY_EXCHANGE", "ENCRYPTED_EXTENSIONS", "END_OF_EARLY_DATA", "FINISHED", "HELLO_REQUEST",
    "KEY_UPDATE", "NEW_SESSION_TICKET", "RETRY", "SERVER_HELLO", "TLS_1_2", "TLS_1_3", "VERSION_NAMES", "Messages", "ClientHello",
    "ServerHello", "chosen_alpn", "first_certificate", "is_grease", "premaster_name", "read_client_hello", "read_server_hello",
    "read_ticket",
]  # fmt: skip

HELLO_REQUEST: Final = 0
CLIENT_HELLO: Final = 1
SERVER_HELLO: Final = 2
NEW_SESSION_TICKET: Final = 4
END_OF_EARLY_DATA: Final = 5
ENCRYPTED_EXTENSIONS: Final = 8
CERTIFICATE: Final = 11
CLIENT_KEY_EXCHANGE: Final = 16
FINISHED: Final = 20
KEY_UPDATE: Final = 24

TLS_1_2: Final = 0x0303
TLS_1_3: Final = 0x0304
VERSION_NAMES: Final = {0x0300: "SSL 3.0", 0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}

_SERVER_NAME: Final = 0
_GROUPS: Final = 10
_POINT_FORMATS: Final = 11
_SIGNATURES: Final = 13
_ALPN: Final = 16
_ENCRYPT_THEN_MAC: Final = 22
_EXTENDED_MASTER: Final = 23
_SESSION_TICKET: Final = 35
_PRE_SHARED_KEY: Final = 41
_EARLY_DATA: Final = 42
_SUPPORTED_VERSIONS: Final = 43

# RFC 8446, 4.1.3: the random of a ServerHello that is a HelloRetryRequest, SHA-256 of "HelloRetryRequest".
RETRY: Final = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
_MOST_MESSAGE: Final = 1 << 17  # a certificate chain of dozens
_MOST_TICKETS: Final = 8


class Short(Exception): ...


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise Short
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, width: int) -> bytes:
        return self.take(self.number(width))

    @property
    def more(self) -> bool:
        return self.at < len(self.data)


class ClientHello(NamedTuple):
    """ClientHello message; numbers are in the order of the wire, with GREASE."""

    version: int  # the legacy one
    random: bytes
    session_id: bytes
    ciphers: list[int]
    extensions: list[int]
    curves: list[int]
    formats: list[int]
    signatures: list[int]
    server_name: str | None  # SNI
    alpn: list[bytes]
    versions: list[int]  # of supported_versions
    tickets: list[bytes]  # session tickets, and identities of pre-shared keys
    early_data: bool
    is_whole: bool

    @property
    def highest_version(self) -> int:
        return max((each for each in self.versions if each in VERSION_NAMES), default=self.version)


class ServerHello(NamedTuple):
    """ServerHello message; `is_retry` marks a HelloRetryRequest, `resumes` a session with a pre-shared key (TLS 1.3)."""

    version: int
    random: bytes
    session_id: bytes
    cipher: int
    alpn: bytes | None
    encrypt_then_mac: bool
    extended_master: bool
    resumes: bool
    is_retry: bool


class Messages:
    """Handshake messages from records of one direction; `pending` is the beginning of the next one."""

    __slots__ = ("pending",)

    def __init__(self) -> None:
        self.pending = b""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        data, found, at = self.pending + data, [], 0
        while len(data) - at >= 4:
            end = at + 4 + int.from_bytes(data[at + 1 : at + 4], "big")
            if end - at > _MOST_MESSAGE:
                at = len(data)
                break
            if end > len(data):
                break
            found.append((data[at], data[at:end]))
            at = end
        self.pending = data[at:]
        return found

    def lose(self) -> None:
        self.pending = b""


def is_grease(value: int) -> bool:
    """Return whether a value is a GREASE value (RFC 8701), which some libraries add: 0a0a, 1a1a, ... fafa."""
    return value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF


def _pairs(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data) - 1, 2)]


def _names(data: bytes) -> list[bytes]:
    cursor, found = _Cursor(data), []
    while cursor.more:
        found.append(cursor.vector(1))
    return found


def _extensions(cursor: _Cursor) -> list[tuple[int, _Cursor]]:
    found: list[tuple[int, _Cursor]] = []
    if cursor.more:
        body = _Cursor(cursor.vector(2))
        while body.more:
            found.append((body.number(2), _Cursor(body.vector(2))))
    return found


@lru_cache(maxsize=64)  # the tracker of a connection and the reader of its records look at the same one
def read_client_hello(message: bytes) -> ClientHello | None:
    """Read a possibly truncated ClientHello; return None if the session id is missing."""
    try:
        return _client_hello(_Cursor(message[4 : 4 + int.from_bytes(message[1:4], "big")]))
    except Short:
        return None


def _client_hello(cursor: _Cursor) -> ClientHello:
    version, random, session_id = cursor.number(2), cursor.take(32), cursor.vector(1)
    known: dict[str, Any] = dict.fromkeys(("curves", "formats", "signatures", "alpn", "versions", "tickets"), ())
    server_name, early, numbers = None, False, []
    ciphers: list[int] = []
    is_whole = False
    found: list[tuple[int, _Cursor]] = []
    try:
        ciphers = _pairs(cursor.vector(2))
        cursor.vector(1)
        size = cursor.number(2) if cursor.more else 0
        body = _Cursor(cursor.data[cursor.at : cursor.at + size])
        while body.more:
            found.append((body.number(2), _Cursor(body.vector(2))))
        is_whole = len(body.data) == size
    except Short:
        is_whole = False
    for number, body in found:
        numbers.append(number)
        if number == _SERVER_NAME and body.more:
            names = _Cursor(body.vector(2))
            if names.number(1) == 0:
                server_name = names.vector(2).decode("ascii", "replace")
        elif number == _GROUPS:
            known["curves"] = _pairs(body.vector(2))
        elif number == _POINT_FORMATS:
            known["formats"] = body.vector(1)
        elif number == _SIGNATURES:
            known["signatures"] = _pairs(body.vector(2))
        elif number == _ALPN:
            known["alpn"] = _names(body.vector(2))
        elif number == _SUPPORTED_VERSIONS:
            known["versions"] = _pairs(body.vector(1))
        elif number == _SESSION_TICKET:
            known["tickets"] = [*known["tickets"], body.data] if body.data else known["tickets"]
        elif number == _PRE_SHARED_KEY:
            identities = _Cursor(body.vector(2))
            while identities.more and len(known["tickets"]) < _MOST_TICKETS:
                known["tickets"] = [*known["tickets"], identities.vector(2)]
                identities.take(4)
        elif number == _EARLY_DATA:
            early = True
    lists = {name: list(values) for name, values in known.items()}
    return ClientHello(version, random, session_id, ciphers, numbers, server_name=server_name, early_data=early, is_whole=is_whole, **lists)


@lru_cache(maxsize=64)
def read_server_hello(message: bytes) -> ServerHello | None:
    cursor = _Cursor(message[4:])
    try:
        version, random, session_id = cursor.number(2), cursor.take(32), cursor.vector(1)
        cipher = cursor.number(2)
        cursor.take(1)
        found = dict(_extensions(cursor))
        if _SUPPORTED_VERSIONS in found:
            version = found[_SUPPORTED_VERSIONS].number(2)
        names = _names(found[_ALPN].vector(2)) if _ALPN in found else []
    except Short:
        return None
    return ServerHello(
        version, random, session_id, cipher, names[0] if names else None, _ENCRYPT_THEN_MAC in found, _EXTENDED_MASTER in found,
        _PRE_SHARED_KEY in found, random == RETRY,
    )  # fmt: skip


@lru_cache(maxsize=64)  # a server chooses the same one on every connection
def chosen_alpn(message: bytes) -> bytes | None:
    try:
        found = dict(_extensions(_Cursor(message[4:])))
        return _names(found[_ALPN].vector(2))[0] if _ALPN in found else None
    except (Short, IndexError):
        return None


def first_certificate(message: bytes, is_13: bool) -> bytes | None:
    """Return the peer's own certificate in a Certificate message; None without one."""
    at = 4 + (1 + int.from_bytes(message[4:5], "big") if is_13 else 0)
    whole, size = int.from_bytes(message[at : at + 3], "big"), int.from_bytes(message[at + 3 : at + 6], "big")
    return message[at + 6 : at + 6 + size] if at + 3 + whole <= len(message) and 3 + size <= whole else None


def read_ticket(message: bytes, is_13: bool) -> bytes:
    """Return the ticket of a NewSessionTicket (RFC 5077; RFC 8446, 4.6.1), empty without one."""
    at = 8 + (5 + int.from_bytes(message[12:13], "big") if is_13 else 0)
    size = int.from_bytes(message[at : at + 2], "big")
    return message[at + 2 : at + 2 + size] if at + 2 + size <= len(message) else b""


def premaster_name(message: bytes) -> bytes:
    """Return the first 8 bytes of a ClientKeyExchange's encrypted premaster secret, which an `RSA` line of a key log names."""
    return message[6:14]
