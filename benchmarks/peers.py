"""The contenders: for each the quickest way that its own users have to decode one message, or to encode it."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import msgspec
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from kwire.codec.classes import CompiledCatalog
from kwire.codec.decoding import FrameReader
from kwire.codec.impl import Twin
from kwire.schema import catalog

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python reads its schemas with a call that 3.11 deprecates
    import kafka.protocol.consumer
    import kafka.protocol.metadata
    import kafka.protocol.producer

TWINS: tuple[Twin, ...] = ("native", "pure")

_compiled: dict[Twin, CompiledCatalog] = {twin: CompiledCatalog(catalog(), twin) for twin in TWINS}
_readers: dict[Twin, FrameReader] = {twin: FrameReader(_compiled[twin]) for twin in TWINS}


def twin_decoder(twin: Twin, name: str, version: int) -> Callable[[bytes], Any]:
    return _compiled[twin].decoder(name, version).decode_whole


def twin_catalog(twin: Twin) -> CompiledCatalog:
    return _compiled[twin]


def twin_encoder(twin: Twin, name: str, version: int) -> Callable[[Any], bytes]:
    return _compiled[twin].encoder(name, version).encode


def twin_frames(twin: Twin) -> FrameReader:
    return _readers[twin]


def kio_schema(api_key: int, version: int, kind: str) -> Any:
    return (load_request_schema if kind == "request" else load_response_schema)(api_key, version)


def kio_decoder(api_key: int, version: int, kind: str) -> Callable[[bytes], Any]:
    read = entity_reader(kio_schema(api_key, version, kind))
    return lambda data: read(data, 0)


def kio_encoder(api_key: int, version: int, kind: str) -> Callable[[Any], bytes]:
    write = entity_writer(kio_schema(api_key, version, kind))

    def encode(message: Any) -> bytes:
        buffer = io.BytesIO()
        write(buffer, message)
        return buffer.getvalue()

    return encode


def kafka_python_decoder(name: str, version: int) -> Callable[[bytes], Any]:
    rooms = (kafka.protocol.metadata, kafka.protocol.consumer, kafka.protocol.producer)
    decode = next(getattr(room, name) for room in rooms if hasattr(room, name)).decode
    return lambda data: decode(data, version=version)


def msgspec_types(gc: bool) -> dict[str, Any]:
    """Structs with the fields of a few messages, as arrays of msgpack: what a fast library needs for the same tree."""

    def struct(name: str, *fields: Any) -> Any:
        return msgspec.defstruct(name, fields, array_like=True, frozen=True, gc=gc)

    def ints(*names: str) -> tuple[tuple[str, type], ...]:
        return tuple((name, int) for name in names)

    many = tuple[int, ...]
    node = struct("Node", *ints("node_id"), ("host", str), *ints("port"), ("rack", str | None))
    partition = struct("Partition", *ints("error", "index", "leader", "epoch"), ("replicas", many), ("in_sync", many), ("offline", many))
    topic = struct(
        "Topic",
        *ints("error"),
        ("name", str | None),
        ("id", bytes),
        ("internal", bool),
        ("partitions", tuple[partition, ...]),
        *ints("allowed"),
    )
    metadata = struct(
        "Metadata",
        *ints("throttle"),
        ("brokers", tuple[node, ...]),
        ("cluster", str | None),
        *ints("controller"),
        ("topics", tuple[topic, ...]),
    )
    fetch_partition = struct("FetchPartition", *ints("index", "epoch", "offset", "last_epoch", "start", "bytes"))
    fetch_topic = struct("FetchTopic", ("name", str), ("partitions", tuple[fetch_partition, ...]))
    forgotten = struct("Forgotten", ("name", str), ("partitions", many))
    fetch = struct(
        "Fetch", *ints("replica", "wait", "least", "most", "isolation", "session", "epoch"), ("topics", tuple[fetch_topic, ...]),
        ("forgotten", tuple[forgotten, ...]), ("rack", str),
    )  # fmt: skip
    header = struct("Header", *ints("key", "version", "correlation"), ("client", str))
    api = struct("Api", *ints("key", "lowest", "highest"))
    feature = struct("Feature", ("name", str), *ints("highest", "lowest"))
    versions = struct(
        "Versions", *ints("error"), ("apis", tuple[api, ...]), *ints("throttle"), ("supported", tuple[feature, ...]), *ints("epoch"),
        ("finalized", tuple[feature, ...]), ("ready", bool),
    )  # fmt: skip
    return {"MetadataResponse": metadata, "FetchRequest": fetch, "RequestHeader": header, "ApiVersionsResponse": versions}


def as_arrays(message: Any, name: str) -> Any:
    """The fields of a decoded message in the order of `msgspec_types`."""
    if name == "FetchRequest":
        return (
            message.replica_id, message.max_wait_ms, message.min_bytes, message.max_bytes, message.isolation_level, message.session_id,
            message.session_epoch,
            [
                (topic.topic, [
                    (p.partition, p.current_leader_epoch, p.fetch_offset, p.last_fetched_epoch, p.log_start_offset, p.partition_max_bytes)
                    for p in topic.partitions
                ])
                for topic in message.topics
            ],
            (), message.rack_id,
        )  # fmt: skip
    if name == "ApiVersionsResponse":
        return (
            message.error_code, [(each.api_key, each.min_version, each.max_version) for each in message.api_keys], message.throttle_time_ms,
            [(each.name, each.max_version, each.min_version) for each in message.supported_features], message.finalized_features_epoch,
            [(each.name, each.max_version_level, each.min_version_level) for each in message.finalized_features],
            message.zk_migration_ready,
        )  # fmt: skip
    if name == "RequestHeader":
        return message.api_key, message.api_version, message.correlation_id, message.client_id
    return (
        message.throttle_time_ms, [(b.node_id, b.host, b.port, b.rack) for b in message.brokers], message.cluster_id, message.controller_id,
        [
            (t.error_code, t.name, bytes(t.topic_id), t.is_internal, [
                (p.error_code, p.partition_index, p.leader_id, p.leader_epoch, p.replica_nodes, p.isr_nodes, p.offline_replicas)
                for p in t.partitions
            ], t.topic_authorized_operations)
            for t in message.topics
        ],
    )  # fmt: skip


def msgspec_decoder(name: str, gc: bool) -> Callable[[bytes], Any]:
    return msgspec.msgpack.Decoder(msgspec_types(gc)[name]).decode
