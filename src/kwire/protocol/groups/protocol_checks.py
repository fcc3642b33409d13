"""Checks of protocol types and names on both sides of a classic group (KIP-559), and differences of versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = [
    "JOIN_TYPE_SINCE", "SYNC_TYPE_SINCE", "differs", "effective_rebalance_timeout", "names_are_missing", "protocol_name_read",
    "protocol_name_to_write", "shown_names",
]  # fmt: skip

JOIN_TYPE_SINCE: Final = 7
"""First version of JoinGroup whose response has the protocol type."""

SYNC_TYPE_SINCE: Final = 5
"""First version of SyncGroup whose request and response have protocol type and name."""

_PLACEHOLDER: Final = -1
_MOST_SHOWN: Final = 8


def effective_rebalance_timeout(session_timeout_ms: int | None, rebalance_timeout_ms: int | None) -> int | None:
    """Return the time that a coordinator waits for the member to rejoin, in ms.

    JoinGroup v0 has no rebalance timeout, so the session timeout serves as both (KIP-62).
    """
    return session_timeout_ms if rebalance_timeout_ms in (None, _PLACEHOLDER) else rebalance_timeout_ms


def names_are_missing(version: int, protocol_type: str | None, protocol_name: str | None) -> bool:
    """Return whether a SyncGroup request lacks mandatory names (`SyncGroupRequest.areMandatoryProtocolTypeAndNamePresent`)."""
    return version >= SYNC_TYPE_SINCE and (protocol_type is None or protocol_name is None)


def differs(sent: str | None, known: str | None) -> bool:
    """Return whether a sent value differs from the known one; null equals every value, because some versions lack the field."""
    return sent is not None and sent != known


def protocol_name_to_write(name: str | None, version: int) -> str | None:
    """Return the protocol name of a JoinGroup response; a missing name is empty up to v6 and null from v7 on (`JoinGroupResponse`)."""
    if version < JOIN_TYPE_SINCE:
        return name or ""
    return name or None


def protocol_name_read(name: str | None) -> str | None:
    return name or None


def shown_names(names: Iterable[str]) -> str:
    found = [ascii(each[:60]) for each in names]
    return (", ".join(found[:_MOST_SHOWN]) + (f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else "")) or "nothing"
