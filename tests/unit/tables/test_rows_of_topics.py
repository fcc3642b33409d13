"""Topics that requests name and records that they carry, in the rows that each twin makes of hand-made packets."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed, head, heartbeat, metadata, ok
from kwire.codec.impl import Twin
from made_packets import CLIENT, SERVER, opened
from read_by_twins import Tables, tables_of

# A record of 7 bytes: its length (6, zigzag), attributes, two deltas, no key, no value, no headers.
RECORD = bytes.fromhex("0c 00 00 00 01 01 00")
TOPIC_ID = bytes.fromhex("00112233445566778899aabbccddeeff")


def batch(count: int) -> bytes:
    """A record batch of magic 2 with so many records: base offset, length of what follows, 61 bytes in front of the records."""
    rest = bytes(4) + b"\2" + bytes(4) + bytes(2) + (count - 1).to_bytes(4, "big") + bytes(16) + b"\xff" * 14 + count.to_bytes(4, "big")
    return bytes(8) + framed(rest + RECORD * count)


def named(*partitions: bytes, topic: bytes = b"t") -> bytes:
    """An array of one topic with these partitions."""
    return b"\0\0\0\1" + len(topic).to_bytes(2, "big") + topic + len(partitions).to_bytes(4, "big") + b"".join(partitions)


def produce(correlation_id: int, acks: int, *records: bytes) -> bytes:
    """Produce v3 to partitions 0, 1, ... of topic `t`; its first records begin 49 bytes in, with its length."""
    partitions = [number.to_bytes(4, "big") + framed(each) for number, each in enumerate(records)]
    return framed(head(0, 3, correlation_id) + b"\xff\xff" + acks.to_bytes(2, "big", signed=True) + bytes(4) + named(*partitions))


def produced(correlation_id: int, *codes: int) -> bytes:
    """Its response: a partition's number, error code, base offset, append time; the throttle time last."""
    partitions = [number.to_bytes(4, "big") + code.to_bytes(2, "big") + bytes(16) for number, code in enumerate(codes)]
    return framed(correlation_id.to_bytes(4, "big") + named(*partitions) + bytes(4))


def fetch(correlation_id: int, count: int = 1) -> bytes:
    """Fetch v0 of partitions 0, 1, ... of topic `t`: replica id, max wait, min bytes; a partition's offset and size."""
    partitions = [number.to_bytes(4, "big") + bytes(12) for number in range(count)]
    return framed(head(1, 0, correlation_id) + b"\xff" * 4 + bytes(8) + named(*partitions))


def fetched(correlation_id: int, *answers: tuple[int, bytes]) -> bytes:
    """Its response: error code, high watermark and records of each partition."""
    partitions = [
        number.to_bytes(4, "big") + code.to_bytes(2, "big") + bytes(8) + framed(each) for number, (code, each) in enumerate(answers)
    ]
    return framed(correlation_id.to_bytes(4, "big") + named(*partitions))


def exchanged(twin: Twin, *pairs: tuple[bytes, bytes | None], kept: int | None = None) -> Tables:
    """The tables of a connection with these requests and responses, of each packet so many bytes at most."""
    wire = opened()
    for request, response in pairs:
        wire.send(CLIENT, request, kept=kept and min(kept, len(request)))
        if response is not None:
            wire.send(SERVER, response, kept=kept and min(kept, len(response)))
    return tables_of(twin, wire.packets, (9092,))


def uses(tables: Tables, *columns: str) -> list[Any]:
    return [tuple(row[column] for column in columns) for row in tables.get("topic_use", [])]


def rows(tables: Tables, *columns: str) -> list[Any]:
    return [tuple(row[column] for column in columns) for row in sorted(tables["requests"], key=lambda row: row["packet_number"])]


def rules(tables: Tables) -> list[tuple[str, int]]:
    return [(row["rule"], row["request_index"]) for row in tables.get("violations", [])]


# which topics a request names


def test_no_topics_and_all_topics_differ(twin: Twin) -> None:
    """Metadata v1: an empty array asks for no topic, null for all."""
    everything = framed(head(3, 1, 3) + b"\xff" * 4)
    found = exchanged(twin, (metadata(1), None), (metadata(2, b"a", b"b"), None), (everything, None))
    assert rows(found, "first_topic", "topic_count", "body") == [(None, 0, "decoded"), ("a", 2, "decoded"), (None, None, "decoded")]
    assert rules(found) == []


def test_null_is_minus_one(twin: Twin) -> None:
    """Kafka takes any negative count as null; a client that writes another one than -1 has an encoder at fault."""
    found = exchanged(twin, (framed(head(3, 1, 1) + b"\xff\xff\xff\xfe"), None), (heartbeat(2), None))
    assert rows(found, "first_topic", "topic_count") == [(None, None), (None, None)]
    assert rules(found) == [("length_impossible", 0)]


def test_the_first_topic_may_have_no_name(twin: Twin) -> None:
    """Metadata v12 asks for a topic by its id and for another one by name; compact lengths are one more, each struct has its tags."""
    topics = b"\3" + TOPIC_ID + b"\0\0" + bytes(16) + b"\2b\0"
    found = exchanged(twin, (framed(head(3, 12, 1) + b"\0" + topics + b"\1\0\0"), None))
    assert rows(found, "first_topic", "topic_count", "body") == [(None, 2, "decoded")]


def test_how_many_topics_a_cut_request_names_stands_in_front_of_them(twin: Twin) -> None:
    """Metadata v1 with three topics, cut in the second: the count is there."""
    request = metadata(1, b"one", b"two", b"three")
    found = exchanged(twin, (request, None), kept=4 + 13 + 4 + 5 + 3)
    assert rows(found, "first_topic", "topic_count", "body") == [("one", 3, "truncated")]


def test_how_many_topics_lie_inside_something_else_a_cut_request_does_not_say(twin: Twin) -> None:
    """AddPartitionsToTxn v4 has its topics inside of transactions: id, producer id and epoch, verify only, then topics."""
    topics = b"\3" + b"\2a\2" + bytes(4) + b"\0" + b"\2b\2" + bytes(4) + b"\0"
    transaction = b"\3tx" + bytes(8) + bytes(2) + b"\0" + topics + b"\0"
    request = framed(head(24, 4, 1) + b"\0" + b"\2" + transaction + b"\0")
    whole = exchanged(twin, (request, None))
    assert rows(whole, "first_topic", "topic_count") == [("a", 2)]
    cut = exchanged(twin, (request, None), kept=4 + 13 + 1 + 1 + 14 + 1 + 3)
    assert rows(cut, "first_topic", "topic_count", "body") == [("a", None, "truncated")]


@pytest.mark.parametrize(
    ("tags", "expected"), [("02 0300 0500", []), ("02 0500 0300", ["tags_out_of_order"]), ("02 0300 0300", ["tag_repeated"])]
)
def test_tags_ascend(twin: Twin, tags: str, expected: list[str]) -> None:
    """KIP-482; Heartbeat v4 with two tagged fields that no release has."""
    body = b"\3g1" + bytes(4) + b"\2m" + b"\0" + bytes.fromhex(tags)
    found = exchanged(twin, (framed(head(12, 4, 1) + b"\0" + body), framed(b"\0\0\0\1\0" + bytes(4) + bytes(2) + b"\0")))
    assert [rule for rule, _ in rules(found)] == expected
    assert rows(found, "group_id", "state", "error_code") == [("g1", "answered", 0)]


# what is produced


def test_what_a_produce_carries(twin: Twin) -> None:
    """Two batches of 2 and 3 records, 61 + 14 and 61 + 21 bytes, to two partitions: one request of the topic."""
    found = exchanged(twin, (produce(1, -1, batch(2), batch(3)), produced(1, 0, 0)), (produce(2, 1, batch(1)), produced(2, 0)))
    columns = "direction", "topic", "requests", "errors", "records", "batches", "bytes", "max_batch_bytes", "unseen_requests"
    assert uses(found, *columns) == [("produce", "t", 2, 0, 6, 3, 75 + 82 + 68, 82, 0)]
    assert uses(found, "acks", "partitions", "error_codes", "magic", "compression") == [([-1, 1], [0, 1], [], [2], [0])]


def test_partitions_that_were_refused(twin: Twin) -> None:
    """Two partitions with an error each: 3 UNKNOWN_TOPIC_OR_PARTITION, 6 NOT_LEADER_OR_FOLLOWER."""
    found = exchanged(twin, (produce(1, 1, batch(1), batch(1), batch(1)), produced(1, 3, 0, 6)))
    assert uses(found, "requests", "errors", "error_codes") == [(1, 2, [3, 6])]


def test_what_is_produced_without_an_answer_counts(twin: Twin) -> None:
    """acks=0 waits for nothing; the others were sent, whatever became of them."""
    found = exchanged(twin, (produce(1, 0, batch(2)), None))
    assert uses(found, "requests", "records", "acks") == [(1, 2, [0])]
    found = exchanged(twin, (produce(1, 1, batch(2)), None))
    assert rows(found, "state") == [("unanswered",)]
    assert uses(found, "requests", "records", "acks", "unseen_requests") == [(1, 2, [1], 0)]


def test_records_that_the_snap_length_cuts_off_are_not_seen(twin: Twin) -> None:
    """Of 10 bytes of the first batch's 75 nothing can be counted; one request is not seen, however many of its partitions are."""
    found = exchanged(twin, (produce(1, 1, batch(2), batch(3)), produced(1, 0, 0)), kept=59)
    assert uses(found, "requests", "records", "bytes", "unseen_requests") == [(1, None, None, 1)]
    found = exchanged(twin, (produce(1, 1, batch(2), batch(3)), produced(1, 0, 0)), kept=49 + 75 + 8 + 10)
    assert uses(found, "requests", "partitions", "unseen_requests") == [(1, [0, 1], 1)]


def test_a_produce_holds_whole_batches(twin: Twin) -> None:
    """Of a batch of 75 bytes 70 are there, though nothing is lost."""
    found = exchanged(twin, (produce(1, 1, batch(2)[:70]), produced(1, 0)))
    assert rules(found) == [("batch_length_impossible", 0)]
    assert uses(found, "requests", "batches") == [(1, 0)]


# what is fetched


def test_what_a_fetch_brings(twin: Twin) -> None:
    found = exchanged(twin, (fetch(1, 2), fetched(1, (0, batch(2)), (1, b""))), (fetch(2), fetched(2, (0, batch(3) + batch(1)))))
    columns = "direction", "requests", "errors", "records", "batches", "bytes", "partitions", "error_codes", "unseen_requests"
    assert uses(found, *columns) == [("fetch", 2, 1, 6, 3, 75 + 82 + 68, [0, 1], [1], 0)]
    assert uses(found, "acks") == [([],)]


def test_a_fetch_may_end_in_a_part_of_a_batch_which_is_said_once(twin: Twin) -> None:
    """KIP-74: the broker fills the response up to its size."""
    answers = (0, batch(1) + batch(2)[:30])
    found = exchanged(twin, (fetch(1), fetched(1, answers)), (fetch(2), fetched(2, answers)))
    assert rules(found) == [("batch_partial", 0)]
    assert uses(found, "requests", "records", "batches") == [(2, 2, 2)]


def test_a_fetch_without_its_answer_counts_as_one(twin: Twin) -> None:
    found = exchanged(twin, (fetch(1, 2), None))
    assert uses(found, "requests", "records", "partitions", "unseen_requests") == [(1, 0, [0, 1], 0)]


def test_what_a_fetch_brings_behind_the_snap_length_is_not_seen(twin: Twin) -> None:
    """The first partition stands 19 bytes in and has 18 in front of its records: 58 bytes of the batch's 75 came."""
    found = exchanged(twin, (fetch(1, 3), fetched(1, (0, batch(2)), (0, batch(3)), (0, b""))), kept=95)
    assert uses(found, "requests", "records", "partitions", "unseen_requests") == [(1, None, [0, 1, 2], 1)]


def test_of_a_fetch_whose_answer_may_be_lost_nothing_is_known(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, fetch(1))
    wire.send(CLIENT, heartbeat(2))
    wire.send(SERVER, fetched(1, (0, batch(2))), lost=True)
    wire.send(SERVER, ok(2))
    found = tables_of(twin, wire.packets)
    assert rows(found, "state") == [("unseen",), ("answered",)]
    assert uses(found, "requests", "records", "unseen_requests") == [(1, None, 1)]


def test_of_a_fetch_of_a_server_that_is_not_in_the_capture_nothing_is_known(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, fetch(1))
    wire.send(CLIENT, produce(2, 1, batch(2)))
    found = tables_of(twin, [packet for packet in wire.packets if packet.side == CLIENT])
    assert rows(found, "state") == [("unseen",), ("unseen",)]
    assert uses(found, "direction", "records", "unseen_requests") == [("fetch", None, 1), ("produce", 2, 0)]
