"""What type checkers are to make of kwire: right uses pass, and each line with an `ignore` is an error that they have to find."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

import kwire
from kwire.messages import FetchRequest, HeartbeatResponse, MessageObject, MetadataRequest, MetadataResponse, RequestHeader


def hosts(data: bytes) -> list[str]:
    message = kwire.decode("MetadataResponse", data, 12)
    assert_type(message, MetadataResponse)
    assert_type(message.topics[0], MetadataResponse.MetadataResponseTopic)
    assert_type(message.topics[0].name, str | None)
    assert_type(message.topics[0].topic_id, kwire.Uuid)
    assert_type(message.topics[0].partitions[0].replica_nodes, tuple[int, ...])
    assert_type(message.unknown_tagged_fields, tuple[tuple[int, bytes], ...])
    return [broker.host for broker in message.brokers]


def code(data: bytes) -> int:
    try:
        kwire.records.decode(data)
    except kwire.errors.WireError as error:
        return error.code
    return 0


def whatever(name: str, data: memoryview) -> Any:
    assert_type(kwire.decode(name, data, 0), Any)
    assert_type(kwire.decode("MetadataResponse", data, 12, strict=False), Any)
    assert_type(kwire.decode("FetchResponse", data, 12, memoryviews=True), Any)  # its records are no bytes
    return kwire.from_json(name, {}, 0)


def clients(frame: bytes) -> str | None:
    request = kwire.decode_request(frame)
    assert_type(request.header, RequestHeader)
    assert_type(kwire.peek_header(frame), RequestHeader)
    if isinstance(request.body, FetchRequest):
        assert_type(request.body.topics[0].partitions[0].fetch_offset, int)
    return request.header.client_id


def answered(frame: bytes, version: int) -> int:
    answer = kwire.decode_response(frame, kwire.ApiKey.METADATA, version)
    assert_type(answer.body, MetadataResponse)
    assert_type(kwire.decode_response(frame, 12, 4).body, HeartbeatResponse)
    assert_type(kwire.decode(HeartbeatResponse, frame, version), HeartbeatResponse)
    assert_type(kwire.replace(answer.body, throttle_time_ms=0), MetadataResponse)
    assert_type(kwire.decode_response(frame, 3, version, strict=False).body, Any)
    return answer.body.throttle_time_ms


def made() -> MessageObject:
    topic = MetadataRequest.MetadataRequestTopic(name="orders")
    MetadataResponse.MetadataResponsePartition(replica_nodes=(1, 2), unknown_tagged_fields=((9999, b"x"),))
    MetadataRequest(topics=None, allow_auto_topic_creation=False)
    return MetadataRequest(topics=[topic])


def written(header: RequestHeader, body: MetadataRequest) -> tuple[bytes, bytes]:
    assert_type(kwire.from_json("MetadataRequest", {"topics": None}, 1), MetadataRequest)
    return kwire.encode(body, 12), kwire.encode_request(header, body)


def records(data: bytes) -> list[bytes | None]:
    assert_type(kwire.records.decode(data)[0].magic, int)
    batch = kwire.records.RecordBatch([kwire.records.Record(key=b"k", headers=[("h", None)])], compression="gzip")
    assert_type(kwire.records.encode(batch), bytes)
    return [record.value for each in kwire.records.decode(data) for record in each.records]


def rewritten(frame: bytearray) -> bytes:
    assert_type(kwire.scan_headers(frame).client_ids, list[str | None])
    draft = kwire.Codec(kwire.schema.dialect("kip-1313"))
    assert_type(draft.scan_headers(frame).end, int)
    return kwire.rename_topics(kwire.splice(frame, {"header.client_id": "me"}), {"old": "new"})


def faults(message: MetadataResponse) -> None:
    MetadataRequest(topic=[])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    MetadataRequest(())  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    MetadataRequest.MetadataRequestTopic(name=b"orders")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    message.controllerId  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
    message.topics[0].name.upper()  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
    message.controller_id = None  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]
    kwire.decode("MetadataResponse", "00", 12)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    kwire.decode("MetadataResponse", b"")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    kwire.messages.MetadataResponze  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
    kwire.decod  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
    kwire.encode("MetadataRequest", 12)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
