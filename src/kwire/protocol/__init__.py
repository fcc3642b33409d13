"""Sans-IO rules of the protocol: bytes and a clock value in, events out. No sockets, no threads, no real time.

Use `Connection` if you know which side is the client, `DirectionDetector` if not (a capture)::

    Connection(joined_late=False, *, max_frame=MAX_FRAME, frames=False, bodies=None)
        receive_request_bytes(data, t, packet=0) -> list[Event]
        receive_response_bytes(data, t, packet=0) -> list[Event]
        lost(direction, n, t, packet=0) -> list[Event]       direction: "request" or "response"
        closed(direction, reset, t, packet=0) -> list[Event]
        finish(t) -> list[Event]                             end of the series
        summary() -> ConnectionSummary

    DirectionDetector(port_0, port_1, *, ports=None)              sides are 0 and 1
        opened(side, t, packet=0) -> list[Event]             a SYN without ACK came from this side
        receive(side, data, t, packet=0) -> list[Event]
        lost(side, n, t, packet=0), closed(side, reset, t, packet=0), finish(t) -> list[Event]
        server_side -> int | None                            None until it is decided
        connection -> Connection | None

Both pickle at any moment, and their events do not depend on how the bytes are cut into calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.protocol import coordinator, groups, negotiation, nested_bytes, telemetry
    from kwire.protocol.events import (
        BrokerNode,
        BrokersLearned,
        ConnectionSummary,
        Direction,
        Event,
        IdentityChanged,
        RequestCompleted,
        VersionsLearned,
        ViolationFound,
    )  # fmt: skip
    from kwire.protocol.tracking.connection import Connection
    from kwire.protocol.tracking.direction_detection import DirectionDetector

__all__ = [
    "BrokerNode", "BrokersLearned", "Connection", "ConnectionSummary", "DirectionDetector", "Direction", "Event", "IdentityChanged",
    "RequestCompleted", "VersionsLearned", "ViolationFound", "coordinator", "groups", "negotiation", "nested_bytes", "telemetry",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(
        globals(),
        {module: f"kwire.protocol.{module}" for module in ("coordinator", "groups", "negotiation", "nested_bytes", "telemetry")},
        events="BrokerNode BrokersLearned ConnectionSummary Direction Event IdentityChanged RequestCompleted VersionsLearned "
        "ViolationFound",
        impl="Connection DirectionDetector",
    )
