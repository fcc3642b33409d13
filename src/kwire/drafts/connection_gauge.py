"""Names of Kafka's gauge `connections` by client software (KIP-511)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kwire.errors import InputError

__all__ = ["GaugeKey", "gauge_key", "mbean_name"]

_DOMAIN: Final = "kafka.server"
_TYPE: Final = "socket-server-metrics"
_PROPERTIES: Final = ("clientSoftwareName", "clientSoftwareVersion", "listener", "networkProcessor")
_PROPERTY: Final = re.compile(r'([A-Za-z]+)=("(?:[^"\\]|\\.)*"|[^,="*?]*)(?:,|\Z)')
# javax.management.ObjectName: a value with one of these needs quotes
_TO_QUOTE: Final = re.compile(r'[,=:"*?\n]')
_ESCAPED: Final = str.maketrans({'"': '\\"', "\\": "\\\\", "*": "\\*", "?": "\\?", "\n": "\\n"})


class GaugeKey(NamedTuple):
    """Labels of the gauge."""

    software_name: str
    software_version: str
    listener: str
    processor: str


def _quoted(value: str) -> str:
    return f'"{value.translate(_ESCAPED)}"' if _TO_QUOTE.search(value) else value


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", lambda escape: "\n" if escape[1] == "n" else escape[1], value[1:-1]) if value[:1] == '"' else value


def mbean_name(key: GaugeKey) -> str:
    """Return the name of the gauge's MBean in the order of KIP-511; Kafka writes `type=` first, and JMX takes both as one name."""
    labels = ",".join(f"{name}={_quoted(value)}" for name, value in zip(_PROPERTIES, key, strict=True))
    return f"{_DOMAIN}:{labels},type={_TYPE}"


def gauge_key(mbean: str) -> GaugeKey:
    """Return the labels in an MBean's name, whatever the order of its properties. Raises InputError: the name is not one of this gauge."""
    domain, _, rest = mbean.partition(":")
    found = {match[1]: _unquoted(match[2]) for match in _PROPERTY.finditer(rest)}
    if domain != _DOMAIN or found.pop("type", "") != _TYPE or found.keys() != set(_PROPERTIES) or _PROPERTY.sub("", rest):
        raise InputError(f"{mbean!r} is not a name of Kafka's gauge of connections by client software.")
    return GaugeKey(*(found[name] for name in _PROPERTIES))
