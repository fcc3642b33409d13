"""One entry of a request log: a request that the broker has completed, and how both forms of the log spell what is common to them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from kwire.schema import catalog, snake_name

__all__ = ["ConnectionName", "LogEntry", "UnreadableLine", "api_key_of", "connection_name", "int_of"]


class UnreadableLine(ValueError):
    """A line that claims to be an entry and is none; the text says why, in one clause."""


class ConnectionName(NamedTuple):
    """The broker's name of a connection, ``server:port-client:port-index`` or, from 4.0 on, ``...-processor-index``.

    Attributes:
        server_address, server_port, client_address, client_port: its ends; addresses in the shortest spelling.
        life: the numbers behind them, which tell connections between the same ends apart; empty up to 0.11.
    """

    server_address: str
    server_port: int
    client_address: str
    client_port: int
    life: str


@dataclass(slots=True, kw_only=True)
class LogEntry:
    """A request as the log has it; durations are microseconds, None where the line does not say.

    Attributes:
        line: number of the line in its file, from 1.
        api_key, api_version, correlation_id, client_id: of the request's header.
        connection: where it came in.
        request, response: bodies as dictionaries, or the text of a JSON object that nobody has read yet; None where the line has none or
            it cannot be read.
        exact: the bodies are JSON, where every field that is not at a tagged default is written; text forms leave fields out.
        is_forwarded: it came inside an Envelope of another broker (KIP-590); the header is that of the first sender.
        deprecated: the broker marks this version as deprecated (KIP-896), False where it does not say.
        level: log level before the line, None without.
        logged_us: when the line was written, microseconds since 1970, UTC; None where the line has no stamp.
        arrived_us: when the request came, where the line says so itself.
        total_us, queue_us, local_us, remote_us: totalTime, requestQueueTime, localTime, remoteTime.
        principal: in Kafka's form; None for ``User:ANONYMOUS``, which is nobody.
        software: name and version in force, None where the line has none (up to 2.3).
        security_protocol, listener: as written.
        other: what else a JSON line has.
    """

    line: int
    api_key: int
    api_version: int
    correlation_id: int | None
    client_id: str | None
    connection: ConnectionName
    request: dict[str, Any] | bytes | None = None
    response: dict[str, Any] | bytes | None = None
    exact: bool = False
    is_forwarded: bool = False
    deprecated: bool = False
    level: str | None = None
    logged_us: int | None = None
    arrived_us: int | None = None
    total_us: int | None = None
    queue_us: int | None = None
    local_us: int | None = None
    remote_us: int | None = None
    principal: str | None = None
    software: tuple[str, str] | None = None
    security_protocol: str | None = None
    listener: str | None = None
    other: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        # Bodies may hold what an administrator typed.
        return f"LogEntry(line {self.line}, api {self.api_key} v{self.api_version}, {self.connection})"


_CONNECTION: Final = re.compile(r"\[?([0-9A-Za-z.:%_]+?)\]?:([0-9]{1,5})-\[?([0-9A-Za-z.:%_]+?)\]?:([0-9]{1,5})((?:-[0-9]+)*)")


@lru_cache(maxsize=65_536)
def connection_name(text: str) -> ConnectionName:
    """Read the broker's name of a connection, IPv6 addresses with or without square brackets.

    Raises:
        UnreadableLine: it is no such name.
    """
    found = _CONNECTION.fullmatch(text)
    if found is None or int(found[2]) > 65_535 or int(found[4]) > 65_535:
        raise UnreadableLine(f"{text[:80]!a} is no connection")
    return ConnectionName(_address(found[1]), int(found[2]), _address(found[3]), int(found[4]), found[5])


def _address(text: str) -> str:
    """Java writes IPv6 addresses in full, ``0:0:0:0:0:0:0:1``; packets and everybody else ``::1``."""
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return text


# What older releases call an api.
_FORMER_NAMES: Final = {
    "GROUP_COORDINATOR": 10, "UPDATE_METADATA_KEY": 6, "CONTROLLED_SHUTDOWN_KEY": 7, "ELECT_PREFERRED_LEADERS": 43, "ALTER_ISR": 56,
}  # fmt: skip
_MOST_KEY: Final = 0x7FFF


@lru_cache(maxsize=512)
def api_key_of(name: str) -> int:
    """Find the key of an api by the name of its constant in Kafka, ``FIND_COORDINATOR``.

    Raises:
        UnreadableLine: no release has such an api.
    """
    for key in catalog().api_keys:
        own = catalog().api_name(key)
        if own is not None and snake_name(own).upper() == name:
            return key
    if name in _FORMER_NAMES:
        return _FORMER_NAMES[name]
    raise UnreadableLine(f"no release of Kafka has an api {name[:60]!a}")


def int_of(value: Any, bits: int, what: str) -> int:
    """Take a number of the header.

    Args:
        value: an integer or its decimal text.
        bits: width of the signed integer that it is on the wire.
        what: its name, for the sentence.

    Raises:
        UnreadableLine: it is no integer, or one that does not fit.
    """
    if value.__class__ is int and -(1 << bits - 1) <= value < 1 << bits - 1:  # nearly all
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise UnreadableLine(f"its {what} is not a number of {bits} bits")
    return value
