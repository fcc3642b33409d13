"""The door of the relay, one test for each part of it: bytes of either side in, the bytes to send out."""

from __future__ import annotations

import gc
import weakref

import pytest

from kafka_bytes import heartbeat, ok
from kwire.codec.impl import load_twin
from kwire.errors import Truncated
from kwire.protocol.relay import CALL, CLOSE, PASS, HeldBudget, Moves, Relay, RelayPlan, RelayRule


@pytest.fixture(params=["pure", "native"], autouse=True)
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_twin("protocol", "relay", request.param)
    for name in ("Relay", "HeldBudget"):
        monkeypatch.setitem(globals(), name, getattr(module, name))


def sent(moves: Moves) -> tuple[bytes, bytes]:
    return b"".join(moves.to_server), b"".join(moves.to_client)


def test_the_verdict_falls_with_byte_12_of_a_request_and_byte_8_of_a_response() -> None:
    relay = Relay(RelayPlan())
    assert sent(relay.from_client(heartbeat(7)[:11], 1)) == (b"", b"")
    assert sent(relay.from_client(heartbeat(7)[11:12], 1)) == (heartbeat(7)[:12], b"")
    assert sent(relay.from_client(heartbeat(7)[12:], 1)) == (heartbeat(7)[12:], b"")
    assert sent(relay.from_server(ok(7)[:7], 1)) == (b"", b"")
    assert sent(relay.from_server(ok(7)[7:8], 1)) == (b"", ok(7)[:8])
    assert relay.kept == 0


def test_a_held_request_waits_with_all_behind_it() -> None:
    relay = Relay(RelayPlan([RelayRule("request", 12, None, CALL)]))
    moves = relay.from_client(heartbeat(7) + heartbeat(8), 5)
    assert sent(moves) == (b"", b"")
    (held,) = moves.held
    assert (held.kind, held.frame, held.api_key, held.api_version, held.correlation_id) == ("request", heartbeat(7)[4:], 12, 0, 7)
    assert not relay.reads_client
    moves = relay.release(held)
    assert sent(moves) == (heartbeat(7), b"")
    moves = relay.release(moves.held[0], [heartbeat(8)[4:10], heartbeat(8)[10:], b"more"])
    longer = (len(heartbeat(8))).to_bytes(4, "big") + heartbeat(8)[4:] + b"more"
    assert sent(moves) == (longer, b"")
    with pytest.raises(ValueError, match="not held"):
        relay.release(held)


def test_a_held_response_goes_out_as_it_is_released() -> None:
    relay = Relay(RelayPlan([RelayRule("response", 12, [0], CALL)]))
    relay.from_client(heartbeat(7), 1)
    (held,) = relay.from_server(ok(7), 2).held
    assert (held.kind, held.frame) == ("response", ok(7)[4:])
    assert sent(relay.release(held, [bytes.fromhex("00000007 001b")])) == (b"", bytes.fromhex("00000006 00000007 001b"))


def test_own_answers_stand_behind_what_the_broker_owes() -> None:
    relay = Relay(RelayPlan([RelayRule("request", 12, [1], CALL)]))
    second = bytearray(heartbeat(8))
    second[7] = 1  # version 1
    (held,) = relay.from_client(heartbeat(7) + second, 1).held
    assert sent(relay.answer(held, bytes.fromhex("00000000 00000000 001b"))) == (b"", b"")
    assert sent(relay.from_server(ok(7), 2)) == (
        b"",
        ok(7) + bytes.fromhex("0000000a 00000008 00000000 001b"),
    )


@pytest.mark.parametrize("begun", [0, 11, 12])
def test_no_request_begins_before_an_orderly_close(begun: int) -> None:
    """A request whose head was sent on has to be ended, or the broker would wait for the rest of it; one behind it does not count."""
    relay = Relay(RelayPlan())
    relay.from_client(heartbeat(7) + heartbeat(8)[:begun], 1)
    relay.end_requests()
    assert relay.reads_client is (begun == 12)
    moves = relay.from_client(heartbeat(8)[begun:] + heartbeat(9), 2)
    assert sent(moves) == (heartbeat(8)[12:] if begun == 12 else b"", b"")
    assert not relay.reads_client
    assert not relay.is_idle
    answers = ok(7) + ok(8) if begun == 12 else ok(7)
    assert sent(relay.from_server(answers, 3)) == (b"", answers)
    assert relay.is_idle


def test_a_program_that_fails_closes() -> None:
    class Failing:
        def pieces(self, frame: bytes | memoryview) -> list[bytes]:
            raise Truncated("topics", offset=8)

    relay = Relay(RelayPlan([RelayRule("request", 12, None, Failing())]))
    closing = relay.from_client(heartbeat(7), 1).close
    assert closing is not None
    assert closing.reason == "program_failed"


@pytest.mark.parametrize(
    ("sends", "begin", "text"),
    [
        ("client", "16030100c8010000", "frame length 369295616 exceeds the limit: the client speaks TLS"),
        ("client", "474554202f204854", "frame length 1195725856 exceeds the limit: the client speaks HTTP"),
        ("client", "0000000a27110000", "unknown API or version: API 10001 v0 requests"),
        ("client", "7fffffff00000000", "frame length 2147483647 exceeds the limit"),
        ("broker", "1503030002022800", "frame length 352518912 exceeds the limit: the broker speaks TLS"),
    ],
)
def test_what_closed_a_connection_in_words(sends: str, begin: str, text: str) -> None:
    relay = Relay(RelayPlan(unknown="close"))
    data = bytes.fromhex(begin) + bytes(6)
    moves = relay.from_client(data, 1) if sends == "client" else relay.from_server(data, 1)
    assert str(moves.close) == text


def test_a_response_that_is_not_the_next_owed_closes() -> None:
    relay = Relay(RelayPlan())
    relay.from_client(heartbeat(7) + heartbeat(8), 1)
    moves = relay.from_server(ok(8), 2)
    assert sent(moves) == (b"", b"")
    assert moves.close is not None
    assert (moves.close.reason, moves.close.direction, moves.close.value) == ("response_mismatched", "response", 8)
    assert relay.from_client(heartbeat(9), 3).close == moves.close
    assert not relay.reads_client


@pytest.mark.parametrize(("unknown", "to_client", "reason"), [("pass", b"", None), ("close", b"", "unknown_api")])
def test_an_unknown_api_has_one_named_choice(unknown: str, to_client: bytes, reason: str | None) -> None:
    frame = bytes.fromhex("00000008 2711 0000 00000001")  # api key 10001, as Confluent's own are
    moves = Relay(RelayPlan(unknown=unknown)).from_client(frame, 1)  # type: ignore[arg-type]
    assert sent(moves) == (frame if reason is None else b"", to_client)
    assert (None if moves.close is None else moves.close.reason) == reason


def test_limits() -> None:
    plan = RelayPlan([RelayRule("request", 12, None, CALL)])
    budget = HeldBudget(40)
    relays = [Relay(plan, budget=budget) for _ in range(2)]
    (held,) = relays[0].from_client(heartbeat(7), 1).held
    assert budget.used == 24
    moves = relays[1].from_client(heartbeat(7), 1)
    assert moves.close is not None
    assert moves.close.reason == "budget_exhausted"
    relays[0].release(held)
    assert budget.used == 0


def test_the_collector_frees_a_relay_that_alone_has_its_budget() -> None:
    """In a cycle, while it holds a frame: what it gives back goes to memory that is still there (make asan)."""

    class Holder:
        relay: Relay
        itself: object

    relay = Relay(RelayPlan([RelayRule("request", 12, None, CALL)]), budget=HeldBudget(1000))
    holder = Holder()  # made after the relay: the collector clears in this order
    holder.relay, holder.itself = relay, holder
    del relay
    (held,) = holder.relay.from_client(heartbeat(7), 1).held
    assert held.api_key == 12
    gone = weakref.ref(holder)
    del holder, held
    gc.collect()
    assert gone() is None


def test_an_answer_says_pass_for_its_response() -> None:
    relay = Relay(RelayPlan([RelayRule("request", 12, None, CALL), RelayRule("response", 12, None, CLOSE)]))
    (held,) = relay.from_client(heartbeat(7), 1).held
    relay.release(held, response=PASS)
    assert sent(relay.from_server(ok(7), 2)) == (b"", ok(7))
