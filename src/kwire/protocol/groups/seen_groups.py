"""Memory, of bounded size, for protocol types and names that older JoinGroup and SyncGroup versions lack.

JoinGroup responses below v7 and SyncGroup below v5 carry bytes without their protocol, a gap closed by KIP-559. An observer takes the
protocol from the JoinGroup request before. Newer frames do not use this class.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, NamedTuple

from kwire.protocol.groups.protocol_checks import JOIN_TYPE_SINCE, SYNC_TYPE_SINCE, protocol_name_read

__all__ = ["SeenGroup", "SeenGroups"]

_JOIN: Final = 11
_SYNC: Final = 14
_LONGEST: Final = 300  # characters of an id or name; longer ones are not remembered


class SeenGroup(NamedTuple):
    protocol_type: str | None = None
    protocol_name: str | None = None


_UNKNOWN: Final = SeenGroup()


class SeenGroups:
    """Groups of one cluster.

    Arguments:
        most: number of remembered groups; the least recently seen is dropped. A typical group takes about 300 bytes.
    """

    __slots__ = ("_groups", "most")

    def __init__(self, most: int = 4_096) -> None:
        self.most = most
        self._groups: OrderedDict[str, SeenGroup] = OrderedDict()

    def __len__(self) -> int:
        return len(self._groups)

    def request(self, api_key: int, api_version: int, body: Any) -> SeenGroup:
        """Record a request of a group; return its protocol, from the request itself if present. Unknown names are None."""
        if api_key == _JOIN:
            if api_version < JOIN_TYPE_SINCE:
                self._learn(body.group_id, SeenGroup(body.protocol_type or None, None))
            return SeenGroup(body.protocol_type or None)
        return self._told(api_key, api_version, body.group_id, body)

    def response(self, api_key: int, api_version: int, group_id: str, body: Any) -> SeenGroup:
        """Record a response to a group request, as in `request`."""
        if api_key == _JOIN and api_version < JOIN_TYPE_SINCE:
            known = self._groups.get(group_id, _UNKNOWN)
            name = protocol_name_read(body.protocol_name)
            if name is not None and known.protocol_type is not None:
                known = SeenGroup(known.protocol_type, name)
                self._learn(group_id, known)
            return known
        return self._told(api_key, api_version, group_id, body)

    def _told(self, api_key: int, api_version: int, group_id: str, body: Any) -> SeenGroup:
        since = JOIN_TYPE_SINCE if api_key == _JOIN else SYNC_TYPE_SINCE
        if api_version >= since:
            return SeenGroup(body.protocol_type, protocol_name_read(body.protocol_name))
        known = self._groups.get(group_id)
        if known is None:
            return _UNKNOWN
        self._groups.move_to_end(group_id)
        return known

    def _learn(self, group_id: str, seen: SeenGroup) -> None:
        if max(len(group_id), len(seen.protocol_type or ""), len(seen.protocol_name or "")) > _LONGEST:
            return
        self._groups[group_id] = seen
        self._groups.move_to_end(group_id)
        if len(self._groups) > self.most:
            self._groups.popitem(last=False)
