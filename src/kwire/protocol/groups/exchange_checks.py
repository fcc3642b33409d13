"""Checks of KIP-559 for an observer: compare a group request with its answer.

A refusal (error 23) is reported with the member's offer; only the coordinator knows the other side.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.groups.group_errors import GroupError
from kwire.protocol.groups.protocol_checks import differs, names_are_missing, shown_names

__all__ = ["CHECKED_APIS", "exchange_faults"]

Fact = tuple[str, dict[str, object]]

_JOIN: Final = 11
_SYNC: Final = 14

CHECKED_APIS: Final = frozenset((_JOIN, _SYNC))


def _one(name: str | None) -> str:
    return "null" if name is None else shown_names([name])


def exchange_faults(api_key: int, api_version: int, request: Any, response: Any) -> list[Fact]:
    """Return violated rules of `kwire.protocol.rules` with their facts.

    Arguments:
        api_key, api_version: of the request; others than JoinGroup and SyncGroup return nothing.
        request, response: bodies, possibly truncated; None if unreadable.
    """
    if request is None or response is None or not hasattr(response, "error_code"):
        return []
    if api_key == _JOIN and hasattr(request, "protocols"):
        return _join_faults(api_version, request, response)
    if api_key == _SYNC and hasattr(request, "protocol_name"):
        return _sync_faults(api_version, request, response)
    return []


def _facts(api: str, version: int, request: Any, **more: object) -> dict[str, object]:
    return {"request": f"{api} v{version} of group {shown_names([request.group_id])}", **more}


def _differing(api: str, version: int, request: Any, what: str, sent: str | None, known: str | None) -> list[Fact]:
    if not differs(sent, known):
        return []
    return [("group_protocol_inconsistent", _facts(api, version, request, what=what, sent=_one(sent), known=_one(known)))]


def _join_faults(version: int, request: Any, response: Any) -> list[Fact]:
    names = [each.name for each in request.protocols if hasattr(each, "name")]
    if response.error_code == GroupError.INCONSISTENT_GROUP_PROTOCOL:
        return [_refusal("JoinGroup", version, request, f"{_one(request.protocol_type)} with {shown_names(names)}")]
    if response.error_code:
        return []
    found = _differing("JoinGroup", version, request, "type", getattr(response, "protocol_type", None), request.protocol_type)
    chosen = getattr(response, "protocol_name", None) or None
    if chosen is not None and chosen not in names:
        facts = _facts("JoinGroup", version, request, what="name", sent=_one(chosen), known=shown_names(names))
        found.append(("group_protocol_inconsistent", facts))
    return found


def _sync_faults(version: int, request: Any, response: Any) -> list[Fact]:
    sent = (request.protocol_type, request.protocol_name)
    found: list[Fact] = []
    if names_are_missing(version, *sent):
        found.append(("group_protocol_missing", _facts("SyncGroup", version, request, type=_one(sent[0]), name=_one(sent[1]))))
    if response.error_code == GroupError.INCONSISTENT_GROUP_PROTOCOL:
        found.append(_refusal("SyncGroup", version, request, f"{_one(sent[0])} with {_one(sent[1])}"))
    elif not response.error_code and not found:
        for what, said, known in (("type", "protocol_type", sent[0]), ("name", "protocol_name", sent[1])):
            found += _differing("SyncGroup", version, request, what, getattr(response, said, None), known)
    return found


def _refusal(api: str, version: int, request: Any, offered: str) -> Fact:
    return "group_protocol_refused", _facts(api, version, request, offered=offered)
