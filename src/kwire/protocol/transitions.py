"""State machines as tables; each one draws its Mermaid diagram for docs/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Generic, TypeVar

from kwire.errors import KwireError

__all__ = ["InvalidTransition", "Transitions"]

State = TypeVar("State", bound=Enum)
Event = TypeVar("Event", bound=Enum)


class InvalidTransition(KwireError):
    """Event that is not allowed in the machine's state. The state does not change."""

    def __init__(self, machine: str, state: Enum, event: Enum) -> None:
        super().__init__(f"{machine} cannot take {event.name} in state {state.name}")


class Transitions(Generic[State, Event]):
    """Transitions of a machine: the next state by state and event. Others are forbidden; a state without transitions is final."""

    __slots__ = ("_moves", "events", "name", "start", "states")

    def __init__(
        self, name: str, states: type[State], events: type[Event], start: State, moves: Mapping[State, Mapping[Event, State]]
    ) -> None:
        self.name = name
        self.states = states
        self.events = events
        self.start = start
        self._moves = {(state, event): to for state, row in moves.items() for event, to in row.items()}
        if lost := set(states) - self._reachable():
            raise ValueError(f"{name}: {min(state.name for state in lost)} cannot be reached from {start.name}")
        if idle := set(events) - {event for _, event in self._moves}:
            raise ValueError(f"{name}: no state takes {min(event.name for event in idle)}")

    def _reachable(self) -> set[State]:
        seen = {self.start}
        waiting = [self.start]
        while waiting:
            here = waiting.pop()
            for (state, _), to in self._moves.items():
                if state is here and to not in seen:
                    seen.add(to)
                    waiting.append(to)
        return seen

    def allows(self, state: State, event: Event) -> bool:
        return (state, event) in self._moves

    def after(self, state: State, event: Event) -> State:
        try:
            return self._moves[state, event]
        except KeyError:
            raise InvalidTransition(self.name, state, event) from None

    def __iter__(self) -> Iterator[tuple[State, Event, State]]:
        for state in self.states:
            for event in self.events:
                if (state, event) in self._moves:
                    yield state, event, self._moves[state, event]

    def diagram(self) -> str:
        """Return the table as a Mermaid state diagram; events between the same two states share an arrow."""
        arrows: dict[tuple[State, State], list[str]] = {}
        for state, event, to in self:
            arrows.setdefault((state, to), []).append(event.name.lower())
        lines = ["stateDiagram-v2", f"    [*] --> {self.start.name}"]
        lines += [f"    {state.name} --> {to.name}: {', '.join(events)}" for (state, to), events in arrows.items()]
        ends = [state for state in self.states if not any(start is state for start, _ in self._moves)]
        lines += [f"    {state.name} --> [*]" for state in ends]
        return "\n".join(lines) + "\n"
