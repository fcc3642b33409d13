"""Tenants of the cluster: their clients see only their own topics, groups and transactional ids, without a prefix.

The prefix is added to names in requests and removed in responses, where elements with other names are dropped. Edits do most of this
without Python. Four facts must be remembered: ids of the tenant's topics, which newer requests have instead of names; the type of a group,
which older SyncGroup and JoinGroup lack; the Fetch sessions of a connection, which refer to names sent before; and the waiting requests.

APIs that affect the whole cluster are not listed here: ApiVersions does not offer them, and their requests close the connection.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, Literal

import kwire
from kwire.codec import AddPrefix, Edit, EditChanges, FieldsAbout, Opaque, RemovePrefix, Uuid, VersionLimits, fields_about
from kwire.errors import InputError
from kwire.protocol.relay import CALL, CLOSE, Held, RelayRule
from kwire.protocol.relay.moves import api_text
from kwire.proxy.rules.api_versions_answer import API_VERSIONS, limited_answers
from kwire.proxy.rules.rule import Answer, ConnectionRule, Outcome, Peer, Refusal, Watched
from kwire.proxy.rules.tenant_answers import refused_fetch, unknown_ids
from kwire.proxy.rules.tenant_memory import TenantMemory
from kwire.schema import Message, catalog

__all__ = ["ErrorTexts", "TenantsRule", "tenant_prefix"]

ErrorTexts = Literal["strip", "blank"]

_FETCH, _METADATA, _JOIN_GROUP, _SYNC_GROUP, _CREATE_TOPICS, _HEARTBEAT = 1, 3, 11, 14, 19, 68
_FETCH_FIELDS: Final = ("session_id", "session_epoch", "replica_id", "replica_state.replica_id")
_FIRST_WITH_IDS: Final = 13  # of Fetch
_NO_SESSION: Final = -1  # epoch: the broker ends the session, if there is one, and answers what the request asks for, no more
_MOST_SESSIONS: Final = 100  # of a connection; clients have one at each broker
_DESCRIBE_CONFIGS: Final = 32
_BROKER: Final = 4  # ConfigResource.Type; a tenant reads the configuration of brokers, except where they are and where their files lie
_HIDDEN: Final = re.compile(
    r"(advertised\.|controller\.quorum\.|zookeeper\.connect|listener\.name\.).*|listeners|host\.name|port|(metadata\.)?log\.dirs?"
)
# Produce, Fetch, ListOffsets, Metadata, offsets, FindCoordinator, classic groups, SASL, topics, transactions, configurations, log dirs,
# DescribeCluster, DescribeProducers, groups of KIP-848, telemetry.
_APIS: Final = frozenset(
    (0, 1, 2, 3, *range(8, 27), 28, 32, 33, 35, 36, 37, 42, 44, 47, 60, 61, 65, 66, 68, 69, 71, 72)
)  # fmt: skip
# Later versions have patterns of names, which a prefix cannot confine. ConsumerGroupHeartbeat 1 has one too, but librdkafka's groups of
# KIP-848 need that version: there the edit refuses a request with a pattern.
_CAPS: Final = {66: 1}
_NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_PREFIX: Final = 100  # of the 249 characters of a topic's name
_TYPES: Final = ("consumer", "connect")  # groups whose bytes are known; what others say is closed
_OTHER_TYPE: Final = "other"
_IDS_LEARNED: Final = dict.fromkeys((_METADATA, _CREATE_TOPICS), ("topics.name", "topics.topic_id", "topics.error_code"))


def tenant_prefix(prefix: str) -> str:
    """Check a prefix, which may have the characters of topic names (`org.apache.kafka.common.internals.Topic`)."""
    if not prefix or len(prefix) > _LONGEST_PREFIX or not set(prefix) <= _NAME_CHARACTERS:
        raise InputError(f"prefix {prefix!r} of a tenant has 1 to {_LONGEST_PREFIX} letters, digits, dots, underscores and hyphens")
    return prefix


class TenantsRule:
    """Rule for one tenant; `error_texts` strips the prefix from error texts, or blanks texts that contain it."""

    name = "tenants"

    def __init__(self, prefix: str, *, error_texts: ErrorTexts = "strip") -> None:
        added = AddPrefix(tenant_prefix(prefix), empty=True)
        topics, removed = RemovePrefix(prefix, foreign="drop"), RemovePrefix(prefix, foreign="drop", empty=True)
        self.memory = TenantMemory()
        self._changes = {
            "request": EditChanges(AddPrefix(prefix), added, added),
            "response": EditChanges(
                topics, removed, removed, error_text=prefix, blank_errors=error_texts == "blank", hidden_configs=_HIDDEN
            ),
        }
        self._edits: dict[tuple[str, int, int, str | None], Edit] = {}

    def relay_rules(self) -> Iterator[RelayRule]:
        ranges = {}
        for message in catalog().messages.values():
            key = message.api_key
            if key is None or message.kind not in ("request", "response"):
                continue
            direction: Literal["request", "response"] = "request" if message.kind == "request" else "response"
            if key not in _APIS:
                if direction == "request":
                    yield RelayRule(direction, key, None, CLOSE)
                continue
            highest = _CAPS.get(key, message.valid_versions.highest)
            ranges[key] = 0, highest
            for version in message.valid_versions:
                if version > highest:
                    if direction == "request":
                        yield RelayRule(direction, key, (version,), CLOSE)
                elif _needs_memory(message, version, fields_about(direction, key, version)):
                    yield RelayRule(direction, key, (version,), CALL)
                elif not (edit := self.edit(direction, key, version)).is_empty:
                    yield RelayRule(direction, key, (version,), edit)
        yield from limited_answers(VersionLimits(ranges))

    def edit(self, direction: Literal["request", "response"], key: int, version: int, protocol_type: str | None = None) -> Edit:
        kind = protocol_type if protocol_type is None or protocol_type in _TYPES else _OTHER_TYPE
        found = self._edits.get((direction, key, version, kind))
        if found is None:
            kept = frozenset((_BROKER,) if key == _DESCRIBE_CONFIGS else ())
            changes = replace(self._changes[direction], protocol_type=kind, other_resources="refuse", kept_resources=kept)
            found = self._edits[direction, key, version, kind] = Edit(direction, key, version, changes)
        return found

    def connected(self, peer: Peer) -> ConnectionRule:
        return _Tenant(self)


def _needs_memory(message: Message, version: int, about: FieldsAbout) -> bool:
    """Return whether a frame has topic ids, Fetch sessions, or bytes of a group without its type; Fetch answers are judged by their
    request."""
    if message.api_key in (_JOIN_GROUP, _SYNC_GROUP):
        return True
    if message.api_key == _FETCH:
        return message.kind == "request"
    if message.kind == "request":
        return bool(about.topic_ids) and message.api_key not in (_METADATA, _HEARTBEAT)
    return bool(about.topic_ids) and message.api_key in _IDS_LEARNED


class _Tenant(ConnectionRule):
    def __init__(self, rule: TenantsRule) -> None:
        self._rule = rule
        # groups of the JoinGroup and SyncGroup requests that wait, with their types, by api; responses come in the order of the requests
        self._waiting: dict[int, deque[tuple[str, str | None]]] = {_JOIN_GROUP: deque(), _SYNC_GROUP: deque()}
        self._sessions: OrderedDict[int, None] = OrderedDict()  # that the broker gave to this connection, and no request has ended

    def request(self, held: Held, frame: bytes) -> Outcome:
        kind = None
        if held.api_key in self._waiting:
            body = _read(kwire.decode_request(frame, strict=False, fields=("group_id", *_type_fields(held))).body)
            kind = getattr(body, "protocol_type", None) or self._rule.memory.type_of(body.group_id)
            self._waiting[held.api_key].append((body.group_id, kind))
        elif held.api_key != API_VERSIONS:
            return self._checked(held, frame)
        return self._edited(held, frame, kind)

    def _edited(self, held: Held, frame: bytes, kind: str | None = None) -> bytes:
        direction: Literal["request", "response"] = "request" if held.kind == "request" else "response"
        edit = self._rule.edit(direction, held.api_key, held.api_version, kind)
        return frame if edit.is_empty else b"".join(edit.pieces(frame))

    def _checked(self, held: Held, frame: bytes) -> Outcome:
        """Return the edited request, or an answer if it has another tenant's topic or session."""
        ids, body = _topic_ids(held, kwire.decode_request(frame, strict=False, fields=_checked_fields(held)).body)
        if held.api_key == _FETCH:
            if max(body.replica_id, body.replica_state.replica_id) >= 0:  # it would push sessions of others out, and count as a replica
                return Refusal(f"Fetch v{held.api_version} in the name of a broker")
            if body.session_id and body.session_id not in self._sessions:
                return Answer(refused_fetch(held, session=True))
        if self._rule.memory.owns(ids):
            edited = self._edited(held, frame)
            if held.api_key != _FETCH:
                return edited
            if body.session_epoch <= 0:  # it ends the session, and with 0 begins another
                self._sessions.pop(body.session_id, None)
            # the edit of the answer drops names of others; their ids can be in a session only, for this request's are the tenant's
            begins = body.session_epoch == 0
            may_have_ids = held.api_version >= _FIRST_WITH_IDS and body.session_epoch != _NO_SESSION
            return Watched(edited, partial(self._fetched, begins=begins)) if begins or may_have_ids else edited
        answer = unknown_ids(held, frame)
        if answer is None:
            return Refusal(f"{api_text(held.api_key, held.api_version)}: the id of a topic that is not the tenant's")
        return Answer(answer)

    def response(self, held: Held, frame: bytes) -> bytes | None:
        waiting = self._waiting.get(held.api_key)
        group, kind = waiting.popleft() if waiting else ("", None)
        made = self._edited(held, frame, kind)
        learned = _IDS_LEARNED.get(held.api_key)
        if learned is not None:
            body = _read(kwire.decode_response(made, held.api_key, held.api_version, strict=False, fields=learned).body)
            self._rule.memory.learn_ids(each.topic_id for each in body.topics if each.name and not each.error_code)
        elif held.api_key == _JOIN_GROUP and kind is not None:
            body = _read(kwire.decode_response(frame, held.api_key, held.api_version, strict=False, fields=("error_code",)).body)
            if not body.error_code:
                self._rule.memory.learn_type(group, kind)
        return made

    def _fetched(self, held: Held, frame: bytes, *, begins: bool) -> bytes | None:
        found = kwire.decode_response(frame, _FETCH, held.api_version, strict=False, fields=_checked_fields(held)).body
        ids, body = _topic_ids(held, found)
        if begins and body.session_id:
            self._sessions[body.session_id] = None
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return None if self._rule.memory.owns(ids) else refused_fetch(held, session=False)


def _checked_fields(held: Held) -> tuple[str, ...]:
    about = fields_about("request" if held.kind == "request" else "response", held.api_key, held.api_version)
    if held.api_key != _FETCH:
        return about.topic_ids
    return *(_FETCH_FIELDS if held.kind == "request" else ("session_id",)), *about.topic_ids


def _topic_ids(held: Held, found: Any) -> tuple[list[Uuid], Any]:
    body = _read(found)
    about = fields_about("request" if held.kind == "request" else "response", held.api_key, held.api_version)
    return [each for path in about.topic_ids for each in _values(body, path.split("."))], body


def _type_fields(held: Held) -> tuple[str, ...]:
    """Return the group's type, which JoinGroup has in all versions and SyncGroup from 5 on (KIP-559)."""
    return ("protocol_type",) if held.api_key == _JOIN_GROUP or held.api_version >= 5 else ()


def _read(body: Any) -> Any:
    """Return a body that may have trailing bytes, as librdkafka's do."""
    if isinstance(body, Opaque):
        raise body.reason
    return body


def _values(struct: Any, names: list[str]) -> Iterator[Any]:
    value = getattr(struct, names[0])
    for each in value if isinstance(value, list) else () if value is None else (value,):
        if len(names) > 1:
            yield from _values(each, names[1:])
        else:
            yield each
