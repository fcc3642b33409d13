"""What a series learns of its cluster from answers that come again: each twin's facts of hand-made packets."""

from __future__ import annotations

from kafka_bytes import api_versions, framed, head, heartbeat, metadata, ok
from kwire.codec.impl import Twin
from made_packets import CLIENT, SERVER, Wire, opened
from read_by_twins import Tables, micros, tables_of

ROUND = 1_700_000_000


def versions(correlation_id: int, last: int = 4) -> bytes:
    """ApiVersions v0: no error, Heartbeat in versions 0 to `last` and ApiVersions 0 to 3; 22 bytes with the length."""
    return framed(correlation_id.to_bytes(4, "big") + b"\0\0" + b"\0\0\0\2" + b"\0\x0c\0\0" + last.to_bytes(2, "big") + b"\0\x12\0\0\0\3")


def brokers(correlation_id: int, rack: bytes, host: bytes = b"k1") -> bytes:
    """Metadata v1: broker 7 on port 9092 with a rack, which is the controller; no topics."""
    broker = b"\0\0\0\7" + len(host).to_bytes(2, "big") + host + (9092).to_bytes(4, "big") + len(rack).to_bytes(2, "big") + rack
    return framed(correlation_id.to_bytes(4, "big") + b"\0\0\0\1" + broker + b"\0\0\0\7" + bytes(4))


def exchanged(twin: Twin, *pairs: tuple[bytes, bytes], times_ns: dict[int, int] | None = None) -> Tables:
    wire = opened()
    for request, response in pairs:
        wire.exchange(request, response)
    return tables_of(twin, wire.packets, times_ns=times_ns)


def test_an_answer_that_comes_again_moves_its_last_time(twin: Twin) -> None:
    """The responses are packets 5, 7 and 9."""
    found = exchanged(twin, *[(api_versions(number, 0), versions(number)) for number in (1, 2, 3)])["fact advertised"]
    assert [(row["api_key"], row["min_version"], row["max_version"]) for row in found] == [(12, 0, 4), (18, 0, 3)]
    assert [(micros(row["first_seen"]), micros(row["last_seen"])) for row in found] == [(6172, 11111)] * 2


def test_the_first_time_is_the_earliest_in_whatever_order_packets_are_stored(twin: Twin) -> None:
    """Several capture points' packets are not in the order of their times: the responses come 10, 8, 5 and 6 seconds in."""
    times = {4: 10, 6: 8, 8: 5, 10: 6}
    pairs = [(api_versions(number, 0), versions(number)) for number in (1, 2, 3, 4)]
    found = exchanged(twin, *pairs, times_ns={at: (ROUND + seconds) * 10**9 for at, seconds in times.items()})["fact advertised"]
    assert [(micros(row["first_seen"]), micros(row["last_seen"])) for row in found] == [(5_000_000, 10_000_000)] * 2


def test_a_server_that_was_upgraded_advertises_what_either_release_has(twin: Twin) -> None:
    pairs = [(api_versions(1, 0), versions(1, 3)), (api_versions(2, 0), versions(2, 4)), (api_versions(3, 0), versions(3, 3))]
    found = exchanged(twin, *pairs)["fact advertised"]
    assert [(row["api_key"], row["min_version"], row["max_version"]) for row in found] == [(12, 0, 4), (18, 0, 3)]


def test_of_a_rack_the_latest_counts_even_if_it_was_known_before(twin: Twin) -> None:
    """A broker moves from rack a to b and back: the third answer is, byte for byte behind its id, the first."""
    pairs = [(metadata(number), brokers(number, rack)) for number, rack in ((1, b"a"), (2, b"b"), (3, b"a"))]
    found = exchanged(twin, *pairs)["fact nodes"]
    assert [(row["node_id"], row["host"], row["port"], row["rack"]) for row in found] == [(7, "k1", 9092, "a")]
    assert [(micros(row["first_seen"]), micros(row["last_seen"])) for row in found] == [(6172, 11111)]


def test_a_node_that_is_listed_again_was_seen_again(twin: Twin) -> None:
    found = exchanged(twin, *[(metadata(number), brokers(number, b"a")) for number in (1, 2)])["fact nodes"]
    assert [(micros(row["first_seen"]), micros(row["last_seen"])) for row in found] == [(6172, 8641)]


def test_an_answer_that_was_cut_teaches_nothing_of_a_whole_one_with_its_bytes(twin: Twin) -> None:
    """16 of 22 bytes: the second entry is missing. By the snap length that is no fault; in a frame of 12 bytes it is."""
    wire = opened()
    wire.send(CLIENT, api_versions(1, 0))
    wire.send(SERVER, versions(1), kept=20)
    wire.exchange(api_versions(2, 0), framed(versions(2)[4:20]))
    found = tables_of(twin, wire.packets)
    assert [(row["rule"], row["request_index"]) for row in found["violations"]] == [("body_too_short", 1)]
    assert [(row["api_key"], row["max_version"]) for row in found["fact advertised"]] == [(12, 4)]


def test_an_answer_that_was_cut_is_none_whose_node_has_its_bytes(twin: Twin) -> None:
    """FindCoordinator v0: error code, node, host, port. Of the first answer 12 bytes came behind its id: no error, node 458,754, and 4
    bytes of a host of 27,441. They are, byte for byte, the node, host and port of the second one: 7, `k1`, 9092."""
    wire = opened()
    known = b"\0\0\0\7" + b"\0\2k1" + b"\0\0\x23\x84"
    for number, body, kept in ((1, known + bytes(27_441), 20), (2, b"\0\0" + known, 22)):
        wire.send(CLIENT, framed(head(10, 0, number) + b"\0\1g"))
        wire.send(SERVER, framed(number.to_bytes(4, "big") + body), kept=kept)
    found = tables_of(twin, wire.packets)["fact nodes"]
    assert [(row["node_id"], row["host"], row["port"]) for row in found] == [(7, "k1", 9092)]


def test_answers_of_other_servers_are_their_own(twin: Twin) -> None:
    """The same bytes from the same server on another connection widen nothing; `server` is its address and port."""
    first, second = Wire(0), Wire(1)
    for wire, number in ((first, 1), (second, 1)):
        wire.shake()
        wire.exchange(api_versions(number, 0), versions(number))
        wire.exchange(heartbeat(2), ok(2))
    found = tables_of(twin, first.packets + second.packets)["fact advertised"]
    assert [(row["server"], row["api_key"]) for row in found] == [("10.0.0.1:9092", 12), ("10.0.0.1:9092", 18)]
    assert [(micros(row["first_seen"]), micros(row["last_seen"])) for row in found] == [(6172, 6172 + 7 * 1235 - 3)] * 2


def test_a_heartbeat_that_says_nothing_is_that_of_its_api(twin: Twin) -> None:
    """One body, two apis, both v1, member `m` of group `g` in epoch 5, which the answer leaves as it is.

    Of ConsumerGroupHeartbeat: instance id null, rack empty, rebalance timeout 0x01000600 ms, and 4 nulls: nothing is new. Of
    ShareGroupHeartbeat: rack null, a subscription to no topics, and a tagged field of 6 bytes: the subscription is a step.
    """
    body = b"\2g\2m\0\0\0\5" + b"\0" + b"\1" + b"\1\0\6\0" + bytes(5)
    answer = b"\0" + bytes(4) + b"\0\0" + b"\0" + b"\2m" + b"\0\0\0\5" + b"\0\0\x13\x88" + b"\xff" + b"\0"
    pairs = [
        (framed(head(key, 1, number) + b"\0" + body), framed(number.to_bytes(4, "big") + answer)) for number, key in ((1, 68), (2, 76))
    ]
    found = exchanged(twin, *pairs)
    assert found.get("violations", []) == []
    assert [(row["request_index"], row["protocol"], row["subscription"]) for row in found["group_steps"]] == [(1, "share", [])]
