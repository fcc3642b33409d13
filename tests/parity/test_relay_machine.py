"""Both relays in conversations that hypothesis draws: logins, requests at once, cuts at any byte, rules and ends in any order."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from relay_model import KINDS, TOKENS, Talk

MECHANISMS = st.sampled_from(list(TOKENS))
SIZES = st.sampled_from([1, 3, 9, 20, 1 << 20])
END_AFTER = 30  # calls


class RelayMachine(RuleBasedStateMachine):
    talk: Talk

    @initialize(
        sasl=st.sampled_from([True, True, False]), again=st.booleans(), kerberos=st.booleans(), mechanisms=st.permutations(list(TOKENS)),
        called=st.booleans(), unknown=st.sampled_from(["pass", "refuse", "close"]), raw_gssapi=st.booleans(),
        base=st.sampled_from([0, 0x60820000, 0x05040000]), max_held=st.sampled_from([5000, 200]),
        login=st.sampled_from(["login", "raw login", ""]),
    )  # fmt: skip
    def begins(self, login: str, **chosen: Any) -> None:
        self.talk = Talk(**chosen)
        if login and chosen["sasl"]:
            self.talk.queue(login, chosen["mechanisms"][0], 0)

    @rule(kind=st.sampled_from(KINDS), mechanism=MECHANISMS, number=st.integers(0, 5))
    def client_queues(self, kind: str, mechanism: bytes, number: int) -> None:
        self.talk.queue(kind, mechanism, number)

    @precondition(lambda self: not self.talk.is_over)
    @rule(size=SIZES)
    def client_writes(self, size: int) -> None:
        self.talk.client_writes(size)

    @rule(accepts=st.sampled_from([True, True, True, False]))
    def broker_serves(self, accepts: bool) -> None:
        self.talk.broker_serves(accepts)

    @precondition(lambda self: not self.talk.is_over)
    @rule(size=SIZES)
    def broker_writes(self, size: int) -> None:
        self.talk.broker_writes(size)

    @precondition(lambda self: not self.talk.is_over and self.talk.held)
    @rule(at=st.integers(0, 2), answers=st.booleans())
    def rule_settles(self, at: int, answers: bool) -> None:
        self.talk.settle(at, answers)

    @precondition(lambda self: not self.talk.is_over and self.talk.time > END_AFTER)
    @rule(side=st.integers(0, 1))
    def ends(self, side: int) -> None:
        self.talk.ends(side)

    @precondition(lambda self: not self.talk.is_over and self.talk.time > END_AFTER)
    @rule()
    def requests_end(self) -> None:
        self.talk.end_requests()

    def teardown(self) -> None:
        if hasattr(self, "talk"):
            self.talk.finish()


TestRelayMachine = RelayMachine.TestCase
