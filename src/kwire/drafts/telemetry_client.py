"""The client's side of KIP-714's draft: one request for everything, and a handshake with each chosen broker."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from random import Random
from typing import Any, Final

from kwire.codec.catalog_codec import Codec
from kwire.drafts.content_types import ACCEPTED_CONTENT_TYPES
from kwire.protocol.telemetry.metric_store import MetricStore
from kwire.protocol.telemetry.otlp import encode_metrics
from kwire.protocol.telemetry.selection import MetricSelector
from kwire.protocol.transitions import Transitions
from kwire.schema import dialect

__all__ = ["DRAFT_CLIENT", "DraftEvent", "DraftState", "DraftTelemetryClient"]

_MS: Final = 1_000_000
_PLAIN: Final = ACCEPTED_CONTENT_TYPES[-1]


class DraftState(Enum):
    """States of a client of the draft."""

    NO_BROKER = auto()
    HANDSHAKE_NEEDED = auto()
    HANDSHAKE_IN_PROGRESS = auto()
    PUSH_NEEDED = auto()
    PUSH_IN_PROGRESS = auto()
    TERMINATED = auto()


class DraftEvent(Enum):
    CHOSE_BROKER = auto()
    SENT = auto()
    ANSWERED = auto()
    ENDED = auto()


_S, _E = DraftState, DraftEvent
_AWAY: Final = {_E.CHOSE_BROKER: _S.HANDSHAKE_NEEDED, _E.ENDED: _S.TERMINATED}

DRAFT_CLIENT: Final = Transitions(
    "a client of the KIP-714 draft",
    DraftState,
    DraftEvent,
    DraftState.NO_BROKER,
    {
        _S.NO_BROKER: _AWAY,
        _S.HANDSHAKE_NEEDED: {_E.SENT: _S.HANDSHAKE_IN_PROGRESS, **_AWAY},
        _S.HANDSHAKE_IN_PROGRESS: {_E.ANSWERED: _S.PUSH_NEEDED, **_AWAY},
        _S.PUSH_NEEDED: {_E.SENT: _S.PUSH_IN_PROGRESS, **_AWAY},
        _S.PUSH_IN_PROGRESS: {_E.ANSWERED: _S.PUSH_NEEDED, **_AWAY},
    },
)


class DraftTelemetryClient:
    """Pushes the metrics of one client, cumulative and not compressed; waits `delay_ms` before the first handshake."""

    def __init__(self, store: MetricStore, *, random: Random | None = None, delay_ms: int = 1000) -> None:
        self.codec = Codec(dialect("kip-714-draft"))
        self.store = store
        self.delay_ms = delay_ms
        self.state = DRAFT_CLIENT.start
        self.broker: str | None = None
        self.instance_id: str | None = None
        self.wanted = MetricSelector(())
        self.due = 0
        self._random = random or Random()

    def choose(self, connected: Sequence[str], t: int) -> str:
        """Choose a connected broker; a handshake with it is due."""
        first = self.broker is None
        self.state = DRAFT_CLIENT.after(self.state, DraftEvent.CHOSE_BROKER)
        self.broker = self._random.choice(connected)
        self.due = t + (self.delay_ms * _MS if first else 0)
        return self.broker

    def next_request(self, t: int, *, terminating: bool = False) -> Any:
        """Return the due request, None if there is none; with `terminating` the last metrics are due at once if any are wanted."""
        if terminating:
            wanted = not self.wanted.nothing and self.state in (DraftState.PUSH_NEEDED, DraftState.PUSH_IN_PROGRESS)
            self.state = DRAFT_CLIENT.after(self.state, DraftEvent.ENDED)
            return self._request(t, True) if wanted else None
        if t < self.due or not DRAFT_CLIENT.allows(self.state, DraftEvent.SENT):
            return None
        handshake = self.state is DraftState.HANDSHAKE_NEEDED
        self.state = DRAFT_CLIENT.after(self.state, DraftEvent.SENT)
        if handshake:
            return self.codec.messages.PushTelemetryRequest(client_instance_id=self.instance_id, content_type=None, metrics=b"")
        return self._request(t, False)

    def _request(self, t: int, terminating: bool) -> Any:
        return self.codec.messages.PushTelemetryRequest(
            client_instance_id=self.instance_id,
            terminating=terminating,
            content_type=_PLAIN,
            metrics=encode_metrics(self.store.collect(self.wanted, "cumulative", t)),
        )

    def receive(self, body: Any, t: int) -> None:
        """Take the answer; an error only changes the time of the next push."""
        self.state = DRAFT_CLIENT.after(self.state, DraftEvent.ANSWERED)
        self.due = t + body.next_push_ms * _MS
        if body.error_code:
            return
        if body.client_instance_id is not None:
            self.instance_id = body.client_instance_id
        self.wanted = MetricSelector(body.requested_metrics)
