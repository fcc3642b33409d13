"""The client's side of negotiation, on bytes worked out by hand and on the golden frames."""

from __future__ import annotations

from typing import Any

import pytest

from kwire.codec.catalog_codec import Codec
from kwire.errors import KwireError
from kwire.protocol.negotiation import BrokerVersions, NegotiatingClient, NoCommonVersion
from kwire.protocol.negotiation.client_states import ClientState
from kwire.protocol.negotiation.outcomes import (
    Agreed,
    Answered,
    NegotiationFailed,
    NotSupported,
    Over,
    Reconnect,
    RequestNotSupported,
    Retried,
    Send,
)
from kwire.protocol.transitions import InvalidTransition
from kwire.schema import Versions, dialect, release_catalog, releases

G1 = "00000025 0012 0003 00000001 0001 63 00 12 6170616368652d6b61666b612d6a617661 06 322e342e30 00"
SECOND = 1_000_000_000


def refusal(correlation_id: int, ranges: str = "00000001 0012 0000 0003", error: str = "0023") -> bytes:
    """An ApiVersions response in version 0: G2 with another correlation id."""
    body = bytes.fromhex(f"{correlation_id:08x} {error} {ranges}")
    return len(body).to_bytes(4, "big") + body


def agreement(correlation_id: int, entries: str = "02 0012 0000 0003 00") -> bytes:
    """An ApiVersions response in version 3, as G3."""
    body = bytes.fromhex(f"{correlation_id:08x} 0000 {entries} 00000000 00")
    return len(body).to_bytes(4, "big") + body


def version_of(send: Any) -> int:
    assert isinstance(send, Send)
    return int.from_bytes(send.data[6:8], "big")


def client(**more: Any) -> NegotiatingClient:
    return NegotiatingClient(client_id="c", software=("apache-kafka-java", "2.4.0"), **more)


def ready(entries: str, **more: Any) -> NegotiatingClient:
    machine = client(**more)
    machine.connected(0)
    (agreed,) = machine.receive(agreement(0, entries), 1)
    assert isinstance(agreed, Agreed)
    return machine


def test_the_first_bytes_are_the_golden_frame() -> None:
    machine = NegotiatingClient(client_id="c", software=("apache-kafka-java", "2.4.0"), api_versions=3)
    (sent,) = machine.connected(0)
    assert sent == Send(bytes.fromhex(G1.replace("00000001 0001", "00000000 0001")), 0)
    assert (machine.state, machine.deadline) == (ClientState.ASKING, 30 * SECOND)


@pytest.mark.parametrize(
    ("ranges", "then"),
    [("00000001 0012 0000 0003", 3), ("00000000", 0), ("00000001 0003 0000 0009", 0), ("00000001 0012 0000 0063", 5)],
    ids=["0-3", "empty, as before 2.4", "without api 18", "above our own"],
)
def test_K511_15_after_error_35_the_broker_is_asked_in_its_own_version(ranges: str, then: int) -> None:
    machine = client()
    assert version_of(machine.connected(0)[0]) == 5
    retried, sent = machine.receive(refusal(0, ranges), 1)
    assert retried == Retried(5, then)
    assert version_of(sent) == then
    assert sent.correlation_id == 1


def test_K511_16_a_version_0_answer_to_version_3_is_told_by_its_error() -> None:
    machine = client(api_versions=3)
    machine.connected(0)
    # two entries in version 0; read as version 3, "00000002" is a null array, and the rest would be tags
    retried, sent = machine.receive(refusal(0, "00000002 0000 0000 0002 0012 0000 0002"), 1)
    assert (retried, version_of(sent)) == (Retried(3, 2), 2)


@pytest.mark.parametrize("code", ["0023", "0026", "ffff", "002a"])
def test_K511_17_error_35_on_version_0_and_any_other_error_end_the_connection(code: str) -> None:
    machine = client(api_versions=0)
    machine.connected(0)
    (over,) = machine.receive(refusal(0, "00000000", code), 1)
    assert (over.reason, machine.state) == ("error_code", ClientState.CLOSED)
    named = {
        "0023": "UNSUPPORTED_VERSION (35)",
        "0026": "INVALID_REPLICATION_FACTOR (38)",
        "ffff": "UNKNOWN_SERVER_ERROR (-1)",
        "002a": "(42)",
    }
    assert named[code] in str(over.error)
    assert machine.receive(agreement(0), 2) == []


def test_K511_18_a_broker_that_always_refuses_is_asked_three_times() -> None:
    machine = client()
    machine.connected(0)
    for number in range(2):
        retried, sent = machine.receive(refusal(number), 1)
        assert (retried.version, sent.correlation_id) == (3, number + 1)
    (over,) = machine.receive(refusal(2), 1)
    assert over.reason == "no_agreement"
    assert isinstance(over.error, NegotiationFailed)
    assert (over.error.error_code, over.error.api_version) == (35, 3)


def test_K511_18_a_broker_whose_versions_are_all_newer_is_left() -> None:
    machine = client()
    machine.connected(0)
    (over,) = machine.receive(refusal(0, "00000001 0012 0007 0009"), 1)
    assert (over.reason, str(over.error)) == ("no_agreement", "the broker has ApiVersions 7-9, and the client has 0-5")


def test_K511_21_invalid_request_is_the_end_and_names_the_field() -> None:
    machine = NegotiatingClient(software=("my client", "1.0"), api_versions=3)
    machine.connected(0)
    # G4 for the first correlation id
    (over,) = machine.receive(bytes.fromhex("0000000c 00000000 002a 01 00000000 00"), 1)
    assert (over.reason, machine.state, over.error.error_code) == ("error_code", ClientState.CLOSED, 42)
    assert "INVALID_REQUEST (42): client_software_name must be" in str(over.error)


def test_K511_35_the_client_says_that_it_is_kwire_unless_told_otherwise() -> None:
    (sent,) = NegotiatingClient(api_versions=3).connected(0)
    assert b"\x06kwire\x06" in sent.data
    assert b"\x12apache-kafka-java\x062.4.0\x00" in client(api_versions=3).connected(0)[0].data


def test_K511_5_whom_the_client_means_is_told_from_version_5_on() -> None:
    machine = client(cluster_id="k", node_id=7)
    (sent,) = machine.connected(0)
    # after the software: cluster id "k" and node 7
    assert sent.data.endswith(bytes.fromhex("06 322e342e30 02 6b 00000007 00"))
    older = client(cluster_id="k", node_id=7, api_versions=4).connected(0)[0]
    assert older.data.endswith(bytes.fromhex("06 322e342e30 00"))


def test_agreement_gives_the_versions_of_this_broker() -> None:
    machine = client()
    machine.connected(5)
    (agreed,) = machine.receive(agreement(0, "03 0012 0000 0003 00 0003 0001 0009 00"), 6)
    assert (agreed.api_version, agreed.versions.ranges) == (5, {18: Versions(0, 3), 3: Versions(1, 9)})
    assert (machine.state, machine.deadline) == (ClientState.READY, None)
    sent = machine.send(machine.codec.messages.MetadataRequest(), 7)
    assert version_of(sent) == 9
    assert machine.deadline == 7 + 30 * SECOND


def test_K35_35_two_brokers_two_choices() -> None:
    old, new = ready("02 0003 0000 0004 00"), ready("02 0003 0000 000c 00")
    body = old.codec.messages.MetadataRequest()
    assert [version_of(machine.send(body, 1)) for machine in (old, new)] == [4, 12]


def test_K35_40_what_the_broker_lacks_is_a_typed_error() -> None:
    machine = ready("02 0003 0000 0004 00", node="broker 7")
    assert machine.versions is not None
    assert (machine.versions.supports("Metadata"), machine.versions.supports("Fetch"), machine.versions.supports("Metadata", 5)) == (
        True,
        False,
        False,
    )
    with pytest.raises(NoCommonVersion, match=r"^broker 7 does not have Fetch, and the client has 0-\d+$"):
        machine.send(machine.codec.messages.FetchRequest(), 1)


def test_K35_39_a_broker_that_closes_on_apiversions_is_taken_for_an_assumed_release() -> None:
    machine = client(fallback_release="0.9")
    machine.connected(0)
    assert machine.closed(1) == [Reconnect("0.9")]
    assert machine.closed(1) == []
    (agreed,) = machine.connected(2)
    assert (agreed.api_version, agreed.versions.assumed) == (None, "0.9.0.1")
    sent = machine.send(machine.codec.messages.FetchRequest(), 3)
    assert version_of(sent) == 1
    assert agreed.versions.supports("Metadata", 1) is False


def test_K35_39_without_a_table_it_is_the_end() -> None:
    machine = client()
    machine.connected(0)
    assert machine.closed(1) == [Over("closed_by_peer")]


@pytest.mark.parametrize(
    ("api", "version", "reason"),
    [
        ("Produce", 0, "closed_after_unsupported"),
        ("Produce", 3, "closed_by_peer"),
        ("Metadata", 12, "closed_after_unsupported"),
        ("Metadata", 11, "closed_by_peer"),
    ],
)
def test_K35_26_a_close_after_a_request_that_the_broker_does_not_take(api: str, version: int, reason: str) -> None:
    """4.x advertises Produce v0 and closes on it (KIP-896)."""
    machine = ready("02 0012 0000 0003 00")
    advertised = releases()["4.1.0"].advertised()
    machine.versions = BrokerVersions({**advertised, 3: Versions(0, 11)} if api == "Metadata" else advertised)
    machine.send(machine.codec.message_class(f"{api}Request")(), 1, version)
    (over,) = machine.closed(2)
    assert over.reason == reason


def test_K35_27_produce_without_acknowledgement_waits_for_nothing() -> None:
    machine = ready("03 0000 0000 0009 00 0003 0000 0004 00")
    machine.send(machine.codec.messages.ProduceRequest(acks=0), 1)
    assert machine.deadline is None
    sent = machine.send(machine.codec.messages.MetadataRequest(), 2)
    answer = bytes.fromhex(f"{sent.correlation_id:08x} 00000000 00000000 ffff ffffffff 00000000")
    (answered,) = machine.receive(len(answer).to_bytes(4, "big") + answer, 3)
    assert isinstance(answered, Answered)
    assert (answered.response.api_key, answered.response.api_version) == (3, 4)


def draft(**more: Any) -> NegotiatingClient:
    machine = client(codec=Codec(dialect("kip-35-draft")), **more)
    machine.connected(0)
    machine.receive(agreement(0, "03 0012 0000 0003 00 0003 0000 0009 00"), 1)
    return machine


def test_K35_23_an_empty_answer_is_not_supported() -> None:
    machine = draft(empty_answers=True, node="broker 3")
    machine.send(machine.codec.messages.MetadataRequest(), 2)
    (outcome,) = machine.receive(bytes.fromhex("00000004 00000001"), 3)  # G5
    assert isinstance(outcome, NotSupported)
    assert isinstance(outcome.error, RequestNotSupported)
    assert (outcome.error.api, outcome.error.api_key, outcome.error.api_version, outcome.error.node) == ("Metadata", 3, 9, "broker 3")
    assert str(outcome.error) == "Metadata v9 is not supported by broker 3"
    assert machine.state is ClientState.READY


def test_K35_22_a_literal_zero_length_is_read_with_the_draft_alone() -> None:
    machine = draft(empty_answers=True)
    machine.send(machine.codec.messages.MetadataRequest(), 2)
    assert machine.receive(bytes.fromhex("00000000 0000"), 3) == []
    (outcome,) = machine.receive(bytes.fromhex("0001"), 3)
    assert isinstance(outcome, NotSupported)
    released = draft()
    released.send(released.codec.messages.MetadataRequest(), 2)
    (over,) = released.receive(bytes.fromhex("00000000 00000001"), 3)
    assert over.reason == "garbled"


def test_K35_24_an_old_client_names_the_request_that_it_cannot_read_the_answer_of() -> None:
    machine = draft()
    machine.send(machine.codec.messages.MetadataRequest(), 2)
    (over,) = machine.receive(bytes.fromhex("00000004 00000001"), 3)
    assert over.reason == "garbled"
    assert str(over.error).startswith("the answer of the broker to Metadata v9 cannot be read: the bytes end before the value")


def test_time_runs_out() -> None:
    machine = client(timeout=2 * SECOND)
    machine.connected(SECOND)
    assert machine.tick(3 * SECOND - 1) == []
    (over,) = machine.tick(3 * SECOND)
    assert (over.reason, str(over.error)) == ("timed_out", "the broker did not answer ApiVersions v5 in 2 s")
    assert machine.tick(4 * SECOND) == machine.closed(4) == machine.leave() == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("ffffffff", "frame length -1"),
        ("00000004 00000009", "answered with correlation id 9 where 0 is waiting"),
        ("00000005 00000000 00", "error_code"),
    ],
)
def test_what_cannot_be_read_is_the_end(data: str, why: str) -> None:
    machine = client()
    machine.connected(0)
    (over,) = machine.receive(bytes.fromhex(data), 1)
    assert over.reason == "garbled"
    assert isinstance(over.error, KwireError)
    assert why in str(over.error)


def test_an_answer_that_nobody_waits_for_is_the_end() -> None:
    machine = ready("02 0003 0000 0004 00")
    (over,) = machine.receive(bytes.fromhex("00000004 00000009"), 1)
    assert "sent a response without a request" in str(over.error)


def test_the_versions_are_asked_again() -> None:
    machine = ready("02 0003 0000 0004 00")
    (sent,) = machine.ask_again(1, 0)
    assert version_of(sent) == 0
    assert (machine.receive(refusal(1, "00000001 0003 0000 0005", "0000"), 2)[0].versions.ranges) == {3: Versions(0, 5)}


def test_a_client_of_an_older_release_asks_in_its_own_version() -> None:
    assert version_of(client(codec=Codec(release_catalog("2.4.1"))).connected(0)[0]) == 3
    assert version_of(client(own={18: (0, 2)}).connected(0)[0]) == 2


@pytest.mark.parametrize("state", ClientState)
def test_calls_that_a_state_does_not_take(state: ClientState) -> None:
    """A client connects before anything else, or once a release is assumed; it sends and asks again when it is ready."""
    machine = client(fallback_release="0.9")
    machine.versions = BrokerVersions({3: (0, 1), 18: (0, 3)})
    calls = [lambda: machine.connected(1), lambda: machine.send(machine.codec.messages.MetadataRequest(), 1), lambda: machine.ask_again(1)]
    for number, call in enumerate(calls):
        machine.state = state
        if state in ((ClientState.READY,) if number else (ClientState.NEW, ClientState.ASSUMING)):
            call()
            continue
        with pytest.raises(InvalidTransition):
            call()
        assert machine.state is state
