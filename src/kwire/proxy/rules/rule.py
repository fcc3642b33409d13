"""What a rule is: which frames it wants to see, and what it does with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from kwire.protocol.relay import Held, RelayRule

__all__ = ["Answer", "ConnectionRule", "Outcome", "Peer", "Refusal", "Rule", "Watched", "WatchingRule"]


@dataclass(slots=True)
class Peer:
    """Who is on the client's side of one connection; it fills as the client names itself.

    Attributes:
        address, port: of the client's end.
        node_id: of the broker behind the listener.
        client_id: of the last request that a rule looked at; None before.
        software_name, software_version: from ApiVersions (KIP-511); empty until they are sent, and for clients that send none.
        principal: `User:NAME` of a SASL exchange that the broker accepted, or of the certificate that the client showed to the proxy; empty
            before. Raw SASL tokens (SaslHandshake version 0) are not looked into.
        tenant: whose listener it is; empty without tenants.
    """

    address: str
    port: int
    node_id: int
    client_id: str | None = None
    software_name: str = ""
    software_version: str = ""
    principal: str = ""
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The proxy answers instead of the broker.

    Attributes:
        frame: a response with its header, without its length; None for no answer.
        delay: seconds until it goes out. Nothing of the client is read before.
    """

    frame: bytes | None
    delay: float = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """The connection is closed.

    Attributes:
        reason: for the log and the counters.
        delay: as of an `Answer`.
    """

    reason: str
    delay: float = 0


@dataclass(frozen=True, slots=True)
class Watched:
    """A request goes on, and its response is looked at, which need not be a `CALL` of the rule.

    Attributes:
        frame: the request.
        response: as `ConnectionRule.response`, with the frame as the edits and calls of all rules left it.
    """

    frame: bytes
    response: Callable[[Held, bytes], bytes | None]


Outcome: TypeAlias = bytes | Answer | Refusal | Watched | None
"""The frame that goes on, an `Answer` or a `Watched` (requests only), a `Refusal`, or None for the frame as it came."""


class ConnectionRule:
    """A rule at work on one connection. Frames are those of the rule's `CALL`s, without their lengths.

    Attributes:
        watches: it wants the frames of `WatchingRule.watching_rules` too.
    """

    watches = False

    def request(self, held: Held, frame: bytes) -> Outcome:
        """Look at a request.

        Arguments:
            held: what the relay knows of it.
            frame: as earlier rules left it.

        Raises:
            WireError: it cannot be read; the connection is closed.
        """
        return None

    def response(self, held: Held, frame: bytes) -> bytes | None:
        """Look at a response; arguments and errors as for `request`."""
        return None

    def closed(self) -> None:
        """The connection is over."""


class Rule(Protocol):
    """A rule of a proxy, shared by its connections.

    Attributes:
        name: of its table in the configuration; logs and counters use it.
    """

    name: str

    def relay_rules(self) -> Iterable[RelayRule]:
        """The frames that it wants, and what is done with them: an edit, `CLOSE`, `REFUSE`, or `CALL` for its `ConnectionRule`."""

    def connected(self, peer: Peer) -> ConnectionRule | None:
        """The rule for a new connection; None when it calls for no frame."""


@runtime_checkable
class WatchingRule(Protocol):
    """A rule that wants further frames of some connections."""

    def watching_rules(self) -> Iterable[RelayRule]:
        """The frames that it wants, beside those of `relay_rules`, while `ConnectionRule.watches`."""
