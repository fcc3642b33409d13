"""Who sent the requests of a capture, in the rows that each twin makes of hand-made packets: software, role, ids, authentication."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import api_versions, framed, handshake, head, heartbeat, ok, produce, shaken
from kwire.codec.impl import Twin
from made_packets import CLIENT, SERVER, opened
from read_by_twins import Tables, connection, rows, tables_of

ZEROS = bytes(16)
INSTANCE = bytes.fromhex("00112233445566778899aabbccddeeff")


def asked(twin: Twin, *requests: bytes) -> Tables:
    """The tables of a connection from its SYN on, of which the server's direction is missing but for the handshake."""
    wire = opened()
    for request in requests:
        wire.send(CLIENT, request)
    return tables_of(twin, wire.packets)


def subscriptions(correlation_id: int, instance: bytes) -> bytes:
    """GetTelemetrySubscriptions v0: the client instance id, which is zero while the client has none, and no tagged fields."""
    return framed(head(71, 0, correlation_id) + b"\0" + instance + b"\0")


def fetch(correlation_id: int, replica_id: int) -> bytes:
    """Fetch v0 of no topic: replica id, 4 bytes of max wait, 4 of min bytes."""
    return framed(head(1, 0, correlation_id) + replica_id.to_bytes(4, "big", signed=True) + bytes(12))


def test_a_name_is_in_force_from_the_request_behind_it(twin: Twin) -> None:
    """The broker logs the ApiVersions request under what was in force before (KIP-511)."""
    found = asked(twin, heartbeat(1), api_versions(2, 3), heartbeat(3))
    assert rows(found, "software_name") == ["unknown", "unknown", "kgo"]
    assert connection(found, "software_name", "software_version", "identity_source") == ["kgo", "v1", "api_versions"]


def test_a_client_that_works_without_a_name_has_sent_none(twin: Twin) -> None:
    assert connection(asked(twin, heartbeat(1)), "software_name", "identity_source") == ["unknown", "not_sent"]


def test_a_name_that_the_snap_length_cuts_off_was_sent(twin: Twin) -> None:
    """The client id ends 17 bytes in, the tag section of the header at 18; `kgo` and its length take 4, the version's length is cut."""
    for kept, source in ((22, "not_observed"), (26, "api_versions")):
        wire = opened()
        wire.send(CLIENT, api_versions(1, 3), kept=kept)
        wire.send(CLIENT, heartbeat(2))
        assert connection(tables_of(twin, wire.packets), "identity_source") == [source]


@pytest.mark.parametrize(("version", "found"), [(0, [None, "not_observed"]), (3, ["kgo", "api_versions"])])
def test_behind_a_loss_api_versions_without_a_name_says_nothing(twin: Twin, version: int, found: list[Any]) -> None:
    """The lost request may have been ApiVersions v3 with the name, which the broker refused."""
    wire = opened()
    wire.send(CLIENT, api_versions(1, 3), lost=True)
    wire.send(SERVER)  # the server has it, the capture lacks it
    wire.send(CLIENT, api_versions(2, version))
    wire.send(SERVER)
    assert connection(tables_of(twin, wire.packets), "software_name", "identity_source") == found


@pytest.mark.parametrize("first", [handshake(1, 1, b"PLAIN"), api_versions(1, 0)])
def test_a_loss_while_the_client_introduces_itself_may_hide_its_name(twin: Twin, first: bytes) -> None:
    wire = opened()
    wire.send(CLIENT, first)
    wire.send(CLIENT, api_versions(2, 3), lost=True)
    wire.send(SERVER)
    wire.send(CLIENT, heartbeat(3))
    assert connection(tables_of(twin, wire.packets), "software_name", "identity_source") == [None, "not_observed"]


def test_a_loss_behind_the_first_work_hides_no_name(twin: Twin) -> None:
    wire = opened()
    wire.send(CLIENT, heartbeat(1))
    wire.send(CLIENT, heartbeat(2), lost=True)
    wire.send(SERVER)
    wire.send(CLIENT, heartbeat(3))
    assert connection(tables_of(twin, wire.packets), "software_name", "identity_source") == ["unknown", "not_sent"]


@pytest.mark.parametrize(("replica_id", "role"), [(-2, "client"), (-1, "client"), (0, "broker"), (7, "broker")])
def test_a_follower_fetches_with_its_id_from_0_on(twin: Twin, replica_id: int, role: str) -> None:
    """ListOffsetsRequest and FetchRequest of Kafka: consumers have -1, debugging tools -2."""
    assert connection(asked(twin, fetch(1, replica_id)), "role") == [role]


@pytest.mark.parametrize(("client_id", "role"), [(b"broker-1-fetcher-0", "broker"), (b"my-broker", "client")])
def test_a_brokers_client_id_shows_its_role(twin: Twin, client_id: bytes, role: str) -> None:
    assert connection(asked(twin, heartbeat(1, client_id)), "role", "client_id") == [role, client_id.decode()]


def test_an_instance_id_of_zeros_is_none(twin: Twin) -> None:
    """Kafka's base64 of 00112233445566778899aabbccddeeff without padding."""
    found = asked(twin, subscriptions(1, ZEROS), subscriptions(2, INSTANCE), subscriptions(3, ZEROS))
    assert rows(found, "client_instance_id") == [None, "ABEiM0RVZneImaq7zN3u_w", "ABEiM0RVZneImaq7zN3u_w"]
    assert connection(found, "client_instance_id") == ["ABEiM0RVZneImaq7zN3u_w"]


def test_the_one_header_without_a_client_id_has_an_empty_one(twin: Twin) -> None:
    """ControlledShutdown v0 has request header v0: api key, version and correlation id; its body is the broker's id."""
    found = asked(twin, framed(b"\0\7\0\0\0\0\0\1" + b"\0\0\0\5"), heartbeat(2))
    assert rows(found, "client_id") == ["", "app"]
    assert rows(found, "header_version") == [0, 1]
    assert connection(found, "client_id", "role") == ["app", "broker"]


def test_api_versions_while_authentication_is_under_way_breaks_the_order(twin: Twin) -> None:
    """A broker refuses it between SaslHandshake and the first token (SaslServerAuthenticator); said once the server is heard."""
    wire = opened()
    wire.exchange(handshake(1, 1, b"PLAIN"), shaken(1))
    wire.exchange(api_versions(2, 0), framed(b"\0\0\0\2\0\0" + bytes(4)))
    found = tables_of(twin, wire.packets)
    assert [(row["rule"], row["request_index"]) for row in found["violations"]] == [("api_versions_out_of_order", 1)]
    assert connection(found, "sasl_mechanism", "auth_failures") == ["PLAIN", 0]


def test_what_became_of_a_token_whose_answer_is_cut_off_is_not_known(twin: Twin) -> None:
    """SaslAuthenticate v0: of the response only the correlation id came, not its error code. The next request shows that it was right."""
    token = framed(head(36, 0, 2) + framed(b"\0alice\0pw"))
    answer = framed(b"\0\0\0\2\0\0\xff\xff" + bytes(4))
    for kept, behind in ((len(answer), True), (8, True), (8, False)):
        wire = opened()
        wire.exchange(handshake(1, 1, b"PLAIN"), shaken(1))
        wire.send(CLIENT, token)
        wire.send(SERVER, answer, kept=kept)
        if behind:
            wire.send(CLIENT, heartbeat(3))
        found = tables_of(twin, wire.packets)
        assert rows(found, "principal") == [None, None, "User:alice"][: 2 + behind]
        assert connection(found, "auth_failures", "attempted_principal") == [0, "User:alice"]


@pytest.mark.parametrize("kept", [19, 100])
def test_a_mechanism_that_is_cut_off_is_not_known(twin: Twin, kept: int) -> None:
    """`PLAIN` begins 19 bytes in, behind its length; the handshake counts as one all the same."""
    wire = opened()
    request = handshake(1, 1, b"PLAIN")
    wire.send(CLIENT, request, kept=min(kept, len(request)))
    wire.send(SERVER, shaken(1))
    found = tables_of(twin, wire.packets)
    assert connection(found, "sasl_mechanism") == [None if kept == 19 else "PLAIN"]
    assert rows(found, "body") == ["truncated" if kept == 19 else "decoded"]


def test_a_second_mechanism_that_is_cut_off_is_not_the_first_one(twin: Twin) -> None:
    """A client authenticates again (KIP-368): `PLAIN` is at bytes 19 to 24, and of the second handshake 22 bytes came."""
    wire = opened()
    wire.exchange(handshake(1, 1, b"PLAIN"), shaken(1))
    wire.exchange(framed(head(36, 0, 2) + framed(b"\0alice\0pw")), framed(b"\0\0\0\2\0\0\xff\xff" + bytes(4)))
    wire.send(CLIENT, handshake(3, 1, b"PLAIN"), kept=22)
    wire.send(SERVER, shaken(3))
    found = tables_of(twin, wire.packets)
    assert connection(found, "sasl_mechanism", "attempted_principal", "auth_failures") == [None, "User:alice", 0]


def test_a_client_of_0_9_begins_with_a_kerberos_token(twin: Twin) -> None:
    """A first GSS-API token begins with 0x60 and has the object identifier of Kerberos (RFC 2743, 3.1); brokers take it."""
    wire = opened()
    wire.exchange(framed(bytes.fromhex("60 1f 06092a864886f712010202") + bytes(20)), framed(b"\x60\x01"))
    wire.exchange(heartbeat(1), ok(1))
    found = tables_of(twin, wire.packets)
    assert connection(found, "sasl_mechanism") == ["GSSAPI"]
    assert rows(found, "state") == ["answered"]
    assert found.get("violations", []) == []


def test_a_producer_that_wants_no_answer_is_as_much_a_client(twin: Twin) -> None:
    found = asked(twin, produce(1, 0, client_id=b"p"))
    assert rows(found, "state") == ["no_response_expected"]
    assert connection(found, "client_id", "identity_source") == ["p", "not_sent"]
