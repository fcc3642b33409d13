"""Deterministic Kafka frames for the benchmarks, written byte by byte so that no contender makes its own input.

Two corpora: `few` has the topics, brokers and offsets of one small cluster, as caches like them; `many` has different topic names, broker
ids and epochs everywhere, harsher than any real cluster.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable

SEED = 559
TOPICS = ("orders", "payments", "clicks", "inventory", "audit", "sessions", "metrics", "billing", "search", "shipping")
CLIENTS = ("producer-1", "consumer-billing-7f4c", "sarama", "rdkafka", "connect-worker-2-prod-eu")


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(value: str | None) -> bytes:
    """A compact string."""
    return b"\0" if value is None else varint(len(value) + 1) + value.encode()


def payload(value: bytes) -> bytes:
    """Compact bytes."""
    return varint(len(value) + 1) + value


def array(items: Iterable[bytes]) -> bytes:
    """A compact array."""
    parts = list(items)
    return varint(len(parts) + 1) + b"".join(parts)


def ints(values: Iterable[int]) -> bytes:
    return array(struct.pack(">i", value) for value in values)


def header(api_key: int, api_version: int, correlation_id: int, client_id: str, flexible: bool = True) -> bytes:
    """A request header, version 2 or 1."""
    return struct.pack(">hhih", api_key, api_version, correlation_id, len(client_id)) + client_id.encode() + (b"\0" if flexible else b"")


class Corpus:
    """Makes messages of one kind after the other.

    Arguments:
        many: high cardinality, see the module.
    """

    def __init__(self, many: bool = False) -> None:
        self.many = many
        self.chance = random.Random(SEED + many)
        self.correlation = 0

    def topic(self, number: int) -> str:
        if self.many:
            return f"{self.chance.choice(TOPICS)}.{self.chance.getrandbits(48):012x}.v{number}"
        return f"prod.{TOPICS[number % 10]}.{TOPICS[(number * 7 + 3) % 10]}.v{number % 4}"

    def broker(self, number: int) -> int:
        return self.chance.randrange(1000, 2**31 - 1) if self.many else 1 + number % 3

    def offset(self) -> int:
        return self.chance.randrange(2**40)

    def epoch(self) -> int:
        return self.chance.randrange(1000, 2**20) if self.many else self.chance.randrange(60)

    def client(self) -> str:
        return f"client-{self.chance.getrandbits(32):08x}" if self.many else self.chance.choice(CLIENTS)

    def member(self) -> str:
        return f"{self.client()}-{self.chance.getrandbits(128):032x}"

    def next_header(self, api_key: int, api_version: int, flexible: bool = True) -> bytes:
        self.correlation += 1
        return header(api_key, api_version, self.correlation, self.client(), flexible)

    def metadata_response(self, topics: int = 50, partitions: int = 6) -> bytes:
        """MetadataResponse v12 with three brokers."""
        return b"".join((
            struct.pack(">i", 0),
            array(
                struct.pack(">i", self.broker(b)) + text(f"broker-{b}.kafka.eu-west-1.example.com") + struct.pack(">i", 9092)
                + text(f"eu-west-1{'abc'[b]}") + b"\0"
                for b in range(3)
            ),
            text("lkc-9Zq3T8n1QmSg7w"),
            struct.pack(">i", self.broker(0)),
            array(
                struct.pack(">h", 0) + text(self.topic(t)) + self.chance.randbytes(16) + b"\0"
                + array(
                    struct.pack(">hiii", 0, p, self.broker(t + p), self.epoch())
                    + ints(replicas := [self.broker(t + p + r) for r in range(3)]) + ints(replicas) + ints(()) + b"\0"
                    for p in range(partitions)
                )
                + struct.pack(">i", -2147483648) + b"\0"
                for t in range(topics)
            ),
            b"\0",
        ))  # fmt: skip

    def fetch_request(self, topics: int = 50, partitions: int = 6) -> bytes:
        """FetchRequest v12 of a consumer."""
        return b"".join((
            struct.pack(">iiiibii", -1, 500, 1, 52428800, 0, self.chance.randrange(2**31), self.epoch()),
            array(
                text(self.topic(t))
                + array(struct.pack(">iiqiqi", p, self.epoch(), self.offset(), -1, -1, 1048576) + b"\0" for p in range(partitions)) + b"\0"
                for t in range(topics)
            ),
            array(()), text(""), b"\0",
        ))  # fmt: skip

    def fetch_response(self, topics: int = 50, partitions: int = 6, size: int = 1000) -> bytes:
        """FetchResponse v12; its records are opaque."""
        return b"".join((
            struct.pack(">ihi", 0, 0, self.chance.randrange(2**31)),
            array(
                text(self.topic(t))
                + array(
                    struct.pack(">ihqqq", p, 0, self.offset(), self.offset(), 0) + b"\0" + struct.pack(">i", -1)
                    + payload(self.chance.randbytes(size)) + b"\0"
                    for p in range(partitions)
                ) + b"\0"
                for t in range(topics)
            ),
            b"\0",
        ))  # fmt: skip

    def api_versions_response(self, keys: int = 60) -> bytes:
        """ApiVersionsResponse v3 with features in its tags."""
        supported = array(
            (text("metadata.version") + struct.pack(">hh", 1, 25) + b"\0", text("group.version") + struct.pack(">hh", 0, 1) + b"\0")
        )
        epoch = struct.pack(">q", self.offset())
        finalized = array((text("metadata.version") + struct.pack(">hh", 21, 21) + b"\0",))
        tags = b"".join(varint(tag) + varint(len(value)) + value for tag, value in enumerate((supported, epoch, finalized)))
        entries = array(struct.pack(">hhh", key, 0, self.chance.randrange(18)) + b"\0" for key in range(keys))
        return struct.pack(">h", 0) + entries + struct.pack(">i", 0) + b"\3" + tags

    def join_group_request(self) -> bytes:
        """JoinGroupRequest v7."""
        subscription = struct.pack(">hi", 1, 1) + struct.pack(">h", 6) + b"orders" + struct.pack(">ii", -1, 0)
        protocols = array(text(name) + payload(subscription) + b"\0" for name in ("range", "cooperative-sticky"))
        return (
            text("billing-aggregator")
            + struct.pack(">ii", 45000, 300000)
            + text(self.member())
            + text(None)
            + text("consumer")
            + protocols
            + b"\0"
        )

    def offset_commit_request(self, topics: int = 3, partitions: int = 4) -> bytes:
        """OffsetCommitRequest v8."""
        committed = array(
            text(self.topic(t))
            + array(struct.pack(">iqi", p, self.offset(), self.epoch()) + text("") + b"\0" for p in range(partitions))
            + b"\0"
            for t in range(topics)
        )
        return text("billing-aggregator") + struct.pack(">i", self.epoch()) + text(self.member()) + text(None) + committed + b"\0"

    def heartbeat_request(self) -> bytes:
        """HeartbeatRequest v4."""
        return text("billing-aggregator") + struct.pack(">i", self.epoch()) + text(self.member()) + text(None) + b"\0"

    def produce_request(self, partitions: int = 3, size: int = 1000) -> bytes:
        """ProduceRequest v9; its records are opaque."""
        data = array(struct.pack(">i", p) + payload(self.chance.randbytes(size)) + b"\0" for p in range(partitions))
        return text(None) + struct.pack(">hi", -1, 30000) + array((text(self.topic(0)) + data + b"\0",)) + b"\0"

    def metadata_request(self, topics: int = 5) -> bytes:
        """MetadataRequest v12."""
        return array(bytes(16) + text(self.topic(t)) + b"\0" for t in range(topics)) + b"\1\0\0"

    def api_versions_request(self) -> bytes:
        """ApiVersionsRequest v3."""
        return text("apache-kafka-java") + text("4.1.0") + b"\0"

    def request_stream(self, frames: int = 1000) -> list[bytes]:
        """Requests, header and body, in the shares of a busy cluster: fetches (most of them incremental and empty), produces, commits."""
        made: list[bytes] = []
        kinds: list[tuple[int, int, int, Callable[[], bytes]]] = [
            (24, 1, 12, lambda: self.fetch_request(0, 0)), (16, 1, 12, lambda: self.fetch_request(3, 4)), (35, 0, 9, self.produce_request),
            (11, 12, 4, self.heartbeat_request), (8, 8, 8, self.offset_commit_request), (4, 3, 12, self.metadata_request),
            (1, 18, 3, self.api_versions_request), (1, 11, 7, self.join_group_request),
        ]  # fmt: skip
        weights = [share for share, *_ in kinds]
        for _, api_key, api_version, make in self.chance.choices(kinds, weights, k=frames):
            made.append(self.next_header(api_key, api_version) + make())
        return made


BODIES: dict[str, tuple[int, int, str, Callable[[Corpus], bytes]]] = {
    # id: api key, version, "request" or "response", body
    "MetadataResponse-v12-50x6": (3, 12, "response", Corpus.metadata_response),
    "FetchRequest-v12-50x6": (1, 12, "request", Corpus.fetch_request),
    "FetchResponse-v12-50x6": (1, 12, "response", Corpus.fetch_response),
    "ApiVersionsResponse-v3-60": (18, 3, "response", Corpus.api_versions_response),
    "JoinGroupRequest-v7": (11, 7, "request", Corpus.join_group_request),
    "OffsetCommitRequest-v8-3x4": (8, 8, "request", Corpus.offset_commit_request),
    "HeartbeatRequest-v4": (12, 4, "request", Corpus.heartbeat_request),
    "ProduceRequest-v9-1x3": (0, 9, "request", Corpus.produce_request),
}
