"""Authentication in both forms: who tried, who succeeded, and that no secret survives anywhere."""

from __future__ import annotations

import base64
import json
import pickle

import pytest

from kafka_bytes import framed, handshake, head, rows, shaken
from kwire.codec.impl import Twin, load_twin
from kwire.protocol import Connection, Event
from kwire.protocol.sasl import attempted_name
from kwire.protocol.tracking.frames import Frame

PASSWORD = "hunter2-s3cret"


def authenticate(correlation_id: int, token: bytes) -> bytes:
    """SaslAuthenticate v0: the token as bytes."""
    return framed(head(36, 0, correlation_id) + framed(token))


def authenticated(correlation_id: int, token: bytes = b"", error: int = 0) -> bytes:
    return framed(correlation_id.to_bytes(4, "big") + error.to_bytes(2, "big") + b"\xff\xff" + framed(token))


def begun(asked: bytes) -> Connection:
    connection = Connection()
    connection.receive_request_bytes(asked, 0)
    connection.receive_response_bytes(shaken(1), 0)
    return connection


METADATA = framed(head(3, 1, 9) + b"\0\0\0\0")
METADATA_ANSWER = framed((9).to_bytes(4, "big") + b"\0\0\0\0" + b"\0\0\0\1" + b"\0\0\0\0")


def jwt(subject: str) -> bytes:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"n,,\x01auth=Bearer {part({'alg': 'RS256'})}.{part({'sub': subject, 'exp': 1})}.c2lnbmF0dXJl\x01\x01".encode()


PLAIN = b"\0alice\0" + PASSWORD.encode()
SCRAM_FIRST = b"n,,n=bob=2Cjr,r=fyko+d2lbbFgONRv9qkxdawL"
SCRAM_SERVER_FIRST = b"r=fyko+d2lbbFgONRv9qkxdawL3rfc,s=QSXCR+Q6sek8bf92,i=4096"
SCRAM_FINAL = b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfc,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
SCRAM_SERVER_FINAL = b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ="


@pytest.mark.parametrize(
    ("mechanism", "token", "name"),
    [
        ("PLAIN", PLAIN, "alice"),
        ("PLAIN", b"carol\0\0pw", "carol"),
        ("PLAIN", b"no zero bytes", None),
        ("PLAIN", b"\xff\xfe\0\xff\0x", "\ufffd"),
        ("SCRAM-SHA-256", SCRAM_FIRST, "bob,jr"),
        ("SCRAM-SHA-512", b"y,a=x,n=dave,r=1", "dave"),
        ("SCRAM-SHA-256", b"n,,n=tokenid,r=1,tokenauth=true", None),
        ("SCRAM-SHA-256", b"garbage", None),
        ("SCRAM-SHA-256", b"n,,n=tokenid,r=1,x=y,tokenauth=True", None),  # ScramExtensions: Boolean.parseBoolean
        ("SCRAM-SHA-256", b"n,,n=tokenid,r=1,x=" + b"y" * 5000 + b",tokenauth=true", None),
        ("OAUTHBEARER", jwt("svc-orders"), "svc-orders"),
        # Kafka takes the last pair (Utils.parseMap), so the first must not name the client
        ("OAUTHBEARER", jwt("admin").rstrip(b"\x01") + b"\x01" + jwt("svc-orders").removeprefix(b"n,,\x01"), None),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer opaque-token\x01\x01", None),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer a.!!!.c\x01\x01", None),
        ("GSSAPI", b"\x60\x82\x02\x51", None),
        (None, PLAIN, None),
    ],
)
def test_the_name_in_a_first_token(mechanism: str | None, token: bytes, name: str | None) -> None:
    assert attempted_name(mechanism, token) == name


@pytest.mark.requirement("K559-19")
def test_plain_inside_sasl_authenticate() -> None:
    connection = Connection()
    events = connection.receive_request_bytes(handshake(1, 1, b"PLAIN"), 0)
    events += connection.receive_response_bytes(shaken(1), 0)
    events += connection.receive_request_bytes(authenticate(2, PLAIN), 0)
    assert connection.summary().principal is None
    assert connection.summary().attempted_principal == "User:alice"
    events += connection.receive_response_bytes(authenticated(2), 0)
    events += connection.receive_request_bytes(METADATA, 0)
    events += connection.receive_response_bytes(METADATA_ANSWER, 0)
    assert [(row.api_name, row.principal) for row in rows(events)] == [
        ("SaslHandshake", None), ("SaslAuthenticate", None), ("Metadata", "User:alice"),
    ]  # fmt: skip
    summary = connection.summary()
    assert (summary.sasl_mechanism, summary.principal, summary.auth_failures) == ("PLAIN", "User:alice", 0)


def test_a_wrong_password_is_a_failure_and_no_principal() -> None:
    connection = begun(handshake(1, 1, b"PLAIN"))
    connection.receive_request_bytes(authenticate(2, PLAIN), 0)
    (row,) = rows(connection.receive_response_bytes(authenticated(2, error=58), 0))
    assert row.error_code == 58
    connection.closed("response", False, 0)
    summary = connection.summary()
    assert (summary.attempted_principal, summary.principal, summary.auth_failures) == ("User:alice", None, 1)


def test_a_mechanism_that_the_server_lacks() -> None:
    connection = Connection()
    connection.receive_request_bytes(handshake(1, 0, b"SCRAM-SHA-512"), 0)
    connection.receive_response_bytes(shaken(1, 33), 0)
    assert connection.summary().auth_failures == 1


def test_scram_takes_two_exchanges() -> None:
    connection = begun(handshake(1, 1, b"SCRAM-SHA-256"))
    connection.receive_request_bytes(authenticate(2, SCRAM_FIRST), 0)
    connection.receive_response_bytes(authenticated(2, SCRAM_SERVER_FIRST), 0)
    assert connection.summary().principal is None
    connection.receive_request_bytes(authenticate(3, SCRAM_FINAL), 0)
    connection.receive_response_bytes(authenticated(3, SCRAM_SERVER_FINAL), 0)
    assert connection.summary().principal == "User:bob,jr"


def test_oauth_is_refused_in_json_before_it_is_refused_with_a_code() -> None:
    connection = begun(handshake(1, 1, b"OAUTHBEARER"))
    connection.receive_request_bytes(authenticate(2, jwt("svc")), 0)
    connection.receive_response_bytes(authenticated(2, b'{"status":"invalid_token"}'), 0)
    assert connection.summary().principal is None
    connection.receive_request_bytes(authenticate(3, b"\x01"), 0)
    connection.receive_response_bytes(authenticated(3, error=58), 0)
    summary = connection.summary()
    assert (summary.attempted_principal, summary.principal, summary.auth_failures) == ("User:svc", None, 1)


@pytest.mark.parametrize(
    ("mechanism", "token", "kept"),
    [
        ("PLAIN", PLAIN, 8),  # the error code lies at bytes 8 and 9
        ("OAUTHBEARER", jwt("alice"), 16),  # a refusal has error code 0 and says so in its token, whose length ends at byte 15
    ],
)
def test_a_refusal_of_which_too_little_came_is_no_agreement(twin: Twin, mechanism: str, token: bytes, kept: int) -> None:
    """The next request would show that the server agreed; where it closes instead, it did not."""
    refused = authenticated(2, error=58) if mechanism == "PLAIN" else authenticated(2, b'{"status":"invalid_token"}')
    for goes_on in (False, True):
        connection = load_twin("protocol", "tracker", twin).Connection()
        connection.receive_request_bytes(handshake(1, 1, mechanism.encode()), 0)
        connection.receive_response_bytes(shaken(1), 0)
        connection.receive_request_bytes(authenticate(2, token), 0)
        connection.receive_response_bytes(refused[:kept], 0)
        connection.lost("response", len(refused) - kept, 0, cut=True)
        assert connection.summary().principal is None
        if goes_on:
            events = connection.receive_request_bytes(METADATA, 0) + connection.receive_response_bytes(METADATA_ANSWER, 0)
            assert [(row.api_name, row.principal) for row in rows(events)] == [("Metadata", "User:alice")]
        connection.closed("response", False, 0)
        assert connection.summary().auth_failures == (0 if goes_on else 1)


@pytest.mark.parametrize(
    ("mechanism", "tokens", "principal"),
    [
        ("PLAIN", [(PLAIN, b"")], "User:alice"),
        ("SCRAM-SHA-256", [(SCRAM_FIRST, SCRAM_SERVER_FIRST), (SCRAM_FINAL, SCRAM_SERVER_FINAL)], "User:bob,jr"),
        ("OAUTHBEARER", [(jwt("svc"), b"")], "User:svc"),
        ("GSSAPI", [(b"\x60\x82\x02\x51" + bytes(30), b"\x60\x10" + bytes(14)), (b"\x05\x04" + bytes(28), b"\x05\x04" + bytes(28))], None),
    ],
)
def test_raw_tokens_after_handshake_v0_make_no_rows(mechanism: str, tokens: list[tuple[bytes, bytes]], principal: str | None) -> None:
    connection = Connection()
    events = connection.receive_request_bytes(handshake(1, 0, mechanism.encode()), 0)
    events += connection.receive_response_bytes(shaken(1), 0)
    for client, server in tokens:
        events += connection.receive_request_bytes(framed(client), 0)
        events += connection.receive_response_bytes(framed(server), 0)
    events += connection.receive_request_bytes(METADATA, 0)
    events += connection.receive_response_bytes(METADATA_ANSWER, 0)
    assert [(row.request_index, row.api_name, row.state, row.principal) for row in rows(events)] == [
        (0, "SaslHandshake", "answered", None), (1, "Metadata", "answered", principal),
    ]  # fmt: skip
    assert connection.finish(0) == []
    assert connection.summary().auth_failures == 0


def test_kerberos_without_a_handshake_as_clients_of_0_9_do_it() -> None:
    connection = Connection()
    token = bytes.fromhex("6082025106092a864886f71201020201006e820240") + bytes(40)
    events = connection.receive_request_bytes(framed(token), 0)
    events += connection.receive_response_bytes(framed(b"\x60\x10" + bytes(14)), 0)
    events += connection.receive_request_bytes(METADATA, 0)
    events += connection.receive_response_bytes(METADATA_ANSWER, 0)
    assert [(row.request_index, row.api_name, row.state) for row in rows(events)] == [(0, "Metadata", "answered")]
    assert len([event for event in events if hasattr(event, "rule")]) == 0
    assert connection.summary().sasl_mechanism == "GSSAPI"


def test_of_a_server_token_that_came_too_early_nothing_is_read(twin: Twin) -> None:
    """RFC 5802: `e=` begins a refusal. Without a token before it the frame may be anything, and of it only what may be an id is kept."""
    connection = load_twin("protocol", "tracker", twin).Connection()
    connection.receive_request_bytes(handshake(1, 0, b"SCRAM-SHA-256"), 0)
    connection.receive_response_bytes(shaken(1), 0)
    connection.receive_response_bytes(framed(b"e=other-error"), 0)
    connection.receive_request_bytes(framed(SCRAM_FIRST), 0)
    assert connection.summary().auth_failures == 0


def test_a_second_authentication_counts_from_its_success_on() -> None:
    connection = Connection()
    for name, error in ((b"alice", 0), (b"mallory", 58)):
        connection.receive_request_bytes(handshake(1, 1, b"PLAIN"), 0)
        connection.receive_response_bytes(shaken(1), 0)
        connection.receive_request_bytes(authenticate(2, b"\0" + name + b"\0pw"), 0)
        connection.receive_response_bytes(authenticated(2, error=error), 0)
    summary = connection.summary()
    assert (summary.attempted_principal, summary.principal, summary.auth_failures) == ("User:mallory", "User:alice", 1)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "OAUTHBEARER", "GSSAPI", "X-ODD"])
@pytest.mark.requirement("K559-19", "K559-20")
def test_no_secret_is_kept(version: int, mechanism: str) -> None:
    secret = PASSWORD.encode()
    tokens = {
        "PLAIN": PLAIN, "SCRAM-SHA-256": b"n,,n=bob,r=" + secret, "OAUTHBEARER": b"n,,\x01auth=Bearer " + secret + b"\x01\x01",
    }  # fmt: skip
    token = tokens.get(mechanism, b"\x60" + secret)
    connection = Connection()
    events: list[Event] = []
    events += connection.receive_request_bytes(handshake(1, version, mechanism.encode()), 0)
    events += connection.receive_response_bytes(shaken(1), 0)
    events += connection.receive_request_bytes(framed(token) if version == 0 else authenticate(2, token), 0)
    kept = [pickle.dumps(connection), repr(connection).encode(), repr(events).encode(), pickle.dumps(events)]
    server = b"s=" + secret
    events += connection.receive_response_bytes(framed(server) if version == 0 else authenticated(2, server), 0)
    # a token that is malformed as a body, one that is cut off, and one too many
    events += connection.receive_request_bytes(framed(head(36, 0, 3) + b"\x7f\xff\xff\xff" + secret), 0)
    whole = authenticate(4, secret * 3)
    events += connection.receive_request_bytes(whole[:-9], 0)
    events += connection.lost("request", 9, 0)
    events += connection.receive_response_bytes(authenticated(4, secret, 58), 0)
    events += connection.finish(0)
    kept += [pickle.dumps(connection), repr(connection).encode(), repr(events).encode(), repr(connection.summary()).encode()]
    assert not any(secret in each for each in kept)


def test_no_payload_in_texts() -> None:
    assert "secret" not in repr(Frame(b"\0alice\0secret", 13, 0, 0, 0, 0))
