"""What KIP-559 has both sides of a classic group check of protocol types and names, and how versions differ in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = [
    "JOIN_TELLS_TYPE", "SYNC_TELLS_TYPE", "differs", "effective_rebalance_timeout", "names_are_missing", "protocol_name_read",
    "protocol_name_to_write", "shown_names",
]  # fmt: skip

JOIN_TELLS_TYPE: Final = 7
"""The version of JoinGroup from which on its response tells the protocol type."""

SYNC_TELLS_TYPE: Final = 5
"""The version of SyncGroup from which on request and response tell protocol type and name."""

_PLACEHOLDER: Final = -1
_MOST_SHOWN: Final = 8


def effective_rebalance_timeout(session_timeout_ms: int | None, rebalance_timeout_ms: int | None) -> int | None:
    """How long a coordinator waits for the member to join again, in ms.

    JoinGroup v0 has no rebalance timeout: the session timeout is both (KIP-62), and the field's default of -1 means nothing.
    """
    return session_timeout_ms if rebalance_timeout_ms in (None, _PLACEHOLDER) else rebalance_timeout_ms


def names_are_missing(version: int, protocol_type: str | None, protocol_name: str | None) -> bool:
    """Whether a SyncGroup request lacks what its version has to tell (`SyncGroupRequest.areMandatoryProtocolTypeAndNamePresent`)."""
    return version >= SYNC_TELLS_TYPE and (protocol_type is None or protocol_name is None)


def differs(told: str | None, known: str | None) -> bool:
    """Whether what was told is not what is known. Null, as in versions that do not tell, differs from nothing."""
    return told is not None and told != known


def protocol_name_to_write(name: str | None, version: int) -> str | None:
    """The protocol name of a JoinGroup response: "no protocol" is empty up to v6 and null from v7 on (`JoinGroupResponse`)."""
    if version < JOIN_TELLS_TYPE:
        return name or ""
    return name or None


def protocol_name_read(name: str | None) -> str | None:
    """The protocol name of a JoinGroup response of any version, None for no protocol."""
    return name or None


def shown_names(names: Iterable[str]) -> str:
    """Names of protocols in a sentence: escaped, shortened, at most eight of them."""
    found = [ascii(each[:60]) for each in names]
    return (", ".join(found[:_MOST_SHOWN]) + (f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else "")) or "nothing"
