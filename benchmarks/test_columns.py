"""Batches of messages to Arrow columns, beside those who make objects of the same bytes; memcpy is what the machine can do at best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

import peers
from frames import Corpus
from java_decoder import HAS_JAVA
from kwire.codec.columns import Columns

BATCH = 200
JAVA_REPEATS = 2
FIELDS = ("topics.name", "topics.partitions.partition_index", "topics.partitions.leader_id", "topics.partitions.isr_nodes")


def prepare(who: str, inputs: list[bytes]) -> Callable[[], Any]:
    columns = Columns(peers._compiled["native"])
    objects = peers.twin_decoder("native", "MetadataResponse", 12)
    if who == "native":
        assert columns.to_arrow("MetadataResponse", inputs[:1], 12)["topics"][0][0]["name"].as_py() == objects(inputs[0]).topics[0].name
        return lambda: columns.to_arrow("MetadataResponse", inputs, 12)
    if who == "native exploded":
        assert columns.to_arrow("MetadataResponse", inputs, 12, FIELDS).num_rows == 300 * len(inputs)
        return lambda: columns.to_arrow("MetadataResponse", inputs, 12, FIELDS)
    if who == "memcpy":
        return lambda: b"".join(inputs)
    if who == "msgspec":
        packed = [msgspec.msgpack.encode(peers.as_arrays(objects(data), "MetadataResponse")) for data in inputs]
        decode, inputs = peers.msgspec_decoder("MetadataResponse", False), packed
    elif who == "kio":
        decode = peers.kio_decoder(3, 12, "response")
    else:
        decode = objects

    def run() -> None:
        for data in inputs:
            decode(data)

    return run


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize(
    "who", ["native", "native exploded", "native objects", "msgspec", "kio", "memcpy", *(["java"] if HAS_JAVA else [])]
)
def test_to_arrow(race, java, who, many):
    corpus = Corpus(many)
    inputs = [corpus.metadata_response() for _ in range(BATCH)]
    work, size = f"to_arrow MetadataResponse-v12-50x6{'-many' if many else ''}", sum(map(len, inputs))
    if who == "java":
        run = java("metadata", inputs, JAVA_REPEATS)
        assert run() == BATCH * JAVA_REPEATS
        race(work, who, run, BATCH * JAVA_REPEATS, size * JAVA_REPEATS)
    else:
        race(work, who, prepare(who, inputs), BATCH, size)


@pytest.mark.parametrize("batch", [1, 10, 200, 2000])
def test_sizes_of_batches(race, batch):
    corpus = Corpus()
    inputs = [corpus.metadata_response() for _ in range(min(batch, 50))] * max(1, batch // 50)
    race(f"to_arrow, batches of {batch}", "native", prepare("native", inputs), len(inputs), sum(map(len, inputs)))
