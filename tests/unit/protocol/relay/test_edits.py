"""Edits that a relay runs by itself: what it sends, pairs, counts and refuses, with frames worked out by hand, in both twins."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed, text
from kwire.codec import AddressTable, Edit, EditChanges
from kwire.codec.impl import load_twin
from kwire.protocol.relay import CALL, Closing, Moves, RelayPlan, RelayRule

CHANGES = EditChanges(topics={"t": "tenant.t"}, addresses=AddressTable({1: ("proxy", 19092)}, unknown="keep"))


def metadata(number: int, *topics: str) -> bytes:
    """Metadata v1 of client "c"."""
    head = b"\0\3\0\1" + number.to_bytes(4, "big") + text("c")
    return framed(head + len(topics).to_bytes(4, "big") + b"".join(map(text, topics)))


def metadata_answer(number: int, host: str, port: int, *topics: str) -> bytes:
    """Broker 1, which is the controller, without a rack; topics without error and partitions, not internal."""
    brokers = b"\0\0\0\1" + b"\0\0\0\1" + text(host) + port.to_bytes(4, "big") + b"\xff\xff" + b"\0\0\0\1"
    return framed(
        number.to_bytes(4, "big")
        + brokers
        + len(topics).to_bytes(4, "big")
        + b"".join(b"\0\0" + text(each) + b"\0" + bytes(4) for each in topics)
    )


def produce(number: int, topic: str, acks: int, records: bytes = b"") -> bytes:
    """Produce v2 of client "c": one partition, 0."""
    head = b"\0\0\0\2" + number.to_bytes(4, "big") + text("c") + acks.to_bytes(2, "big", signed=True) + b"\0\0\x75\x30"
    return framed(head + b"\0\0\0\1" + text(topic) + b"\0\0\0\1" + bytes(4) + len(records).to_bytes(4, "big") + records)


def produce_answer(number: int, topic: str) -> bytes:
    """Partition 0 without error, at offset 5, without a time; not throttled."""
    return framed(
        number.to_bytes(4, "big") + b"\0\0\0\1" + text(topic) + b"\0\0\0\1" + bytes(6) + (5).to_bytes(8, "big") + b"\xff" * 8 + bytes(4)
    )


BACK = EditChanges(topics={"tenant.t": "t"}, addresses=CHANGES.addresses)
PLAN = RelayPlan(
    [
        RelayRule("request", 3, (1,), Edit("request", 3, 1, CHANGES)),
        RelayRule("response", 3, (1,), Edit("response", 3, 1, BACK)),
        RelayRule("request", 0, (2,), Edit("request", 0, 2, CHANGES)),
        RelayRule("response", 0, (2,), Edit("response", 0, 2, BACK)),
    ]
)


def sent(moves: Moves) -> tuple[bytes, bytes]:
    assert moves.close is None
    assert not moves.held  # no frame of these plans needs Python
    return b"".join(moves.to_server), b"".join(moves.to_client)


def closing(moves: Moves) -> tuple[str, str, int]:
    assert isinstance(moves.close, Closing)
    assert not moves.to_server
    assert not moves.to_client
    return moves.close.reason, moves.close.direction, moves.close.value


@pytest.mark.parametrize("cut", [1, 4, 11, 12, 20, 1000])
def test_a_request_and_its_answer(twin: Any, cut: int) -> None:
    relay = twin.Relay(PLAN)
    request, answer = metadata(7, "t", "other"), metadata_answer(7, "kafka-1", 9092, "tenant.t")
    there = [sent(relay.from_client(part, 1)) for part in (request[:cut], request[cut:])]
    assert b"".join(server for server, _ in there) == metadata(7, "tenant.t", "other")
    back = [sent(relay.from_server(part, 2)) for part in (answer[:cut], answer[cut:])]
    assert b"".join(client for _, client in back) == metadata_answer(7, "proxy", 19092, "t")


def test_frames_in_a_row(twin: Any) -> None:
    relay = twin.Relay(PLAN)
    requests = metadata(7, "t") + produce(8, "t", -1) + metadata(9)
    assert sent(relay.from_client(requests, 1)) == (metadata(7, "tenant.t") + produce(8, "tenant.t", -1) + metadata(9), b"")
    answers = metadata_answer(7, "kafka-1", 9092, "tenant.t") + produce_answer(8, "tenant.t") + metadata_answer(9, "kafka-1", 9092)
    expected = metadata_answer(7, "proxy", 19092, "t") + produce_answer(8, "t") + metadata_answer(9, "proxy", 19092)
    assert sent(relay.from_server(answers, 2)) == (b"", expected)
    # all are answered: one more is one too many
    assert closing(relay.from_server(metadata_answer(9, "kafka-1", 9092), 3)) == ("response_unexpected", "response", 9)


def test_a_produce_without_acks_owes_nothing(twin: Any) -> None:
    relay = twin.Relay(PLAN)
    assert sent(relay.from_client(produce(7, "t", 0) + metadata(8, "t"), 1)) == (produce(7, "tenant.t", 0) + metadata(8, "tenant.t"), b"")
    assert sent(relay.from_server(metadata_answer(8, "kafka-1", 9092), 2)) == (b"", metadata_answer(8, "proxy", 19092))


def test_behind_an_edited_request_come_no_raw_tokens(twin: Any) -> None:
    """A connection may begin with a token of Kerberos, 0x60 first; later that is an api key, whose answer is held to its id."""
    relay = twin.Relay(PLAN)
    sent(relay.from_client(metadata(7, "t"), 1))
    sent(relay.from_server(metadata_answer(7, "kafka-1", 9092), 2))
    unknown = framed(b"\x60\x06\0\0" + b"\0\0\0\x08" + b"\xff\xff")
    assert sent(relay.from_client(unknown, 3)) == (unknown, b"")
    assert closing(relay.from_server(framed(b"\0\0\0\x09" + b"\0\0"), 4)) == ("response_mismatched", "response", 9)


def test_a_frame_that_cannot_be_read_closes(twin: Any) -> None:
    """The last topic's name is said to have a byte more than is there."""
    request = metadata(7, "t")
    relay = twin.Relay(PLAN)
    assert closing(relay.from_client(request[:-2] + b"\2t", 1)) == ("program_failed", "request", 3)
    relay = twin.Relay(PLAN)
    relay.from_client(request, 1)
    answer = metadata_answer(7, "kafka-1", 9092, "tenant.t")
    assert closing(relay.from_server(answer[:-1] + b"\1", 2)) == ("program_failed", "response", 3)


def test_a_program_that_fails_says_why(twin: Any) -> None:
    names = EditChanges(addresses=AddressTable({1: ("proxy", 19092)}))
    relay = twin.Relay(RelayPlan([RelayRule("response", 3, (1,), Edit("response", 3, 1, names))]))
    relay.from_client(metadata(7), 1)
    answer = bytearray(metadata_answer(7, "kafka-2", 9092))
    answer[15] = 2  # the node id, behind length, correlation id and count
    close = relay.from_server(bytes(answer), 2).close
    assert close.cause == "no new address is given for node 2 at 'kafka-2', port 9092 in brokers[0].host (MetadataResponse v1)"
    assert (close.api, close.api_version, str(close)) == ("Metadata v1", 1, f"a rule could not edit Metadata v1 responses: {close.cause}")


def test_a_frame_that_grows_over_the_limit_closes(twin: Any) -> None:
    """Seven bytes come to each name, four to the address: `kafka` is `proxy`, one byte of the port changes, none comes."""
    request, grown = metadata(7, "t"), metadata(7, "tenant.t")
    assert len(grown) == len(request) + 7
    assert sent(twin.Relay(PLAN, max_frame=len(grown) - 4).from_client(request, 1)) == (grown, b"")
    assert closing(twin.Relay(PLAN, max_frame=len(grown) - 5).from_client(request, 1)) == ("program_too_large", "request", len(grown) - 4)
    answer, longer = metadata_answer(7, "k", 9092), metadata_answer(7, "proxy", 19092)
    relay = twin.Relay(PLAN, max_frame=len(longer) - 5)
    relay.from_client(metadata(7), 1)
    assert closing(relay.from_server(answer, 2)) == ("program_too_large", "response", len(longer) - 4)


def long_request(records: int, acks: int = 1) -> tuple[bytes, bytes, bytes]:
    """A Produce with so many bytes of records; as the broker shall get it; the records."""
    content = bytes(each % 251 for each in range(records))
    return produce(7, "t", acks, content), produce(7, "tenant.t", acks, content), content


# Bytes of a Produce v2 beside its records and its length, the topic being "tenant.t": the header 8 + 3, acks and timeout 2 + 4, the topic
# 4 + 2 + 8, the partition 4 + 4 + 4.
AROUND = 43


@pytest.mark.parametrize(("records", "pieces"), [(4096 - AROUND, 1), (4097 - AROUND, 2), (20_000, 2)])
def test_long_stretches_of_long_frames_are_views(records: int, pieces: int) -> None:
    """Up to 4096 bytes a frame is one piece; the records of a longer one are those that came."""
    request, expected, content = long_request(records)
    assert len(expected) == 4 + AROUND + records
    moves = load_twin("protocol", "relay", "native").Relay(PLAN).from_client(request, 1)
    assert b"".join(moves.to_server) == expected
    assert len(moves.to_server) == pieces
    if pieces == 2:
        assert bytes(moves.to_server[1]).endswith(content)
        assert memoryview(moves.to_server[1]).obj is request


@pytest.mark.parametrize("last", [510, 511, 512, 513])
def test_short_stretches_of_long_frames_are_copied(last: int) -> None:
    """A Metadata request of 5,000 bytes in one name, then one that is renamed, then a name behind which the stretch has so many bytes."""
    native = load_twin("protocol", "relay", "native")
    names = "a" * 5000, "t", "b" * (last - 2)
    moves = native.Relay(PLAN).from_client(metadata(7, *names), 1)
    assert b"".join(moves.to_server) == metadata(7, names[0], "tenant.t", names[2])
    # the length and the id; the long name; the new name, with the short stretch behind it or apart from it
    assert len(moves.to_server) == (3 if last < 512 else 4)


@pytest.mark.parametrize("cut", [9, 3000])
def test_views_of_a_frame_that_came_in_parts_stay_as_they_are(twin: Any, cut: int) -> None:
    """The relay gathered it in a buffer, which belongs to the pieces then: the next frame is gathered elsewhere."""
    relay = twin.Relay(PLAN)
    first, expected, _ = long_request(20_000)
    relay.from_client(first[:cut], 1)
    moves = relay.from_client(first[cut:], 1)
    second = produce(8, "t", 1, b"\xee" * 20_000)
    relay.from_client(second[:cut], 2)
    later = relay.from_client(second[cut:], 2)
    assert b"".join(moves.to_server) == expected
    assert b"".join(later.to_server) == produce(8, "tenant.t", 1, b"\xee" * 20_000)


def test_edited_frames_are_counted_as_they_came(twin: Any) -> None:
    """A Metadata response has no error code of its own."""
    counters = twin.RelayCounters()
    relay = twin.Relay(PLAN, counters=counters)
    request, answer = metadata(7, "t"), metadata_answer(7, "kafka-1", 9092, "tenant.t")
    relay.from_client(request[:9], 1_000_000)
    relay.from_client(request[9:], 2_000_000)
    relay.from_server(answer, 5_000_000)
    relay.from_client(produce(8, "t", 0), 6_000_000)
    names = ("client_id", "api_key", "api_version", "error_code", "exchanges", "request_bytes", "response_bytes", "latency_us")
    assert sorted(tuple(row[name] for name in names) for row in counters.rows()) == [
        ("c", 0, 2, None, 1, len(produce(8, "t", 0)), 0, 0),
        ("c", 3, 1, None, 1, len(request), len(answer), 3000),
    ]


def test_the_body_of_an_answer_is_that_of_the_version_it_has(twin: Any) -> None:
    """ApiVersions v3 is answered by error 35 in version 0 (KIP-511): by the edit of version 0, or as it came where there is none."""
    third = RelayRule("response", 18, (3,), Edit("response", 18, 3, EditChanges(limits=versions(3, 1, 9))))
    first = RelayRule("response", 18, (0,), Edit("response", 18, 0, EditChanges(limits=versions(18, 0, 2))))
    request = framed(b"\0\x12\0\3" + b"\0\0\0\7" + b"\0\1c\0" + b"\2n\2v\0")
    refused = framed(b"\0\0\0\7" + b"\0\x23" + b"\0\0\0\1" + b"\0\x12\0\0\0\4")
    relay = twin.Relay(RelayPlan([third, first]))
    assert sent(relay.from_client(request, 1)) == (request, b"")
    assert sent(relay.from_server(refused, 2)) == (b"", refused[:-1] + b"\2")
    relay = twin.Relay(RelayPlan([third]))
    assert sent(relay.from_client(request, 1)) == (request, b"")
    assert sent(relay.from_server(refused, 2)) == (b"", refused)
    # and in version 3: Metadata 0 to 13 becomes 1 to 9
    offered = framed(b"\0\0\0\7" + b"\0\0" + b"\2" + b"\0\3\0\0\0\x0d\0" + bytes(4) + b"\0")
    capped = framed(b"\0\0\0\7" + b"\0\0" + b"\2" + b"\0\3\0\1\0\x09\0" + bytes(4) + b"\0")
    assert sent(relay.from_client(request, 3)) == (request, b"")
    assert sent(relay.from_server(offered, 4)) == (b"", capped)


@pytest.mark.parametrize("length", [10, 21, 25])
def test_a_refused_version_that_no_edit_can_read_passes_as_it_came(twin: Any, length: int) -> None:
    """librdkafka's mock cluster answers ApiVersions v99 with error 35 and an array that no version has; others are cut and longer."""
    whole = bytes.fromhex("00000011 0000002a 0023 01 0012 0000 0002 00000000")
    assert len(whole) == 21
    refused = framed((whole[4:] + bytes(4))[: length - 4])
    request = framed(bytes.fromhex("0012 0063 0000002a 000163 00 0261 0262 00"))
    relay = twin.Relay(RelayPlan([RelayRule("response", 18, (0,), Edit("response", 18, 0, EditChanges(limits=versions(18, 0, 1))))]))
    assert sent(relay.from_client(request, 1)) == (request, b"")
    assert sent(relay.from_server(refused, 2)) == (b"", refused)
    # the next one in the form of KIP-511 is edited
    plain = framed(bytes.fromhex("0000002a 0023 00000001 0012 0000 0004"))
    assert sent(relay.from_client(request, 3)) == (request, b"")
    assert sent(relay.from_server(plain, 4)) == (b"", plain[:-1] + b"\1")


def versions(key: int, lowest: int, highest: int) -> Any:
    from kwire.codec import VersionLimits

    return VersionLimits({key: (lowest, highest)}, True)


def test_what_only_python_edits_is_held(twin: Any) -> None:
    """A rule of CALL beside programs: its frames come whole, the others do not wait."""
    relay = twin.Relay(RelayPlan([RelayRule("request", 3, (1,), Edit("request", 3, 1, CHANGES)), RelayRule("request", 0, None, CALL)]))
    assert sent(relay.from_client(metadata(7, "t"), 1)) == (metadata(7, "tenant.t"), b"")
    moves = relay.from_client(produce(8, "t", 1) + metadata(9, "t"), 2)
    (held,) = moves.held
    assert (held.frame, b"".join(moves.to_server)) == (produce(8, "t", 1)[4:], b"")
    assert sent(relay.release(held)) == (produce(8, "t", 1) + metadata(9, "tenant.t"), b"")
