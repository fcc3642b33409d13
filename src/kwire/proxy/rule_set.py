"""Rules of a proxy as one table: the rules of each kind of frame, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kwire.codec import Edit
from kwire.protocol.events import Direction
from kwire.protocol.relay import CALL, CLOSE, REFUSE, FrameEdit, Held, Lease, RelayPlan, RelayRule, Unknown
from kwire.proxy.rules.rule import Answer, Outcome, Peer, Refusal, Rule, Watched, WatchingRule
from kwire.schema import catalog

__all__ = ["ConnectionRules", "RuleSet"]

_Slot = tuple[Direction, int, int]
_FINAL: Final = (CLOSE, REFUSE)


@dataclass(frozen=True, slots=True)
class _Step:
    """Step of one rule for a kind of frame: an edit, or None for a call of the connection's rule."""

    rule: int
    edit: FrameEdit | None
    watches: bool = False


def _joined(edits: Sequence[FrameEdit]) -> FrameEdit:
    """Join edits into one, which the relay runs without Python if possible."""
    found = edits[0]
    for each in edits[1:]:
        both = found.joined(each) if isinstance(found, Edit) and isinstance(each, Edit) else None
        if both is None:
            return _Chain(edits)
        found = both
    return found


class _Chain:
    def __init__(self, edits: Sequence[FrameEdit]) -> None:
        self._edits = edits

    def pieces(self, frame: bytes | memoryview, /) -> Iterable[bytes | bytearray | memoryview]:
        found: Iterable[bytes | bytearray | memoryview] = (frame,)
        for edit in self._edits:
            found = edit.pieces(b"".join(found))
        return found


class RuleSet:
    """Ordered rules; `unknown` is the action for requests of an unknown API or version, which never pass with `watching_plan`."""

    def __init__(self, rules: Iterable[Rule] = (), *, unknown: Unknown = "pass") -> None:
        self.rules = tuple(rules)
        self._steps: dict[_Slot, list[_Step]] = {}
        final: dict[_Slot, int] = {}
        watching: list[int] = []
        for number, rule in enumerate(self.rules):
            for wanted in rule.relay_rules():
                for slot in _slots(wanted):
                    if isinstance(wanted.action, int) and wanted.action in _FINAL:
                        final[slot] = min(final.get(slot, 0), wanted.action)
                    elif wanted.action == CALL:
                        self._add(slot, _Step(number, None))
                    elif not isinstance(wanted.action, int):
                        self._add(slot, _Step(number, wanted.action))
            if isinstance(rule, WatchingRule):
                watching.append(number)
                for slot in (each for wanted in rule.watching_rules() for each in _slots(wanted)):
                    self._add(slot, _Step(number, None, watches=True))
        raw_gssapi = all(getattr(rule, "raw_gssapi", True) for rule in self.rules)
        self.plan = self.watching_plan = self.leased_plan = RelayPlan(
            self._table(final, watches=False), unknown=unknown, raw_gssapi=raw_gssapi
        )
        if watching:
            unknown = "refuse" if unknown == "pass" else unknown
            self.watching_plan = RelayPlan(self._table(final, watches=True), unknown=unknown, raw_gssapi=raw_gssapi)
            self.leased_plan = RelayPlan(self._table(final, watches=False), unknown=unknown, raw_gssapi=raw_gssapi)

    def _add(self, slot: _Slot, step: _Step) -> None:
        """Add a step once: the catalog has two messages for a renamed API, such as ListOffset up to version 5."""
        steps = self._steps.setdefault(slot, [])
        if step not in steps:
            steps.append(step)

    def _table(self, final: dict[_Slot, int], *, watches: bool) -> list[RelayRule]:
        table = [RelayRule(direction, key, (version,), action) for (direction, key, version), action in final.items()]
        for slot, every in self._steps.items():
            steps = [step for step in every if watches or not step.watches]
            if slot in final or not steps:
                continue
            direction, key, version = slot
            action: int | FrameEdit = CALL
            edits = [step.edit for step in steps if step.edit is not None]
            if len(edits) == len(steps):
                action = _joined(edits)
            table.append(RelayRule(direction, key, (version,), action))
        return table

    def connected(self, peer: Peer) -> ConnectionRules:
        return ConnectionRules(self, self._steps, peer)


def _slots(wanted: RelayRule) -> list[_Slot]:
    source = catalog()
    message = source.request(wanted.api_key) if wanted.direction == "request" else source.response(wanted.api_key)
    if message is None:
        raise ValueError(f"a rule for api key {wanted.api_key}, which no release has")
    versions = message.valid_versions if wanted.versions is None else wanted.versions
    return [(wanted.direction, wanted.api_key, version) for version in versions]


class ConnectionRules:
    __slots__ = ("_of", "_own", "_steps", "_watched", "peer")

    def __init__(self, of: RuleSet, steps: dict[_Slot, list[_Step]], peer: Peer) -> None:
        self.peer = peer
        self._steps = steps
        self._of = of
        self._own = [rule.connected(peer) for rule in of.rules]
        # what looks at the responses that were asked for; these come in the order of the requests
        self._watched: deque[list[Callable[[Held, bytes], bytes | None]]] = deque()

    def apply(self, held: Held) -> Outcome:
        is_request = held.kind == "request"
        frame = held.frame
        watching = self._watched.popleft() if held.was_asked_for else []
        delay = 0.0
        for step in self._steps.get(("request" if is_request else "response", held.api_key, held.api_version), ()):
            outcome: Outcome
            own = self._own[step.rule]
            if step.edit is not None:
                outcome = b"".join(step.edit.pieces(frame))
            elif own is None:
                continue
            else:
                outcome = own.request(held, frame) if is_request else own.response(held, frame)
            if isinstance(outcome, (Answer, Refusal)):
                return outcome
            if isinstance(outcome, Watched):
                if outcome.response is not None:
                    watching.append(outcome.response)
                delay = max(delay, outcome.delay)
                outcome = outcome.frame
            frame = frame if outcome is None else outcome
        if is_request:
            if not watching or not held.wants_answer or self.plan.action("response", held.api_key, held.api_version) == CLOSE:
                return Watched(frame, None, delay) if delay else frame
            self._watched.append(watching)
            return Watched(frame, watching[0], delay)
        for look in watching:
            frame = look(held, frame) or frame
        return frame

    def take_lease(self) -> Lease | None:
        """Return a new lease of the only rule that watches."""
        watching = [each for each in self._own if each is not None and each.watches]
        return watching[0].take_lease(self._of.leased_plan) if len(watching) == 1 else None

    @property
    def plan(self) -> RelayPlan:
        watches = any(each is not None and each.watches for each in self._own)
        return self._of.watching_plan if watches else self._of.plan

    def closed(self) -> None:
        for each in self._own:
            if each is not None:
                each.closed()
