"""How many connections each client software has open: Kafka's gauge `connections` of KIP-511, with a limit that loses no connection."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kwire.errors import InputError

__all__ = ["OTHER", "ConnectionGauge", "GaugeKey", "gauge_key", "mbean_name"]

_DOMAIN: Final = "kafka.server"
_TYPE: Final = "socket-server-metrics"
_PROPERTY: Final = re.compile(r'([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^,="*?]*)(?:,|\Z)')
# javax.management.ObjectName: what may not stand in a value without quotes
_TO_QUOTE: Final = re.compile(r'[,=:"*?\n]')
_ESCAPED: Final = {'"': '\\"', "\\": "\\\\", "*": "\\*", "?": "\\?", "\n": "\\n"}


class GaugeKey(NamedTuple):
    """What connections are counted by."""

    software_name: str
    software_version: str
    listener: str
    processor: str


OTHER: Final = GaugeKey("other", "other", "other", "other")


def _quoted(value: str) -> str:
    if not _TO_QUOTE.search(value):
        return value
    return '"' + "".join(_ESCAPED.get(character, character) for character in value) + '"'


def mbean_name(key: GaugeKey) -> str:
    """The name of the gauge's MBean, as KIP-511 writes it. Kafka itself writes `type=` first; to JMX both are one name."""
    return (
        f"{_DOMAIN}:clientSoftwareName={_quoted(key.software_name)},clientSoftwareVersion={_quoted(key.software_version)},"
        f"listener={_quoted(key.listener)},networkProcessor={_quoted(key.processor)},type={_TYPE}"
    )


def gauge_key(mbean: str) -> GaugeKey:
    """What an MBean's name counts, in whatever order its properties are.

    Raises:
        InputError: it is not a name of this gauge.
    """
    domain, _, rest = mbean.partition(":")
    found, end = {}, 0
    while match := _PROPERTY.match(rest, end):
        if match.end() == end:
            break
        value = match[2]
        found[match[1]] = (
            re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], value[1:-1]) if value[:1] == '"' else value
        )
        end = match.end()
    try:
        if domain != _DOMAIN or end != len(rest) or found.pop("type") != _TYPE:
            raise KeyError
        key = GaugeKey(
            found.pop("clientSoftwareName"), found.pop("clientSoftwareVersion"), found.pop("listener"), found.pop("networkProcessor")
        )
        if found:
            raise KeyError
    except KeyError:
        raise InputError(f"{mbean!r} is no name of Kafka's gauge of connections by client software.") from None
    return key


class ConnectionGauge:
    """Open connections by software name, software version, listener and network processor.

    Arguments:
        cap: how many combinations have a count of their own, 100 in Kafka. The rest are counted together as `OTHER`, so that the sum is
            right; a combination that is counted there stays there until it is gone.
    """

    __slots__ = ("_own", "_rest", "cap")

    def __init__(self, cap: int = 100) -> None:
        self.cap = cap
        self._own: dict[GaugeKey, int] = {}
        self._rest: dict[GaugeKey, int] = {}  # as many as there are open connections at most

    def up(self, key: GaugeKey) -> None:
        """A connection is there."""
        counts = self._own
        if key in self._rest or (key not in self._own and len(self._own) >= self.cap):
            counts = self._rest
        counts[key] = counts.get(key, 0) + 1

    def down(self, key: GaugeKey) -> None:
        """A connection is gone.

        Raises:
            KeyError: none was there.
        """
        counts = self._own if key in self._own else self._rest
        counts[key] -= 1
        if not counts[key]:
            del counts[key]

    def moved(self, before: GaugeKey, after: GaugeKey) -> None:
        """A connection is another client's than was thought."""
        if before != after:
            self.down(before)
            self.up(after)

    def counts(self) -> dict[GaugeKey, int]:
        """The gauge now; combinations without connections are not in it."""
        rest = sum(self._rest.values())
        return {**self._own, **({OTHER: rest} if rest else {})}
