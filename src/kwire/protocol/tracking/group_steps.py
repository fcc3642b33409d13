"""Steps of group members; a request and its answer are at most one step.

Members of the newer groups (KIP-848, KIP-932, KIP-1071) send everything in heartbeats; only a join, a leave, a new assignment or an error
is a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal

from kwire.codec.frames import Opaque
from kwire.codec.uuids import Uuid
from kwire.errors import WireError
from kwire.protocol.events import GroupMember, GroupStep, RequestCompleted, StepKind
from kwire.protocol.groups import guess_protocol_type, read_group_assignment, read_group_metadata
from kwire.protocol.groups.protocol_checks import effective_rebalance_timeout
from kwire.protocol.tracking.first_fields import known_value

__all__ = ["GROUP_APIS", "GROUP_ERROR_APIS", "assignment_of", "group_step", "topics_of"]

_OFFSET_COMMIT: Final = 8
_JOIN: Final = 11
_HEARTBEAT: Final = 12
_LEAVE: Final = 13
_SYNC: Final = 14
_HEARTBEATS: Final[dict[int, Literal["consumer", "share", "streams"]]] = {68: "consumer", 76: "share", 88: "streams"}

# Apis whose every exchange may be a step, and those that are steps when they fail.
GROUP_APIS: Final = frozenset((_JOIN, _LEAVE, _SYNC, *_HEARTBEATS))
GROUP_ERROR_APIS: Final = frozenset((_HEARTBEAT, _OFFSET_COMMIT))

# Members of a group, and a member time and again, send the same subscription; of what is longer nothing is kept.
_MOST_REMEMBERED: Final = 4096

# What old members speak whose JoinGroup is out of sight; SyncGroup says it from version 5 on (KIP-559).
_USUAL_TYPE: Final = "consumer"
# StreamsGroupHeartbeatResponse.Status, by code (KIP-1071)
_STREAMS_STATUS: Final = (
    "STALE_TOPOLOGY", "MISSING_SOURCE_TOPICS", "INCORRECTLY_PARTITIONED_TOPICS", "MISSING_INTERNAL_TOPICS", "SHUTDOWN_APPLICATION",
    "ASSIGNMENT_DELAYED", "MISSING_CLIENT_TAGS",
)  # fmt: skip


def _text(message: Any, name: str) -> str | None:
    return getattr(message, name, None) or None


def _number(message: Any, *names: str) -> int | None:
    number: int | None = known_value(next((getattr(message, name) for name in names if hasattr(message, name)), None))
    return number


def _whole(message: Any, name: str, *attributes: str) -> list[Any]:
    """Return the elements of an array that have these attributes; in a truncated body the last one may lack some."""
    found: list[Any] = getattr(message, name, None) or []
    return found if not found or all(hasattr(found[-1], attribute) for attribute in attributes) else found[:-1]


def topics_of(protocol_type: str | None, data: bytes | None) -> tuple[str, ...] | None:
    read = _subscribed if len(data or b"") <= _MOST_REMEMBERED else _subscribed.__wrapped__
    return read(protocol_type or _USUAL_TYPE, data or b"")


@lru_cache(maxsize=512)
def _subscribed(protocol_type: str, data: bytes) -> tuple[str, ...] | None:
    try:
        message = read_group_metadata(protocol_type, data).message
    except WireError:
        return None
    topics = None if isinstance(message, Opaque) else getattr(message, "topics", None)
    return None if topics is None else tuple(sorted(topics))


def assignment_of(protocol_type: str | None, data: bytes | None) -> list[tuple[str, list[int]]] | None:
    """Return an assignment's partitions by topic, or Connect's tasks by connector (-1: itself); None if it is not decoded."""
    read = _assigned if len(data or b"") <= _MOST_REMEMBERED else _assigned.__wrapped__
    found = read(protocol_type or "", data or b"")
    return None if found is None else [(topic, [*partitions]) for topic, partitions in found]


@lru_cache(maxsize=512)
def _assigned(protocol_type: str, data: bytes) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    # SyncGroup has the type from version 5 on (KIP-559)
    guessed = None if protocol_type else guess_protocol_type("assignment", data)
    message = guessed.message if guessed else read_group_assignment(protocol_type or _USUAL_TYPE, data).message
    if message is None or isinstance(message, Opaque):
        return None
    if hasattr(message, "leader_url"):  # Connect
        given = getattr(message, "assignment", None)
        return None if given is None else tuple(sorted((each.connector, tuple(sorted(each.tasks))) for each in given))
    return tuple(sorted((each.topic, tuple(sorted(each.partitions))) for each in getattr(message, "assigned_partitions", None) or ()))


def _join(step: GroupStep, request: Any, response: Any) -> bool:
    step.protocol_type = _text(request, "protocol_type")
    step.session_timeout_ms = _number(request, "session_timeout_ms")
    step.rebalance_timeout_ms = effective_rebalance_timeout(step.session_timeout_ms, _number(request, "rebalance_timeout_ms"))
    step.member_id = _text(response, "member_id") or step.member_id
    step.generation = _number(response, "generation_id")
    step.leader = _text(response, "leader")
    offered = _whole(request, "protocols", "name", "metadata")
    step.protocol_name = _text(response, "protocol_name")
    chosen = next((each for each in offered if each.name == step.protocol_name), next(iter(offered), None))
    topics = None if chosen is None else topics_of(step.protocol_type, chosen.metadata)
    step.subscription = None if topics is None else list(topics)
    step.members = [
        GroupMember(each.member_id, _text(each, "group_instance_id"), topics_of(step.protocol_type, each.metadata))
        for each in _whole(response, "members", "member_id", "metadata")
    ]
    return True


def _sync(step: GroupStep, request: Any, response: Any) -> bool:
    step.generation = _number(request, "generation_id")
    step.protocol_type = _text(response, "protocol_type") or _text(request, "protocol_type")
    step.protocol_name = _text(response, "protocol_name") or _text(request, "protocol_name")
    step.assignment = assignment_of(step.protocol_type, getattr(response, "assignment", None))
    return True


def _leave(step: GroupStep, request: Any, response: Any) -> bool:
    answered = _whole(response, "members", "member_id", "group_instance_id", "error_code")
    answers = {(each.member_id, each.group_instance_id): each.error_code for each in answered}
    leaving = _whole(request, "members", "member_id")
    step.members = [
        GroupMember(
            each.member_id,
            _text(each, "group_instance_id"),
            None,
            _text(each, "reason"),
            answers.get((each.member_id, getattr(each, "group_instance_id", None)), 0),
        )
        for each in leaving
    ] or ([GroupMember(step.member_id)] if step.member_id else [])
    if len({each.error_code == 0 for each in step.members}) == 2:
        step.error_code = 0  # some left: each member has its own code
    if len(step.members) == 1:
        step.member_id, step.group_instance_id, _, step.reason, _ = step.members[0]
    return True


def _failed(step: GroupStep, request: Any, response: Any) -> bool:
    step.generation = _number(request, "generation_id", "generation_id_or_member_epoch")
    return step.error_code != 0


def _newer_heartbeat(step: GroupStep, request: Any, response: Any) -> bool:
    """Fill a KIP-848 step: epoch 0 joins, -1 leaves, -2 leaves temporarily; null means unchanged."""
    asked = getattr(request, "member_epoch", None)
    step.member_id = _text(response, "member_id") or step.member_id
    step.generation = _number(response, "member_epoch")
    step.protocol_name = _text(request, "server_assignor")
    step.group_instance_id = _text(request, "instance_id")
    rebalance = _number(request, "rebalance_timeout_ms")
    step.rebalance_timeout_ms = None if rebalance == -1 else rebalance
    wanted = _wanted(request)
    step.subscription = wanted
    given = getattr(response, "assignment", None)
    if getattr(given, "topic_partitions", None) is not None:
        assigned = _whole(given, "topic_partitions", "topic_id", "partitions")
        step.assignment = sorted((str(Uuid(each.topic_id)), sorted(each.partitions)) for each in assigned)
    if getattr(response, "active_tasks", None) is not None:
        tasks = _whole(response, "active_tasks", "subtopology_id", "partitions")
        step.assignment = sorted((each.subtopology_id, sorted(each.partitions)) for each in tasks)
    step.reason = _streams_status(response)
    if asked is not None and asked < 0:
        step.kind = "leave"
        step.members = [GroupMember(step.member_id or "", step.group_instance_id)]
    says = step.error_code != 0 or step.assignment is not None or wanted is not None or step.reason is not None
    return says or asked is None or asked <= 0 or step.generation != asked


def _streams_status(response: Any) -> str | None:
    found = []
    for each in _whole(response, "status", "status_code", "status_detail"):
        name = _STREAMS_STATUS[each.status_code] if 0 <= each.status_code < len(_STREAMS_STATUS) else f"status {each.status_code}"
        found.append(f"{name}: {each.status_detail}" if each.status_detail else name)
    return "; ".join(found) or None


def _wanted(request: Any) -> list[str] | None:
    names = getattr(request, "subscribed_topic_names", None)
    pattern = _text(request, "subscribed_topic_regex")
    topology = getattr(request, "topology", None)
    if topology is not None:
        names = {name for each in _whole(topology, "subtopologies", "source_topics") for name in each.source_topics}
    if names is None and pattern is None:
        return None
    return sorted([*(names or ()), *([f"regex:{pattern}"] if pattern else [])])


_KINDS: Final[dict[int, tuple[StepKind, Callable[[GroupStep, Any, Any], bool]]]] = {
    _JOIN: ("join", _join),
    _SYNC: ("sync", _sync),
    _LEAVE: ("leave", _leave),
    _HEARTBEAT: ("heartbeat_error", _failed),
    _OFFSET_COMMIT: ("offset_commit_error", _failed),
    **dict.fromkeys(_HEARTBEATS, ("consumer_heartbeat", _newer_heartbeat)),
}


def group_step(row: RequestCompleted, request: Any, response: Any) -> GroupStep | None:
    """Return the step of a complete exchange, or None. Bodies may be truncated; an unreadable one is None."""
    assert row.api_key is not None
    group_id = _text(request, "group_id") or row.group_id
    if not group_id:
        return None
    kind, fill = _KINDS[row.api_key]
    step = GroupStep(
        kind=kind,
        protocol=_HEARTBEATS.get(row.api_key, "classic"),
        request_index=row.request_index,
        time=row.request_time or 0,
        response_time=row.response_time,
        client_id=row.client_id,
        group_id=group_id,
        member_id=_text(request, "member_id"),
        group_instance_id=_text(request, "group_instance_id"),
        error_code=row.error_code or 0,
        reason=_text(request, "reason"),
    )
    return step if fill(step, request, response) else None
