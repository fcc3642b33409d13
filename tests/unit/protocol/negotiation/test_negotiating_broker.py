"""The broker's side of negotiation, on the golden frames and on bytes worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed_hex
from kwire.codec.catalog_codec import Codec
from kwire.errors import KwireError
from kwire.protocol.instance_ids import InstanceIdRule
from kwire.protocol.negotiation import NegotiatingBroker
from kwire.protocol.negotiation.broker_role import TokenAnswer
from kwire.protocol.negotiation.broker_states import BrokerState
from kwire.protocol.negotiation.outcomes import Authenticated, Identified, Outcome, Over, Received, Send
from kwire.schema import Versions, dialect

G1 = "00000025 0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00"
G2 = "00000010 00000001 0023 00000001 0012 0000 0003"
G3 = "00000013 00000001 0000 02 0012 0000 0003 00 00000000 00"
G4 = "0000000c 00000001 002a 01 00000000 00"
G5 = "00000004 00000007"
JAVA = Identified("apache-kafka-java", "2.4.0")


def written(outcomes: list[Outcome]) -> bytes:
    return b"".join(each.data for each in outcomes if isinstance(each, Send))


def broker(**more: Any) -> NegotiatingBroker:
    return NegotiatingBroker({18: (0, 3)}, **more)


def sasl(**more: Any) -> NegotiatingBroker:
    def authenticate(mechanism: str, token: bytes) -> TokenAnswer:
        assert mechanism == "PLAIN"
        _, name, password = token.split(b"\0")
        return TokenAnswer(principal=f"User:{name.decode()}") if password == b"secret" else TokenAnswer(refused="Authentication failed")

    return NegotiatingBroker({3: (0, 9), 17: (0, 1), 18: (0, 3), 36: (0, 2)}, mechanisms=["PLAIN"], authenticate=authenticate, **more)


VERSIONS_0 = framed_hex("0012 0000 00000005 0001 63")
HANDSHAKE = framed_hex("0011 0001 00000006 0001 63 0005 504c41494e")
PLAIN = framed_hex("0024 0000 00000007 0001 63 0000000d 00 616c696365 00 736563726574")
METADATA = framed_hex("0003 0001 00000008 0001 63 00000000")


def test_the_golden_request_gives_the_golden_answer() -> None:
    machine = broker()
    assert machine.receive(bytes.fromhex(G1), 0) == [JAVA, Send(bytes.fromhex(G3), 1)]
    assert machine.software == ("apache-kafka-java", "2.4.0")


@pytest.mark.parametrize("version", ["03e7", "7fff", "0004", "ffff"])
def test_K511_13_an_unknown_version_is_answered_in_version_0_with_our_range(version: str) -> None:
    machine = broker()
    # a body that no version has, and a tagged field in the header
    assert machine.receive(framed_hex(f"0012 {version} 00000001 0001 63 00 ffffffffffff"), 0) == [Send(bytes.fromhex(G2), 1)]
    assert machine.state is BrokerState.SERVING


def test_K511_14_brokers_before_2_4_tell_nothing_with_error_35() -> None:
    frame = framed_hex("0012 03e7 00000001 0001 63 00")
    empty = bytes.fromhex("0000000a 00000001 0023 00000000")
    assert written(broker(legacy_fallback=True).receive(frame, 0)) == empty
    assert written(NegotiatingBroker.of_release("2.3").receive(frame, 0)) == empty
    assert written(NegotiatingBroker.of_release("2.4").receive(frame, 0)) == bytes.fromhex(G2)


@pytest.mark.parametrize(("name", "version"), [("a_b", "1"), ("a", "1_0"), ("", "1"), ("-a", "1")])
def test_K511_20_a_bad_name_is_an_invalid_request(name: str, version: str) -> None:
    machine = broker()
    texts = "".join(f"{len(text) + 1:02x}{text.encode().hex()}" for text in (name, version))
    assert machine.receive(framed_hex(f"0012 0003 00000001 0001 63 00 {texts} 00"), 0) == [Send(bytes.fromhex(G4), 1)]
    assert (machine.state, machine.software) == (BrokerState.SERVING, ("unknown", "unknown"))


def test_K511_22_the_proposals_pattern_is_a_policy() -> None:
    frame = framed_hex("0012 0003 00000001 0001 63 00 03 2d61 02 31 00")  # "-a" "1"
    assert written(broker(software_rule="proposed").receive(frame, 0)) == bytes.fromhex(G3)
    assert written(broker().receive(frame, 0)) == bytes.fromhex(G4)


@pytest.mark.parametrize("version", range(3))
def test_K511_24_below_version_3_nothing_is_checked(version: int) -> None:
    machine = broker()
    identified, sent = machine.receive(framed_hex(f"0012 {version:04x} 00000001 0001 63"), 0)
    assert identified == Identified("unknown", "unknown")
    throttle = "00000000" if version else ""
    assert sent.data == framed_hex(f"00000001 0000 00000001 0012 0000 0003 {throttle}")


def test_K511_26_apiversions_comes_before_sasl_and_after_it() -> None:
    machine = sasl()
    states = []
    outcomes = []
    for frame in (VERSIONS_0, HANDSHAKE, PLAIN, bytes.fromhex(G1)):
        outcomes += machine.receive(frame, 0)
        states.append(machine.state)
    assert states == [BrokerState.VERSIONS_TOLD, BrokerState.TOKENS, BrokerState.SERVING, BrokerState.SERVING]
    said = [each for each in outcomes if not isinstance(each, Send)]
    assert said == [Identified("unknown", "unknown"), Authenticated("User:alice", "PLAIN"), JAVA]
    sent = [each.data for each in outcomes if isinstance(each, Send)]
    assert sent[1] == framed_hex("00000006 0000 00000001 0005 504c41494e")
    assert sent[2] == framed_hex("00000007 0000 0000 00000000")  # Kafka leaves the message empty, not null
    assert (machine.principal, machine.software) == ("User:alice", ("apache-kafka-java", "2.4.0"))


def test_K511_26_what_is_refused_during_sasl_may_be_asked_again() -> None:
    machine = sasl()
    for frame in (framed_hex("0012 03e7 00000001 0001 63 00"), framed_hex("0012 0003 00000001 0001 63 00 02 5f 02 31 00")):
        assert machine.receive(frame, 0)[0].data[8:10] in (b"\0\x23", b"\0\x2a")
        assert machine.state is BrokerState.FIRST_OF_SASL
    assert machine.receive(bytes.fromhex(G1), 0)[0] == JAVA


@pytest.mark.parametrize(
    "frames", [[VERSIONS_0, VERSIONS_0], [HANDSHAKE, VERSIONS_0], [METADATA], [HANDSHAKE, METADATA], [HANDSHAKE, HANDSHAKE], [PLAIN]]
)
def test_K511_28_what_is_out_of_order_during_sasl_ends_the_connection(frames: list[bytes]) -> None:
    machine = sasl()
    *_, over = machine.receive(b"".join(frames), 0)
    assert isinstance(over, Over)
    assert (over.reason, machine.state) == ("out_of_order", BrokerState.CLOSED)


@pytest.mark.requirement("K511-28")
def test_where_a_token_has_to_come_the_broker_says_so_before_it_closes() -> None:
    """As 3.9 and 4.4 do: ILLEGAL_SASL_STATE (34)."""
    machine = sasl()
    machine.receive(HANDSHAKE, 0)
    sent, over = machine.receive(VERSIONS_0, 0)
    assert (sent.data, over.reason) == (framed_hex("00000005 0022 00000000"), "out_of_order")


def test_a_wrong_password_is_told_and_ends_the_connection() -> None:
    machine = sasl()
    machine.receive(HANDSHAKE, 0)
    sent, over = machine.receive(framed_hex("0024 0000 00000007 0001 63 00000004 00 61 00 62"), 0)
    assert sent.data == framed_hex("00000007 003a 0015 41757468656e7469636174696f6e206661696c6564 00000000")
    assert over == Over("authentication_failed")


def test_a_mechanism_that_is_not_there_is_told_and_ends_the_connection() -> None:
    machine = sasl()
    sent, over = machine.receive(framed_hex("0011 0001 00000006 0001 63 0004 52494e47"), 0)
    assert sent.data == framed_hex("00000006 0021 00000001 0005 504c41494e")
    assert over == Over("authentication_failed")


def test_raw_tokens_after_handshake_0() -> None:
    machine = sasl()
    machine.receive(framed_hex("0011 0000 00000006 0001 63 0005 504c41494e"), 0)
    assert machine.state is BrokerState.RAW_TOKENS
    sent, authenticated = machine.receive(framed_hex("00 616c696365 00 736563726574"), 0)
    assert (sent.data, authenticated) == (bytes(4), Authenticated("User:alice", "PLAIN"))
    assert "secret" not in repr(machine.receive(METADATA, 0))
    refused = sasl()
    refused.receive(framed_hex("0011 0000 00000006 0001 63 0005 504c41494e"), 0)
    assert refused.receive(framed_hex("00 61 00 62"), 0) == [Over("authentication_failed")]


def test_authentication_again_and_listeners_without_it() -> None:
    machine = sasl()
    machine.receive(HANDSHAKE + PLAIN, 0)
    assert written(machine.receive(HANDSHAKE + PLAIN, 0)).startswith(framed_hex("00000006 0000 00000001 0005 504c41494e"))
    plain = NegotiatingBroker({17: (0, 1), 36: (0, 2)})
    assert written(plain.receive(HANDSHAKE, 0)) == framed_hex("00000006 0022 00000000")
    assert plain.receive(PLAIN, 0)[0].data[8:10] == b"\0\x22"


@pytest.mark.parametrize(
    ("frame", "reason", "why"),
    [
        ("4e43 0000 00000007 0001 63", "unknown_api", "no api 20035"),
        ("0003 000a 00000007 0001 63", "unsupported_version", "Metadata 0-9, not 10"),
        ("0003 ffff 00000007 0001 63", "unsupported_version", "Metadata 0-9, not -1"),
    ],
)
def test_K35_25_an_unknown_api_or_version_closes_the_connection(frame: str, reason: str, why: str) -> None:
    machine = NegotiatingBroker({3: (0, 9), 18: (0, 3)})
    (over,) = machine.receive(framed_hex(frame) + METADATA, 0)
    assert (over.reason, machine.state) == (reason, BrokerState.CLOSED)
    assert why in str(over.error)


def test_K35_25_what_is_advertised_and_not_taken_closes_too() -> None:
    """Produce v0 to a 4.x broker (KIP-896)."""
    machine = NegotiatingBroker.of_release("4.1.0")
    told = written(machine.receive(VERSIONS_0, 0))
    assert bytes.fromhex("0000 0000 000d") in told
    (over,) = machine.receive(framed_hex("0000 0000 00000007 0001 63 0001 00000000 00000000"), 0)
    assert over.reason == "unsupported_version"


@pytest.mark.requirement("K35-21")
@pytest.mark.parametrize("frame", ["4e43 0000 00000007 0001 63", "0003 000a 00000007 0001 63"])
def test_K35_20_the_draft_answers_with_nothing_and_goes_on(frame: str) -> None:
    machine = NegotiatingBroker({3: (0, 9), 18: (0, 3)}, unsupported="empty_answer")
    assert machine.receive(framed_hex(frame), 0) == [Send(bytes.fromhex(G5), 7)]
    (received,) = machine.receive(METADATA, 0)
    assert isinstance(received, Received)
    assert written(machine.receive(bytes.fromhex(G1), 0)) == b""  # ApiVersions waits for the answer to Metadata
    first, second = machine.respond(machine.codec.messages.MetadataResponse())
    assert (first.correlation_id, second.data) == (8, framed_hex("00000001 0000 03 0003 0000 0009 00 0012 0000 0003 00 00000000 00"))


def test_K511_5_who_means_another_cluster_or_node_is_told_so() -> None:
    """KIP-1242: REBOOTSTRAP_REQUIRED (129)."""

    def asked(cluster: str, node: str) -> int:
        machine = NegotiatingBroker({18: (0, 5)}, cluster_id="k", node_id=7)
        (*_, sent) = machine.receive(framed_hex(f"0012 0005 00000001 0001 63 00 02 61 02 31 {cluster} {node} 00"), 0)
        return int.from_bytes(sent.data[8:10], "big")

    assert [asked("026b", "00000007"), asked("00", "ffffffff"), asked("026a", "00000007"), asked("026b", "00000008")] == [0, 0, 129, 129]


def test_requests_are_handed_on_and_answered_in_their_order() -> None:
    machine = NegotiatingBroker({3: (0, 9), 18: (0, 3)})
    first, second = machine.receive(METADATA + METADATA.replace(b"\0\0\0\x08", b"\0\0\0\x09"), 0)
    assert (first.request.header.correlation_id, second.request.header.correlation_id, machine.waiting) == (8, 9, 2)
    # no throttle time in version 1: brokers, controller, topics
    assert written(machine.respond(machine.codec.messages.MetadataResponse())) == framed_hex("00000008 00000000 ffffffff 00000000")
    assert machine.respond(machine.codec.messages.MetadataResponse())[0].correlation_id == 9
    with pytest.raises(KwireError, match="no request waits"):
        machine.respond(machine.codec.messages.MetadataResponse())


def test_K35_27_produce_without_acknowledgement_wants_no_answer() -> None:
    machine = NegotiatingBroker({0: (0, 9), 3: (0, 9)})
    outcomes = machine.receive(framed_hex("0000 0003 00000001 0001 63 ffff 0000 00000000 00000000") + METADATA, 0)
    assert [each.answered for each in outcomes] == [False, True]
    assert machine.respond(machine.codec.messages.MetadataResponse())[0].correlation_id == 8


@pytest.mark.parametrize("frame", ["ffffffff", "7fffffff", "00000003 000300", "0000000c 0003 0001 00000008 ffff 0000"])
def test_what_cannot_be_read_ends_the_connection(frame: str) -> None:
    machine = NegotiatingBroker({3: (0, 9), 18: (0, 3)})
    (over,) = machine.receive(bytes.fromhex(frame), 0)
    assert (over.reason, machine.state) == ("garbled", BrokerState.CLOSED)
    assert machine.receive(METADATA, 0) == machine.leave() == []


def test_bytes_behind_a_body_are_passed_over() -> None:
    """As Kafka does; librdkafka 2.16 sends some behind Metadata v12."""
    (received,) = NegotiatingBroker({3: (0, 9)}).receive(framed_hex("0003 0001 00000008 0001 63 00000000 0000"), 0)
    assert isinstance(received, Received)


def test_pieces_of_one_byte_give_the_same() -> None:
    whole, cut = sasl(), sasl()
    data = VERSIONS_0 + HANDSHAKE + PLAIN + bytes.fromhex(G1)
    assert [each for byte in data for each in cut.receive(bytes([byte]), 0)] == whole.receive(data, 0)


ID = "00112233445566778899aabbccddeeff"


def new_broker(**more: Any) -> NegotiatingBroker:
    """A broker with KIP-1313; OffsetDelete v1 has request header 3, version 0 has header 1."""
    codec = Codec(dialect("kip-1313"))
    ranges = {key: codec.catalog.request(key).valid_versions for key in codec.catalog.api_keys}
    return NegotiatingBroker(ranges, codec=codec, instance_ids=InstanceIdRule(), **more)


def offset_delete(instance_id: str) -> bytes:
    return framed_hex(f"002f 0001 00000007 ffff {instance_id} 00 02 67 01 00")


def offset_delete_0() -> bytes:
    return framed_hex("002f 0000 00000007 ffff 0001 67 00000000")


INVALID = framed_hex("00000007 00 002a 00000000 01 00")


OTHER_ID = ID.replace("ff", "fe")
TAKEN = b""  # handed on


@pytest.mark.requirement("K1313-25", "K1313-26", "K1313-27", "K1313-28", "K1313-29")
@pytest.mark.parametrize(
    ("frames", "answers"),
    [
        ([offset_delete("00" * 16), offset_delete(ID)], [INVALID, TAKEN]),
        ([offset_delete(ID), offset_delete(OTHER_ID), offset_delete(ID)], [TAKEN, INVALID, TAKEN]),
        ([offset_delete(ID), offset_delete_0()], [TAKEN, framed_hex("00000007 002a 00000000 00000000")]),
        # no SASL here, and no INVALID_REQUEST
        ([offset_delete(ID), HANDSHAKE, offset_delete(ID)], [TAKEN, framed_hex("00000006 0022 00000000"), TAKEN]),
        ([offset_delete_0(), offset_delete(ID), offset_delete(OTHER_ID)], [TAKEN, TAKEN, INVALID]),
    ],
)
def test_one_connection_keeps_one_instance_id(frames: list[bytes], answers: list[bytes]) -> None:
    machine = new_broker()
    for frame, answer in zip(frames, answers, strict=True):
        outcomes = machine.receive(frame, 0)
        assert written(outcomes) == answer
        if answer == TAKEN:
            assert isinstance(outcomes[0], Received)
            machine.respond(machine.codec.messages.OffsetDeleteResponse())


def test_K1313_27_a_response_with_no_place_for_the_error_closes() -> None:
    machine = new_broker()
    machine.receive(offset_delete(ID), 0)
    *_, over = machine.receive(METADATA, 0)
    assert over.reason == "invalid_request"
    assert "header 1 has no client instance id, and the connection began with ABEiM0RVZneImaq7zN3u_w" in str(over.error)


@pytest.mark.parametrize(
    "frame", [VERSIONS_0, HANDSHAKE, PLAIN, METADATA, framed_hex("4e43 0000 00000007 0001 63"), framed_hex("0012 03e7 00000001 0001 63 00")]
)
@pytest.mark.parametrize(
    "state", [each for each in BrokerState if each not in (BrokerState.NEW, BrokerState.CLOSED, BrokerState.RAW_TOKENS)]
)
def test_every_state_with_every_kind_of_request(state: BrokerState, frame: bytes) -> None:
    """No request makes a machine do what its table forbids."""
    machine = sasl()
    machine.mechanism = "PLAIN"
    machine.state = state
    outcomes = machine.receive(frame, 0)
    assert outcomes
    assert machine.over == isinstance(outcomes[-1], Over)


def test_ranges_are_taken_in_both_forms() -> None:
    assert NegotiatingBroker({18: Versions(0, 3)}).advertised == NegotiatingBroker({18: (0, 3)}).advertised
