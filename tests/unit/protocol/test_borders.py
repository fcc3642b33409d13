"""Gaps, impossible lengths and late joins on hand-worked bytes, in both twins: which frames are known, and where the next one begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, framed, head, heartbeat, ok, played, produce, rows, rules, states
from kwire.codec.impl import load_twin
from kwire.protocol.tracking import frames
from kwire.protocol.tracking.resync import RequestJudge

# Looks like a request: length, Metadata v1, a client id of four bytes; there is no such frame behind it.
PRETENDER = bytes.fromhex("0000000c 0003 0001 00000001 0004")


def ids(connection: Any) -> list[int | None]:
    """Correlation ids of the requests that were found, of which none was answered."""
    return [row.correlation_id for row in rows(connection.finish(10 * MS))]


def test_one_byte_too_many_is_passed_over(make: Callable[..., Any]) -> None:
    """The search goes on with the byte behind that where no length can be read."""
    connection = make()
    events = connection.receive_request_bytes(heartbeat(1) + b"\xff" + heartbeat(2), 0)
    assert rules(events) == ["frame_length_negative"]
    assert connection.summary().bytes_opaque == 1
    assert ids(connection) == [1, 2]


def test_a_length_that_cannot_be_is_passed_over(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + b"\xff\xff\xff\xff" + heartbeat(2), 0)
    assert connection.summary().bytes_opaque == 4
    assert ids(connection) == [1, 2]


def test_behind_an_impossible_length_requests_may_be_unseen(make: Callable[..., Any]) -> None:
    """So a response that fits none breaks no rule."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + b"\xff\xff\xff\xff" + heartbeat(2), 0)
    events = connection.receive_response_bytes(ok(1) + ok(9) + ok(2), MS)
    assert states(events) == [(1, "answered"), (9, "orphan_response"), (2, "answered")]
    assert rules(events) == []


def test_behind_an_impossible_length_of_the_server_answers_may_be_unseen(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    assert rules(connection.receive_response_bytes(ok(7) + b"\xff\xff\xff\xff", MS)) == ["frame_length_negative"]
    assert (1, "unseen") in states(connection.finish(2 * MS))


def test_three_frames_in_a_row_prove_a_border(make: Callable[..., Any]) -> None:
    """Until then what cannot be a frame says that the border was none; afterwards the client has broken a rule."""
    for count, rule in ((1, "frame_border_lost"), (2, "frame_border_lost"), (3, "frame_too_short"), (4, "frame_too_short")):
        connection = make(True)
        events = connection.receive_request_bytes(b"".join(map(heartbeat, range(count))) + framed(b"\0"), 0)
        assert rules(events) == [rule], count


def test_a_frame_of_which_bytes_are_missing_proves_nothing(make: Callable[..., Any]) -> None:
    connection = make(True)
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2)[:20], 0)
    connection.lost("request", 8, 0)
    assert rules(connection.receive_request_bytes(heartbeat(3) + framed(b"\0"), 0)) == ["frame_border_lost"]


def test_an_impossible_length_behind_a_border_that_was_found(make: Callable[..., Any]) -> None:
    connection = make(True)
    assert rules(connection.receive_request_bytes(heartbeat(1) + b"\xff\xff\xff\xff", 0)) == ["frame_border_lost"]


def test_a_frame_has_the_time_of_its_last_byte_whatever_is_missing_inside(make: Callable[..., Any]) -> None:
    """20 bytes, 4 that are lost, and the last 4."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1)[:20], MS)
    connection.lost("request", 4, 2 * MS)
    connection.receive_request_bytes(heartbeat(1)[24:], 5 * MS)
    (row,) = rows(connection.receive_response_bytes(ok(1), 7 * MS))
    assert (row.request_time, row.latency_us, row.body) == (5 * MS, 2000, "truncated")


@pytest.mark.parametrize("cut", [False, True])
def test_a_gap_that_takes_the_next_length_with_it(make: Callable[..., Any], cut: bool) -> None:
    """8 bytes of the first frame are lost, and 5 of the second, of which nothing is known then."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1)[:20], 0)
    connection.lost("request", 13, 0, cut=cut)
    assert rules(connection.receive_request_bytes(heartbeat(2)[5:] + heartbeat(3), 0)) == []
    assert ids(connection) == [1, 3]


@pytest.mark.parametrize(("before", "missing"), [(b"", 8), (b"", 20), (b"xx", 8)])
def test_a_request_whose_end_is_lost_is_known_by_its_place(make: Callable[..., Any], before: bytes, missing: int) -> None:
    """Behind a gap: where a segment begins, if the client id is the known one, or where the frame ends with the next gap."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(before + heartbeat(3)[:20], 0)
    connection.lost("request", missing, 0)
    assert connection.summary().bytes_opaque == len(before)
    connection.receive_request_bytes(heartbeat(4), 0)
    assert ids(connection) == [1, 3, 4]


def test_what_stands_before_a_request_whose_end_is_lost_is_opaque(make: Callable[..., Any]) -> None:
    """19 bytes that may begin a request of 200, and 20 of one of 28, which ends where the loss ends; so the first ones are nothing."""
    connection = make(True)
    connection.receive_request_bytes((200).to_bytes(4, "big") + head(12, 0, 9) + b"\0\x50" + heartbeat(1)[:20], 0)
    connection.lost("request", 8, 0)
    assert connection.summary().bytes_opaque == 19
    connection.receive_request_bytes(heartbeat(2), 0)
    assert ids(connection) == [1, 2]


@pytest.mark.parametrize(("before", "missing", "client_id"), [(b"xx", 20, b"app"), (b"", 20, b"ape")])
def test_a_request_whose_end_is_lost_may_be_none(make: Callable[..., Any], before: bytes, missing: int, client_id: bytes) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(before + heartbeat(3, client_id)[:20], 0)
    connection.lost("request", missing, 0)
    assert connection.summary().bytes_opaque == len(before) + 20
    assert ids(connection) == [1]


@pytest.mark.parametrize(("before", "missing", "found"), [(b"", 2, True), (b"", 9, True), (b"xx", 2, True), (b"xx", 9, False)])
def test_a_response_whose_end_is_lost_is_known_by_its_place(make: Callable[..., Any], before: bytes, missing: int, found: bool) -> None:
    """8 bytes are there of 10: the correlation id of the request that waits, and a border or the right end."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + heartbeat(2), 0)
    connection.lost("response", 10, 0)
    connection.receive_response_bytes(before + ok(2)[:8], 0)
    events = connection.lost("response", missing, 0)
    assert ((2, "answered") in states(events)) is found


def test_a_border_that_was_found_in_a_frame_without_an_end_is_not_proven(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(heartbeat(3)[:20], 0)
    connection.lost("request", 8, 0)
    assert rules(connection.receive_request_bytes(framed(b"\0"), 0)) == ["frame_border_lost"]


def test_what_waits_for_bytes_does_not_hold_up_the_search(make: Callable[..., Any]) -> None:
    """A false length of 1,023 bytes, which never come, before a whole request."""
    connection = make(True)
    connection.receive_request_bytes(bytes.fromhex("000003ff 0003 0001 00000001 0004") + heartbeat(2), 0)
    assert states(connection.receive_response_bytes(ok(2), MS)) == [(2, "answered")]


def test_of_two_borders_that_may_be_the_first_to_end_wins(make: Callable[..., Any]) -> None:
    """A whole request inside the records of another one, of which the end has not come when it has."""
    connection = make(True)
    outer = produce(1, 1, heartbeat(2) + b"r" * 400)
    connection.receive_request_bytes(b"tail" + outer[:120], 0)
    connection.receive_request_bytes(outer[120:], 0)
    assert ids(connection)[0] == 2
    connection = make(True)
    connection.receive_request_bytes(b"tail" + produce(1, 1, heartbeat(2)), 0)  # both end with the same byte: the first one
    assert ids(connection) == [1]


@pytest.mark.parametrize(("rounds", "found"), [((12_000, 12_000), [1, 2]), ((30_000, 0), [])])
def test_the_search_gives_up_after_100_000_false_borders_in_a_row(rounds: tuple[int, int], found: list[int]) -> None:
    """Some six a pretender, as it overlaps with the next. A request that is found begins the count again; behind it an impossible
    length loses the border.

    The pure twin takes a minute for so many; for it the limit is lowered below.
    """
    connection = load_twin("protocol", "tracker", "native").Connection(True)
    for number, count in enumerate(rounds, 1):
        connection.receive_request_bytes(PRETENDER * count + heartbeat(number) + b"\xff\xff\xff\xff", 0)
    assert ids(connection) == found


LONG = produce(1, 1, b"r" * 200_000)


def test_a_long_request_is_believed_by_its_first_64_kib(make: Callable[..., Any]) -> None:
    """What follows is lost, and more than that: neither its place nor its end would say that it is one."""
    connection = make(True)
    connection.receive_request_bytes(b"tail" + LONG[: 4 + (1 << 16)], 0)
    connection.lost("request", len(LONG), 0)
    assert ids(connection) == [1]
    connection = make(True)
    connection.receive_request_bytes(b"tail" + LONG[: 3 + (1 << 16)], 0)
    connection.lost("request", len(LONG), 0)
    assert ids(connection) == []


NAMED = produce(1, 1, b"r" * 1000, b"c" * 300)
# Pieces behind the tail of a frame, and the requests that are found in them.
PIECES: dict[str, tuple[list[bytes], list[int]]] = {
    "an empty client id": ([heartbeat(3, b"")], [3]),
    "the longest client id": ([heartbeat(3, b"c" * 1279)], [3]),
    "a null client id": ([framed(bytes.fromhex("000c 0000 00000003 ffff") + b"\0\2g1" + bytes(4) + b"\0\1m")], [3]),
    "the shortest request": ([framed(bytes.fromhex("0012 0000 00000003 ffff"))], [3]),  # ApiVersions v0 with a null client id
    "a header of which the first piece has 80 bytes": ([NAMED[:96], NAMED[96:]], [1]),
    # A long request has a client id that somebody may have chosen.
    "a long request": ([produce(1, 1, b"r" * 100_000)], [1]),
    "a long request with odd characters in its client id": ([produce(1, 1, b"r" * 100_000, b"\x01\x02")], []),
    "a long request with an empty client id": ([produce(1, 1, b"r" * 100_000, b"")], []),
    # What does not read to its end is no border.
    "a byte too many": ([framed(head(12, 0, 5) + b"\0\2g1" + bytes(4) + b"\0\1mx"), heartbeat(6)], [6]),
    "a byte too few": ([framed(head(12, 0, 5) + b"\0\2g1" + bytes(4) + b"\0\2m"), heartbeat(6)], [6]),
    "no such api": ([framed(head(120, 0, 5)), heartbeat(6)], [6]),
    "no such version": ([framed(head(12, 9, 5) + b"\0\2g1" + bytes(4) + b"\0\1m"), heartbeat(6)], [6]),
    "a client id that is not UTF-8": ([framed(head(18, 0, 5, b"\xff\xfe")), heartbeat(6)], [6]),
    "more topics than there can be": ([framed(head(3, 1, 5) + b"\x7f\xff\xff\xff"), heartbeat(6)], [6]),
    "a topic name that is null": ([framed(head(3, 1, 5) + b"\0\0\0\1\xff\xff"), heartbeat(6)], [6]),
}


@pytest.mark.parametrize("name", PIECES)
def test_what_is_found_behind_a_tail(make: Callable[..., Any], name: str) -> None:
    pieces, found = PIECES[name]
    connection = make(True)
    connection.receive_request_bytes(b"tail" + pieces[0], 0)
    played(connection, *(("asks", piece) for piece in pieces[1:]))
    assert ids(connection) == found


def test_what_a_long_request_has_at_its_end_does_not_matter_to_the_search(make: Callable[..., Any]) -> None:
    connection = make(True)
    assert "trailing_bytes" in rules(connection.receive_request_bytes(b"tail" + framed(LONG[4:] + b"?"), 0))
    assert ids(connection) == [1]


@pytest.mark.parametrize(
    ("key", "version", "beginning"),
    [
        (3, 1, b"\x00\x00\x40\x00"),  # 16,384 topics in a frame of 1,000 bytes
        (3, 12, b"\0\xff\xff\xff\xff\x7f"),  # a varint of more than 32 bits
        (3, 9, b"\0\2\xff\x7f"),  # a name of 16,382 bytes
    ],
)
def test_the_beginning_of_a_frame_already_shows_what_cannot_be(make: Callable[..., Any], key: int, version: int, beginning: bytes) -> None:
    """100 bytes of a frame of 1,000 are there, which no bytes that follow can make true: it is not known when its end is lost."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.lost("request", 28, 0)
    frame = framed((head(key, version, 5) + beginning).ljust(1000, b"t"))
    connection.receive_request_bytes(frame[:100], 0)
    connection.lost("request", len(frame) - 100, 0)
    assert ids(connection) == [1]


def test_a_refusal_of_api_versions_is_found_in_version_0_form(make: Callable[..., Any]) -> None:
    """KIP-511: whatever was asked, error 35 comes with the body of version 0; read as version 3 it would not end where it does."""
    connection = make()
    connection.receive_request_bytes(framed(head(18, 3, 7) + b"\0\4kgo\3v1\0") + heartbeat(8), 0)
    connection.lost("response", 11, 0)
    refusal = framed((7).to_bytes(4, "big") + bytes.fromhex("0023 00000001 0012 0000 0003"))
    (row,) = rows(connection.receive_response_bytes(b"tail" + refusal, MS))
    assert (row.state, row.error_code) == ("answered", 35)


def test_a_long_response_is_found(make: Callable[..., Any]) -> None:
    """A Fetch v4 response of 20 MB: throttle time, one topic, one partition and its records, of which 64 KiB are there."""
    connection = make()
    body = b"\xff\xff\xff\xff" + bytes(12) + b"\0" + b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\1" + b"\0\0\0\3" + bytes(12)
    connection.receive_request_bytes(framed(head(1, 4, 9) + body) + heartbeat(10), 0)
    connection.lost("response", 100, 0)
    start = (9).to_bytes(4, "big") + bytes(4) + b"\0\0\0\1\0\1t\0\0\0\1" + bytes(4) + b"\0\0" + bytes(16) + b"\xff\xff\xff\xff"
    size = 20_000_000
    response = (len(start) + 4 + size).to_bytes(4, "big") + start + size.to_bytes(4, "big") + b"r" * 70_000
    connection.receive_response_bytes(b"tail" + response, MS)
    (row,) = rows(connection.lost("response", 10 + size - 70_000, 2 * MS))
    assert (row.correlation_id, row.state, row.response_bytes) == (9, "answered", len(start) + 8 + size)


def flexible(key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """A request with header version 2, whose tag section is empty."""
    return framed(head(key, version, correlation_id) + b"\0" + body)


METADATA = flexible(3, 9, 2, b"\1\0\0\0\0")  # v9 of no topic: an empty array, three switches, no tags
FETCH = flexible(1, 12, 2, b"\xff" * 4 + bytes(12) + b"\0" + bytes(8) + b"\1\1\1\0")  # v12 of no topic
NODES = bytes(4) + b"\x3d" + b"\0\0\0\7"  # of Metadata v9: throttle time, 60 brokers, the first one's id
NODE = b"\0\0\0\7" + b"\2k" + b"\0\0\x23\x84" + b"\0\0"  # host `k`, a port, no rack, no tags
# Of Fetch v12: throttle time, error code, session, 250 topics; of topic `t` 1 partition: its 30 bytes of numbers, no aborted transactions,
# no preferred replica, no records, 1 tag
TOPICS = bytes(10) + b"\xfb\1" + b"\2t\2" + bytes(30) + b"\0\xff\xff\xff\xff\0\1"
TOPIC = b"\2t\1\0"  # without partitions


@pytest.mark.parametrize(
    ("asked", "body", "more", "is_one"),
    [
        (METADATA, NODES + NODE[4:], NODE, True),
        (METADATA, NODES + b"\xff\xff\xff\xff\x7f", NODE, False),  # the length of its host has more than 32 bits
        (METADATA, NODES + b"\xe9\7", NODE, False),  # that length is 1000, more than the frame has
        (METADATA, NODES + b"\0" + NODE[6:], NODE, False),  # a host is never null
        (FETCH, TOPICS + b"\1\x09" + bytes(8) + b"\0" + b"\0", TOPIC, True),  # current leader: an id, an epoch, no tags
        (FETCH, TOPICS + b"\1\x08" + bytes(8) + b"\0" + b"\0", TOPIC, False),  # which is a byte longer than its size says
        (FETCH, TOPICS + b"\1\xff\xff\xff\xff\x0f", TOPIC, False),  # a size that no array of Java's can have
    ],
)
def test_the_beginning_of_a_response_fails_for_nothing_but_missing_bytes(
    make: Callable[..., Any], asked: bytes, body: bytes, more: bytes, is_one: bool
) -> None:
    """900 bytes long, of which 520 came behind a gap: more elements than fit into those, and the first speaks for the frame or not."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1) + asked, 0)
    connection.lost("response", 10, 0)
    begun = (900).to_bytes(4, "big") + b"\0\0\0\2\0" + body
    connection.receive_response_bytes((begun + more * 130)[:524], 0)
    events = connection.lost("response", 904 - 524, 0) + connection.finish(0)
    assert ((2, "answered") in states(events)) is is_one
    assert connection.summary().bytes_opaque == (0 if is_one else 524)


def test_a_request_may_be_longer_than_16_mib(make: Callable[..., Any]) -> None:
    """Up to 32 MiB a length is looked at; of this one of 17 MiB the first 64 KiB agree."""
    size = 17 << 20
    start = produce(1, 1)[4:-4]
    connection = make(True)
    connection.receive_request_bytes(b"x" + size.to_bytes(4, "big") + start + (size - len(start) - 4).to_bytes(4, "big") + bytes(70_000), 0)
    connection.lost("request", size - len(start) - 4 - 70_000, 0)
    connection.receive_request_bytes(heartbeat(2), 0)
    assert connection.summary().bytes_opaque == 1
    assert [(row.correlation_id, row.request_bytes) for row in rows(connection.finish(0))] == [(1, size + 4), (2, 28)]


def test_in_a_frame_of_which_bytes_are_missing_the_border_is_not_doubted(make: Callable[..., Any]) -> None:
    """Bodies are passed over. The second frame behind the border that was found answers 5 before 4, which is said of that answer for sure
    where its end is lost: then the length, not the border, says where the next frame begins."""
    for lost, expected in ((0, []), (2, ["response_out_of_order"])):
        connection = make(bodies=())
        connection.receive_request_bytes(heartbeat(1) + heartbeat(3), 0)
        connection.lost("response", 10, 0)
        connection.receive_response_bytes(ok(3), 0)
        connection.receive_request_bytes(heartbeat(4) + heartbeat(5), 0)
        events = connection.receive_response_bytes(ok(5) + ok(4)[:8], 0)
        events += connection.lost("response", lost, 0) if lost else connection.receive_response_bytes(ok(4)[8:], 0)
        assert states(events) == [(5, "answered"), (4, "answered")]
        assert rules(events) == expected


@pytest.mark.parametrize("step", [1 << 20, 1])
@pytest.mark.parametrize("client_id", [b"rdkafka", b"x" * 45, b"x" * 49, b"x" * 55, b"x" * 300])
def test_api_versions_of_old_librdkafka_is_found(make: Callable[..., Any], client_id: bytes, step: int) -> None:
    """Up to 1.0 it writes an array of no api keys behind the header: rdkafka_request.c, rd_kafka_ApiVersionRequest."""
    for behind in (bytes(4), bytes(3), bytes(5), b"\0\0\0\1", b"\xff\xff\xff\xff"):
        connection, data = make(True), b"tail" + framed(head(18, 0, 1, client_id) + behind) + heartbeat(2)
        for at in range(0, len(data), step):
            connection.receive_request_bytes(data[at : at + step], 0)
        assert ids(connection) == ([1, 2] if behind == bytes(4) else [2])


def test_made_up_candidates_cost_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_CANDIDATES", 50)
    asked = 0
    judge_of = RequestJudge.judge

    def counted(self: Any, data: bytes, start: int) -> int:
        nonlocal asked
        asked += 1
        return judge_of(self, data, start)

    monkeypatch.setattr(RequestJudge, "judge", counted)
    connection = load_twin("protocol", "tracker", "pure").Connection(True)
    connection.receive_request_bytes(PRETENDER * 1000 + heartbeat(1), 0)
    assert (ids(connection), asked) == ([], 50)
