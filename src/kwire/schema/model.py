"""Kafka messages as frozen data: messages, structs, fields and their versions, in the shape of Kafka's ``common/message/*.json``."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, ClassVar, Final, Literal

__all__ = ["Catalog", "Field", "Kind", "Message", "Struct", "Versions", "camel_name", "snake_name"]

Kind = Literal["request", "response", "header", "data", "coordinator-key", "coordinator-value", "metadata"]

SCALARS: Final = frozenset(("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid", "string", "bytes", "records"))

_WORD_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache  # a few names stand in hundreds of messages, at every version
def snake_name(name: str) -> str:
    """Convert `ThrottleTimeMs` to `throttle_time_ms`, the attribute name of a field.

    Arguments:
        name: name in a definition.
    """
    return _WORD_BORDER.sub("_", name).lower()


def camel_name(name: str) -> str:
    """Convert `ThrottleTimeMs` to `throttleTimeMs`, the key in Kafka's JsonConverter classes.

    Arguments:
        name: name in a definition.
    """
    return name[:1].lower() + name[1:]


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range of versions; empty when `lowest` is above `highest`. `highest` of an open range is 32767, as in Kafka."""

    lowest: int
    highest: int

    OPEN: ClassVar[int] = 32767

    @classmethod
    def parse(cls, text: str | None) -> Versions:
        """Read Kafka's notation: ``"3"``, ``"1-4"``, ``"2+"``, ``"none"``.

        Raises:
            ValueError: the text is none of these.
        """
        if text is None or text == "none":
            return NO_VERSIONS
        if text.endswith("+"):
            return cls(int(text[:-1]), cls.OPEN)
        low, dash, high = text.partition("-")
        return cls(int(low), int(high) if dash else int(low))

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.highest == self.OPEN:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NO_VERSIONS: Final = Versions(0, -1)


@dataclass(frozen=True, slots=True)
class Field:
    """Field of a struct.

    Attributes:
        name: Kafka's spelling, `ThrottleTimeMs`.
        type: a scalar (`int32`), a struct name (`TopicData`), or either after ``[]``.
        flexible_versions: overrides the message's (only `ClientId` of the request header: never compact), or None.
        default: as the definition spells it (`"null"`, `"-1"`, `"0x7fffffff"`, `"true"`), or None.
        ignorable: a non-default value may be written to a version without the field.
        entity_type: `topicName`, `groupId`, `brokerId`, `producerId`, `transactionalId` or None.
        map_key: part of the key of its array.
        fields: fields of a struct that is defined in place.
        aliases: other names in a proposal (`BrokerId` of KIP-35's `NodeId`).
        former_names: names in older releases, each with the last minor release that had it.
        names_in_code: the same for releases that defined the message in code, up to 2.7; only their request logs show these names.
    """

    name: str
    type: str
    versions: Versions
    nullable_versions: Versions = NO_VERSIONS
    tagged_versions: Versions = NO_VERSIONS
    tag: int | None = None
    flexible_versions: Versions | None = None
    default: str | None = None
    ignorable: bool = False
    entity_type: str | None = None
    map_key: bool = False
    fields: tuple[Field, ...] = ()
    aliases: tuple[str, ...] = ()
    former_names: tuple[tuple[str, str], ...] = ()
    names_in_code: tuple[tuple[str, str], ...] = ()

    @property
    def other_names(self) -> tuple[str, ...]:
        """Aliases and former names."""
        return (*self.aliases, *(name for name, _ in self.former_names))

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element_type(self) -> str:
        """Type without ``[]``."""
        return self.type.removeprefix("[]")

    @property
    def is_struct(self) -> bool:
        """True for a struct or an array of structs."""
        return self.type.removeprefix("[]") not in SCALARS

    @property
    def attribute(self) -> str:
        return snake_name(self.name)


@dataclass(frozen=True, slots=True)
class Struct:
    """Named struct: the body of a message, or nested in it."""

    name: str
    versions: Versions
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Message:
    """Message definition over all versions ever released.

    Attributes:
        api_key: API key, or record type of coordinator and metadata records, else None.
        valid_versions: every version in any release.
        flexible_versions: versions with compact lengths and tagged fields.
        header_versions: header version by range of message versions, for requests and responses.
        common_structs: structs that several fields share, by name.
        listeners: recipients of the request: `broker`, `controller`, `zkBroker`.
        topic: internal topic of the record (`__consumer_offsets`), or None.
        unstable_versions: versions that only `unstable.api.versions.enable` opens in the newest release.
        notes: other layouts of earlier or preview releases under the same version, one sentence each.
    """

    name: str
    kind: Kind
    api_key: int | None
    valid_versions: Versions
    flexible_versions: Versions
    fields: tuple[Field, ...]
    header_versions: tuple[tuple[Versions, int], ...] = ()
    common_structs: Mapping[str, Struct] = field(default_factory=dict)
    listeners: tuple[str, ...] = ()
    unstable_versions: Versions = NO_VERSIONS
    topic: str | None = None
    notes: tuple[str, ...] = ()

    def is_flexible(self, version: int) -> bool:
        return version in self.flexible_versions

    @cached_property
    def derived(self) -> dict[object, Any]:
        """Cache of values derived from the definition."""
        return {}

    @cached_property
    def structs(self) -> dict[str, Struct]:
        """Structs of the message by name, the message's own first, then in order of appearance."""
        found = {self.name: Struct(self.name, self.valid_versions, self.fields)}

        def walk(fields: tuple[Field, ...]) -> None:
            for each in fields:
                if each.is_struct:
                    name = each.element_type
                    if each.fields:
                        found.setdefault(name, Struct(name, each.versions, each.fields))
                    elif name in self.common_structs:
                        if name in found:
                            continue
                        found[name] = self.common_structs[name]
                    walk(found[name].fields)

        walk(self.fields)
        return found


class MadeMessages(Mapping[str, Message]):
    """Message definitions by name, made when they are first asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Message] = {}

    def __getitem__(self, name: str) -> Message:
        found = self._made.get(name)
        if found is None:
            if name not in self:
                raise KeyError(name)
            found = self._made[name] = self._make(name)
        return found

    @abstractmethod
    def _make(self, name: str) -> Message:
        """Make the definition of a name that the mapping has."""

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Catalog:
    """A set of message definitions, found by name or by API key.

    Arguments:
        name: `kwire` for the built-in one.
        messages: all definitions; (kind, API key) is unique among requests and responses.
    """

    def __init__(self, name: str, messages: Mapping[str, Message]) -> None:
        self.name = name
        self.messages: Mapping[str, Message] = dict(messages)
        self._apis: Mapping[tuple[str, int | None], Message] = {
            (each.kind, each.api_key): each for each in self.messages.values() if each.kind in ("request", "response")
        }

    def __getitem__(self, name: str) -> Message:
        return self.messages[name]

    def __contains__(self, name: object) -> bool:
        return name in self.messages

    def __iter__(self) -> Iterator[str]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    def request(self, api_key: int) -> Message | None:
        """Return the request of an api, or None for an unknown key."""
        return self._find("request", api_key)

    def response(self, api_key: int) -> Message | None:
        """Return the response of an api, or None for an unknown key."""
        return self._find("response", api_key)

    def _find(self, kind: str, api_key: int) -> Message | None:
        return self._apis.get((kind, api_key))

    def api_name(self, api_key: int) -> str | None:
        """Return Kafka's name of an api (`Metadata`, `FindCoordinator`), or None for an unknown key."""
        message = self.request(api_key)
        return None if message is None else message.name.removesuffix("Request")

    @property
    def api_keys(self) -> list[int]:
        return sorted(key for kind, key in self._apis if kind == "request" and key is not None)
