"""Rows for people: lists of apis and fields, and what changes between releases, against Kafka's KIPs."""

from __future__ import annotations

import pytest

from kwire.errors import InputError
from kwire.schema import Versions
from kwire.schema.listing import find_messages, list_apis, list_tagged_fields, show
from kwire.schema.release_diff import diff


def test_every_api_has_a_row() -> None:
    rows = {row.api_key: row for row in list_apis()}
    assert sorted(rows) == list(range(95))
    produce = rows[0]
    assert (produce.name, produce.request_versions, produce.accepted) == ("Produce", Versions(0, 13), Versions(3, 13))
    assert (produce.flexible_since, produce.listeners) == (9, ("broker",))
    assert rows[56].former_names == ("AlterIsr",)
    assert rows[4].accepted is None, "LeaderAndIsr is gone in 4.x"
    assert rows[17].flexible_since is None, "SaslHandshake has no flexible version (KAFKA-9577)"


def test_the_apis_of_a_release() -> None:
    rows = {row.api_key: row for row in list_apis("3.9.0")}
    assert 4 in rows
    assert 88 not in rows
    assert rows[3].deprecated == Versions(0, 3)
    assert rows[4].listeners == ("zkBroker",)
    unstable = {row.name: (row.accepted, row.unstable) for row in list_apis("4.4.0") if row.unstable}
    assert unstable == {"InitProducerId": (Versions(0, 5), Versions(6, 6))}, "KIP-939"


def test_the_fields_of_an_api() -> None:
    request, response = show("metadata")
    assert (request.name, response.name) == ("MetadataRequest", "MetadataResponse")
    assert [(row.depth, row.path) for row in request.fields] == [
        (0, "Topics"), (1, "Topics.TopicId"), (1, "Topics.Name"), (0, "AllowAutoTopicCreation"), (0, "IncludeClusterAuthorizedOperations"),
        (0, "IncludeTopicAuthorizedOperations"),
    ]  # fmt: skip
    assert request.header_versions == ((Versions(0, 8), 1), (Versions(9, 32767), 2))
    assert [row.path for row in show("3", version=3)[0].fields] == ["Topics", "Topics.Name"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Metadata", ["MetadataRequest", "MetadataResponse"]),
        ("0", ["ProduceRequest", "ProduceResponse"]),
        ("consumerprotocolsubscription", ["ConsumerProtocolSubscription"]),
        ("GroupMetadata", ["GroupMetadataKey", "GroupMetadataValue"]),
        ("RegisterBroker", ["RegisterBrokerRecord"]),
    ],
)
def test_what_users_type_is_found(text: str, names: list[str]) -> None:
    assert [message.name for message in find_messages(text)] == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Metdata", r"No api or message is called 'Metdata'; did you mean Metadata.*\?"),
        ("999", r"No api has the key 999; the highest is 94\."),
        ("zzzz", r"No api or message is called 'zzzz'\."),
    ],
)
def test_what_is_not_there_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}$"):
        show(text)


def test_a_version_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"^MetadataRequest has no version 99, only 0-13\.$"):
        show("Metadata", 99)


def test_tagged_fields() -> None:
    rows = {(row.message, row.path): row for row in list_tagged_fields()}
    leader = rows["ProduceResponse", "Responses.PartitionResponses.CurrentLeader"]
    assert (leader.tag, leader.type, leader.versions.lowest) == (0, "LeaderIdAndEpoch", 10), "KIP-951"
    assert rows["ProduceResponse", "NodeEndpoints"].tag == 0


def test_what_4_1_changes_against_3_9() -> None:
    found = diff("3.9", "4.1")
    assert (found.older, found.newer) == ("3.9.2", "4.1.2")
    apis = {change.name: change for change in found.apis}
    produce = apis["Produce"]
    assert (produce.change, produce.versions_added, produce.versions_removed) == ("changed", (12, 13), (0, 1, 2))
    assert [(change.message, change.path, change.change, change.version) for change in produce.fields[:2]] == [
        ("ProduceRequest", "TopicData.TopicId", "added", 13),
        ("ProduceRequest", "TopicData.Name", "removed", 13),
    ], "KIP-516"
    assert (apis["LeaderAndIsr"].change, apis["LeaderAndIsr"].after) == ("removed", None)
    assert (apis["ShareFetch"].change, apis["ShareFetch"].before) == ("added", None)
    assert apis["Metadata"].fields[0].path == "ErrorCode"
    assert "Heartbeat" not in apis


def test_deprecations_between_patch_releases() -> None:
    apis = {change.name: change for change in diff("3.9.0", "3.9.2").apis}
    assert apis["Metadata"].undeprecated == (0, 1, 2, 3)
    assert apis["Metadata"].versions_added == ()
    back = {change.name: change for change in diff("3.9.2", "3.9.0").apis}
    assert back["Metadata"].deprecated == (0, 1, 2, 3)
    assert diff("3.9", "3.9.2").apis == ()
