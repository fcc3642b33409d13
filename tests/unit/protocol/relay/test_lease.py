"""Leases of a relay: which frames pass without a call, what is counted of them, and what ends a lease. Bytes are worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_bytes import framed_hex
from kwire.codec.impl import load_twin
from kwire.protocol.relay import CALL, Moves, RelayPlan, RelayRule
from kwire.protocol.relay.lease import Lease

FAR = 1 << 62
REQUEST, ANSWER = 4 + 8 + 3 + 3 + 4 + 3, 4 + 4 + 2


def heartbeat(number: int, client_id: str = "0001 63") -> bytes:
    return framed_hex(f"000c 0000 {number:08x} {client_id} 0001 67 00000001 0001 6d")  # group "g", generation 1, member "m"


def answer(number: int, more: int = 0) -> bytes:
    return framed_hex(f"{number:08x} 0000" + "00" * more)


def held_plan(*versions: int) -> RelayPlan:
    return RelayPlan([RelayRule(side, 12, versions or None, CALL) for side in ("request", "response")], unknown="refuse")


def leased(left: tuple[int, int, int], until: int = 100, plan: RelayPlan | None = None) -> tuple[Any, Any]:
    native = load_twin("protocol", "relay", "native")
    lease = native.Lease(RelayPlan(unknown="refuse") if plan is None else plan, b"c", left, until)
    relay = native.Relay(RelayPlan())
    relay.use_plan(held_plan(), lease)
    assert lease.is_on
    return relay, lease


def passed(moves: Moves) -> bytes:
    assert moves.close is None
    return b"".join([*moves.to_server, *moves.to_client])


def test_frames_pass_and_are_counted_with_their_length() -> None:
    relay, lease = leased((10 * REQUEST, 10 * ANSWER, 3))
    assert passed(relay.from_client(heartbeat(1) + heartbeat(2), 1)) == heartbeat(1) + heartbeat(2)
    assert lease.left == (8 * REQUEST, 10 * ANSWER, 1)
    assert passed(relay.from_server(answer(1), 2)) == answer(1)
    assert lease.left == (8 * REQUEST, 9 * ANSWER, 1)


@pytest.mark.parametrize(
    ("left", "until", "client_id"),
    [
        ((REQUEST - 1, FAR, FAR), 100, "0001 63"),
        ((FAR, FAR, 0), 100, "0001 63"),
        ((FAR, FAR, FAR), 1, "0001 63"),
        ((FAR, FAR, FAR), 100, "0001 64"),
        ((FAR, FAR, FAR), 100, "0002 6363"),
        ((FAR, FAR, FAR), 100, "0000"),
        ((FAR, FAR, FAR), 100, "ffff"),
    ],
    ids=["bytes", "requests", "time", "client", "longer", "empty", "null"],
)
def test_a_request_beyond_the_lease_is_held_and_ends_it(left: tuple[int, int, int], until: int, client_id: str) -> None:
    relay, lease = leased(left, until)
    frame = heartbeat(1, client_id)
    moves = relay.from_client(frame, 1)
    assert (passed(moves), [each.frame for each in moves.held]) == (b"", [frame[4:]])
    assert not lease.is_on
    assert lease.left == left
    assert passed(relay.release(moves.held[0])) == frame
    assert [each.correlation_id for each in relay.from_client(heartbeat(2), 1).held] == [2]


def test_a_response_beyond_the_lease_is_held() -> None:
    relay, lease = leased((FAR, ANSWER, FAR))
    relay.from_client(heartbeat(1) + heartbeat(2), 1)
    moves = relay.from_server(answer(1) + answer(2), 2)
    assert passed(moves) == answer(1)
    assert [each.frame for each in moves.held] == [answer(2)[4:]]
    assert lease.left[1] == 0


def test_bytes_that_come_one_by_one_are_counted_once() -> None:
    relay, lease = leased((FAR, FAR, FAR))
    out = b""
    for byte in heartbeat(1) + heartbeat(2):
        out += passed(relay.from_client(bytes([byte]), 1))
    for byte in answer(1):
        out += passed(relay.from_server(bytes([byte]), 1))
    assert out == heartbeat(1) + heartbeat(2) + answer(1)
    assert lease.left == (FAR - 2 * REQUEST, FAR - ANSWER, FAR - 2)


def test_a_frame_that_ends_inside_its_client_id_is_held() -> None:
    """Nine bytes, the first of a client id's length; the bytes behind them, of another frame, are no part of it."""
    relay, _ = leased((FAR, FAR, FAR))
    short = framed_hex("000c 0000 00000001 00")
    moves = relay.from_client(short + bytes.fromhex("01 63") + bytes(40), 1)
    assert [each.frame for each in moves.held] == [short[4:]]


def test_frames_that_the_plan_does_not_hold_are_not_counted() -> None:
    relay, lease = leased((FAR, FAR, FAR))
    metadata = framed_hex("0003 0001 00000001 0001 63 00000000")
    assert passed(relay.from_client(metadata, 1)) == metadata
    relay.from_client(framed_hex("7fff 0000 00000002 0001 63"), 1)  # an unknown API
    assert lease.left == (FAR, FAR, FAR)
    assert lease.is_on


def test_frames_that_the_lease_holds_are_counted() -> None:
    relay, lease = leased((FAR, FAR, FAR), plan=held_plan(0))
    (held,) = relay.from_client(heartbeat(1), 1).held
    assert lease.left == (FAR - REQUEST, FAR, FAR - 1)
    assert lease.is_on
    assert passed(relay.release(held)) == heartbeat(1)


def test_another_plan_ends_the_lease() -> None:
    relay, lease = leased((FAR, FAR, FAR))
    relay.use_plan(RelayPlan())
    assert not lease.is_on
    assert passed(relay.from_client(heartbeat(1), 1)) == heartbeat(1)
    assert lease.left == (FAR, FAR, FAR)


def test_the_pure_relay_takes_no_lease() -> None:
    pure = load_twin("protocol", "relay", "pure")
    lease = Lease(RelayPlan(), b"c", (FAR, FAR, FAR), 100)
    relay = pure.Relay(RelayPlan())
    relay.use_plan(held_plan(), lease)
    assert not lease.is_on
    assert len(relay.from_client(heartbeat(1), 1).held) == 1


def test_a_response_goes_on_if_a_plan_without_calls_comes_while_it_is_gathered(twin: Any) -> None:
    relay = twin.Relay(held_plan())
    (held,) = relay.from_client(heartbeat(1), 1).held
    relay.release(held)
    assert passed(relay.from_server(answer(1)[:9], 2)) == b""
    relay.use_plan(RelayPlan())
    assert passed(relay.from_server(answer(1)[9:], 2)) == answer(1)
    assert relay.is_idle
