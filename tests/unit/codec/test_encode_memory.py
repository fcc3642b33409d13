"""What writing costs in memory, and that it holds on to nothing: neither after a message nor after a refusal."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any

import pytest

from kwire.errors import EncodeError

KEPT = 1_200_000  # what may wait for the next message, whatever the last one took


def produce(codec: Any, records: Any, partitions: int = 1) -> Any:
    kind = codec.message_class("ProduceRequest")
    data = [kind.PartitionProduceData(index=index, records=records) for index in range(partitions)]
    return kind(acks=-1, timeout_ms=1, topic_data=[kind.TopicProduceData(name="t", partition_data=data)])


def measured(encode: Any, message: Any) -> tuple[int, int]:
    """The most that was taken at a time, and what is still held when the bytes are gone."""
    encode(message, 9)
    tracemalloc.start()
    try:
        encode(message, 9)
        held, peak = tracemalloc.get_traced_memory()
        return peak, held
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_large_contents_are_copied_a_few_times_at_most(codec, kind):
    records = kind(bytes(8_000_000))
    peak, held = measured(codec.encode, produce(codec, records))
    assert peak < 3.2 * len(records)  # room that doubles, and the bytes
    assert held < KEPT


def test_one_value_in_many_places(codec):
    """What is taken follows from the bytes that are written, not from the objects."""
    message = produce(codec, bytes(10_000), partitions=500)
    peak, held = measured(codec.encode, message)
    assert peak < 3.2 * 5_000_000 + KEPT
    assert held < KEPT


def test_nothing_is_held(codec):
    topic_id, host, records, tags = bytes(range(16)), "h" * 50 + "é", bytearray(b"records"), ((5, bytes(40)),)
    metadata = codec.message_class("MetadataResponse")
    good = metadata(
        brokers=[metadata.MetadataResponseBroker(node_id=70_000, host=host, port=70_001)],
        topics=[metadata.MetadataResponseTopic(name=host, topic_id=topic_id, unknown_tagged_fields=tags)],
    )
    bad = metadata(brokers=good.brokers, topics=[*good.topics, metadata.MetadataResponseTopic(name=5)])
    seen = topic_id, host, tags, tags[0], good.brokers[0], good.topics[0], good.topics, records
    gc.collect()
    before = [sys.getrefcount(each) for each in seen]
    for _ in range(500):
        codec.encode(good, 12)
        with pytest.raises(EncodeError):
            codec.encode(bad, 12)
        codec.encode(produce(codec, records), 9)
    gc.collect()  # tracebacks
    assert [sys.getrefcount(each) for each in seen] == before
    records.clear()  # nobody exports it any more
