"""Members of a group at its coordinator, and the protocol that they choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kwire.protocol.groups.protocol_checks import shown_names

__all__ = ["Asked", "Member", "chosen_protocol", "clash_of", "shared_protocols"]


class Asked(NamedTuple):
    to: Hashable
    api_version: int


@dataclass(slots=True)
class Member:
    """Member of a group."""

    member_id: str
    instance_id: str | None
    protocols: tuple[tuple[str, bytes], ...]  # name and metadata, in the member's order of preference
    session_ns: int
    rebalance_ns: int
    heard: int  # time of its last request
    joining: Asked | None = None  # waiting request, as `syncing`
    syncing: Asked | None = None
    assignment: bytes = b""
    synced: bool = False  # it has asked for its assignment

    def metadata_of(self, protocol_name: str | None) -> bytes:
        return next((metadata for name, metadata in self.protocols if name == protocol_name), b"")


def shared_protocols(members: Iterable[Member]) -> set[str]:
    offers = [{name for name, _ in member.protocols} for member in members]
    return set.intersection(*offers) if offers else set()


def chosen_protocol(members: Iterable[Member]) -> str:
    """Return the protocol of a generation: each member votes for its first one that all support, the first voted wins
    (`ClassicGroup.selectProtocol`)."""
    voters = list(members)
    shared = shared_protocols(voters)
    votes = Counter(next(name for name, _ in member.protocols if name in shared) for member in voters)
    return max(votes, key=votes.__getitem__)


def clash_of(protocol_type: str, names: list[str], group_type: str | None, members: Iterable[Member], member_id: str) -> str | None:
    """Return why a member cannot join with its protocols (`ClassicGroup.supportsProtocols`), None if it can."""
    if group_type is None:
        if not protocol_type:
            return "the first member of a group must have a protocol type"
        return None if names else "the first member of a group must offer a protocol"
    if protocol_type != group_type:
        return f"the member's protocol type is {shown_names([protocol_type])}, the group's is {shown_names([group_type])}"
    there = list(members)
    if not there or shared_protocols(there) & set(names):
        return None
    have = "; ".join(
        f"{each.member_id[:60]!a} offers {shown_names(name for name, _ in each.protocols)}"
        for each in there[:3]
        if each.member_id != member_id
    )
    return f"the member offers {shown_names(names)}, which not all members support" + (f": {have}" if have else "")
