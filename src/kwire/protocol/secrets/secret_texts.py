"""Text fields that a shared capture must not contain: configuration values, and free texts of applications and brokers.

A test checks every string field of the catalog whose name contains value, metadata or message; new ones need an entry here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

__all__ = ["HARMLESS_TEXTS", "SECRET_TEXTS"]

_VALUE: Final = "value of a configuration, which may be a password"
_METADATA: Final = "application data stored with an offset"
_QUOTES: Final = "broker's error text, which may quote the rejected value"


def _texts() -> Iterator[tuple[str, str, str]]:
    for name, path in (
        ("AlterConfigsRequest", "resources.configs.value"),
        ("IncrementalAlterConfigsRequest", "resources.configs.value"),
        ("DescribeConfigsResponse", "results.configs.value"),
        ("DescribeConfigsResponse", "results.configs.synonyms.value"),
        ("CreateTopicsRequest", "topics.configs.value"),
        ("CreateTopicsResponse", "topics.configs.value"),
        ("StreamsGroupHeartbeatRequest", "topology.subtopologies.state_changelog_topics.topic_configs.value"),
        ("StreamsGroupHeartbeatRequest", "topology.subtopologies.repartition_source_topics.topic_configs.value"),
        ("StreamsGroupDescribeResponse", "groups.topology.subtopologies.state_changelog_topics.topic_configs.value"),
        ("StreamsGroupDescribeResponse", "groups.topology.subtopologies.repartition_source_topics.topic_configs.value"),
        ("StreamsGroupTopologyValue", "subtopologies.state_changelog_topics.topic_configs.value"),
        ("StreamsGroupTopologyValue", "subtopologies.repartition_source_topics.topic_configs.value"),
        ("StreamsGroupMetadataValue", "last_assignment_configs.value"),
        ("ConfigRecord", "value"),
    ):
        yield name, path, _VALUE
    for name, path in (
        ("OffsetCommitRequest", "topics.partitions.committed_metadata"),
        ("TxnOffsetCommitRequest", "topics.partitions.committed_metadata"),
        ("OffsetFetchResponse", "topics.partitions.metadata"),
        ("OffsetFetchResponse", "groups.topics.partitions.metadata"),
        ("OffsetCommitValue", "metadata"),
        ("LegacyOffsetCommitValue", "metadata"),
    ):
        yield name, path, _METADATA
    for name, path in (
        ("AlterConfigsResponse", "responses.error_message"),
        ("IncrementalAlterConfigsResponse", "responses.error_message"),
        ("DescribeConfigsResponse", "results.error_message"),
        ("CreateTopicsResponse", "topics.error_message"),
        ("AlterUserScramCredentialsResponse", "results.error_message"),
        ("SaslAuthenticateResponse", "error_message"),  # of an authenticator that may be anyone's
        ("ProduceResponse", "responses.partition_responses.error_message"),
        ("ProduceResponse", "responses.partition_responses.record_errors.batch_index_error_message"),
    ):
        yield name, path, _QUOTES


SECRET_TEXTS: Final[dict[tuple[str, str], str]] = {(message, path): what for message, path, what in _texts()}

HARMLESS_TEXTS: Final = frozenset(
    {
        # tags by which Streams spreads standby tasks over zones and clusters (KIP-708)
        ("StreamsGroupHeartbeatRequest", "client_tags.value"),
        ("StreamsGroupDescribeResponse", "groups.members.client_tags.value"),
        ("StreamsGroupMemberMetadataValue", "client_tags.value"),
    }
)
"""Texts named `value` that are not configuration values."""
