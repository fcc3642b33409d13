"""Who the client is, in both twins, on hand-worked requests: what counts as not sent, what is in force at a request, role and client id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_bytes import MS, api_versions, framed, handshake, head, heartbeat, rows, rules, shaken
from kwire.protocol.tracking.identity import MOST_CLIENT_IDS


def named(connection: Any) -> tuple[str | None, str]:
    summary = connection.summary()
    return summary.software_name, summary.identity_source


def test_a_client_that_works_without_a_name_has_sent_none_whatever_is_lost_then(make: Callable[..., Any]) -> None:
    """Clients name themselves first; a gap behind the first request that is not of the introduction hides no name."""
    connection = make()
    connection.receive_request_bytes(heartbeat(1), 0)
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(heartbeat(2), MS)
    assert named(connection) == ("unknown", "not_sent")


@pytest.mark.parametrize("first", [api_versions(1, 0), handshake(1, 1, b"PLAIN"), framed(head(36, 0, 1) + framed(b"\0a\0b"))])
def test_while_a_client_introduces_itself_a_gap_may_hide_its_name(make: Callable[..., Any], first: bytes) -> None:
    connection = make()
    connection.receive_request_bytes(first, 0)
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(heartbeat(2), MS)
    assert named(connection) == (None, "not_observed")
    assert [row.software_name for row in rows(connection.finish(MS))][-1] is None


def test_what_was_in_force_before_a_gap_is_not_known(make: Callable[..., Any]) -> None:
    """The row of an ApiVersions request has the name before it, as the broker logs it."""
    connection = make()
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(api_versions(1, 3) + heartbeat(2), 0)
    assert [row.software_name for row in rows(connection.finish(MS))] == [None, "kgo"]
    connection = make()
    connection.receive_request_bytes(api_versions(1, 3) + heartbeat(2), 0)
    assert [row.software_name for row in rows(connection.finish(MS))] == ["unknown", "kgo"]


@pytest.mark.parametrize(("error", "second"), [(0, "kgo"), (35, "unknown")])
def test_a_second_api_versions_request_has_the_name_of_an_accepted_first(make: Callable[..., Any], error: int, second: str) -> None:
    """As brokers log it: a request that was refused with UNSUPPORTED_VERSION brought no name (KIP-511), one that was accepted did."""
    accepted = b"\0\0" + b"\x02\0\x12\0\0\0\x04\0" + b"\0\0\0\0" + b"\0"  # one API in a compact array, throttle time, no tags
    refused = b"\0\x23" + b"\0\0\0\x01\0\x12\0\0\0\x04"  # version 0, with the range of ApiVersions
    connection = make()
    events = connection.receive_request_bytes(api_versions(1, 3), 0)
    events += connection.receive_response_bytes(framed(b"\0\0\0\1" + (refused if error else accepted)), MS)
    events += connection.receive_request_bytes(api_versions(2, 3) + heartbeat(3), 2 * MS) + connection.finish(3 * MS)
    found = rows(events)
    assert [row.software_name for row in found] == ["unknown", second, "kgo"]
    assert found[0].error_code == error


def test_api_versions_without_a_name_says_nothing_where_one_may_be_missing(make: Callable[..., Any]) -> None:
    """A client asks in version 3 with its name, is refused, and asks in version 0, which has none; the first request may be lost."""
    connection = make()
    connection.lost("request", 28, 0)
    connection.receive_request_bytes(api_versions(1, 0), 0)
    assert named(connection) == (None, "not_observed")


@pytest.mark.parametrize(("kept", "source"), [(19, "not_observed"), (25, "api_versions")])
@pytest.mark.parametrize("before", [b"", api_versions(0, 0)])  # over SASL Java asks for versions without a name first
def test_a_name_that_snaplen_cuts_off_was_sent(make: Callable[..., Any], before: bytes, kept: int, source: str) -> None:
    """4 bytes of length, 13 and a tag section of header; `kgo` and `v1` take 4 and 3, the tags 1."""
    connection = make()
    request = api_versions(1, 3)
    connection.receive_request_bytes(before + request[:kept], 0)
    connection.lost("request", len(request) - kept, 0, cut=True)
    connection.receive_request_bytes(heartbeat(2), MS)
    assert named(connection)[1] == source


def test_invalid_software_of_any_form_is_none(make: Callable[..., Any]) -> None:
    connection = make()
    assert rules(connection.receive_request_bytes(api_versions(1, 3, b"kgo", b"1 0"), 0)) == ["client_software_invalid"]
    assert named(connection) == ("unknown", "not_sent")


def test_the_most_frequent_client_id_and_the_first_of_equals(make: Callable[..., Any]) -> None:
    connection = make()
    connection.receive_request_bytes(heartbeat(1, b"one") + heartbeat(2, b"two") + heartbeat(3, b""), 0)
    assert connection.summary().client_id == "one"
    connection.receive_request_bytes(heartbeat(4, b"two"), 0)
    assert connection.summary().client_id == "two"


def test_so_many_client_ids_are_counted(make: Callable[..., Any]) -> None:
    connection = make(bodies=())
    for number in range(MOST_CLIENT_IDS):
        connection.receive_request_bytes(heartbeat(number, b"id-%d" % number), 0)
    connection.receive_request_bytes(heartbeat(1, b"late") + heartbeat(2, b"late"), 0)
    assert connection.summary().client_id == "id-0"


def test_client_ids_of_so_many_characters_are_counted(make: Callable[..., Any]) -> None:
    """Two of 32,767 characters are 2 below the bound: a third one of two fits, of three does not."""
    for third, client_id in ((b"id", "id"), (b"ide", "a" * 32767)):
        connection = make(bodies=())
        connection.receive_request_bytes(heartbeat(1, b"a" * 32767) + heartbeat(2, b"b" * 32767), 0)
        connection.receive_request_bytes(heartbeat(3, third) + heartbeat(4, third), 0)
        assert connection.summary().client_id == client_id


def fetch(correlation_id: int, replica_id: int, client_id: bytes = b"app") -> bytes:
    body = replica_id.to_bytes(4, "big", signed=True) + bytes(13) + bytes(4)
    return framed(head(1, 4, correlation_id, client_id) + body)


@pytest.mark.parametrize(
    ("request_bytes", "role"),
    [
        (fetch(1, -1), "client"),
        (fetch(1, 0), "broker"),  # node 0 is a broker too
        (fetch(1, 3), "broker"),
        (fetch(1, -1, b"broker-3-fetcher-0"), "broker"),
        (heartbeat(1, b"broker-3"), "client"),
        (heartbeat(1, b"AddPartitionsManager-client-3"), "broker"),
        (framed(head(7, 1, 1) + bytes(12)), "broker"),  # ControlledShutdown
        (framed(head(52, 0, 1) + b"\0\1\1\0"), "controller"),  # Vote
    ],
)
def test_what_makes_a_broker_of_a_peer(make: Callable[..., Any], request_bytes: bytes, role: str) -> None:
    connection = make()
    connection.receive_request_bytes(request_bytes, 0)
    assert connection.summary().role == role


def test_the_instance_id_that_a_broker_gave(make: Callable[..., Any]) -> None:
    """PushTelemetry v0 names it; zeros, with which a client asks for one, are none."""
    asked = framed(head(71, 0, 1) + b"\0" + bytes(16) + b"\0")
    pushed = framed(head(72, 0, 2) + b"\0" + bytes(range(16)) + bytes(4) + b"\0\0\1\0")
    connection = make()
    connection.receive_request_bytes(asked, 0)
    assert connection.summary().client_instance_id is None
    connection.receive_request_bytes(pushed, 0)
    assert connection.summary().client_instance_id == "AAECAwQFBgcICQoLDA0ODw"
    connection.receive_request_bytes(asked, 0)
    assert connection.summary().client_instance_id == "AAECAwQFBgcICQoLDA0ODw"


def test_the_header_of_version_0_has_no_client_id(make: Callable[..., Any]) -> None:
    """ControlledShutdown v0 alone: broker 3."""
    connection = make()
    connection.receive_request_bytes(framed(bytes.fromhex("0007 0000 00000001 00000003")), 0)
    (row,) = rows(connection.finish(MS))
    assert (row.header_version, row.client_id, row.correlation_id) == (0, "", 1)


@pytest.mark.requirement("K511-28")
def test_api_versions_between_handshake_and_token_of_a_known_number(make: Callable[..., Any]) -> None:
    """GSSAPI takes as many tokens as it likes, so any request may follow one; PLAIN takes one."""
    for mechanism, broken in ((b"PLAIN", ["api_versions_out_of_order"]), (b"GSSAPI", [])):
        connection = make()
        connection.receive_request_bytes(handshake(1, 1, mechanism), 0)
        connection.receive_response_bytes(shaken(1), 0)
        assert rules(connection.receive_request_bytes(api_versions(2, 0), 0)) == broken
