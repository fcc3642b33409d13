"""The table that all machines share: what it refuses, and what it draws."""

from __future__ import annotations

from enum import Enum

import pytest

from kwire.protocol.transitions import InvalidTransition, Transitions


class Door(Enum):
    SHUT = 1
    OPEN = 2
    GONE = 3


class Push(Enum):
    PULL = 1
    LEAN = 2
    AXE = 3


MOVES = {
    Door.SHUT: {Push.PULL: Door.OPEN, Push.AXE: Door.GONE},
    Door.OPEN: {Push.LEAN: Door.SHUT, Push.AXE: Door.GONE, Push.PULL: Door.OPEN},
}


def test_every_pair_of_state_and_event_moves_or_is_forbidden() -> None:
    table = Transitions("a door", Door, Push, Door.SHUT, MOVES)
    for state in Door:
        for event in Push:
            wanted = MOVES.get(state, {}).get(event)
            assert table.allows(state, event) is (wanted is not None)
            if wanted is not None:
                assert table.after(state, event) is wanted
                continue
            with pytest.raises(InvalidTransition, match=rf"^a door cannot take {event.name} in state {state.name}$"):
                table.after(state, event)


def test_a_state_that_nothing_leads_to_is_refused() -> None:
    with pytest.raises(ValueError, match="GONE cannot be reached from SHUT"):
        Transitions(
            "a door", Door, Push, Door.SHUT, {Door.SHUT: {Push.PULL: Door.OPEN}, Door.OPEN: {Push.LEAN: Door.SHUT, Push.AXE: Door.OPEN}}
        )


def test_an_event_that_no_state_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="no state takes AXE"):
        Transitions("a door", Door, Push, Door.SHUT, {Door.SHUT: {Push.PULL: Door.OPEN}, Door.OPEN: {Push.LEAN: Door.GONE}})


def test_diagram() -> None:
    assert Transitions("a door", Door, Push, Door.SHUT, MOVES).diagram() == (
        "stateDiagram-v2\n"
        "    [*] --> SHUT\n"
        "    SHUT --> OPEN: pull\n"
        "    SHUT --> GONE: axe\n"
        "    OPEN --> OPEN: pull\n"
        "    OPEN --> SHUT: lean\n"
        "    OPEN --> GONE: axe\n"
        "    GONE --> [*]\n"
    )
