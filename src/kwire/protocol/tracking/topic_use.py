"""Topics used by a Produce, Fetch or ShareFetch, and the bytes and records by partition, from the headers of record batches.

In a fetch session (KIP-227), a request names only changed partitions and a response only those with data; either one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kwire.codec.records import StoredBatch, scan
from kwire.codec.uuids import ZERO_UUID, Uuid
from kwire.errors import WireError
from kwire.protocol.events import PartitionUse

__all__ = ["TOPIC_USERS", "Shape", "noted", "records_in", "used"]

_PLAIN: Final = 0
_CODEC: Final = 7


class Shape(NamedTuple):
    """Attribute names of the topics in a message: array, topic name (None if by id only), partitions, partition number."""

    topics: str
    name: str | None
    partitions: str
    number: str
    records: bool
    errors: bool

    @property
    def paths(self) -> tuple[str, ...]:
        inner = f"{self.topics}.{self.partitions}"
        return (
            *((f"{self.topics}.{self.name}",) if self.name else ()),
            f"{self.topics}.topic_id",
            f"{inner}.{self.number}",
            *((f"{inner}.records",) if self.records else ()),
            *((f"{inner}.error_code",) if self.errors else ()),
        )


# api key -> request and response
TOPIC_USERS: Final[dict[int, tuple[Shape, Shape]]] = {
    0: (
        Shape("topic_data", "name", "partition_data", "index", records=True, errors=False),
        Shape("responses", "name", "partition_responses", "index", records=False, errors=True),
    ),
    1: (
        Shape("topics", "topic", "partitions", "partition", records=False, errors=False),
        Shape("responses", "topic", "partitions", "partition_index", records=True, errors=True),
    ),
    78: (
        Shape("topics", None, "partitions", "partition_index", records=False, errors=False),
        Shape("responses", None, "partitions", "partition_index", records=True, errors=True),
    ),
}

PartitionKey = tuple[str | None, str | None, int]


def _uses(shape: Shape, message: Any) -> Iterator[PartitionUse]:
    """Yield the uses in one message, in wire order; a truncated message yields those before the cut.

    If the cut is inside a topic's partitions, the last one before it is `unseen`, because the ones after it are unknown.
    """
    for topic in getattr(message, shape.topics, None) or ():
        name = getattr(topic, shape.name, None) if shape.name else None
        identifier = getattr(topic, "topic_id", ZERO_UUID)
        topic_id = None if identifier == ZERO_UUID else str(Uuid(identifier))
        if not name and topic_id is None:
            continue
        latest: PartitionUse | None = None
        for partition in getattr(topic, shape.partitions, None) or ():
            number = getattr(partition, shape.number, None)
            is_cut = shape.records and not (hasattr(partition, "records") or hasattr(partition, "records_size"))
            if number is None:
                if latest is not None and is_cut:
                    latest = latest._replace(unseen=True)
                continue
            if latest is not None:
                yield latest
            use = PartitionUse(name or None, topic_id, number, getattr(partition, "error_code", None) if shape.errors else None)
            records = getattr(partition, "records", None) if shape.records else None
            # A request log has the size of the records instead.
            latest = _weigh(use, records) if records else use._replace(bytes=getattr(partition, "records_size", None) or 0, unseen=is_cut)
        if latest is not None:
            yield latest


def _weigh(use: PartitionUse, records: bytes) -> PartitionUse:
    batches = list(scan(records))
    magics = codecs = 0
    for batch in batches:
        magics |= 1 << batch.magic
        codecs |= 1 << (batch.attributes & _CODEC)
    return use._replace(
        records=sum(map(_count, batches)),
        batches=len(batches),
        bytes=sum(batch.size for batch in batches),
        largest=max((batch.size for batch in batches), default=0),
        magics=magics,
        codecs=codecs,
    )


def _count(batch: StoredBatch) -> int:
    if batch.count is not None:
        return 0 if batch.is_control else max(batch.count, 0)
    if batch.attributes & _CODEC == _PLAIN:
        return 1
    # A compressed message of magic 0 or 1 does not say how many it holds.
    try:
        return len(batch.records)
    except WireError:
        return 1


def records_in(records: bytes) -> int:
    return sum(map(_count, scan(records)))


def noted(api_key: int, message: Any) -> list[PartitionUse]:
    """Return the uses in a request without its records, to be kept until the response."""
    return list(_uses(TOPIC_USERS[api_key][0], message))


def used(api_key: int, note: list[PartitionUse], message: Any, is_request_whole: bool = True, is_whole: bool = True) -> list[PartitionUse]:
    """Return the uses of request and response together, each partition once; the response may be None.

    If the message with the records is whole, it names every partition that has records.
    """
    request, response = TOPIC_USERS[api_key]
    missing = response.records and not is_whole
    found: dict[PartitionKey, PartitionUse] = {use[:3]: use._replace(unseen=True) if missing else use for use in note}
    for use in _uses(response, message) if message is not None else ():
        known = found.get(use[:3])
        # A request has records or its response has, never both.
        if request.records:
            use = use._replace(unseen=not is_request_whole if known is None else known.unseen)
        found[use[:3]] = use if known is None or use.bytes or not known.bytes else known._replace(error_code=use.error_code)
    return list(found.values())
