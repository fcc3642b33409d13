"""Renaming of topics in all places of a message: in its fields, and in the bytes of group members.

Subscriptions and assignments of consumer groups are rewritten too, including the user data of Kafka's sticky assignor. As in
`ConsumerProtocol`, a version above the newest is read as the newest, and trailing bytes stay. Messages of kafkajs 1, kafka-go and pykafka,
which end before the last field of their version, stay that short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final, Literal

from kwire.codec.classes import CompiledCatalog
from kwire.codec.edit_actions import ApplyFunction, EditAction, Outcome, Rename
from kwire.codec.group_definitions import compiled_groups
from kwire.codec.splicers import Splicers, Work, WorkOf, Works
from kwire.codec.topic_fields import TopicFields, topic_fields
from kwire.codec.written_values import kind_of
from kwire.errors import EncodeError, Fault, WireError, wire_error
from kwire.schema import catalog

__all__ = ["GroupChange", "Names", "TopicRenaming", "Uncovered", "group_action"]

Names = Mapping[str, str] | Callable[[str], str]
"""Function or mapping from old to new names; names missing from a mapping stay."""
Uncovered = Literal["refuse", "keep"]

GroupChange = Callable[[bool, str | None, str | None, bytes | None], Outcome]

_TOPIC: Final = 2  # of ConfigResource.Type and of ResourceType
_ANY_TYPE: Final = 1
_LITERAL: Final = 3  # PatternType of an ACL
_WILDCARD: Final = "*"  # as a literal name: all topics
_PREFIX: Final = 2  # the version before a message of the consumer protocol
_NULL_BYTES: Final = b"\xff\xff\xff\xff"
_METADATA: Final = "ConsumerProtocolSubscription"
_ASSIGNMENT: Final = "ConsumerProtocolAssignment"
_WITHOUT_TOPICS: Final = frozenset(("connect",))  # group types whose members speak of connectors and tasks
_NAMELESS: Final = frozenset(("cooperative-sticky",))  # assignors whose user data holds no names
_SHOWN: Final = 64  # characters of a name that an error shows


def _function(names: Names) -> Callable[[str], str]:
    if isinstance(names, Mapping):
        given = names
        return lambda old: given.get(old, old)
    return names


class _Renaming:
    def __init__(self, owner: TopicRenaming, names: Names, protocol_type: str | None, uncovered: Uncovered) -> None:
        self.owner = owner
        self.rename = _function(names)
        self.names: EditAction = Rename(names) if type(names) is dict else ApplyFunction(self.name)
        self.protocol_type = protocol_type
        self.keep = uncovered == "keep"

    def name(self, old: str | None) -> str | None:
        if not old:
            return old
        new = self.rename(old)
        if not isinstance(new, str):  # null where it is allowed means something else: all topics, or a topic known by its id
            raise EncodeError(f"a topic's new name is text (str), not {kind_of(new)}")
        return new

    def refuse(self, what: str) -> None:
        """Reject names that cannot be changed, unless they are kept."""
        if not self.keep:
            raise EncodeError(f"{what} may hold names of topics, which cannot be renamed")

    def resource(self, acl: bool, kind: int, *rest: Any) -> Outcome:
        """Rename a resource: (type, name) or (type, pattern, name)."""
        old: str | None = rest[-1]
        pattern = rest[0] if len(rest) > 1 else _LITERAL
        if kind not in (_TOPIC, _ANY_TYPE) or not old or (acl and old == _WILDCARD):
            return None
        if kind == _TOPIC and pattern == _LITERAL:
            return (self.name(old),)
        self.refuse("a pattern of resources")
        return None

    def group_bytes(self, assignment: bool, assignor: str | None, kind: str | None, held: bytes | None) -> Outcome:
        """Rename topics in a member's metadata or assignment, by the type of the group."""
        if not held:
            return None
        kind = kind or self.protocol_type
        if kind == "consumer":
            return (self.consumer(_ASSIGNMENT if assignment else _METADATA, held, assignor),)
        if kind not in _WITHOUT_TOPICS:
            named = f"{kind[:_SHOWN]!r}" if kind else "an unknown type (give protocol_type)"
            self.refuse(f"bytes of a group of {'type ' if kind else ''}{named}")
        return None

    def consumer(self, name: str, held: bytes, assignor: str | None) -> bytes:
        """Rename topics in a subscription or an assignment, which begins with its version."""
        version, end, padding = self.owner.reading(name, held)
        whole = held[:end] + padding
        program, singles, rules = self.owner.consumer_work(self, name, version, assignor)
        made: bytes = program.splice(whole, _PREFIX, singles, rules)
        return made[: len(made) - len(padding)] + held[end:]

    def user_data(self, assignor: str | None, held: bytes | None) -> Outcome:
        if not held or assignor in _NAMELESS:
            return None
        if assignor == "sticky":
            return (self.owner.sticky(self, held),)
        self.refuse("user data" if assignor is None else f"user data of the assignor {assignor[:_SHOWN]!r}")
        return None


class TopicRenaming:
    """Renamer of topics in the messages of a catalog."""

    def __init__(self, splicers: Splicers) -> None:
        self._splicers = splicers
        self._groups = Splicers(compiled_groups(splicers.source.twin))
        self._consumer_names = cache(lambda name, version: topic_fields(self._consumer.source.message(name), version).names)
        own = {_METADATA, _ASSIGNMENT} <= splicers.source.catalog.messages.keys()  # a folder of some messages has not
        self._consumer = splicers if own else Splicers(CompiledCatalog(catalog(), splicers.source.twin))
        self._fields = cache(self._find)
        # a proxy gives the same names with every frame: what was worked out for the last ones is kept
        self._last: tuple[Any, str | None, str, WorkOf] | None = None

    def works(self, names: Names, protocol_type: str | None, uncovered: Uncovered) -> WorkOf:
        """Return the work for each message; arguments as in `FrameSplicer.rename_topics`."""
        last = self._last
        if last is None or last[0] is not names or last[1] != protocol_type or last[2] != uncovered:
            call = _Renaming(self, names, protocol_type, uncovered)
            last = self._last = names, protocol_type, uncovered, Works(partial(self._work, call))
        return last[3]

    def group_change(self, names: Names | None, protocol_type: str | None, uncovered: Uncovered) -> GroupChange:
        """Return a function of (is an assignment, assignor, protocol type, bytes) for the bytes of a group member."""
        return _Renaming(self, {} if names is None else names, protocol_type, uncovered).group_bytes

    def _work(self, call: _Renaming, name: str, version: int) -> Work | None:
        if name in (_METADATA, _ASSIGNMENT):
            return self.consumer_work(call, name, version, None)
        program, fields = self._fields(name, version)
        if program is None:
            return None
        actions = [*[call.names] * len(fields.names), *(_refusal(call, what) for _, what in fields.uncovered)]
        changes: list[EditAction] = [partial(call.resource, "Acls" in name)] * len(fields.resources)
        changes += [group_action(call.group_bytes, group.assignment, group.consumer) for group in fields.groups]
        return program, tuple(actions), tuple(changes)

    def _find(self, name: str, version: int) -> tuple[Any, TopicFields]:
        fields = topic_fields(self._splicers.source.message(name), version)
        singles = (*fields.names, *(path for path, _ in fields.uncovered))
        rules = (*fields.resources, *(group.rule for group in fields.groups))
        return self._splicers.get(name, version, singles, rules) if singles or rules else None, fields

    def consumer_work(self, call: _Renaming, name: str, version: int, assignor: str | None) -> Work:
        """Return the work for a message of the consumer protocol."""
        names = self._consumer_names(name, version)
        program = self._consumer.get(name, version, (*names, "user_data"))
        return program, (*[call.names] * len(names), partial(call.user_data, assignor)), ()

    def reading(self, name: str, held: bytes) -> tuple[int, int, bytes]:
        """Return the version for reading a message of the consumer protocol, its end, and the bytes to append for reading it."""
        if len(held) < _PREFIX:
            raise wire_error(Fault.TRUNCATED, 0, "version", name)
        given = int.from_bytes(held[:_PREFIX], "big", signed=True)
        if given < 0:
            raise wire_error(Fault.UNSUPPORTED_VERSION, 0, "version", name, None, given, f"version {given} of {name} is negative")
        source = self._consumer.source
        version = min(given, source.message(name).valid_versions.highest)
        try:
            return version, source.decoder(name, version).skip(held, _PREFIX), b""
        except WireError as error:
            fault = error
        for shorter in range(version - 1, -1, -1):
            if fault.offset == len(held) and self._ends_at(name, shorter, held, len(held)):
                return shorter, len(held), b""
        if fault.offset == len(held) and fault.path == "user_data" and self._ends_at(name, 0, held + _NULL_BYTES, len(held) + 4):
            return 0, len(held), _NULL_BYTES
        raise fault

    def _ends_at(self, name: str, version: int, held: bytes, end: int) -> bool:
        try:
            return bool(self._consumer.source.decoder(name, version).skip(held, _PREFIX) == end)
        except WireError:
            return False

    def sticky(self, call: _Renaming, held: bytes) -> bytes:
        """Rename topics in the user data of Kafka's sticky assignor; bytes that match one version to the end match no other."""
        fields = ("previous_assignment.topic",)
        try:
            made: bytes = self._groups.get("StickyAssignorUserData", 1, fields).splice(held, 0, (call.names,), ())
        except WireError:
            made = self._groups.get("StickyAssignorUserData", 0, fields).splice(held, 0, (call.names,), ())
        return made


def _refusal(call: _Renaming, what: str) -> EditAction:
    def refuse(old: Any) -> Outcome:
        if old:
            call.refuse(what)
        return None

    return refuse


def group_action(change: GroupChange, assignment: bool, consumer: bool) -> EditAction:
    """Create the action for the bytes of a group member: (assignor, bytes) or (assignor, protocol type, bytes)."""
    return lambda assignor, *rest: change(assignment, assignor, "consumer" if consumer else rest[0], rest[-1])
