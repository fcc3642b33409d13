"""The rules of the relay, one by one, with bytes worked out by hand; docs/internals/relay.md says where each comes from."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kafka_bytes import framed_hex
from kwire.codec.impl import load_twin
from kwire.protocol.relay import CALL, CLOSE, PASS, REFUSE, Closing, Moves, RelayPlan, RelayRule
from kwire.schema import catalog


def sent(moves: Moves) -> tuple[bytes, bytes]:
    assert moves.close is None
    return b"".join(moves.to_server), b"".join(moves.to_client)


def heartbeat(number: int) -> bytes:
    return framed_hex(f"000c 0000 {number:08x} 0001 63 0001 67 00000001 0001 6d")  # client id "c", group "g", generation 1, member "m"


def heartbeat_answer(number: int) -> bytes:
    return framed_hex(f"{number:08x} 0000")


def closing(moves: Moves) -> tuple[str, str, int]:
    assert isinstance(moves.close, Closing)
    return moves.close.reason, moves.close.direction, moves.close.value


# Produce: api key 0, version, correlation id 5, client id "c", (tags from v9 on), (transactional id from v3 on), acks, timeout, no topics
PRODUCES = [
    ("0000 0002 00000005 0001 63", "0000", " 00007530 00000000"),
    ("0000 0003 00000005 0001 63 ffff", "0000", " 00007530 00000000"),
    ("0000 0003 00000005 0001 63 0002 7478", "0000", " 00007530 00000000"),
    ("0000 0009 00000005 0001 63 00 00", "0000", " 00007530 01 00"),
    ("0000 0009 00000005 0001 63 00 03 7478", "0000", " 00007530 01 00"),
    ("0000 0009 00000005 0001 63 01 63 02 ffff 03 7478", "0000", " 00007530 01 00"),  # a tagged field in the header
    ("0000 0002 00000005 ffff", "0000", " 00007530 00000000"),  # null client id
]


@pytest.mark.parametrize(("before", "acks", "behind"), PRODUCES)
def test_a_produce_goes_on_when_its_acks_are_read(twin: Any, before: str, acks: str, behind: str) -> None:
    data = framed_hex(before + acks + behind)
    decided = 4 + len(bytes.fromhex(before)) + 2
    relay = twin.Relay(RelayPlan())
    for at in range(decided - 1):
        assert sent(relay.from_client(data[at : at + 1], 1)) == (b"", b"")
    assert sent(relay.from_client(data[decided - 1 : decided], 1)) == (data[:decided], b"")
    assert sent(relay.from_client(data[decided:], 1)) == (data[decided:], b"")
    assert relay.owed == 0
    for acks in ("0001", "ffff"):
        relay.from_client(framed_hex(before + acks + behind), 1)
    assert relay.owed == 2


def test_a_produce_whose_acks_cannot_be_read_closes(twin: Any) -> None:
    short = framed_hex("0000 0003 00000005 0001 63 0009 7478 0000 0000")  # the transactional id ends behind the frame
    assert closing(twin.Relay(RelayPlan()).from_client(short, 1)) == ("header_malformed", "request", 0)
    long = (1 << 20).to_bytes(4, "big") + bytes.fromhex("0000 0009 00000005 0001 63 00 8180 40") + bytes(1 << 18)  # a text of 1 MiB
    assert closing(twin.Relay(RelayPlan()).from_client(long, 1)) == ("head_too_long", "request", 1 << 17)
    unknown = framed_hex("0000 001f 00000005 0001 63")  # Produce v31
    assert closing(twin.Relay(RelayPlan(unknown="pass")).from_client(unknown, 1)) == ("unknown_api", "request", 0)


@pytest.mark.parametrize(
    ("length", "reason", "value"),
    [("ffffffff", "length_negative", -1), ("80000000", "length_negative", -(1 << 31)), ("06400001", "length_too_large", 104857601),
     ("00000007", "length_too_short", 7), ("00000000", "length_too_short", 0)],
)  # fmt: skip
def test_impossible_lengths_of_requests_close(twin: Any, length: str, reason: str, value: int) -> None:
    relay = twin.Relay(RelayPlan())
    data = heartbeat(1) + bytes.fromhex(length)
    moves = relay.from_client(data, 1)
    assert closing(moves) == (reason, "request", value)
    assert b"".join(moves.to_server) == heartbeat(1)  # what came before goes out


@pytest.mark.parametrize(
    ("length", "reason", "value"),
    [("ffffffff", "length_negative", -1), ("7fffffff", "length_too_large", 2147483647), ("00000003", "length_too_short", 3)],
)  # fmt: skip
def test_impossible_lengths_of_responses_close(twin: Any, length: str, reason: str, value: int) -> None:
    relay = twin.Relay(RelayPlan())
    relay.from_client(heartbeat(1), 1)
    assert closing(relay.from_server(bytes.fromhex(length), 1)) == (reason, "response", value)


def test_the_longest_frame_passes(twin: Any) -> None:
    """21 bytes without the length, as a Heartbeat has."""
    relay = twin.Relay(RelayPlan(), max_frame=21)
    assert sent(relay.from_client(heartbeat(1), 1)) == (heartbeat(1), b"")
    assert closing(relay.from_client(bytes.fromhex("00000016"), 1)) == ("length_too_large", "request", 22)


def test_a_response_that_a_rule_closes_on(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("response", 12, None, CLOSE)]))
    relay.from_client(heartbeat(1), 1)
    assert closing(relay.from_server(heartbeat_answer(1), 1)) == ("refused", "response", 12)


def test_a_response_without_a_request_closes(twin: Any) -> None:
    assert closing(twin.Relay(RelayPlan()).from_server(heartbeat_answer(9), 1)) == ("response_unexpected", "response", 9)


def test_bodies_pass_as_views_of_what_came(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    data = heartbeat(1)
    relay.from_client(data[:12], 1)
    body = bytearray(data[12:])
    (piece,) = relay.from_client(body, 1).to_server
    assert isinstance(piece, memoryview)
    assert piece.obj is body
    assert relay.kept == 0


# SaslHandshake v0 with the mechanism in hex, and its response: error 0 and no mechanisms
def handshake(mechanism: str) -> bytes:
    return framed_hex(f"0011 0000 00000001 0001 63 {len(mechanism):04x} {mechanism.encode().hex()}")


HANDSHAKE_ANSWER = framed_hex("00000001 0000 00000000")


def shaken(twin: Any, mechanism: str) -> Any:
    relay = twin.Relay(RelayPlan())
    assert sent(relay.from_client(handshake(mechanism), 1)) == (handshake(mechanism), b"")
    assert sent(relay.from_server(HANDSHAKE_ANSWER, 1)) == (b"", HANDSHAKE_ANSWER)
    return relay


def test_raw_tokens_of_plain(twin: Any) -> None:
    relay = shaken(twin, "PLAIN")
    token = framed_hex("00 616c696365 00 736563726574")  # \0alice\0secret: as a request it would be api 97
    assert sent(relay.from_client(token, 1)) == (token, b"")
    assert sent(relay.from_server(framed_hex(""), 1)) == (b"", framed_hex(""))
    assert sent(relay.from_client(heartbeat(2), 1)) == (heartbeat(2), b"")
    assert sent(relay.from_server(heartbeat_answer(2), 1)) == (b"", heartbeat_answer(2))


def test_a_token_that_looks_like_an_answer_is_one_where_each_token_is_answered(twin: Any) -> None:
    """A broker answers every token of PLAIN, so its next frame is a token, be it that it begins with the id of the request behind."""
    relay = shaken(twin, "PLAIN")
    relay.from_client(framed_hex("00 616c696365 00 736563726574") + heartbeat(2), 1)
    assert sent(relay.from_server(framed_hex("00000002 0000"), 1)) == (heartbeat(2), framed_hex("00000002 0000"))
    assert relay.owed == 1
    assert sent(relay.from_server(heartbeat_answer(2), 1)) == (b"", heartbeat_answer(2))
    assert relay.owed == 0


def test_raw_tokens_of_scram_in_pieces(twin: Any) -> None:
    relay = shaken(twin, "SCRAM-SHA-256")
    tokens = [
        (framed_hex(b"n,,n=alice,r=x".hex()), framed_hex(b"r=xy,s=QQ==,i=4096".hex())),
        (framed_hex(b"c=biws,r=xy,p=QQ==".hex()), framed_hex(b"v=QQ==".hex())),
    ]
    for client, server in tokens:
        out = [sent(relay.from_client(client[at : at + 1], 1)) for at in range(len(client))]
        assert b"".join(each[0] for each in out) == client
        out = [sent(relay.from_server(server[at : at + 1], 1)) for at in range(len(server))]
        assert b"".join(each[1] for each in out) == server
    relay.from_client(heartbeat(3), 1)
    assert closing(relay.from_server(heartbeat_answer(4), 1)) == ("response_mismatched", "response", 4)


def test_a_refused_oauthbearer_client_sends_one_token_more(twin: Any) -> None:
    relay = shaken(twin, "OAUTHBEARER")
    relay.from_client(framed_hex(b"n,,\x01auth=Bearer x\x01\x01".hex()), 1)
    relay.from_server(framed_hex(b'{"status":"invalid_token"}'.hex()), 1)
    assert sent(relay.from_client(framed_hex("01"), 1)) == (framed_hex("01"), b"")
    assert relay.owed == 0


def test_the_last_token_of_gssapi_gets_no_answer(twin: Any) -> None:
    relay = shaken(twin, "GSSAPI")
    for token in (framed_hex("6006 0607"), framed_hex("0504 04ff")):
        assert sent(relay.from_client(token, 1)) == (token, b"")
    assert sent(relay.from_server(framed_hex("6004 0102"), 1)) == (b"", framed_hex("6004 0102"))
    relay.from_client(heartbeat(2), 1)
    assert relay.owed == 2
    assert sent(relay.from_server(heartbeat_answer(2), 1)) == (b"", heartbeat_answer(2))
    assert relay.owed == 0


def test_a_token_of_gssapi_may_be_answered_behind_a_request(twin: Any) -> None:
    relay = shaken(twin, "GSSAPI")
    relay.from_client(framed_hex("6006 0607") + heartbeat(2), 1)
    assert sent(relay.from_server(framed_hex("6004 0102"), 1)) == (b"", framed_hex("6004 0102"))
    assert sent(relay.from_server(heartbeat_answer(2), 1)) == (b"", heartbeat_answer(2))


def test_a_plan_may_close_on_gssapi_tokens_without_a_handshake(twin: Any) -> None:
    plan = RelayPlan(raw_gssapi=False)
    moves = twin.Relay(plan).from_client(framed_hex("6082 0102 0609 2a86 4886 f712 0102 02") + heartbeat(1), 1)
    assert closing(moves) == ("sasl_without_handshake", "request", 0)
    assert moves.to_server == []
    begun = framed_hex("0011 0000 00000001 0001 63 0006 475353415049")  # SaslHandshake v0 for GSSAPI
    relay = twin.Relay(plan)
    assert sent(relay.from_client(begun, 1)) == (begun, b"")
    relay.from_server(framed_hex("00000001 0000 00000000"), 1)
    token = framed_hex("6082 0102")
    assert sent(relay.from_client(token, 1)) == (token, b"")


def test_a_first_frame_may_be_a_gssapi_token(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    assert sent(relay.from_client(framed_hex("6006 0607"), 1)) == (framed_hex("6006 0607"), b"")
    assert sent(relay.from_server(framed_hex("6001"), 1)) == (b"", framed_hex("6001"))


def test_a_mechanism_without_a_known_end_closes(twin: Any) -> None:
    moves = twin.Relay(RelayPlan()).from_client(handshake("X-OWN"), 1)
    assert closing(moves) == ("sasl_unknown_mechanism", "request", 0)
    assert moves.to_server == []


def test_a_refused_mechanism_leads_to_no_tokens(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    relay.from_client(handshake("PLAIN"), 1)
    relay.from_server(framed_hex("00000001 0021 00000000"), 1)  # error 33
    relay.from_client(heartbeat(2), 1)
    assert closing(relay.from_server(heartbeat_answer(3), 1)) == ("response_mismatched", "response", 3)


def test_api_versions_of_an_unknown_version_is_answered_in_version_0(twin: Any) -> None:
    """KIP-511: the broker answers error 35 in version 0, so a rule for version 0 holds and one for the version that was asked does not."""
    relay = twin.Relay(RelayPlan([RelayRule("response", 18, [0], CALL)]))
    relay.from_client(framed_hex("0012 0063 00000003 0001 63 00 05 6a617661 02 39 00"), 1)  # version 99
    answer = framed_hex("00000003 0023 00000000")
    moves = relay.from_server(answer[:9], 1)
    assert not moves.held
    (held,) = relay.from_server(answer[9:], 1).held
    assert (held.api_version, held.asked_version) == (0, 99)
    assert sent(relay.release(held)) == (b"", answer)


def test_an_answer_that_ends_inside_its_error_code_has_that_byte(twin: Any) -> None:
    """0x23 is 35, and what follows is the length of the next answer."""
    relay = twin.Relay(RelayPlan([RelayRule("response", 18, [0], CALL)]))
    relay.from_client(framed_hex("0012 0063 00000003 0001 63 00 05 6a617661 02 39 00") + heartbeat(4), 1)
    (held,) = relay.from_server(framed_hex("00000003 23") + heartbeat_answer(4), 1).held
    assert (held.api_version, held.asked_version) == (0, 99)


def test_two_bytes_that_look_like_an_error_of_another_api_are_none(twin: Any) -> None:
    """Heartbeat v1 begins with the time of a throttle: 0x00230000 milliseconds, and no error."""
    relay = twin.Relay(RelayPlan([RelayRule("response", 12, [1], CALL)]))
    relay.from_client(framed_hex("000c 0001 00000001 0001 63 0001 67 00000001 0001 6d"), 1)
    (held,) = relay.from_server(framed_hex("00000001 00230000 0000"), 1).held
    assert held.api_version == 1


def test_refusals_have_the_form_of_api_versions_v0(twin: Any) -> None:
    relay = twin.Relay(RelayPlan(unknown="refuse"))
    assert sent(relay.from_client(framed_hex("2711 0000 00000007 0102 0304"), 1)) == (b"", framed_hex("00000007 0023"))
    # ApiVersions v99: one range, that of ApiVersions (18), 0 to 5 in this catalog
    assert sent(relay.from_client(framed_hex("0012 0063 00000008"), 1)) == (b"", framed_hex("00000008 0023 00000001 0012 0000 0005"))


class WithoutApiVersions:
    """The catalog of a broker of 0.9."""

    def __getattr__(self, name: str) -> Any:
        return getattr(catalog(), name)

    def request(self, api_key: int) -> Any:
        return None if api_key == 18 else catalog().request(api_key)


def test_a_refusal_names_no_range_where_there_is_none(twin: Any) -> None:
    relay = twin.Relay(RelayPlan(unknown="refuse", source=cast("Any", WithoutApiVersions())))
    assert sent(relay.from_client(framed_hex("0012 0000 00000008 0001 63"), 1)) == (b"", framed_hex("00000008 0023"))


def test_a_refused_request_is_not_kept(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, REFUSE)]), max_held=100)
    long = (1 << 20).to_bytes(4, "big") + heartbeat(7)[4:12]
    assert sent(relay.from_client(long, 1)) == (b"", framed_hex("00000007 0023"))
    assert relay.kept == 0
    assert sent(relay.from_client(bytes((1 << 20) - 8), 1)) == (b"", b"")
    assert relay.is_idle


def test_own_answers_stand_behind_two_requests(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, [4], REFUSE)]))
    refused = framed_hex("000c 0004 00000003 0001 63 00")
    assert sent(relay.from_client(heartbeat(1) + refused + heartbeat(2), 1)) == (heartbeat(1) + heartbeat(2), b"")
    assert sent(relay.from_server(heartbeat_answer(1), 1)) == (b"", heartbeat_answer(1) + framed_hex("00000003 0023"))
    assert sent(relay.from_server(heartbeat_answer(2), 1)) == (b"", heartbeat_answer(2))


def test_a_produce_with_acks_0_gets_no_own_answer(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 0, None, CALL)]))
    (held,) = relay.from_client(framed_hex("0000 0002 00000005 0001 63 0000 00007530 00000000"), 1).held
    assert not held.wants_answer
    assert sent(relay.answer(held, bytes.fromhex("00000000 0000"))) == (b"", b"")


def test_a_refused_produce_with_acks_0_gets_no_answer(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 0, None, REFUSE)]))
    assert sent(relay.from_client(framed_hex("0000 0002 00000005 0001 63 0000 00007530 00000000"), 1)) == (b"", b"")
    assert sent(relay.from_client(framed_hex("0000 0002 00000006 0001 63 0001 00007530 00000000"), 1)) == (b"", framed_hex("00000006 0023"))


def test_a_long_frame_that_would_be_held_closes_at_its_verdict(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, CALL)]), max_held=24)
    assert closing(relay.from_client(heartbeat(7)[:12], 1)) == ("held_too_large", "request", 25)


def test_a_frame_that_fills_all_that_may_be_held_is_held(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, CALL)]), max_held=25)
    assert len(relay.from_client(heartbeat(7), 1).held) == 1


class Fixed:
    """A program that sends these bytes instead of any frame."""

    def __init__(self, made: bytes) -> None:
        self.made = made

    def pieces(self, frame: bytes | memoryview) -> list[bytes | memoryview]:
        return [self.made]


@pytest.mark.parametrize(
    ("direction", "size", "reason"),
    [("request", 41, "program_too_large"), ("request", 7, "length_too_short"), ("response", 41, "program_too_large"),
     ("response", 3, "length_too_short"), ("request", 40, None), ("request", 8, None), ("response", 40, None), ("response", 4, None)],
)  # fmt: skip
def test_what_a_program_makes_of_a_frame_is_one(twin: Any, direction: str, size: int, reason: str | None) -> None:
    """At most 40 bytes here; a request has 8 at least, a response 4, whose correlation id the relay sets."""
    relay = twin.Relay(RelayPlan([RelayRule(direction, 12, None, Fixed(bytes(size)))]), max_frame=40)
    moves = relay.from_client(heartbeat(0), 1)
    if direction == "response":
        moves = relay.from_server(heartbeat_answer(0), 1)
    if reason is None:
        made = size.to_bytes(4, "big") + bytes(size)
        assert sent(moves) == ((made, b"") if direction == "request" else (b"", made))
    else:
        assert closing(moves) == (reason, direction, size)


def test_a_held_produce_with_acks_0_is_owed_nothing(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 0, None, CALL)]))
    silent = framed_hex("0000 0002 00000005 0001 63 0000 00007530 00000000")
    (held,) = relay.from_client(silent, 1).held
    assert sent(relay.release(held, response=PASS)) == (silent, b"")
    assert relay.owed == 0


def test_two_programs_for_one_frame_are_a_mistake() -> None:
    class Program:
        def pieces(self, frame: bytes | memoryview) -> list[bytes | memoryview]:
            return [frame]

    with pytest.raises(ValueError, match="two programs for HeartbeatRequest v0"):
        RelayPlan([RelayRule("request", 12, [0], Program()), RelayRule("request", 12, [0], Program())])


def test_an_end_waits_for_room_in_the_queue(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    for number in range(4096):
        relay.from_client(heartbeat(number), 1)
    relay.from_client(heartbeat(9), 1)
    moves = relay.end_client(2)
    assert moves.close is None
    assert not moves.end_server
    moves = relay.from_server(heartbeat_answer(0), 3)
    assert sent(moves) == (heartbeat(9), heartbeat_answer(0))
    assert moves.end_server


def test_so_many_requests_wait_and_no_more(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    for number in range(4096):
        assert relay.reads_client
        relay.from_client(heartbeat(number), 1)
    assert not relay.reads_client
    assert sent(relay.from_client(heartbeat(9), 1)) == (b"", b"")
    assert relay.kept == len(heartbeat(9))
    assert sent(relay.from_server(heartbeat_answer(0), 1)) == (heartbeat(9), heartbeat_answer(0))


def test_the_last_request_that_may_wait_goes_out_whole(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    for number in range(4095):
        relay.from_client(heartbeat(number), 1)
    assert sent(relay.from_client(heartbeat(9)[:15], 1)) == (heartbeat(9)[:15], b"")
    assert relay.reads_client
    assert sent(relay.from_client(heartbeat(9)[15:], 1)) == (heartbeat(9)[15:], b"")


def test_bytes_behind_a_held_frame_are_limited(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, CALL)]), max_held=100)
    relay.from_client(heartbeat(1), 1)
    relay.from_client(bytes(79), 1)  # 21 + 79
    assert closing(relay.from_client(bytes(1), 1)) == ("held_too_large", "request", 101)


def test_ends_inside_frames_close(twin: Any) -> None:
    for size in (3, 24):  # of 25: inside the length, and behind the verdict
        relay = twin.Relay(RelayPlan())
        relay.from_client(heartbeat(1)[:size], 1)
        assert closing(relay.end_client(2)) == ("frame_unfinished", "request", 0)
    relay = twin.Relay(RelayPlan())
    relay.from_client(heartbeat(1) + heartbeat(2), 1)
    moves = relay.end_server(2)
    assert closing(moves) == ("server_ended", "response", 2)
    assert moves.end_client


def test_an_end_waits_for_what_is_held(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, CALL)]))
    (held,) = relay.from_client(heartbeat(1), 1).held
    assert not relay.end_client(2).end_server
    moves = relay.release(held, response=PASS)
    assert sent(moves) == (heartbeat(1), b"")
    assert moves.end_server
    with pytest.raises(ValueError, match="after the end"):
        relay.from_client(b"x", 3)


def test_a_program_may_not_use_its_relay() -> None:
    """The pieces of the call that runs would be freed; two threads at once come to the same."""
    native = load_twin("protocol", "relay", "native")

    class Looping:
        def pieces(self, frame: bytes | memoryview) -> list[bytes | memoryview]:
            relay.from_server(b"", 1)
            return [frame]

    relay = native.Relay(RelayPlan([RelayRule("request", 12, None, Looping())]))
    with pytest.raises(RuntimeError, match="two calls use a relay"):
        relay.from_client(heartbeat(1), 1)


def test_another_plan_counts_from_the_next_frame_on(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([RelayRule("request", 12, None, CALL), RelayRule("response", 12, None, CLOSE)]))
    (held,) = relay.from_client(heartbeat(1) + heartbeat(2), 0).held
    relay.use_plan(RelayPlan())
    assert sent(relay.release(held)) == (heartbeat(1) + heartbeat(2), b"")
    assert sent(relay.from_server(heartbeat_answer(1), 0)) == (b"", heartbeat_answer(1))
    relay.use_plan(RelayPlan([RelayRule("request", 12, None, CLOSE)]))
    assert closing(relay.from_client(heartbeat(3), 0)) == ("refused", "request", 12)
