"""Facts from a tenant's earlier frames, shared by its connections: ids of its topics, and types of its groups."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from kwire.codec import Uuid

__all__ = ["TenantMemory"]

_MOST_BYTES: Final = 64 << 20
_ENTRY: Final = 160  # bytes of an entry beside its key and value
_NO_ID: Final = Uuid(bytes(16))  # where a topic is known by its name


class TenantMemory:
    """Facts from successful answers, up to `most_bytes`; clients request dropped ones again."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[Uuid | str, str] = OrderedDict()  # "" by the id of a topic, and types by groups
        self._lock = Lock()  # the native loop has several threads

    def learn_ids(self, ids: Iterable[Uuid]) -> None:
        with self._lock:
            for each in ids:
                self._learn(each, "")

    def owns(self, ids: Iterable[Uuid]) -> bool:
        """Return whether all topics belong to the tenant; topics given by name (no id) have its prefix."""
        return all(each == _NO_ID or each in self._entries for each in ids)

    def learn_type(self, group: str, protocol_type: str) -> None:
        with self._lock:
            self._learn(group, protocol_type)

    def type_of(self, group: str) -> str | None:
        return self._entries.get(group)

    def _learn(self, key: Uuid | str, value: str) -> None:
        old = self._entries.pop(key, None)
        self._entries[key] = value
        self._bytes += _size(key, value) - (0 if old is None else _size(key, old))
        while self._bytes > self._most:
            self._bytes -= _size(*self._entries.popitem(last=False))


def _size(key: Uuid | str, value: str) -> int:
    return _ENTRY + sys.getsizeof(key) + sys.getsizeof(value)
