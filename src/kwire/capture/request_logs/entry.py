"""One entry of a request log: a request that the broker has completed."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from kwire.schema import catalog, snake_name

__all__ = ["ConnectionName", "LogEntry", "UnreadableLine", "WantedBodies", "api_key_of", "connection_name", "int_of"]


class UnreadableLine(ValueError):
    """Fault of a line that looks like an entry; the text is one clause."""


class WantedBodies(NamedTuple):
    """Bodies that typed lines read of an api at a version: name of the message and a projection; a response of None stays JSON text."""

    request: tuple[str, tuple[str, ...] | None]
    response: tuple[str, tuple[str, ...] | None] | None


class ConnectionName(NamedTuple):
    """The broker's name of a connection, ``server:port-client:port-index`` or, from 4.0 on, ``...-processor-index``.

    Attributes:
        server_address, server_port, client_address, client_port: its ends; addresses in the shortest spelling.
    """

    server_address: str
    server_port: int
    client_address: str
    client_port: int
    life: str  # the numbers behind them, which distinguish connections between the same ends; empty up to 0.11


class LogEntry(NamedTuple):
    """A request in the log; durations are microseconds, None if the line has none.

    Attributes:
        form: `typed` if bodies are messages; `json`, `text`: form of the line, whose bodies are dictionaries.
        request, response: bodies; JSON text if wanted; None if missing or unreadable. JSON has every field that is not at a tagged default,
            text forms leave fields out.
        total_us, queue_us, local_us, remote_us: totalTime, requestQueueTime, localTime, remoteTime.
        state: as in `RequestCompleted`, if the line has it: brokers log answered requests only, `kwire decode` writes others too.
    """

    line: int  # number of the line in its file, from 1
    api_key: int
    api_version: int
    correlation_id: int | None
    client_id: str | None
    connection: ConnectionName
    form: Literal["typed", "json", "text"]
    request: Any = None
    response: Any = None
    level: str | None = None  # log level before the line, None without
    logged_us: int | None = None  # time of the line, microseconds since 1970, UTC; None without a stamp
    total_us: int | None = None
    queue_us: int | None = None
    local_us: int | None = None
    remote_us: int | None = None
    principal: str | None = None  # in Kafka's form; None for ``User:ANONYMOUS``, a client that did not authenticate
    software: tuple[str, str] | None = None  # name and version in force, None if the line has none (up to 2.3)
    is_forwarded: bool = False  # it came inside an Envelope of another broker (KIP-590); the header is that of the first sender
    deprecated: bool = False  # the broker marks this version as deprecated (KIP-896)
    arrived_us: int | None = None  # arrival of the request, if the line has it
    state: str | None = None

    def __repr__(self) -> str:
        # Bodies may hold what an administrator typed.
        return f"LogEntry(line {self.line}, api {self.api_key} v{self.api_version}, {self.connection})"


_CONNECTION: Final = re.compile(r"\[?([0-9A-Za-z.:%_]+?)\]?:([0-9]{1,5})-\[?([0-9A-Za-z.:%_]+?)\]?:([0-9]{1,5})((?:-[0-9]{1,10})*)")


@lru_cache(maxsize=65_536)
def connection_name(text: str) -> ConnectionName:
    """Read the broker's name of a connection, IPv6 addresses with or without square brackets."""
    found = _CONNECTION.fullmatch(text)
    if found is None or int(found[2]) > 65_535 or int(found[4]) > 65_535:
        raise UnreadableLine(f"{text[:80]!a} is no connection")
    return ConnectionName(_address(found[1]), int(found[2]), _address(found[3]), int(found[4]), found[5])


@lru_cache(maxsize=4096)  # a fleet has more connections than addresses
def _address(text: str) -> str:
    """Shorten an address: Java writes ``0:0:0:0:0:0:0:1``, everybody else ``::1``."""
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return text


# What older releases call an api.
_FORMER_NAMES: Final = {
    "GROUP_COORDINATOR": 10, "UPDATE_METADATA_KEY": 6, "CONTROLLED_SHUTDOWN_KEY": 7, "ELECT_PREFERRED_LEADERS": 43, "ALTER_ISR": 56,
}  # fmt: skip


@lru_cache(maxsize=512)
def api_key_of(name: str) -> int:
    """Return the key of an api by the name of its constant in Kafka, ``FIND_COORDINATOR``."""
    for key in catalog().api_keys:
        own = catalog().api_name(key)
        if own is not None and snake_name(own).upper() == name:
            return key
    if name in _FORMER_NAMES:
        return _FORMER_NAMES[name]
    raise UnreadableLine(f"no release of Kafka has an api {name[:60]!a}")


def int_of(value: Any, bits: int, what: str) -> int:
    """Read a header's number, an integer or its decimal text, of `bits` bits; `what` is its name for the message."""
    if value.__class__ is int and -(1 << bits - 1) <= value < 1 << bits - 1:  # nearly all
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise UnreadableLine(f"its {what} is not a number of {bits} bits")
    return value
