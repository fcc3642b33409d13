"""What a relay owes its client, its own answers and tokens among it, with bytes worked out by hand."""

from __future__ import annotations

from typing import Any

from kafka_bytes import framed, handshake, head, heartbeat, ok, shaken
from kwire.protocol.relay import CALL, REFUSE, Moves, RelayPlan, RelayRule

HELD = RelayRule("request", 12, None, CALL)
REFUSED = RelayRule("request", 12, None, REFUSE)
OWN = framed(head(3, 1, 0) + bytes(4))  # Metadata v1 of no topics: 17 bytes without the length


def sent(moves: Moves) -> tuple[bytes, bytes]:
    assert moves.close is None
    return b"".join(moves.to_server), b"".join(moves.to_client)


def test_an_own_answer_behind_a_token_is_no_request_with_number_0(twin: Any) -> None:
    """A token of GSSAPI may get no answer; but only a response to a request of the client shows that."""
    relay = twin.Relay(RelayPlan([REFUSED]))
    relay.from_client(handshake(1, 0, b"GSSAPI"), 1)
    relay.from_server(shaken(1), 1)
    relay.from_client(framed(b"\x60\6\6\7") + heartbeat(7), 1)
    token = framed(b"\0\0\0\0\1\2")
    assert sent(relay.from_server(token, 1)) == (b"", token + ok(7, 35))
    assert relay.owed == 0


def test_a_budget_may_be_used_to_its_last_byte(twin: Any) -> None:
    """24 bytes of a held frame and one behind it; what a relay has given back by closing it does not give back again."""
    budget = twin.HeldBudget(25)
    relay = twin.Relay(RelayPlan([HELD]), budget=budget)
    relay.from_client(heartbeat(1), 1)
    assert relay.from_client(b"\0", 1).close is None
    assert budget.used == 25
    moves = relay.from_client(b"\0", 1)
    assert moves.close is not None
    assert moves.close.reason == "budget_exhausted"
    assert budget.used == 0
    del relay, moves
    assert budget.used == 0


def test_the_end_of_the_server_leaves_requests_without_an_answer(twin: Any) -> None:
    """Metadata waits, and behind it the relay's own answer to a Heartbeat, which no server owes."""
    relay = twin.Relay(RelayPlan([REFUSED]))
    assert sent(relay.from_client(OWN + heartbeat(2), 1)) == (OWN, b"")
    assert relay.kept == 6  # the number and error code 35
    moves = relay.end_server(2)
    assert moves.close is not None
    assert (moves.close.reason, moves.close.value) == ("server_ended", 1)


def test_an_end_is_given_on_once(twin: Any) -> None:
    relay = twin.Relay(RelayPlan())
    relay.from_client(heartbeat(1), 1)
    assert relay.end_client(2).end_server
    moves = relay.from_server(ok(1), 3)
    assert sent(moves) == (b"", ok(1))
    assert not moves.end_server
    moves = relay.end_server(4)
    assert (moves.end_client, moves.close) == (True, None)


def test_callers_take_bytes_from_the_budget_of_relays(twin: Any) -> None:
    budget = twin.HeldBudget(100)
    assert [budget.take(60), budget.take(41), budget.take(40), budget.take(1)] == [True, False, True, False]
    assert budget.used == 100
    budget.give(60)
    assert budget.used == 40
