"""Actions of an edit at the places that its walk finds: one for each field, or for the fields of a rule.

An action is a function of the old values, what it reads before what it writes. It gives a tuple of new values for what it writes, None for
no change, or `DROPPED` to take out the element around it. Native code runs most classes here without Python and calls other actions.
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
"""The element around the place is taken out."""

Outcome: TypeAlias = tuple[Any, ...] | Dropped | None
EditAction: TypeAlias = Callable[..., Outcome]


@dataclass(slots=True, eq=False)
class SetValue:
    """One value for all places, and its bytes; `path` is that of the one place that must be there, empty where there may be none."""

    value: Any
    content: bytes | None
    path: str

    def __call__(self, old: Any) -> Outcome:
        return (self.value,)


@dataclass(slots=True, eq=False)
class ApplyFunction:
    """A function from the old value to the new one."""

    function: Callable[[Any], Any]

    def __call__(self, old: Any) -> Outcome:
        return (self.function(old),)


@dataclass(slots=True, eq=False)
class MapValue:
    """A text by a mapping, which may map null too; a text that it lacks stays."""

    names: Mapping[Any, Any]

    def __call__(self, old: Any) -> Outcome:
        return (self.names.get(old, old),)


@dataclass(slots=True, eq=False)
class Rename:
    """Names, by a mapping, a prefix or a function."""

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
    """The name of a resource: (type, name) or (type, pattern, name). The type decides, then the name.

    In an ACL null, the empty name and `*` mean all of a type. A configuration has no such name: the empty one of a broker stands for all
    brokers.
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
    """A key of FindCoordinator: (type, key)."""

    by_type: Mapping[int, Rename]

    def __call__(self, kind: int | None, old: str | None) -> Outcome:
        rename = self.by_type.get(-1 if kind is None else kind)
        if rename is None:
            raise EncodeError("a coordinator of another kind")
        return rename(old)


@dataclass(slots=True, eq=False)
class RefuseValue:
    """A field that must be empty, because what it holds cannot be changed."""

    what: str

    def __call__(self, old: Any) -> Outcome:
        if old:
            raise EncodeError(f"{self.what} may hold names, which cannot be changed")
        return None


@dataclass(slots=True, eq=False)
class RemoveText:
    """A text out of which each occurrence of `text` is taken; with `blank` all of it is, where `text` occurs."""

    text: str
    blank: bool

    def __call__(self, old: str | None) -> Outcome:
        if old is None or self.text not in old:
            return None
        return ("" if self.blank else old.replace(self.text, ""),)


@dataclass(slots=True, eq=False)
class HideNamed:
    """A name whose element is taken out where all of it matches."""

    pattern: re.Pattern[str]

    def __call__(self, name: str) -> Outcome:
        return DROPPED if self.pattern.fullmatch(name) else None


@dataclass(slots=True, eq=False)
class LimitRange:
    """A range of ApiVersions: (api key, lowest, highest)."""

    limits: VersionLimits

    def __call__(self, api_key: int, low: int, high: int) -> Outcome:
        limit = self.limits.range_of(api_key)
        if limit is None or max(low, limit[0]) > min(high, limit[1]):
            return DROPPED
        return max(low, limit[0]), min(high, limit[1])


@dataclass(slots=True, eq=False)
class LimitFeature:
    """The name of a supported feature."""

    limits: VersionLimits

    def __call__(self, name: str) -> Outcome:
        return DROPPED if self.limits.features is not None and name not in self.limits.features else None


@dataclass(slots=True, eq=False)
class LimitLevel:
    """A finalized feature: (name, highest level)."""

    limits: VersionLimits

    def __call__(self, name: str, level: int) -> Outcome:
        if self.limits.features is not None and name not in self.limits.features:
            return DROPPED
        most = self.limits.levels.get(name)
        return None if most is None or level <= most else (most,)
