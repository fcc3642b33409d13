"""Bodies of request logs against the bytes of the same messages, both written by Kafka's own classes."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kwire.capture.request_logs.bodies import BodyFault, read_body
from kwire.capture.request_logs.text_form import read_text_entry
from kwire.codec.classes import compiled
from kwire.protocol.tracking.first_fields import error_code_of, request_fields, response_fields, topics_of
from kwire.schema import catalog


def plain(value: Any) -> Any:
    """A message of either kind as dictionaries, without what only bytes have."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    names = vars(value).keys() if isinstance(value, SimpleNamespace) else getattr(type(value), "__slots__", ())
    if isinstance(value, SimpleNamespace) or hasattr(type(value), "layout"):
        names = names if isinstance(value, SimpleNamespace) else [slot.attribute for slot in type(value).layout.slots]
        return {name: plain(getattr(value, name)) for name in names if name != "unknown_tagged_fields"}
    return value


def of_both(logged: Any, decoded: Any) -> Any:
    """Of a decoded message what the logged one has too: fields that the version lacks are in the former only."""
    if isinstance(logged, dict):
        return {name: of_both(value, decoded[name]) for name, value in logged.items()}
    if isinstance(logged, list) and logged and isinstance(logged[0], dict):
        return [of_both(one, other) for one, other in zip(logged, decoded, strict=True)]
    return decoded


def test_json_and_bytes_of_one_message_say_the_same(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    """For every version of every request and response: all that a log line would hold is what the frame holds."""
    seen = 0
    for line in vectors("messages-sample"):
        name, version = line["message"], line["version"]
        message = compiled().message(name)
        if message.kind not in ("request", "response") or "Header" in name:
            continue
        decoded = plain(compiled().decoder(name, version).decode_whole(bytes.fromhex(line["hex"])))
        body = json.loads(json.dumps(line["json"]))
        logged = plain(read_body(name, version, None, body, True))
        assert logged == of_both(logged, decoded), (name, version)
        seen += 1
    assert seen > 1000


def in_texts(value: Any) -> Any:
    """The same JSON with its integers as texts, as some shippers of logs write them."""
    if isinstance(value, dict):
        return {name: in_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [in_texts(each) for each in value]
    return str(value) if type(value) is int else value


def test_numbers_as_texts_and_names_of_nobody_change_nothing(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    for line in vectors("messages-sample")[::7]:
        name, version, body = line["message"], line["version"], line["json"]
        if compiled().message(name).kind in ("request", "response") and "Header" not in name:
            expected = read_body(name, version, None, body, True)
            assert read_body(name, version, None, {**in_texts(body), "nobodys": 1}, True) == expected, (name, version)


def test_a_field_that_a_body_leaves_out_has_its_default() -> None:
    # Heartbeat v3 without its last field, and a tagged field (clusterId of Fetch v12) that is left out at its default
    assert read_body("HeartbeatRequest", 3, None, {"groupId": "g", "generationId": 4, "memberId": "m"}, True) == SimpleNamespace(
        group_id="g", generation_id=4, member_id="m", group_instance_id=None
    )
    assert read_body("FetchRequest", 12, ("cluster_id", "topics.topic"), {"topics": [{"topic": "t"}]}, True) == SimpleNamespace(
        cluster_id=None, topics=[SimpleNamespace(topic="t")]
    )


TEXTS = [
    # Produce of 0.10.2, Fetch of 0.10.2, Metadata of 0.11, OffsetFetch of 0.10.2, JoinGroup of 0.11: as their brokers wrote them
    (0, 2, "{acks=1,timeout=30000,partitionSizes=[site.raw-0=149]}", ("site.raw", 1), {"acks": 1}),
    (1, 3, "{replica_id=-1,max_wait_time=500,min_bytes=1,max_bytes=52428800,topics=[{topic=site.raw,partitions=[{partition=1,"
           "fetch_offset=0,max_bytes=1048576}]}]}", ("site.raw", 1), {"replica_id": -1}),
    (3, 4, "{topics=[plant.mixed],allow_auto_topic_creation=true}", ("plant.mixed", 1), {}),
    (3, 1, "{topics=null}", (None, None), {}),
    (9, 2, "{group_id=g-agg,topics=[{topic=site.raw,partitions=[{partition=1},{partition=0}]}]}", ("site.raw", 1), {"group_id": "g-agg"}),
    (11, 1, "{group_id=g,session_timeout=10000,rebalance_timeout=300000,member_id=,protocol_type=consumer,group_protocols=[{protocol_name="
            "range,protocol_metadata=java.nio.HeapByteBuffer[pos=0 lim=20 cap=20]}]}", (None, None), {"group_id": "g"}),
    (22, 0, "{transactional_id=null,transaction_timeout_ms=2147483647}", (None, None), {"transactional_id": None}),
    (3, 9, "MetadataRequestData(topics=[MetadataRequestTopic(name='a'), MetadataRequestTopic(name='b')], allowAutoTopicCreation=true)",
     ("a", 2), {}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "version", "text", "topics", "values"), TEXTS)
def test_text_forms(key: int, version: int, text: str, topics: tuple[str | None, int | None], values: dict[str, Any]) -> None:
    head, tail = f"{{api_key={key},api_version={version},correlation_id=1,client_id=x}}", "10.0.0.1:9092-10.0.0.2:5;totalTime:1"
    entry = read_text_entry(f"{head} -- {text} from connection {tail}", 1)
    assert entry.request is not None
    message = catalog().request(key)
    assert message is not None
    fields = request_fields(key, version)
    read = read_body(message.name, version, fields.projection, entry.request, False)
    assert topics_of(read, fields) == topics
    for name, value in values.items():
        assert getattr(read, name) == value


def test_answers_of_former_releases() -> None:
    """Metadata v0 and FindCoordinator v1 as brokers of 1.x print them: names have changed, structs were opened."""
    old = {
        "brokers": [{"node_id": "3", "host": "b", "port": "9092"}],
        "topic_metadata": [{"topic_error_code": "0", "topic": "a", "partition_metadata": [{"partition_error_code": "5", "partition_id": "1",
                            "leader": "3", "replicas": ["3"], "isr": ["3"]}]}],
    }  # fmt: skip
    metadata = read_body("MetadataResponse", 0, None, old, False)
    assert (metadata.brokers[0].node_id, metadata.brokers[0].host, metadata.brokers[0].port) == (3, "b", 9092)
    assert (metadata.topics[0].name, metadata.topics[0].partitions[0].leader_id) == ("a", 3)
    assert error_code_of(metadata, response_fields(3, 0)) == 5
    found = read_body(
        "FindCoordinatorResponse", 1, None, {"error_code": "15", "coordinator": {"node_id": "-1", "host": "", "port": "-1"}}, False
    )
    assert (found.error_code, found.node_id, found.host) == (15, -1, "")


def test_json_names_of_former_releases() -> None:
    """The generation of OffsetCommit before KIP-848, and what 2.8 calls partitions of a Fetch response and the size of their records."""
    commit = read_body("OffsetCommitRequest", 8, None, {"groupId": "g", "generationId": 4, "memberId": "m", "topics": []}, True)
    assert commit.generation_id_or_member_epoch == 4
    partition = {"partition": 3, "errorCode": 0, "recordSetSizeInBytes": 946}
    fetched = read_body("FetchResponse", 12, None, {"responses": [{"topic": "t", "partitionResponses": [partition]}]}, True)
    assert [(each.partition_index, each.records_size) for each in fetched.responses[0].partitions] == [(3, 946)]


@pytest.mark.parametrize("turned", [False, True])
def test_today_s_name_counts_where_a_former_one_stands_beside_it(turned: bool) -> None:
    """Of a line without its middle the request has `responses` of the answer, which once was another name of `topics`."""
    named = [
        ("topics", [{"topic": "t", "partitions": [{"partition": 1}]}]),
        ("responses", [{"topic": "u", "partitions": [{"partitionIndex": 2}]}]),
    ]
    found = read_body("FetchRequest", 7, None, {"replicaId": -1, **dict(named[::-1] if turned else named)}, True)
    assert [(each.topic, [partition.partition for partition in each.partitions]) for each in found.topics] == [("t", [1])]


def test_what_a_text_leaves_out_is_not_there() -> None:
    """And what a JSON body leaves out is at its default, because brokers write all but tagged defaults."""
    assert not hasattr(read_body("MetadataRequest", 1, None, {}, False), "topics")
    assert read_body("MetadataRequest", 1, None, {}, True).topics == []


def test_sizes_stand_for_records() -> None:
    body = {"topicData": [{"name": "a", "partitionData": [{"index": 0, "recordsSizeInBytes": 228}]}], "acks": -1, "timeoutMs": 1}
    partition = read_body("ProduceRequest", 9, None, body, True).topic_data[0].partition_data[0]
    assert (partition.records, partition.records_size) == (None, 228)


@pytest.mark.parametrize(
    "body",
    [
        {"topics": 7},
        {"topics": [7]},
        {"topics": [{"name": 7}]},
        {"topics": [{"topicId": "short"}]},
        {"allowAutoTopicCreation": True, "topics": {"name": "x"}},
    ],
)
def test_values_of_the_wrong_type(body: dict[str, Any]) -> None:
    with pytest.raises(BodyFault):
        read_body("MetadataRequest", 12, None, body, True)


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1, "x", 1.5, True, [], {}])
def test_integers_that_do_not_fit(value: Any) -> None:
    with pytest.raises(BodyFault):
        read_body("ProduceRequest", 9, None, {"timeoutMs": value}, True)


def test_bytes_that_were_blanked_out_are_none() -> None:
    assert read_body("SaslAuthenticateRequest", 2, None, {"authBytes": "[redacted]"}, True).auth_bytes is None


@pytest.mark.parametrize(
    ("api_key", "version", "body", "expected"),
    [
        # JSON of 2.8, then text of 1.0 and 2.0
        (24, 2, {"throttleTimeMs": 0, "results": [{"name": "t", "results": [{"partitionIndex": 0, "errorCode": 51}]}]}, 51),
        (24, 0, {"throttle_time_ms": 0, "errors": [{"topic": "t", "partition_errors": [{"partition": 0, "error_code": 51}]}]}, 51),
        (1, 7, {"error_code": 0, "responses": [{"topic": "t", "partition_responses": [{"partition_header": {"error_code": 6}}]}]}, 6),
        (1, 7, {"error_code": 71, "responses": [{"topic": "t", "partition_responses": [{"partition_header": {"error_code": 6}}]}]}, 71),
        (5, 0, {"error_code": 0, "partitions": [{"topic": "t", "partition": 0, "error_code": 9}]}, 9),
        (32, 0, {"resources": [{"error_code": 29, "resource_type": 2, "resource_name": "t"}]}, 29),
    ],
)
def test_error_codes_inside_bodies_of_former_releases(api_key: int, version: int, body: dict[str, Any], expected: int) -> None:
    fields, response = response_fields(api_key, version), catalog().response(api_key)
    assert response is not None
    assert error_code_of(read_body(response.name, version, fields.projection, body, "throttleTimeMs" in body), fields) == expected
