"""Changes of names in an edit: prefixes to add or remove. Each is a function too, so it can be passed to `rename_topics`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from kwire.errors import EncodeError

__all__ = ["AddPrefix", "EditNames", "Foreign", "RemovePrefix"]

Foreign = Literal["refuse", "drop", "keep"]
_SHOWN: Final = 64  # characters of a name that an error shows


@dataclass(frozen=True, slots=True)
class AddPrefix:
    """Prefix to add: `orders` becomes `acme.orders`. Null stays.

    Arguments:
        prefix: not empty.
        empty: if True, the empty name gets the prefix too; otherwise it stays. In OffsetCommit and OffsetFetch, the empty name is a valid
            group.
    """

    prefix: str
    empty: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check(self.prefix)

    def __call__(self, name: str) -> str:
        return self.prefix + name if name or self.empty else name


@dataclass(frozen=True, slots=True)
class RemovePrefix:
    """Prefix to remove: `acme.orders` becomes `orders`. Null stays.

    Arguments:
        prefix: not empty.
        foreign: action for a name without the prefix. `refuse`: raise an EncodeError, and a relay closes the connection. `drop`: remove the
            nearest element of an array of structs around it; without one, as `refuse`. `keep`: keep it.
        empty: if True, the empty name is treated as a name without the prefix; otherwise it stays. See `AddPrefix`.
    """

    prefix: str
    foreign: Foreign = field(default="refuse", kw_only=True)
    empty: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.foreign not in ("refuse", "drop", "keep"):
            raise ValueError(f"foreign is 'refuse', 'drop' or 'keep', not {self.foreign!r}")
        _check(self.prefix)

    def __call__(self, name: str) -> str:
        if name.startswith(self.prefix):
            return name[len(self.prefix) :]
        if self.foreign == "keep" or not (name or self.empty):
            return name
        # The name belongs to somebody else, so the error does not show it.
        raise EncodeError(f"a name does not begin with {self.prefix[:_SHOWN]!r}")


EditNames: TypeAlias = Mapping[str, str] | AddPrefix | RemovePrefix | Callable[[str], str]
"""Change from old to new names: a mapping (other names stay), a prefix, or a function, which is not called for null and empty names."""


def _check(prefix: str) -> None:
    if not prefix:
        raise ValueError("a prefix is not empty")
    prefix.encode()  # no lone surrogates
