"""What a tenant's frames say only once, kept for all its connections: ids of its topics, and the types of its groups."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from kwire.codec import Uuid

__all__ = ["TenantMemory"]

_MOST_IDS: Final = 1_000_000
_MOST_GROUPS: Final = 100_000
_NO_ID: Final = Uuid(bytes(16))  # where a topic is known by its name


class TenantMemory:
    """Bounded: what was not used for longest is forgotten, and then asked for once more by the client."""

    def __init__(self) -> None:
        self._ids: OrderedDict[Uuid, None] = OrderedDict()
        self._types: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()  # the native loop has several threads

    def learn_ids(self, ids: Iterable[Uuid]) -> None:
        """These topics are the tenant's."""
        with self._lock:
            for each in ids:
                self._ids[each] = None
                self._ids.move_to_end(each)
            while len(self._ids) > _MOST_IDS:
                self._ids.popitem(last=False)

    def owns(self, ids: Iterable[Uuid]) -> bool:
        """Whether all of these topics are the tenant's; no id stands for a name, which has a prefix."""
        return all(each == _NO_ID or each in self._ids for each in ids)

    def learn_type(self, group: str, protocol_type: str) -> None:
        """The members of a group have this protocol type (JoinGroup)."""
        with self._lock:
            self._types[group] = protocol_type
            self._types.move_to_end(group)
            while len(self._types) > _MOST_GROUPS:
                self._types.popitem(last=False)

    def type_of(self, group: str) -> str | None:
        """The protocol type of a group, None where no member has said it."""
        return self._types.get(group)
