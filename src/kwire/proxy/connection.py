"""Connection of one client to one broker with the rules in between, without sockets."""

from __future__ import annotations

import re
import time
from typing import Final

import kwire
from kwire.errors import EncodeError, WireError
from kwire.protocol.relay import CALL, Buffer, Held, HeldBudget, Moves, Relay, RelayCounters
from kwire.protocol.relay.moves import api_text
from kwire.proxy.rule_set import RuleSet
from kwire.proxy.rules.rule import Answer, Outcome, Peer, Refusal, Watched
from kwire.proxy.taps import Tapped

__all__ = ["ProxiedConnection"]

# The error of `AddressTable`, in words of the configuration.
_NO_LISTENER: Final = re.compile(r"no new address is given for node (-?\d+) at '(.*)', port (\d+) in \S+")
_WITHOUT_LISTENER: Final = (
    r"it names broker \1 at \2:\3, which has no listener: add [[listeners]] with node_id = \1, "
    r'or unknown_node = "keep" under [addresses]'
)


class ProxiedConnection:
    """Relay that applies rules to held frames at once; the client is not read while a `delayed` outcome waits."""

    __slots__ = ("_frames", "_refused_api", "_rules", "_tap", "delayed", "peer", "refusal", "relay")

    def __init__(
        self,
        rules: RuleSet,
        peer: Peer,
        *,
        max_frame: int,
        max_held: int,
        budget: HeldBudget | None = None,
        counters: RelayCounters | None = None,
        tap: Tapped | None = None,
    ) -> None:
        self._rules = rules.connected(peer)
        self.relay = Relay(self._rules.plan, max_frame=max_frame, max_held=max_held, budget=budget, counters=counters)
        self.refusal = self._refused_api = ""
        self.delayed: tuple[Held, Answer | Refusal | Watched] | None = None
        self._frames = False
        self._tap = tap
        self.peer = peer

    def from_client(self, data: Buffer, t: int) -> Moves:
        """Receive bytes from the client as `Relay.from_client` does; `Moves.held` is empty, and a rule may set `Moves.close`."""
        if self._tap is not None:
            self._tap.from_client(data, time.time_ns())
        moves = self._settled(self.relay.from_client(data, t), t)
        self._frames = self._frames or (bool(moves.to_server or moves.to_client) and not self.relay.inside_request)
        return moves

    def from_server(self, data: Buffer, t: int) -> Moves:
        return self._settled(self.relay.from_server(data, t), t)

    def settle_delayed(self, t: int) -> Moves:
        held, outcome = self.take_delayed()
        self._frames = True
        return self._settled(self._carry_out(held, outcome, t), t)

    def take_delayed(self) -> tuple[Held, Answer | Refusal | Watched]:
        """Return the delayed outcome, which the caller applies; a `Refusal` sets `refusal`."""
        assert self.delayed is not None
        found, self.delayed = self.delayed, None
        if isinstance(found[1], Refusal):
            self.refusal = found[1].reason
        return found

    def end_client(self, t: int) -> Moves:
        return self._settled(self.relay.end_client(t), t)

    def end_server(self, t: int) -> Moves:
        return self._settled(self.relay.end_server(t), t)

    def over(self) -> None:
        self._rules.closed()
        if self._tap is not None:
            self._tap.closed(time.time_ns())

    def take_tap(self) -> Tapped | None:
        """Return the tap; from now on the caller passes bytes to it."""
        tap, self._tap = self._tap, None
        return tap

    @property
    def has_passed(self) -> bool:
        return self._frames

    @property
    def close_reason(self) -> str:
        text = self.refusal or ("" if self.relay.closing is None else str(self.relay.closing))
        return _NO_LISTENER.sub(_WITHOUT_LISTENER, text)

    @property
    def closing_api(self) -> str:
        """Name and version of the API whose frame closed the connection; empty if it was no frame."""
        return self._refused_api or ("" if self.relay.closing is None else self.relay.closing.api)

    def _settled(self, moves: Moves, t: int) -> Moves:
        waiting = moves.held
        moves.held = []
        while waiting and not self.refusal:
            more = self._settle(waiting.pop(0), t)
            waiting += more.held
            moves.to_server += more.to_server
            moves.to_client += more.to_client
            moves.end_server |= more.end_server
            moves.end_client |= more.end_client
            moves.close = moves.close or more.close
        if moves.to_client and self._tap is not None:
            self._tap.to_client(moves.to_client, time.time_ns())
        return moves

    def outcome(self, held: Held) -> Outcome:
        """Apply the rules to a held frame; an unreadable frame is rejected, and a delayed one stays held."""
        try:
            found = self._rules.apply(held)
        except (WireError, EncodeError) as error:
            found = Refusal(f"{api_text(held.api_key, held.api_version)} {held.kind}: {error}")
        if isinstance(found, Refusal):
            self._refused_api = api_text(held.api_key, held.api_version)
            if held.kind == "request":
                self.peer.client_id = kwire.peek_header(held.frame, strict=False).client_id
        if isinstance(found, (Answer, Refusal, Watched)) and found.delay:
            self.delayed = held, found
        elif isinstance(found, Refusal):
            self.refusal = found.reason
        lease = self._rules.take_lease()
        if lease is not None or self._rules.plan is not self.relay.plan:
            self.relay.use_plan(self._rules.plan, lease)
        return found

    def _settle(self, held: Held, t: int) -> Moves:
        outcome = self.outcome(held)
        is_delayed = self.delayed is not None and self.delayed[0] is held
        return Moves() if is_delayed else self._carry_out(held, outcome, t)

    def _carry_out(self, held: Held, outcome: Outcome, t: int) -> Moves:
        if isinstance(outcome, Refusal):
            return Moves()
        if isinstance(outcome, Answer):
            return self.relay.answer(held, outcome.frame, t=t)
        response = CALL if isinstance(outcome, Watched) and outcome.response is not None else None
        frame = outcome.frame if isinstance(outcome, Watched) else outcome
        return self.relay.release(held, None if frame is None or frame is held.frame else [frame], t=t, response=response)
