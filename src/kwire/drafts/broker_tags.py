"""Broker tags of the KIP-35 draft (dialect `kip-35-draft`): built-in ones with a format each; any other tag is text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from kwire.errors import InputError

__all__ = ["BUILTIN_TAGS", "BuiltinTag", "Endpoint", "format_tag", "parse_tag", "user_tags"]


class Endpoint(NamedTuple):
    """An address of a broker: protocol in lower case, host without the brackets of IPv6."""

    protocol: str
    host: str
    port: int


class BuiltinTag(NamedTuple):
    """A tag with its meaning in one sentence, the proposal's example, and functions from text and back."""

    name: str
    meaning: str
    example: str
    parse: Callable[[str], Any]
    format: Callable[[Any], str]


def _codecs(text: str) -> dict[int, str]:
    found = {}
    for entry in _list(text):
        bits, equals, name = entry.partition("=")
        if not equals or not name:
            raise ValueError(f"{entry!r} is not bits=name")
        found[int(bits)] = name
    return found


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split(",")) if text else ()


def _endpoint(text: str) -> Endpoint:
    protocol, separator, rest = text.partition("://")
    host, colon, port = rest.rpartition(":")
    if not separator or not colon or not protocol or not 0 < int(port) <= 65535:
        raise ValueError(f"{text!r} is not protocol://host:port")
    return Endpoint(protocol.lower(), host.removeprefix("[").removesuffix("]"), int(port))


def _endpoint_text(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.protocol}://{host}:{endpoint.port}"


def _hexadecimal(text: str) -> int:
    if not text.startswith("0x"):
        raise ValueError(f"{text!r} does not begin with 0x")
    return int(text, 16)


BUILTIN_TAGS: Final[Mapping[str, BuiltinTag]] = {
    tag.name: tag
    for tag in (
        BuiltinTag("broker.id", "The broker's node id: a decimal number.", "3", int, str),
        BuiltinTag("broker.version", "The broker's version for people: text.", "0.9.0.0-SNAPSHOT-d12ca4f", str, str),
        BuiltinTag(
            "broker.version.int",
            "The broker's version for comparisons: 0x and eight hexadecimal digits.",
            "0x00090000",
            _hexadecimal,
            lambda value: f"0x{value:08x}",
        ),
        BuiltinTag(
            "compression.codecs",
            "The broker's codecs: comma-separated bits=name, with the bits of a batch's attributes.",
            "1=gzip,2=snappy,3=lz4",
            _codecs,
            lambda value: ",".join(f"{bits}={name}" for bits, name in value.items()),
        ),
        BuiltinTag("message.max.bytes", "The broker's limit on a message: a decimal number of bytes.", "1000000", int, str),
        BuiltinTag("message.formats", "The broker's message formats (KIP-31): a comma-separated list.", "v1,v2", _list, ",".join),
        BuiltinTag(
            "endpoints",
            "The broker's listeners, for a switch from plaintext to SSL: comma-separated protocol://host:port.",
            "plaintext://host:9092,ssl://host:9192",
            lambda text: tuple(map(_endpoint, _list(text))),
            lambda value: ",".join(map(_endpoint_text, value)),
        ),
    )
}


def parse_tag(name: str, value: str) -> Any:
    """Return the parsed value of a built-in tag, the text of any other. Raises InputError: the value of a built-in tag does not have its
    format."""
    tag = BUILTIN_TAGS.get(name)
    if tag is None:
        return value
    try:
        return tag.parse(value)
    except ValueError as error:
        raise InputError(f"Tag {name} has the value {value!r}: {error}. {tag.meaning}") from error


def format_tag(name: str, value: Any) -> str:
    """Return the text of a tag's value; the inverse of `parse_tag`."""
    tag = BUILTIN_TAGS.get(name)
    return str(value) if tag is None else tag.format(value)


def user_tags(lines: Iterable[str]) -> dict[str, str]:
    """Return the tags in a broker's properties file: its lines ``tag.NAME = VALUE``; the last line of a name counts. Raises InputError: a
    tag has no name, or the name of a built-in one."""
    found: dict[str, str] = {}
    for line in lines:
        key, equals, value = line.strip().partition("=")
        key = key.strip()
        if key.startswith(("#", "!")) or not equals or not key.startswith("tag."):
            continue
        name = key.removeprefix("tag.")
        if not name:
            raise InputError(f"{line.strip()!r} gives a tag without a name.")
        if name in BUILTIN_TAGS:
            raise InputError(f"{line.strip()!r} gives the tag {name}, which is the broker's own.")
        found[name] = value.strip()
    return found
