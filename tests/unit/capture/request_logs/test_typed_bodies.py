"""Bodies of JSON request logs as msgspec reads them, against `read_body`: the same message or none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from kwire.capture.request_logs.bodies import BodyFault, read_body
from kwire.capture.request_logs.entry import WantedBodies
from kwire.capture.request_logs.typed_bodies import body_decoders, converted, struct_of
from kwire.codec.classes import compiled
from kwire.protocol.row_columns import REQUEST_BODIES, RESPONSE_BODIES
from kwire.protocol.tracking.first_fields import error_code_of, first_value, request_fields, response_fields, topics_of
from kwire.schema import catalog
from kwire.tables.request_logs.exchange_kinds import exchange_kind
from log_line_paths import both, same, same_entry, with_bodies


def bodies(vectors: Callable[[str], list[dict[str, Any]]]) -> Iterator[tuple[Any, str, int, dict[str, Any]]]:
    for line in vectors("messages-sample"):
        message = compiled().message(line["message"])
        known = catalog().request if message.kind == "request" else catalog().response
        # former names of an api have no lines in a log
        if message.kind in ("request", "response") and (found := known(message.api_key)) is not None and found.name == line["message"]:
            yield message, line["message"], line["version"], line["json"]


def typed_body(name: str, version: int, fields: tuple[str, ...] | None, text: bytes) -> Any:
    """The body as the fast path reads it, None where it does not fit its type."""
    try:
        return msgspec.json.decode(text, type=struct_of(compiled().plan(name, version, fields)), dec_hook=converted)
    except msgspec.MsgspecError:
        return None


def test_bodies_are_the_same_on_both_paths(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    """Every version of every request and response, whole and with the fields of the tables."""
    seen = typed = 0
    for message, name, version, body in bodies(vectors):
        first = (request_fields if message.kind == "request" else response_fields)(message.api_key, version).projection
        for fields in {None, first}:
            found = typed_body(name, version, fields, json.dumps(body, ensure_ascii=False).encode())
            seen += 1
            typed += found is not None
            assert found is None or same(found, read_body(name, version, fields, body, True)), (name, version)
    assert typed > seen * 0.9 > 1000


@pytest.mark.parametrize(
    ("api_key", "version", "text", "value"),
    [
        # as brokers of 4.3.1 and 3.9.2 write them
        (
            28,
            4,
            '{"transactionalId":"t","groupId":"g","producerId":1,"producerEpoch":0,"generationId":7,"memberId":"m","topics":[],"groupInstanceId":null}',
            lambda body: body.generation_id_or_member_epoch == 7,
        ),
        (
            52,
            0,
            '{"clusterId":null,"topics":[{"topicName":"t","partitions":[{"partitionIndex":0,"candidateEpoch":5,"candidateId":2,'
            '"lastOffsetEpoch":4,"lastOffset":9}]}]}',
            lambda body: body.topics[0].partitions[0].replica_epoch == 5,
        ),
    ],
)
def test_names_of_the_brokers_release_are_read_on_both_paths(api_key: int, version: int, text: str, value: Callable[[Any], bool]) -> None:
    name = catalog().request(api_key).name  # type: ignore[union-attr]
    today, former = body_decoders(version, WantedBodies((name, None), None), False)
    with pytest.raises(msgspec.ValidationError):
        today(text.encode())
    assert value(former(text.encode()))
    assert same(former(text.encode()), read_body(name, version, None, json.loads(text), True))


def test_sizes_of_records_are_read_on_both_paths() -> None:
    partition = {"partitionIndex": 3, "errorCode": 0, "highWatermark": 9, "recordsSizeInBytes": 77, "abortedTransactions": None}
    partition |= {"lastStableOffset": 9, "logStartOffset": 0, "preferredReadReplica": -1}
    body = {"throttleTimeMs": 0, "errorCode": 0, "sessionId": 0, "responses": [{"topic": "t", "partitions": [partition]}]}
    found = typed_body("FetchResponse", 12, None, json.dumps(body).encode())
    assert same(found, read_body("FetchResponse", 12, None, body, True))
    (topic,) = found.responses
    assert (topic.partitions[0].records_size, topic.partitions[0].records) == (77, None)


def test_typed_messages_have_the_first_fields_of_all_others(vectors: Callable[[str], list[dict[str, Any]]]) -> None:
    seen = 0
    for message, name, version, body in bodies(vectors):
        kind = exchange_kind(message.api_key, version)
        known = kind.request if message.kind == "request" else kind.response
        assert known is not None
        found = typed_body(name, version, known.fields, json.dumps(body).encode())
        if found is None:
            continue
        seen += 1
        if message.kind == "request":
            fields = request_fields(message.api_key, version)
            expected = (
                *(first_value(found, fields.columns.get(column.name)) for column, _ in REQUEST_BODIES),
                *topics_of(found, fields),
            )
            assert kind.first(found) == expected
        else:
            answered = response_fields(message.api_key, version)
            assert kind.code(found) == error_code_of(found, answered)
            assert kind.answered(found) == tuple(first_value(found, answered.columns.get(column.name)) for column, _ in RESPONSE_BODIES)
    assert seen > 500


@pytest.mark.parametrize(
    ("key", "version", "request_body", "response"),
    [
        (8, 8, '{"groupId":"g","generationId":4,"memberId":"m","topics":[],"groupInstanceId":null}', '{"throttleTimeMs":0,"topics":[]}'),
        (1, 12, '{"replicaId":-1,"maxWaitMs":500,"rackId":"","topics":[]}',
         '{"throttleTimeMs":0,"errorCode":0,"responses":[{"topic":"t","partitionResponses":'
         '[{"partition":3,"errorCode":0,"recordSetSizeInBytes":7}]}]}'),
    ],
)  # fmt: skip
def test_names_of_former_releases_take_the_fast_path(key: int, version: int, request_body: str, response: str) -> None:
    """As 2.8 wrote them, and with the names of today."""
    line = with_bodies(key, version, request_body, response)
    today = line.replace('"generationId"', '"generationIdOrMemberEpoch"').replace('"partitionResponses"', '"partitions"')
    today = today.replace('"partition":3', '"partitionIndex":3').replace("recordSetSize", "recordsSize")
    for text in (line, today):
        typed, read = both(text.encode())
        assert typed is not None
        assert same_entry(typed, read)


def test_a_field_with_both_names_is_read_alike_on_both_paths() -> None:
    """Two partitions as 2.8 wrote them, and one of them with what is left of another line."""
    partition = '{"partition":3,"errorCode":0,"recordSetSizeInBytes":7}'
    both_names = partition.replace('"partition":3', '"partition":3,"partitionIndex":4')
    request = '{"replicaId":-1,"maxWaitMs":500,"rackId":"","topics":[]}'
    answer = '{"throttleTimeMs":0,"errorCode":0,"responses":[{"topic":"t","partitionResponses":[%s,%s]}]}'
    typed, read = both(with_bodies(1, 12, request, answer % (partition, both_names)).encode())
    assert read is not None
    assert typed is None or same_entry(typed, read)
    found = read_body("FetchResponse", 12, None, read.response, True)
    assert [each.partition_index for each in found.responses[0].partitions] == [3, 4]


@pytest.mark.parametrize(
    ("api_key", "body"),
    [(18, {"errorCode": 0, "apiKeys": [{"apiKey": None, "minVersion": 0, "maxVersion": 1}]}),
     (1, {"errorCode": 0, "responses": [{"topicId": None, "partitions": []}]})],
)  # fmt: skip
def test_numbers_and_ids_are_never_null(api_key: int, body: dict[str, Any]) -> None:
    """No schema of Kafka has a null of these types; a broken log that has one must not stop the series."""
    version = 3 if api_key == 18 else 13
    message = catalog().response(api_key)
    assert message is not None
    body = {"throttleTimeMs": 0, "sessionId": 0, **body}
    with pytest.raises(BodyFault):
        read_body(message.name, version, None, body, True)
    assert typed_body(message.name, version, None, json.dumps(body).encode()) is None
