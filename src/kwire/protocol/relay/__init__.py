"""Relay between a client and a broker, without sockets: the part of a proxy between receiving and sending bytes.

::

    RelayPlan(rules, *, unknown="pass" | "refuse" | "close")     rules: RelayRule(direction, api_key, versions, action)
        action: PASS | CALL | CLOSE | REFUSE | an object with `pieces(frame)`

    Relay(plan, *, max_frame, max_held, budget=None, counters=None)
        from_client(data, t), from_server(data, t) -> Moves      pieces to send, frames held, why to close
        end_client(t), end_server(t) -> Moves                    half-close
        use_plan(plan, lease=None)                               other rules from the next frame on; those of the lease first
        end_requests()                                           no further request, before an orderly close
        release(held, pieces | None) -> Moves                    a held frame goes on, edited or not
        answer(held, frame | None) -> Moves                      the relay answers instead of the broker
        reads_client, reads_server, inside_request, is_idle, owed, kept, closing

    RelayCounters(*, max_clients, max_software, max_series)      rows() -> list of dicts

Frames are passed without their 4-byte length; pieces to send have it. Output does not depend on how the bytes are cut into calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from kwire.protocol.relay.budget import HeldBudget
    from kwire.protocol.relay.counters import RelayCounters
    from kwire.protocol.relay.lease import Lease
    from kwire.protocol.relay.moves import Buffer, CloseReason, Closing, Held, Moves
    from kwire.protocol.relay.plan import CALL, CLOSE, PASS, REFUSE, FrameEdit, RelayPlan, RelayRule, Unknown
    from kwire.protocol.relay.relay import Relay

_HOME = {
    **dict.fromkeys(("HeldBudget", "Lease", "Relay", "RelayCounters"), "kwire.protocol.impl"),
    **dict.fromkeys(("Buffer", "CloseReason", "Closing", "Held", "Moves"), "kwire.protocol.relay.moves"),
    **dict.fromkeys(("CALL", "CLOSE", "PASS", "REFUSE", "FrameEdit", "RelayPlan", "RelayRule", "Unknown"), "kwire.protocol.relay.plan"),
}

__all__ = [
    "CALL", "CLOSE", "PASS", "REFUSE", "Buffer", "CloseReason", "Closing", "FrameEdit", "Held", "HeldBudget", "Lease", "Moves", "Relay",
    "RelayCounters", "RelayPlan", "RelayRule", "Unknown",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__ = lazy_getattr(globals(), _HOME)
