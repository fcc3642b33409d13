"""Results of a relay's calls: pieces to send, held frames, and the reason to close the connection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from kwire.protocol.events import Direction
from kwire.schema import catalog

__all__ = ["CLOSE_TEXTS", "Buffer", "CloseReason", "Closing", "Held", "Moves", "api_text"]

Buffer = bytes | bytearray | memoryview
CloseReason = Literal[
    "length_negative", "length_too_large", "length_too_short", "head_too_long", "header_malformed", "response_unexpected",
    "response_mismatched", "refused", "unknown_api", "held_too_large", "budget_exhausted", "program_failed", "program_too_large",
    "sasl_unknown_mechanism", "frame_unfinished", "server_ended", "sasl_without_handshake", "sasl_refused",
    "authentication_too_large",
]  # fmt: skip

# A sentence a reason; `{value}` is `Closing.value`, `{api}` the API that it names. The native twin numbers them in this order, from 1 on.
CLOSE_TEXTS: Final[dict[CloseReason, str]] = {
    "length_negative": "frame length is {value}",
    "length_too_large": "frame length {value} exceeds the limit",
    "length_too_short": "a frame of {value} bytes is too short for its header",
    "head_too_long": "header and acks do not end within {value} bytes",
    "header_malformed": "the header or the acks of a Produce cannot be read",
    "response_unexpected": "the broker sent a response (correlation id {value}), but no request is waiting",
    "response_mismatched": "the broker answered correlation id {value}, which is not the oldest waiting request",
    "refused": "a rule closes connections that use {api}",
    "unknown_api": "unknown API or version: {api}",
    "held_too_large": "buffered bytes of the connection reach {value}, which exceeds its limit",
    "budget_exhausted": "buffered bytes of all connections exceed their limit",
    "program_failed": "a rule could not edit {api}",
    "program_too_large": "an edited frame of {value} bytes exceeds the limit",
    "sasl_unknown_mechanism": "raw SASL tokens of a mechanism whose end cannot be recognized; use SaslHandshake v1",
    "frame_unfinished": "the stream ended inside a frame",
    "server_ended": "the broker ended the connection while {value} requests were waiting",
    "sasl_without_handshake": "the connection begins with a GSSAPI token instead of SaslHandshake, which a rule rejects",
    "sasl_refused": "the broker rejected SaslHandshake v0 (error {value}), but the client had already sent more bytes",
    "authentication_too_large": "an ApiVersions or SASL request of {value} bytes is longer than the 524,288 that brokers accept",
}


# First bytes of other protocols, where a frame's length is expected: TLS handshakes and alerts, HTTP, SSH.
_FOREIGN: Final = {
    b"\x16\x03": "TLS", b"\x15\x03": "TLS", b"GET ": "HTTP", b"HEAD": "HTTP", b"POST": "HTTP", b"HTTP": "HTTP", b"SSH-": "SSH",
}  # fmt: skip


def api_text(api_key: int, api_version: int) -> str:
    return f"{catalog().api_name(api_key) or f'API {api_key}'} v{api_version}"


@dataclass(frozen=True, slots=True)
class Closing:
    """Reason to close a connection, and the direction of the faulty bytes.

    Attributes:
        value: length, count, correlation id or API key, by the reason.
        api_version: version of that API, else None.
        cause: error of the program that could not edit the frame; empty if the frame is longer than 1 MiB.
    """

    reason: CloseReason
    direction: Direction
    value: int = 0
    api_version: int | None = None
    cause: str = ""

    @property
    def api(self) -> str:
        """Name and version of the API that `value` names; empty if it is something else."""
        return "" if self.api_version is None else api_text(self.value, self.api_version)

    def __str__(self) -> str:
        text = CLOSE_TEXTS[self.reason].format(value=self.value, api=f"{self.api} {self.direction}s")
        begin = (self.value & 0xFFFFFFFF).to_bytes(4, "big") if self.reason.startswith("length_") else b""
        spoken = next((name for first, name in _FOREIGN.items() if begin.startswith(first)), "")
        foreign = f"the {'client' if self.direction == 'request' else 'broker'} speaks {spoken}" if spoken else ""
        return ": ".join(filter(None, (text, foreign, self.cause)))


@dataclass(slots=True, eq=False)
class Held:
    """Whole frame that waits for `Relay.release` or `Relay.answer`. Later bytes of its direction wait too."""

    kind: Direction
    frame: bytes  # without its length
    api_key: int
    api_version: int  # of the body: 0 for error 35 of ApiVersions (KIP-511)
    asked_version: int  # of the request
    correlation_id: int
    wants_answer: bool  # False for a Produce with acks 0
    time: int  # arrival of its last byte, nanoseconds
    asked: bool = False  # the client has sent the broker a request that needs authentication
    served: bool = False  # the broker has answered such a request
    was_asked_for: bool = False  # `Relay.release` of its request asked for it, whatever the plan says

    def __repr__(self) -> str:
        # The frame may hold a SASL token.
        return f"Held({self.kind}, api {self.api_key} v{self.api_version}, {len(self.frame)} bytes)"


@dataclass(slots=True)
class Moves:
    """Actions after a call. Some pieces are views of the given bytes: send or copy them before that buffer changes."""

    to_server: list[Buffer] = field(default_factory=list)
    to_client: list[Buffer] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    end_server: bool = False
    end_client: bool = False
    close: Closing | None = None
