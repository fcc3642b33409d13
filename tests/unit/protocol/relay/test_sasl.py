"""What a client says in SASL does not decide how the relay reads its bytes: the broker's answers do.

Kafka's broker takes raw tokens behind SaslHandshake v0 only where it answers error 0 (`SaslServerAuthenticator.handleKafkaRequest`). One
that has authenticated the client, or does not authenticate, answers error 34 and takes the next frame as a request
(`KafkaApis.handleSaslHandshakeRequest`).
"""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import Frames, framed, handshake, head, heartbeat, metadata, ok, shaken
from kwire.protocol.relay import CALL, REFUSE, Moves, RelayPlan, RelayRule
from kwire.schema import catalog
from twin_codecs import vectors_of

PRODUCE, HANDSHAKE, AUTHENTICATE = 0, 17, 36
ILLEGAL_SASL_STATE, UNSUPPORTED_MECHANISM = 34, 33
PLAIN_TOKEN = framed(b"\0alice\0secret")
LISTED = RelayRule("request", 3, None, CALL)


@pytest.fixture(scope="module")
def frames() -> Frames:
    return Frames(vectors_of)


def sent(moves: Moves) -> tuple[bytes, bytes]:
    assert moves.close is None
    return b"".join(moves.to_server), b"".join(moves.to_client)


def authenticate(correlation_id: int, token: bytes) -> bytes:
    return framed(head(AUTHENTICATE, 0, correlation_id) + len(token).to_bytes(4, "big") + token)


def authenticated(correlation_id: int) -> bytes:
    """A SaslAuthenticate v0 response: error 0, no text, no token."""
    return framed(correlation_id.to_bytes(4, "big") + b"\0\0\xff\xff" + bytes(4))


def test_what_comes_behind_handshake_v0_waits_for_its_response(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    assert sent(relay.from_client(handshake(1, 0, b"PLAIN") + PLAIN_TOKEN, 1)) == (handshake(1, 0, b"PLAIN"), b"")
    assert not relay.reads_client
    assert relay.kept == len(PLAIN_TOKEN)
    assert sent(relay.from_server(shaken(1)[:9], 2)) == (b"", b"")  # half of the error code
    assert sent(relay.from_server(shaken(1)[9:], 3)) == (PLAIN_TOKEN, shaken(1))
    assert not relay.reads_client  # until the token is answered
    relay.from_server(framed(b""), 4)
    assert relay.reads_client


@pytest.mark.parametrize("login", [b"", handshake(1, 1, b"PLAIN") + authenticate(2, b"\0alice\0secret")])
@pytest.mark.parametrize("error", [ILLEGAL_SASL_STATE, UNSUPPORTED_MECHANISM, -1])
def test_no_request_passes_behind_a_handshake_that_the_broker_refuses(twin: Any, login: bytes, error: int) -> None:
    """Two frames in one write: the second one was forwarded as a token, and the broker served it."""
    relay = twin.Relay(RelayPlan([LISTED]))
    if login:
        relay.from_client(login, 1)
        assert sent(relay.from_server(shaken(1), 1))[0] == authenticate(2, b"\0alice\0secret")
        relay.from_server(authenticated(2), 1)
    asked = handshake(3, 0, b"PLAIN")
    assert sent(relay.from_client(asked + metadata(4), 1)) == (asked, b"")
    moves = relay.from_server(framed(b"\0\0\0\3" + error.to_bytes(2, "big", signed=True) + bytes(4)), 2)
    assert moves.to_server == []
    assert moves.close is not None
    assert (moves.close.reason, moves.close.direction, moves.close.value) == ("sasl_refused", "request", error)
    assert relay.kept == 0 or relay.closing is not None


def test_requests_behind_a_refused_handshake_are_read_as_requests(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([LISTED]))
    relay.from_client(handshake(3, 0, b"PLAIN"), 1)
    assert sent(relay.from_server(shaken(3, ILLEGAL_SASL_STATE), 1)) == (b"", shaken(3, ILLEGAL_SASL_STATE))
    (held,) = relay.from_client(metadata(4), 2).held
    assert held.api_key == 3


def test_a_response_without_an_error_code_agrees_to_nothing(twin: Any) -> None:
    relay = twin.Relay(RelayPlan([LISTED]))
    relay.from_client(handshake(3, 0, b"PLAIN"), 1)
    relay.from_server(framed(b"\0\0\0\3\0"), 1)
    assert relay.from_client(metadata(4), 2).held


def test_a_handshake_that_a_rule_answers_leads_to_no_tokens(twin: Any) -> None:
    """The broker never saw it."""
    relay = twin.Relay(RelayPlan([LISTED, RelayRule("request", HANDSHAKE, [0], CALL)]))
    (held,) = relay.from_client(handshake(1, 0, b"PLAIN") + metadata(2), 1).held
    moves = relay.answer(held, shaken(1)[4:])
    assert sent(moves) == (b"", shaken(1))
    assert [each.api_key for each in moves.held] == [3]


def test_the_mechanism_that_the_broker_sees_counts(twin: Any) -> None:
    """SCRAM has two tokens and PLAIN one, so the second frame would be a token for the relay and a request for the broker."""
    relay = twin.Relay(RelayPlan([LISTED, RelayRule("request", HANDSHAKE, [0], CALL)]))
    (held,) = relay.from_client(handshake(1, 0, b"SCRAM-SHA-256"), 1).held
    relay.release(held, [handshake(1, 0, b"PLAIN")[4:]])
    relay.from_server(shaken(1), 1)
    assert sent(relay.from_client(PLAIN_TOKEN + metadata(2), 1)) == (PLAIN_TOKEN, b"")
    assert [each.api_key for each in relay.from_server(framed(b""), 2).held] == [3]


def test_an_answer_of_the_relay_does_not_make_a_response_a_token(twin: Any) -> None:
    """The last token of GSSAPI gets no answer; the response to the request behind the relay's own answer is none."""
    plan = RelayPlan([RelayRule("response", 3, None, CALL), RelayRule("request", 12, None, REFUSE)])
    relay = twin.Relay(plan)
    relay.from_client(handshake(1, 0, b"GSSAPI"), 1)
    relay.from_server(shaken(1), 1)
    relay.from_client(framed(b"\x05\4\4\xff") + heartbeat(2) + metadata(3), 1)
    moves = relay.from_server(framed(b"\0\0\0\3" + bytes(12)), 1)
    assert sent(moves) == (b"", ok(2, 35))
    assert [(each.kind, each.api_key) for each in moves.held] == [("response", 3)]


def test_a_handshake_that_waits_does_not_change_what_tokens_are(twin: Any) -> None:
    """Behind tokens of GSSAPI a client asks for PLAIN, each of whose tokens is answered: the response between is still one."""
    relay = twin.Relay(RelayPlan([RelayRule("response", 3, None, CALL)]))
    relay.from_client(handshake(1, 0, b"GSSAPI"), 1)
    relay.from_server(shaken(1), 1)
    relay.from_client(framed(b"\x05\4\4\xff") + metadata(2) + handshake(3, 0, b"PLAIN"), 1)
    moves = relay.from_server(framed(b"\0\0\0\2" + bytes(12)), 1)
    assert sent(moves) == (b"", b"")
    assert [(each.kind, each.api_key) for each in moves.held] == [("response", 3)]


def test_a_token_that_is_answered_holds_what_follows(twin: Any) -> None:
    """A refused OAUTHBEARER client has one token more: what comes behind the first one is not known before its answer."""
    relay = twin.Relay(RelayPlan([LISTED]))
    relay.from_client(handshake(1, 0, b"OAUTHBEARER"), 1)
    relay.from_server(shaken(1), 1)
    token, refused = framed(b"n,,\1auth=Bearer x\1\1"), framed(b'{"status":"invalid_token"}')
    assert sent(relay.from_client(token + framed(b"\1") + metadata(2), 1)) == (token, b"")
    moves = relay.from_server(refused, 2)
    assert sent(moves) == (framed(b"\1"), refused)
    assert [each.api_key for each in moves.held] == [3]


def test_each_request_of_sasl_waits_for_its_answer(twin: Any) -> None:
    """A rule that follows an exchange sees each answer before the next step, whatever a client sends at once."""
    relay = twin.Relay(RelayPlan())
    first, again = authenticate(2, b"\0alice\0secret"), authenticate(3, b"\0admin\0")
    assert sent(relay.from_client(handshake(1, 1, b"PLAIN") + first + again, 1)) == (handshake(1, 1, b"PLAIN"), b"")
    assert sent(relay.from_server(shaken(1), 2)) == (first, shaken(1))
    assert sent(relay.from_server(authenticated(2)[:11], 3)) == (b"", authenticated(2)[:11])
    assert sent(relay.from_server(authenticated(2)[11:], 3)) == (again, authenticated(2)[11:])


def test_the_rest_of_a_request_of_sasl_passes(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    whole = authenticate(1, b"n" * 300)
    for at in range(0, len(whole), 50):
        assert relay.reads_client
        assert sent(relay.from_client(whole[at : at + 50], 1))[1] == b""
    assert not relay.reads_client


def called() -> RelayPlan:
    """All that requests can be is looked up: each is held."""
    requests = [each for each in catalog().messages.values() if each.kind == "request" and each.api_key is not None]
    return RelayPlan([RelayRule("request", each.api_key, None, CALL) for each in requests if each.api_key is not None], unknown="close")


TOKENS = {b"PLAIN": 1, b"OAUTHBEARER": 1, b"SCRAM-SHA-256": 2, b"SCRAM-SHA-512": 2, b"GSSAPI": 0}


@pytest.mark.parametrize("mechanism", TOKENS)
@pytest.mark.parametrize("error", [0, UNSUPPORTED_MECHANISM, ILLEGAL_SASL_STATE])
@pytest.mark.parametrize("at_once", [True, False])
def test_every_request_is_looked_up_or_the_broker_agreed_to_tokens(
    twin: Any, mechanism: bytes, error: int, at_once: bool, frames: Frames
) -> None:
    """For every api and version: a frame that reaches the broker was held, or is one of the tokens behind error 0."""
    plan = called()
    for number, api in enumerate(frames.apis):
        request = framed(frames.frame(api, "request", number, 7))
        relay = twin.Relay(plan)
        (held,) = relay.from_client(handshake(1, 0, mechanism) + (request * 3 if at_once else b""), 1).held
        looked_up, tokens = [], 0
        out = [relay.release(held), relay.from_server(shaken(1, error), 1)]
        if not at_once and relay.closing is None:
            out.append(relay.from_client(request * 3, 2))
        while out:
            moves = out.pop(0)
            for each in moves.held:
                looked_up.append(framed(each.frame))
                out.append(relay.release(each))
            raw = b"".join(moves.to_server)
            if raw and raw != handshake(1, 0, mechanism) and raw not in looked_up:
                assert (error, raw) == (0, request), api
                tokens += 1
                out.append(relay.from_server(framed(b""), 2))
        assert tokens == (TOKENS[mechanism] if error == 0 else 0)
        if error == 0:
            assert len(looked_up) == (1 if api[0] in (HANDSHAKE, AUTHENTICATE) else 3 - TOKENS[mechanism]), api
        else:
            assert len(looked_up) == (0 if at_once else 1 if api[0] in (HANDSHAKE, AUTHENTICATE) else 3), api


LONGEST = 524_288  # default of sasl.server.max.receive.size


@pytest.mark.parametrize("plan", [RelayPlan(), RelayPlan([RelayRule("request", 18, None, CALL)])])
@pytest.mark.parametrize(("key", "version"), [(18, 3), (18, 99), (HANDSHAKE, 1), (HANDSHAKE, 0), (AUTHENTICATE, 2)])
def test_long_requests_of_authentication_close_at_their_first_bytes(twin: Any, plan: RelayPlan, key: int, version: int) -> None:
    fitting, relay = twin.Relay(plan), twin.Relay(plan)
    assert fitting.from_client(LONGEST.to_bytes(4, "big") + head(key, version, 1)[:8], 1).close is None
    moves = relay.from_client((LONGEST + 1).to_bytes(4, "big") + head(key, version, 1)[:8], 1)
    assert (moves.close.reason, moves.close.direction, moves.close.value) == ("authentication_too_large", "request", LONGEST + 1)
    assert (moves.to_server, moves.held, relay.kept <= 12) == ([], [], True)


def test_requests_of_other_apis_may_be_longer(twin: Any) -> None:
    begun = (LONGEST + 1).to_bytes(4, "big") + head(3, 1, 1)[:8]
    assert sent(twin.Relay(RelayPlan()).from_client(begun, 1)) == (begun, b"")


def test_long_raw_tokens_close_at_their_first_bytes(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    relay.from_client(handshake(1, 0, b"PLAIN"), 1)
    relay.from_server(shaken(1), 2)
    assert relay.from_client((LONGEST + 1).to_bytes(4, "big") + b"\0a", 3).close.reason == "authentication_too_large"
    relay = twin.Relay(RelayPlan())
    assert relay.from_client((LONGEST + 1).to_bytes(4, "big") + b"\x60\x82", 1).close.reason == "authentication_too_large"
