"""Entry of a request log: a request completed by the broker."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from kwire.schema import catalog, snake_name

__all__ = ["ConnectionName", "LogEntry", "UnreadableLine", "WantedBodies", "api_key_of", "connection_name", "int_of"]


class UnreadableLine(ValueError):
    """A line looks like an entry but is invalid; the text is one clause."""


class WantedBodies(NamedTuple):
    """Bodies to read from typed lines of an api version: message name and projection. If the response is None, it stays JSON text."""

    request: tuple[str, tuple[str, ...] | None]
    response: tuple[str, tuple[str, ...] | None] | None


class ConnectionName(NamedTuple):
    """Connection name of a broker, ``server:port-client:port-index`` or, from 4.0 on, ``...-processor-index``; addresses are in their
    shortest form."""

    server_address: str
    server_port: int
    client_address: str
    client_port: int
    life: str  # the numbers behind them, which distinguish connections between the same ends; empty up to 0.11


class LogEntry(NamedTuple):
    """Request in the log; durations are in microseconds, None if missing.

    Attributes:
        form: `typed` if bodies are messages; `json` or `text`, the form of the line, if bodies are dictionaries.
        request, response: bodies,
        or JSON text if selected; None if missing or unreadable. JSON omits only tagged fields with default values; text forms omit more.
        total_us, queue_us, local_us, remote_us: totalTime, requestQueueTime, localTime, remoteTime.
        state: state as in `RequestCompleted`, if the line has it. Brokers log only answered requests, `kwire decode` others too.
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
    """Parse a broker's connection name; IPv6 addresses may have square brackets."""
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
    """Return the key of an api by its constant name in Kafka, such as ``FIND_COORDINATOR``."""
    for key in catalog().api_keys:
        own = catalog().api_name(key)
        if own is not None and snake_name(own).upper() == name:
            return key
    if name in _FORMER_NAMES:
        return _FORMER_NAMES[name]
    raise UnreadableLine(f"no release of Kafka has an api {name[:60]!a}")


def int_of(value: Any, bits: int, what: str) -> int:
    """Read a number of `bits` bits from a header, as an integer or decimal text; `what` names it in errors."""
    if value.__class__ is int and -(1 << bits - 1) <= value < 1 << bits - 1:  # nearly all
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise UnreadableLine(f"its {what} is not a number of {bits} bits")
    return value
