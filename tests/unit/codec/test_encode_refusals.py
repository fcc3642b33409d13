"""What cannot be written is said in one sentence, with the place, and the same in both twins."""

from __future__ import annotations

import array
import enum
import os
import pickle
import subprocess
import sys
import uuid
from dataclasses import replace
from textwrap import dedent
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from kwire.codec.classes import CompiledCatalog
from kwire.codec.encoding import FrameWriter
from kwire.codec.frames import Opaque
from kwire.errors import EncodeError, UnknownApi
from kwire.schema import Catalog, catalog

ZERO_TEXT = "AAAAAAAAAAAAAAAAAAAAAA"


def metadata(codec: Any, **values: Any) -> Any:
    """A MetadataResponse with one topic of two partitions."""
    kind = codec.message_class("MetadataResponse")
    topic, partition = kind.MetadataResponseTopic, kind.MetadataResponsePartition
    made = kind(
        brokers=[kind.MetadataResponseBroker(node_id=1, host="b", port=9092)],
        topics=[topic(name="a", partitions=[partition(partition_index=0), partition(partition_index=1, replica_nodes=(1, 2))])],
    )
    for path, value in values.items():
        *steps, last = path.split("__")
        target = made
        for step in steps:
            target = target[int(step)] if step.isdigit() else getattr(target, step)
        setattr(target, last, value)
    return made


def refused(codec: Any, message: Any, version: int) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        codec.encode(message, version)
    return caught.value


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("topics__0__name", 7, "expected text (str), got int"),
        ("topics__0__name", b"a", "expected text (str), got bytes"),
        ("topics__0__name", "x" * 32768, "the text has 32768 bytes of UTF-8, more than 32767"),
        ("topics__0__name", "é" * 16384, "the text has 32768 bytes of UTF-8, more than 32767"),
        ("topics__0__name", "\ud800", "the text holds half of a surrogate pair, which UTF-8 cannot write"),
        ("brokers__0__host", None, "null is not allowed"),
        ("brokers__0__port", 2**31, "2147483648 does not fit into an int32"),
        ("brokers__0__port", -(2**31) - 1, "-2147483649 does not fit into an int32"),
        ("brokers__0__port", 1 << 5000, "an int of 5001 bits does not fit into an int32"),
        ("brokers__0__port", "9092", "expected an int, got str"),
        ("brokers__0__port", 1.0, "expected an int, got float"),
        ("brokers__0__port", None, "null is not allowed"),
        ("topics__0__error_code", -32769, "-32769 does not fit into an int16"),
        ("topics__0__is_internal", "no", "expected a bool, got str"),
        ("topics__0__is_internal", 2, "expected a bool, got int"),
        ("topics__0__is_internal", [], "expected a bool, got list"),
        ("topics__0__topic_id", b"short", "a UUID has 16 bytes, not 5"),
        ("topics__0__topic_id", "not a UUID", "invalid UUID"),
        ("topics__0__topic_id", 16, "expected a UUID (16 bytes or text), got int"),
        ("topics__0__topic_id", None, "null is not allowed"),
        ("topics__0__partitions", None, "null is not allowed"),
        ("topics__0__partitions", {}, "expected a list or tuple, got dict"),
        ("topics__0__partitions", iter(()), "expected a list or tuple, got tuple_iterator"),
    ],
)
def test_values(codec, path, value, reason):
    error = refused(codec, metadata(codec, **{path: value}), 12)
    assert error.reason == reason
    assert error.path == path.replace("__0__", "[0].").replace("__", ".")
    assert str(error) == f"{reason} in {error.path} (MetadataResponse v12)"


def test_elements(codec):
    made = metadata(codec)
    made.topics[0].partitions[1].isr_nodes = [1, 2, "3"]
    assert str(refused(codec, made, 12)) == "expected an int, got str in topics[0].partitions[1].isr_nodes[2] (MetadataResponse v12)"
    made.topics[0].partitions[1] = made.topics[0]
    error = refused(codec, made, 12)
    wanted = "expected MetadataResponse.MetadataResponsePartition, got MetadataResponse.MetadataResponseTopic"
    assert (error.reason, error.path) == (wanted, "topics[0].partitions[1]")
    made.topics = [None]
    assert str(refused(codec, made, 12)) == "null is not allowed in topics[0] (MetadataResponse v12)"


def test_fields_outside_the_projection(codec):
    body = codec.encode(metadata(codec), 12)
    part = codec.decode("MetadataResponse", body, 12, ("brokers",))
    assert str(refused(codec, part, 12)) == "field was not decoded (outside the projection) in throttle_time_ms (MetadataResponse v12)"


def test_plans_of_a_part(codec):
    encoder = type(codec.compiled.encoder("MetadataResponse", 12))
    with pytest.raises(ValueError, match="a part of MetadataResponse cannot be written"):
        encoder(codec.compiled.plan("MetadataResponse", 12, ("brokers",)), codec.compiled.classes("MetadataResponse"))


def test_errors_travel(codec):
    error = refused(codec, metadata(codec, topics__0__name=1), 12)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.message, again.api_version) == (str(error), error.path, "MetadataResponse", 12)
    assert isinstance(error, ValueError)


def test_functions_travel(twin):
    """As Spark sends what a function of a user's refers to."""
    program = """
        import pickle, kwire
        from kwire import messages
        functions = kwire.encode, kwire.encode_request, kwire.encode_response
        again = pickle.loads(pickle.dumps(functions))
        assert again == functions
        print(kwire.backend, again[0](messages.HeartbeatResponse(error_code=27), 0).hex())
    """
    environment = {**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0"}
    done = subprocess.run([sys.executable, "-c", dedent(program)], env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == ([twin, "001b"], "")


def test_versions_and_objects(codec):
    assert str(refused(codec, metadata(codec), 99)) == "version 99 of MetadataResponse is not known, only 0-13"
    with pytest.raises(TypeError, match=r"encode takes a message object, not int"):
        codec.encode(5, 1)
    with pytest.raises(TypeError, match=r"encode takes a message object, not MetadataResponse.MetadataResponseTopic"):
        codec.encode(metadata(codec).topics[0], 1)
    with pytest.raises(TypeError, match=r"encode takes a message object, not SimpleNamespace"):
        codec.encode(SimpleNamespace(layout=None), 1)


def test_objects_of_another_catalog(codec):
    kept = catalog()["ListGroupsRequest"]
    headers = {name: catalog()[name] for name in ("RequestHeader", "ResponseHeader")}
    changed = {"ListGroupsRequest": replace(kept, fields=kept.fields[:1]), **headers}
    other = CompiledCatalog(Catalog("other", changed), codec.twin)
    made = other.classes("ListGroupsRequest")[0]()
    assert str(refused(codec, made, 5)) == "the object is of the ListGroupsRequest of another catalog (ListGroupsRequest v5)"
    with pytest.raises(EncodeError, match="of the MetadataResponse of another catalog"):
        FrameWriter(other).encode(metadata(codec), 12)


def test_tags(codec):
    made = metadata(codec)
    cases = [
        (((0, b"a"), (0, b"b")), "tag 0 comes after tag 0, but tags ascend", "unknown_tagged_fields[1]"),
        (((7, b"a"), (5, b"b")), "tag 5 comes after tag 7, but tags ascend", "unknown_tagged_fields[1]"),
        (((-1, b"a"),), "the tag does not fit into 32 bits", "unknown_tagged_fields[0]"),
        (((2**32, b"a"),), "the tag does not fit into 32 bits", "unknown_tagged_fields[0]"),
        (((1, "a"),), "expected bytes or another buffer, got str", "unknown_tagged_fields[0]"),
        (((1,),), "expected a pair of tag and bytes, got 1 values", "unknown_tagged_fields[0]"),
        ((5,), "expected a list or tuple, got int", "unknown_tagged_fields[0]"),
        (None, "null is not allowed", "unknown_tagged_fields"),
    ]
    for given, reason, path in cases:
        made.topics[0].unknown_tagged_fields = given
        error = refused(codec, made, 12)
        assert (error.reason, error.path) == (reason, f"topics[0].{path}")
    made.topics[0].unknown_tagged_fields = [[3, bytearray(b"ab")], (2**32 - 1, b"")]
    assert codec.decode("MetadataResponse", codec.encode(made, 12), 12).topics[0].unknown_tagged_fields == ((3, b"ab"), (2**32 - 1, b""))
    error = refused(codec, made, 8)  # version 9 is the first with tags
    assert (error.reason, error.path) == ("version 8 has no tagged fields", "topics[0].unknown_tagged_fields")
    fetch = codec.message_class("FetchRequest")(unknown_tagged_fields=((0, b"\0"),))  # tag 0 is ClusterId
    assert refused(codec, fetch, 12).reason == "tag 0 is that of a field of the message"


class Node(enum.IntEnum):
    FIRST = 7


class Many(list):
    def __len__(self) -> int:
        return 1000

    def __iter__(self) -> Any:
        return iter([1] * 1000)


class Text(str):
    def encode(self, *_: Any) -> bytes:  # type: ignore[override]
        return b"lies"

    def __len__(self) -> int:
        return 1000


class Index:
    def __index__(self) -> int:
        return 7


class Pair(NamedTuple):
    one: Any
    other: Any


@pytest.mark.parametrize(
    ("path", "odd", "usual"),
    [
        ("topics__0__name", Text("a"), "a"),
        ("topics__0__partitions__1__replica_nodes", [1, 2], (1, 2)),
        ("topics__0__partitions__1__replica_nodes", Many([1, 2]), (1, 2)),
        ("topics__0__partitions__1__replica_nodes", Pair(1, np.int64(2)), (1, 2)),
        ("brokers__0__port", Node.FIRST, 7),
        ("brokers__0__port", np.int64(7), 7),
        ("brokers__0__port", Index(), 7),
        ("brokers__0__port", True, 1),
        ("topics__0__is_internal", 1, True),
        ("topics__0__is_internal", np.bool_(True), True),
        ("topics__0__topic_id", uuid.UUID(int=1), bytes(15) + b"\1"),
        ("topics__0__topic_id", str(uuid.UUID(int=1)), bytes(15) + b"\1"),
        ("topics__0__topic_id", "AAAAAAAAAAAAAAAAAAAAAQ", bytes(15) + b"\1"),
        ("topics__0__topic_id", bytearray(15) + b"\1", bytes(15) + b"\1"),
        ("topics__0__topic_id", memoryview(bytes(16)), bytes(16)),
    ],
)
def test_other_forms_of_values(codec, path, odd, usual):
    assert codec.encode(metadata(codec, **{path: odd}), 12) == codec.encode(metadata(codec, **{path: usual}), 12)


class Payload(bytes):
    def __bytes__(self) -> bytes:
        return b"lies"

    def __len__(self) -> int:
        return 1000


@pytest.mark.parametrize(
    "payload",
    [
        b"12345678", bytearray(b"12345678"), memoryview(b"12345678"), memoryview(bytearray(b"0123456789"))[1:9], Payload(b"12345678"),
        memoryview(b"12345678").cast("I"), memoryview(b"12345678").cast("B", (2, 4)), array.array("H", b"12345678"),
        np.frombuffer(b"12345678", "u1").reshape(4, 2),
    ],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_buffers(codec, payload):
    kind = codec.message_class("SaslAuthenticateRequest")
    assert codec.encode(kind(auth_bytes=payload), 2) == b"\x0912345678\0"
    assert codec.encode(kind(auth_bytes=payload), 0) == b"\0\0\0\x0812345678"


def test_buffers_that_cannot_be_read(codec):
    kind = codec.message_class("SaslAuthenticateRequest")
    released = memoryview(b"a")
    released.release()
    for given, reason in (
        (memoryview(b"12345678")[::2], "the buffer is not contiguous"),
        (np.asfortranarray(np.zeros((4, 2), "u1")), "the buffer is not contiguous"),
        (released, "the buffer cannot be read"),
        ("text", "expected bytes or another buffer, got str"),
        (None, "null is not allowed"),
    ):
        error = refused(codec, kind(auth_bytes=given), 2)
        assert (error.reason, error.path) == (reason, "auth_bytes")


def test_floats(codec):
    kind = codec.message_class("ClientQuotaRecord")
    entity = [kind.EntityData(entity_type="user", entity_name="u")]

    def write(value: Any) -> bytes:
        return codec.encode(kind(entity=entity, key="k", value=value), 0)

    assert write(1) == write(1.0) == write(np.float32(1)) != write(2.0)
    for given, reason in (
        ("1", "expected a float, got str"),
        (10**400, "the number does not fit into a float64"),
        (None, "null is not allowed"),
    ):
        with pytest.raises(EncodeError) as caught:
            write(given)
        assert (caught.value.reason, caught.value.path) == (reason, "value")


def test_defaults_in_other_forms_are_defaults(codec):
    """Fields that a version lacks, and tagged ones, are compared as what would be written."""
    made = metadata(codec, topics__0__topic_id=ZERO_TEXT, topics__0__topic_authorized_operations=np.int32(-(2**31)))
    assert codec.encode(made, 0) == codec.encode(metadata(codec), 0)
    response = codec.message_class("ApiVersionsResponse")
    odd = response(supported_features=(), finalized_features_epoch=np.int64(-1), zk_migration_ready=0)
    assert codec.encode(odd, 3) == codec.encode(response(), 3)
    fetch = codec.message_class("FetchResponse")
    partition = fetch.PartitionData
    whole = partition(partition_index=1)
    touched = partition(partition_index=1, diverging_epoch=fetch.EpochEndOffset(epoch=-1), current_leader=fetch.LeaderIdAndEpoch())
    answers = [fetch(responses=[fetch.FetchableTopicResponse(topic="t", partitions=[each])]) for each in (whole, touched)]
    assert codec.encode(answers[0], 12) == codec.encode(answers[1], 12)
    touched.diverging_epoch.unknown_tagged_fields = ((9, b""),)
    assert codec.encode(answers[0], 12) != codec.encode(answers[1], 12)


def test_values_that_change_what_is_being_written(codec):
    """`__index__` may do anything: what was taken before it is written as it was, what comes later as it is then."""
    usual = codec.encode(metadata(codec, topics__0__partitions__0__leader_id=5), 12)

    class Emptying:
        def __init__(self, *lists: list[Any]) -> None:
            self.lists = lists

        def __index__(self) -> int:
            for each in self.lists:
                each.clear()
            return 5

    made = metadata(codec)
    partition = made.topics[0].partitions[0]
    partition.leader_id = Emptying(made.topics, made.topics[0].partitions, made.brokers)
    assert codec.encode(made, 12) == usual
    assert made.topics == []
    made = metadata(codec)
    made.throttle_time_ms = Emptying(made.topics)
    assert len(codec.decode("MetadataResponse", codec.encode(made, 12), 12).brokers) == 1
    assert codec.encode(metadata(codec, topics__0__partitions__0__leader_id=5), 12) == usual


def test_a_message_longer_than_a_frame(reference_codec):
    kind = reference_codec.message_class("SaslAuthenticateResponse")
    tags = tuple((tag, bytes(65536)) for tag in range(1, 2))
    shared = tuple((tag, tags[0][1]) for tag in range(32768))
    error = refused(reference_codec, kind(unknown_tagged_fields=shared), 2)
    assert error.reason.startswith("the message would take 2147")
    assert error.reason.endswith("bytes, more than 2147483647")


class TestFrames:
    def header(self, codec: Any, **values: Any) -> Any:
        return codec.message_class("RequestHeader")(**{"api_key": 3, "api_version": 12, "correlation_id": 5, "client_id": "c", **values})

    def test_a_body_of_another_api(self, codec):
        with pytest.raises(EncodeError, match=r"^the body of a request with api key 4 cannot be a MetadataRequest in api_key$"):
            codec.writer.encode_request(self.header(codec, api_key=4), codec.message_class("MetadataRequest")())
        with pytest.raises(EncodeError, match=r"^the body of a response with api key 3 cannot be a FetchResponse$"):
            codec.writer.encode_response(1, codec.message_class("FetchResponse")(), 3, 12)
        with pytest.raises(EncodeError, match=r"^the body of a response with api key 3 cannot be a MetadataRequest$"):
            codec.writer.encode_response(1, codec.message_class("MetadataRequest")(), 3, 12)

    def test_values_of_the_header(self, codec):
        body = codec.message_class("MetadataRequest")()
        # A frame of this api was written before, so what is refused is met on the way of the usual ones first.
        assert codec.writer.encode_request(self.header(codec), body) == bytes.fromhex("0003 000c 00000005 000163 00 01 01 00 00")
        assert codec.writer.encode_response(5, codec.message_class("MetadataResponse")(), 3, 12)[:5] == b"\0\0\0\5\0"
        for values, text in (
            ({"api_version": 77}, "version 77 of MetadataRequest is not known, only 0-13"),
            ({"api_key": 4}, "the body of a request with api key 4 cannot be a MetadataRequest in api_key"),
            ({"api_key": 3.0}, "expected an int, got float in api_key (RequestHeader)"),
            ({"api_key": None}, "null is not allowed in api_key (RequestHeader)"),
            ({"unknown_tagged_fields": ((5, None),)}, "null is not allowed in unknown_tagged_fields[0] (RequestHeader v2)"),
            ({"api_version": "12"}, "expected an int, got str in api_version (RequestHeader)"),
            ({"correlation_id": 2**31}, "2147483648 does not fit into an int32 in correlation_id (RequestHeader v2)"),
            ({"client_id": 5}, "expected text (str), got int in client_id (RequestHeader v2)"),
        ):
            with pytest.raises(EncodeError) as caught:
                codec.writer.encode_request(self.header(codec, **values), body)
            assert str(caught.value) == text
        for given in ("5", 2**31, None):
            with pytest.raises(EncodeError, match="in correlation_id"):
                codec.writer.encode_response(given, codec.message_class("MetadataResponse")(), 3, 12)
        with pytest.raises(TypeError, match="encode_request takes a RequestHeader, not int"):
            codec.writer.encode_request(5, body)
        with pytest.raises(TypeError, match="encode_request takes a message object, not int"):
            codec.writer.encode_request(self.header(codec), 5)

    def test_opaque_bodies(self, codec):
        """What could not be read is passed on as it was."""
        for frame in ("0003 7fff 00000009 000163 00 aabb", "7abc 0001 00000009 000163 aabb"):
            given = bytes.fromhex(frame)
            request = codec.frames.decode_request(given, strict=False)
            assert type(request.body) is Opaque
            assert codec.writer.encode_request(request.header, request.body) == given
        given = bytes.fromhex("00000009 aabb")
        response = codec.frames.decode_response(given, 0x7ABC, 1, strict=False)
        assert isinstance(response.violation, UnknownApi)
        assert codec.writer.encode_response(response.header, response.body, 0x7ABC, 1) == given

    def test_controlled_shutdown_0_has_no_client_id(self, codec):
        body = codec.message_class("ControlledShutdownRequest")(broker_id=1)
        frame = codec.writer.encode_request(self.header(codec, api_key=7, api_version=0), body)
        assert frame == bytes.fromhex("0007 0000 00000005 00000001")

    @pytest.mark.parametrize("form", ["correlation id", "header", "pickled"])
    def test_tags_of_the_header_of_a_response(self, codec, form):
        frame = bytes.fromhex("00000009 01 05 02 cafe 00000000 0000 00")  # header 1 with tag 5, HeartbeatResponse v4
        for _ in range(2):  # the first frame of an api and the others are read on two ways
            response = codec.frames.decode_response(frame, 12, 4)
            assert (response.header.correlation_id, repr(response.header.correlation_id)) == (9, "9")
            given = response.header if form == "header" else response.header.correlation_id
            if form == "pickled":
                given = pickle.loads(pickle.dumps(given))
            assert codec.writer.encode_response(given, response.body, 12, 4) == frame
            assert codec.writer.encode_response(9, response.body, 12, 4) == bytes.fromhex("00000009 00 00000000 0000 00")
