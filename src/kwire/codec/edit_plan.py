"""Plan of an edit of one kind of frame: the places to find, and an action for each."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import Final

from kwire.codec.broker_addresses import Addresses, ChangeAddress, broker_fields
from kwire.codec.classes import CompiledCatalog
from kwire.codec.edit_actions import (
    EditAction,
    HideNamed,
    Keys,
    LimitFeature,
    LimitLevel,
    LimitRange,
    RefuseValue,
    RemoveText,
    Rename,
    RenameKey,
    RenameResource,
)
from kwire.codec.edit_fields import FieldsAbout, fields_of
from kwire.codec.edit_names import AddPrefix, EditNames
from kwire.codec.splice_plan import EditPlan, Rule, find_leaf, mark
from kwire.codec.topic_fields import TopicFields, topic_fields
from kwire.codec.topic_renaming import GroupChange, group_action
from kwire.codec.version_limits import VersionLimits
from kwire.schema.model import Message

__all__ = ["EditChanges", "edit_plan"]

_CONFIG_TYPES: Final = {"topics": 2, "groups": 32}  # ConfigResource.Type
_ACL_TYPES: Final = {"topics": 2, "groups": 3, "transactional_ids": 5}  # ResourceType
_KEY_TYPES: Final = {0: "groups", 1: "transactional_ids", -1: "groups"}  # FindCoordinatorRequest.CoordinatorType; v0 has no type
_API_VERSIONS: Final = 18


@dataclass(frozen=True, slots=True)
class EditChanges:
    """Changes of an edit; None leaves fields unchanged.

    Attributes:
        topics, groups, transactional_ids: new names.
        protocol_type: protocol type of the group, for versions without it: JoinGroup responses up to 6, SyncGroup up to 4.
        addresses: new addresses of brokers, preferably an `AddressTable`; see `rewrite_brokers`.
        limits: limits of an ApiVersions response.
        error_text: text to remove from error texts.
        blank_errors: if True, an error text that contains it becomes empty.
        uncovered: action for fields that may hold names that cannot be changed; see `rename_topics`.
        other_resources: action for resources that are neither topics nor groups.
        kept_resources: types of resources to keep even if others are refused.
        hidden_configs: pattern of names of entries and synonyms to drop from DescribeConfigs responses.
    """

    topics: EditNames | None = None
    groups: EditNames | None = None
    transactional_ids: EditNames | None = None
    protocol_type: str | None = None
    addresses: Addresses | None = None
    limits: VersionLimits | None = None
    error_text: str | None = None
    blank_errors: bool = False
    uncovered: Keys = "refuse"
    other_resources: Keys = "keep"
    kept_resources: frozenset[int] = frozenset()
    hidden_configs: re.Pattern[str] | None = None

    def joined(self, other: EditChanges) -> EditChanges | None:
        """Merge two changes; None if they conflict."""
        made = self
        for each in fields(self):
            mine, its = getattr(self, each.name), getattr(other, each.name)
            if its == each.default or its is mine:
                continue
            if each.name == "limits" and mine is not None:
                made = replace(made, limits=mine & its)
            elif mine == each.default:
                made = replace(made, **{each.name: its})
            elif mine != its:
                return None
        return made


class _Parts:
    def __init__(self) -> None:
        self.singles: dict[str, EditAction] = {}
        self.rules: list[tuple[Rule, EditAction]] = []
        self.dropped: list[str] = []

    def single(self, path: str, action: EditAction) -> None:
        self.singles[path] = action
        self.dropped.append(path)

    def rule(self, rule: Rule, action: EditAction) -> None:
        self.rules.append((rule, action))
        self.dropped += rule.writes


def edit_plan(source: CompiledCatalog, message: Message, version: int, changes: EditChanges, group_change: GroupChange) -> EditPlan | None:
    """Create the plan for a message at a version; None if there is nothing to change."""
    about, parts = fields_of(message, version), _Parts()
    _names(parts, message, version, about, changes, group_change)
    if changes.addresses is not None:
        rules, unreached = broker_fields(message, version)
        for rule in rules:
            parts.rule(rule, ChangeAddress(changes.addresses, message.name, rule))
        for path in unreached:
            parts.singles.setdefault(path, RefuseValue("a frame of its own"))
    if changes.error_text is not None:
        for path in about.error_texts:
            parts.single(path, RemoveText(changes.error_text, changes.blank_errors))
    if changes.hidden_configs is not None and message.name == "DescribeConfigsResponse":
        for path in ("results.configs.name", "results.configs.synonyms.name"):
            if find_leaf(source.plan(message.name, version), path) is not None:
                parts.single(path, HideNamed(changes.hidden_configs))
    if changes.limits is not None and message.api_key == _API_VERSIONS and message.kind == "response":
        _limit(parts, source, message, version, changes.limits)
    if not parts.singles and not parts.rules:
        return None
    wanted = {*parts.singles, *(path for rule, _ in parts.rules for path in (*rule.reads, *rule.writes))}
    plan = source.plan(message.name, version, sorted(wanted))
    marking = mark(plan, tuple(parts.singles), tuple(rule for rule, _ in parts.rules), tuple(parts.dropped))
    return EditPlan(marking, tuple(parts.singles.values()), tuple(action for _, action in parts.rules))


def _names(parts: _Parts, message: Message, version: int, about: FieldsAbout, changes: EditChanges, group_change: GroupChange) -> None:
    renames = {
        kind: Rename(names)
        for kind in ("topics", "groups", "transactional_ids")
        if (names := getattr(changes, kind)) is not None
    }  # fmt: skip
    if not renames:
        return
    topics: TopicFields = topic_fields(message, version)
    for kind, paths in (("topics", topics.names), ("groups", about.groups), ("transactional_ids", about.transactional_ids)):
        for path in paths if kind in renames else ():
            parts.single(path, renames[kind])
    acl = "Acls" in message.name
    types = _ACL_TYPES if acl else _CONFIG_TYPES
    by_type = {types[kind]: rename if acl else _of_all_names(rename) for kind, rename in renames.items() if kind in types}
    by_type |= dict.fromkeys(changes.kept_resources, Rename({}))
    for rule in topics.resources:
        others: Keys = "refuse" if acl and changes.uncovered == "refuse" else changes.other_resources
        parts.rule(rule, RenameResource(by_type, others, acl))
    if "topics" in renames:
        for group in topics.groups:
            parts.rule(group.rule, group_action(group_change, group.assignment, group.consumer))
    if changes.uncovered == "refuse":
        for path in about.uncovered:
            parts.singles.setdefault(path, RefuseValue("a pattern or a frame of its own"))
    _keys(parts, about, renames)


def _of_all_names(rename: Rename) -> Rename:
    """Include the empty name: configurations of topics and groups never have it, so it must not reach the broker unchanged."""
    return Rename(AddPrefix(rename.names.prefix, empty=True)) if isinstance(rename.names, AddPrefix) else rename


def _keys(parts: _Parts, about: FieldsAbout, renames: dict[str, Rename]) -> None:
    """Plan the keys of FindCoordinator; the field beside them has their type, which arrays and responses lack."""
    groups, ids = renames.get("groups"), renames.get("transactional_ids")
    if groups is None and ids is None:
        return
    for path in about.keys:
        if groups is not None and ids is not None and groups.names == ids.names:
            parts.single(path, groups)
        elif path == "key":
            by_type = {number: renames[kind] for number, kind in _KEY_TYPES.items() if kind in renames}
            parts.rule(Rule(("key_type",), (path,)), RenameKey(by_type))
        else:
            parts.single(path, RefuseValue("a key of one kind or the other"))


def _limit(parts: _Parts, source: CompiledCatalog, message: Message, version: int, limits: VersionLimits) -> None:
    parts.rule(Rule(("api_keys.api_key",), ("api_keys.min_version", "api_keys.max_version")), LimitRange(limits))
    plan = source.plan(message.name, version)
    finalized = ("finalized_features.max_version_level", "finalized_features.min_version_level")
    if limits.features is not None and find_leaf(plan, "supported_features.name") is not None:
        parts.single("supported_features.name", LimitFeature(limits))
    if (limits.features is not None or limits.levels) and find_leaf(plan, finalized[0]) is not None:
        parts.rule(Rule(("finalized_features.name",), finalized), LimitLevel(limits))
