"""Fields of a message rewritten, against decoding it, changing the objects and encoding them; all in the native twin, and the pure one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import peers
from frames import Corpus
from kwire.codec import AddPrefix, AddressTable, Edit, EditChanges, RemovePrefix
from kwire.codec.splicing import FrameSplicer

INPUTS = 10
TOPICS, PARTITIONS = 180, 6  # 54 KB
NAME, VERSION = "MetadataResponse", 12
CHOSEN = 77
CONTENDERS = ("native", "pure", "decode and encode")
WORKS = ("one topic name", "one topic everywhere", "every broker address")


def address(node_id: int | None, host: str, port: int) -> tuple[str, int]:
    return f"proxy-{port}.example.com", 20_000


def by_splice(who: str, work: str) -> Callable[[bytes, str], bytes]:
    splicer = FrameSplicer(peers.twin_catalog("pure" if who == "pure" else "native"))
    if work == "one topic name":
        return lambda data, name: splicer.splice(data, {f"topics[{CHOSEN}].name": "renamed"}, name=NAME, version=VERSION)
    if work == "one topic everywhere":
        return lambda data, name: splicer.rename_topics(data, {name: "renamed"}, name=NAME, version=VERSION)
    return lambda data, name: splicer.rewrite_brokers(data, address, name=NAME, version=VERSION)


def by_objects(work: str) -> Callable[[bytes, str], bytes]:
    source = peers.twin_catalog("native")
    decode, encode = source.decoder(NAME, VERSION).decode_whole, source.encoder(NAME, VERSION).encode

    def run(data: bytes, name: str) -> bytes:
        message: Any = decode(data)
        if work == "one topic name":
            message.topics[CHOSEN].name = "renamed"
        elif work == "one topic everywhere":
            for topic in message.topics:
                if topic.name == name:
                    topic.name = "renamed"
        else:
            for broker in message.brokers:
                broker.host, broker.port = address(broker.node_id, broker.host, broker.port)
        made: bytes = encode(message)
        return made

    return run


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("who", CONTENDERS)
def test_splice(race, who, work):
    corpus = Corpus()
    inputs = [corpus.metadata_response(TOPICS, PARTITIONS) for _ in range(INPUTS)]
    names = [peers.twin_decoder("native", NAME, VERSION)(data).topics[CHOSEN].name for data in inputs]
    rewrite = by_objects(work) if who == "decode and encode" else by_splice(who, work)
    pairs = list(zip(inputs, names, strict=True))
    for data, name in pairs:
        assert rewrite(data, name) == by_objects(work)(data, name) != data

    def run() -> None:
        for data, name in pairs:
            rewrite(data, name)

    race(f"splice {work}, 54 KB", who, run, len(inputs), size=sum(map(len, inputs)))


EDITS = {
    "prefix added": EditChanges(topics=AddPrefix("acme.")),
    "prefix removed": EditChanges(topics=RemovePrefix("t", foreign="drop")),
    "broker addresses": EditChanges(addresses=AddressTable({node: (f"proxy-{node}.example.com", 20_000) for node in range(1000)})),
}


@pytest.mark.parametrize("work", EDITS)
@pytest.mark.parametrize("who", ["native", "pure"])
def test_edit(race, who, work):
    """All names or addresses of a response by one edit, as pieces."""
    corpus = Corpus()
    frames = [b"\0\0\0\x07\0" + corpus.metadata_response(TOPICS, PARTITIONS) for _ in range(INPUTS)]
    edit = Edit("response", 3, VERSION, EDITS[work], source=peers.twin_catalog(who))

    def run() -> None:
        for frame in frames:
            edit.pieces(frame)

    race(f"edit {work}, 54 KB", who, run, len(frames), size=sum(map(len, frames)))
