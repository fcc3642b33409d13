"""Actions of an edit at the places found by its walk: one for each field, or for the fields of a rule.

An action is a function of the old values: first those that it only reads, then those that it writes. It returns a tuple of new values, None
for no change, or `DROPPED` to remove the element around them. Native code runs most classes of this module without Python; it calls other
actions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from kwire.codec.edit_names import EditNames, RemovePrefix
from kwire.codec.version_limits import VersionLimits
from kwire.codec.written_values import kind_of
from kwire.errors import EncodeError

__all__ = [
    "DROPPED", "ApplyFunction", "EditAction", "HideNamed", "Keys", "LimitFeature", "LimitLevel", "LimitRange", "MapValue", "Outcome",
    "RefuseValue", "RemoveText", "Rename", "RenameKey", "RenameResource", "SetValue",
]  # fmt: skip

Keys = Literal["keep", "refuse"]
LITERAL: Final = 3  # PatternType of an ACL
WILDCARD: Final = "*"  # as a literal name: all topics


class Dropped(Enum):
    DROPPED = 1


DROPPED: Final = Dropped.DROPPED
"""Result that removes the element around the place."""

Outcome: TypeAlias = tuple[Any, ...] | Dropped | None
EditAction: TypeAlias = Callable[..., Outcome]


@dataclass(slots=True, eq=False)
class SetValue:
    """Action that writes one value, with its bytes, to all places; `path` is the path of the only, mandatory place, or empty."""

    value: Any
    content: bytes | None
    path: str

    def __call__(self, old: Any) -> Outcome:
        return (self.value,)


@dataclass(slots=True, eq=False)
class ApplyFunction:
    """Action that calls a function from the old value to the new one."""

    function: Callable[[Any], Any]

    def __call__(self, old: Any) -> Outcome:
        return (self.function(old),)


@dataclass(slots=True, eq=False)
class MapValue:
    """Action that maps a text, or null, by a mapping; other texts stay."""

    names: Mapping[Any, Any]

    def __call__(self, old: Any) -> Outcome:
        return (self.names.get(old, old),)


@dataclass(slots=True, eq=False)
class Rename:
    """Action that maps names, by a mapping, a prefix or a function."""

    names: EditNames

    def __call__(self, old: str | None) -> Outcome:
        names = self.names
        if old is None:
            return None
        if isinstance(names, Mapping):
            new = names.get(old, old)
        elif isinstance(names, RemovePrefix):
            if names.foreign == "drop" and (old or names.empty) and not old.startswith(names.prefix):
                return DROPPED
            new = names(old)
        else:
            new = names(old) if old or getattr(names, "empty", False) else old
        if not isinstance(new, str):  # null where it is allowed means something else: all topics, or a topic known by its id
            raise EncodeError(f"a new name is text (str), not {kind_of(new)}")
        return (new,)


@dataclass(slots=True, eq=False)
class RenameResource:
    """Action for the name of a resource: (type, name) or (type, pattern, name). The type selects the mapping.

    In an ACL, null, the empty name and `*` mean all resources of a type. In a configuration, only a broker may have an empty name, which
    means all brokers.
    """

    by_type: Mapping[int, Rename]
    others: Keys
    acl: bool

    def __call__(self, kind: int | None, *rest: Any) -> Outcome:
        old: str | None = rest[-1]
        pattern = rest[0] if len(rest) > 1 else LITERAL
        rename = None if kind is None else self.by_type.get(kind)
        if rename is not None and self.acl and (not old or old == WILDCARD):
            return None
        if rename is not None and pattern == LITERAL:
            return rename(old)
        if self.others == "refuse":
            raise EncodeError("a resource of another type, or a pattern of resources")
        return None


@dataclass(slots=True, eq=False)
class RenameKey:
    """Action for a key of FindCoordinator: (type, key)."""

    by_type: Mapping[int, Rename]

    def __call__(self, kind: int | None, old: str | None) -> Outcome:
        rename = self.by_type.get(-1 if kind is None else kind)
        if rename is None:
            raise EncodeError("a coordinator of another kind")
        return rename(old)


@dataclass(slots=True, eq=False)
class RefuseValue:
    """Action for a field that must be empty, because its contents cannot be changed."""

    what: str

    def __call__(self, old: Any) -> Outcome:
        if old:
            raise EncodeError(f"{self.what} may hold names, which cannot be changed")
        return None


@dataclass(slots=True, eq=False)
class RemoveText:
    """Action that removes each occurrence of `text`; with `blank`, a value that contains it becomes empty."""

    text: str
    blank: bool

    def __call__(self, old: str | None) -> Outcome:
        if old is None or self.text not in old:
            return None
        return ("" if self.blank else old.replace(self.text, ""),)


@dataclass(slots=True, eq=False)
class HideNamed:
    """Action that removes the element whose whole name matches."""

    pattern: re.Pattern[str]

    def __call__(self, name: str) -> Outcome:
        return DROPPED if self.pattern.fullmatch(name) else None


@dataclass(slots=True, eq=False)
class LimitRange:
    """Action for a range of ApiVersions: (api key, lowest, highest)."""

    limits: VersionLimits

    def __call__(self, api_key: int, low: int, high: int) -> Outcome:
        limit = self.limits.range_of(api_key)
        if limit is None or max(low, limit[0]) > min(high, limit[1]):
            return DROPPED
        return max(low, limit[0]), min(high, limit[1])


@dataclass(slots=True, eq=False)
class LimitFeature:
    """Action for the name of a supported feature."""

    limits: VersionLimits

    def __call__(self, name: str) -> Outcome:
        return DROPPED if self.limits.features is not None and name not in self.limits.features else None


@dataclass(slots=True, eq=False)
class LimitLevel:
    """Action for a finalized feature: (name, highest level, lowest level)."""

    limits: VersionLimits

    def __call__(self, name: str, high: int, low: int) -> Outcome:
        if self.limits.features is not None and name not in self.limits.features:
            return DROPPED
        most = self.limits.levels.get(name)
        return None if most is None or high <= most else (most, min(low, most))
