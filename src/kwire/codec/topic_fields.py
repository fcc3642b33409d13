"""Places of topic names in a message at a version: by Kafka's `entityType`, and by a table for untyped fields.

A test checks the catalog: a new field that looks like a topic name must be listed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from kwire.codec.layout import attribute_of
from kwire.codec.splice_plan import Rule
from kwire.schema.model import Field, Message

__all__ = ["UNTYPED", "GroupBytes", "TopicFields", "fields_at", "topic_fields"]

UNTYPED: Final = frozenset(
    (
        ("ConsumerProtocolSubscription", "topics"),
        ("LegacyOffsetCommitKey", "topic"),
        ("OffsetCommitKey", "topic"),
        ("TransactionLogValue", "transaction_partitions.topic"),
        ("ConsumerGroupPartitionMetadataValue", "topics.topic_name"),
        ("ConsumerGroupMemberMetadataValue", "subscribed_topic_names"),
        ("ConsumerGroupRegularExpressionValue", "topics"),
        ("ShareGroupMemberMetadataValue", "subscribed_topic_names"),
        ("ShareGroupPartitionMetadataValue", "initialized_topics.topic_name"),
        ("ShareGroupPartitionMetadataValue", "deleting_topics.topic_name"),
        ("ShareGroupStatePartitionMetadataValue", "initializing_topics.topic_name"),
        ("ShareGroupStatePartitionMetadataValue", "initialized_topics.topic_name"),
        ("ShareGroupStatePartitionMetadataValue", "deleting_topics.topic_name"),
        ("StreamsGroupTopologyValue", "subtopologies.source_topics"),
        ("StreamsGroupTopologyValue", "subtopologies.state_changelog_topics.name"),
        ("StreamsGroupTopologyValue", "subtopologies.repartition_sink_topics"),
        ("StreamsGroupTopologyValue", "subtopologies.repartition_source_topics.name"),
        ("RemoteLogSegmentMetadataRecord", "remote_log_segment_id.topic_id_partition.name"),
        ("RemoteLogSegmentMetadataUpdateRecord", "remote_log_segment_id.topic_id_partition.name"),
        ("RemotePartitionDeleteMetadataRecord", "topic_id_partition.name"),
    )
)
"""Fields with topic names but no `entityType`."""

_RESOURCE_NAMES: Final = frozenset(("resource_name", "resource_name_filter"))
_RESOURCE_TYPES: Final = ("resource_type", "resource_type_filter")
_RESOURCE_PATTERNS: Final = ("pattern_type", "resource_pattern_type", "pattern_type_filter")
_PATTERNS: Final = frozenset(("subscribed_topic_regex", "source_topic_regex", "regular_expression"))
_FRAMES: Final = frozenset((("EnvelopeRequest", "request_data"), ("EnvelopeResponse", "response_data")))
# Metadata and assignments of the members of a classic group (KIP-559): is it an assignment, which field names the group's type, which the
# assignor. Versions may lack them. A classic member of a group of KIP-848 is a consumer.
_GROUP_BYTES: Final[dict[tuple[str, str], tuple[bool, str | None, str]]] = {
    ("JoinGroupRequest", "protocols.metadata"): (False, "protocol_type", "protocols.name"),
    ("JoinGroupResponse", "members.metadata"): (False, "protocol_type", "protocol_name"),
    ("SyncGroupRequest", "assignments.assignment"): (True, "protocol_type", "protocol_name"),
    ("SyncGroupResponse", "assignment"): (True, "protocol_type", "protocol_name"),
    ("DescribeGroupsResponse", "groups.members.member_metadata"): (False, "groups.protocol_type", "groups.protocol_data"),
    ("DescribeGroupsResponse", "groups.members.member_assignment"): (True, "groups.protocol_type", "groups.protocol_data"),
    ("GroupMetadataValue", "members.subscription"): (False, "protocol_type", "protocol"),
    ("GroupMetadataValue", "members.assignment"): (True, "protocol_type", "protocol"),
    ("ConsumerGroupMemberMetadataValue", "classic_member_metadata.supported_protocols.metadata"): (
        False,
        None,
        "classic_member_metadata.supported_protocols.name",
    ),
}


class GroupBytes(NamedTuple):
    """Metadata or assignment of a group member; the rule reads the assignor and, unless the type is always `consumer`, the protocol
    type."""

    rule: Rule
    assignment: bool
    consumer: bool


class TopicFields(NamedTuple):
    """Places of topic names in a message at a version; `uncovered` has fields whose names cannot be changed, with a description.

    The rules of `resources` read the type and, for an ACL, the pattern type.
    """

    names: tuple[str, ...]
    resources: tuple[Rule, ...]
    groups: tuple[GroupBytes, ...]
    uncovered: tuple[tuple[str, str], ...]


def fields_at(message: Message, version: int) -> Iterator[tuple[str, Field, tuple[tuple[str, dict[str, Field]], ...]]]:
    """Yield scalars and arrays of scalars at a version: path, field, and the structs around it, the outermost first.

    Struct in a message: the path prefix of its fields (empty, or ending with a dot), and the version's fields by attribute.
    """

    def walk(
        fields: tuple[Field, ...], before: str, around: tuple[tuple[str, dict[str, Field]], ...]
    ) -> Iterator[tuple[str, Field, tuple[tuple[str, dict[str, Field]], ...]]]:
        there = {attribute_of(message, field): field for field in fields if version in field.versions}
        scopes = (*around, (before, there))
        for name, field in there.items():
            if field.is_struct:
                yield from walk(message.structs[field.element_type].fields, f"{before}{name}.", scopes)
            else:
                yield before + name, field, scopes

    return walk(message.fields, "", ())


def _resource(before: str, there: dict[str, Field], name: str) -> Rule | None:
    types = [before + each for each in _RESOURCE_TYPES if each in there]
    patterns = [before + each for each in _RESOURCE_PATTERNS if each in there]
    return Rule((*types, *patterns), (before + name,)) if types else None  # ListConfigResources v0 lists no topics


def topic_fields(message: Message, version: int) -> TopicFields:
    """Find the fields of a message at a version that contain topic names."""
    names: list[str] = []
    resources: list[Rule] = []
    groups: list[GroupBytes] = []
    uncovered: list[tuple[str, str]] = []
    for path, field, scopes in fields_at(message, version):
        before, there = scopes[-1]
        name = path[len(before) :]
        if field.element_type == "string" and (field.entity_type == "topicName" or (message.name, path) in UNTYPED):
            names.append(path)
        elif name in _RESOURCE_NAMES:
            resource = _resource(before, there, name)
            if resource is not None:
                resources.append(resource)
        elif name in _PATTERNS:
            uncovered.append((path, "a pattern of topic names"))
        elif (message.name, path) in _FRAMES:
            uncovered.append((path, "a frame of its own"))
        elif (held := _GROUP_BYTES.get((message.name, path))) is not None:
            assignment, kind, assignor = held
            reads = (assignor,) if kind is None else (assignor, kind)
            groups.append(GroupBytes(Rule(reads, (path,)), assignment, kind is None))
    return TopicFields(tuple(names), tuple(resources), tuple(groups), tuple(uncovered))
