"""Interface of a rule: the selected frames and their treatment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from kwire.protocol.relay import Held, Lease, RelayPlan, RelayRule

__all__ = ["Answer", "ConnectionRule", "Outcome", "Peer", "Refusal", "Rule", "Watched", "WatchingRule"]

_MOST_SHOWN: Final = 255


@dataclass(slots=True)
class Peer:
    """Client of one connection; its fields are set as the client identifies itself.

    Attributes:
        client_id: client id of the last request passed to a rule.
        software_name, software_version: from ApiVersions (KIP-511); empty if not sent.
        principal: `User:NAME` of an accepted SASL exchange, or of the client's certificate. Raw SASL tokens (SaslHandshake v0) are not
            read.
    """

    address: str
    port: int
    node_id: int
    client_id: str | None = None
    software_name: str = ""
    software_version: str = ""
    principal: str = ""
    tenant: str = ""

    def fields(self) -> dict[str, Any]:
        """Return what a log line says about the client, by name; long texts, which clients choose, are cut."""
        own = {
            name: (getattr(self, name) or "")[:_MOST_SHOWN]
            for name in ("client_id", "software_name", "software_version", "principal", "tenant")
        }
        return {"client": f"{self.address}:{self.port}", "node_id": self.node_id, **own}

    def in_brackets(self) -> str:
        """Return what is known about the client, for people: ` (billing, sarama 1.27.2, User:alice, tenant acme)`."""
        own = self.fields()
        software = f"{own['software_name']} {own['software_version']}".strip()
        known = ", ".join(filter(None, (own["client_id"], software, own["principal"], self.tenant and f"tenant {self.tenant}")))
        return f" ({known})" if known else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer by the proxy instead of the broker; the frame has no length, and the client is not read for `delay` seconds."""

    frame: bytes | None
    delay: float = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    reason: str
    delay: float = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """Request to forward, and a function that gets its response after the edits and calls of all rules.

    The client is not read for `delay` seconds before.
    """

    frame: bytes
    response: Callable[[Held, bytes], bytes | None] | None
    delay: float = 0


Outcome: TypeAlias = bytes | Answer | Refusal | Watched | None
"""Result of a rule: the frame to forward, an `Answer` or a `Watched` (requests only), a `Refusal`, or None for the unchanged frame."""


class ConnectionRule:
    """Rule of one connection: it gets the frames of the rule's `CALL`s and, while it `watches`, the frames of
    `WatchingRule.watching_rules`."""

    watches = False

    def request(self, held: Held, frame: bytes) -> Outcome:
        """Process a request, as changed by earlier rules; a WireError closes the connection."""
        return None

    def response(self, held: Held, frame: bytes) -> bytes | None:
        return None

    def take_lease(self, plan: RelayPlan) -> Lease | None:
        """Return a new lease of the frames that it watches, which `plan` decides meanwhile."""
        return None

    def closed(self) -> None: ...


class Rule(Protocol):
    """Rule of a proxy, shared by its connections; `name` is its table in the configuration."""

    name: str

    def relay_rules(self) -> Iterable[RelayRule]:
        """Return the frames that the rule selects: for an edit, `CLOSE`, `REFUSE`, or `CALL` of its `ConnectionRule`."""

    def connected(self, peer: Peer) -> ConnectionRule | None:
        """Return the rule of a new connection; None if it has no calls."""


@runtime_checkable
class WatchingRule(Protocol):
    def watching_rules(self) -> Iterable[RelayRule]:
        """Return further frames that it selects while `ConnectionRule.watches`."""
