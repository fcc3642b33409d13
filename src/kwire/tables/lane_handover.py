"""Between lanes and Python: what hangs on a connection (`Tracked`) made of a lane's state, and the state of what hangs on one.

The state is a dict of plain values; `kwire.protocol.lane_state` knows most of it. Added here: what the tables keep of a connection.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from kwire.capture.tcp import Endpoint
from kwire.capture.tls.opening import TlsOpening
from kwire.protocol.events import Asked, PartitionUse, RequestCompleted
from kwire.protocol.lane_state import new_conversation, plain_state, put_back
from kwire.protocol.observation import Watch, watch_of
from kwire.protocol.topic_use import TOPIC_USERS
from kwire.schema import catalog
from kwire.tables.conversation_sink import Tracked
from kwire.tables.encrypted_conversation import EncryptedConversation
from kwire.tables.lane_desk import ROLES, SOURCES

__all__ = ["state_of", "tracked_of"]

State = dict[str, Any]

# Rules of severity `info` that a lane can report itself, by their bits (`Said` in pyx/lane_series.pxd).
_SAID: Final = {"api_versions_refused": 1, "batch_partial": 2}


def state_of(tracked: Tracked) -> State | None:
    """Give the state of what hangs on a connection, None unless a lane can go on with it.

    Args:
        tracked: it is not changed, and the lane keeps it.
    """
    if tracked.connection_id is None or tracked.early or isinstance(tracked.conversation, EncryptedConversation):
        return None
    if tracked.tls_opening is not None and tracked.tls_opening.has_bytes:
        return None
    state = plain_state(tracked.conversation)
    if state is None:
        return None
    # The catalog has no api name twice, and none of an api without a key.
    name = state.pop("last_api_name")
    last_api = None if name is None else _api_keys().get(name)
    if name is not None and last_api is None:
        return None
    state["last_api"] = last_api
    state["said"] = sum(bit for rule, bit in _SAID.items() if rule in state["said"])
    state["source"], state["role"] = SOURCES.index(state["source"]), ROLES.index(state["role"])
    state["waiting"] = [_plain_waiting(*each) for each in state["waiting"]]
    state["refused"] = tracked.refused
    if tracked.refused is not None and None in tracked.refused:
        return None
    state["topics"] = tracked.topics.plain()
    state["begun"] = tracked.begun
    return state


@cache
def _api_keys() -> dict[str | None, int]:
    return {catalog().api_name(key): key for key in catalog().api_keys}


def _plain_waiting(row: RequestCompleted, losses: int, breaks: int, note: Any) -> tuple[Any, ...]:
    """A waiting request: its row, counters, the partitions that it names, the frame that is kept and whether bytes of it are lost."""
    uses = [tuple(use) for use in note] if row.api_key in TOPIC_USERS and note else []
    return row, losses, breaks, uses, None if row.api_key in TOPIC_USERS else note


def tracked_of(
    state: State,
    tracked: Tracked | None,
    ports: tuple[int, int],
    client_side: int,
    connection_id: str,
    server: Endpoint,
    asked: Asked | None = None,
) -> Tracked:
    """Make what hangs on a connection of a lane's state.

    Args:
        state: as `state_of` gives it; with `pieces`, as `kwire.protocol.lane_state.put_back` takes them.
        tracked: what the lane has kept, None for nothing.
        ports: of the connection's two sides.
        client_side: 0 or 1.
        connection_id, server: as `Tracked` has them.
        asked: the message whose frames are wanted.
    """
    if tracked is None:
        tracked = Tracked(new_conversation(*ports, client_side, asked), state["begun"])
        tracked.connection_id, tracked.server = connection_id, server
    state["last_api_name"] = None if state["last_api"] is None else catalog().api_name(state["last_api"])
    state["said"] = {rule for rule, bit in _SAID.items() if state["said"] & bit}
    state["source"], state["role"] = SOURCES[state["source"]], ROLES[state["role"]]
    state["waiting"] = [(row, losses, breaks, _note(row, uses, frame)) for row, losses, breaks, uses, frame in state["waiting"]]
    assert not isinstance(tracked.conversation, EncryptedConversation)
    put_back(tracked.conversation, state)
    tracked.tls_opening = _tls_opening(state, client_side)
    tracked.refused = state["refused"]
    tracked.topics.put_back(state["topics"])
    return tracked


def _tls_opening(state: State, client_side: int) -> TlsOpening | None:
    """The first bytes of a connection of which nothing was read yet, None where it is known what it speaks."""
    opening = TlsOpening(False)
    for direction, side in enumerate((client_side, 1 - client_side)):
        pieces = state["pieces"][direction] if "pieces" in state else []
        if sum(len(data) for data, _, _ in pieces) != state["received"][direction]:
            return None
        for piece in pieces:
            if opening.take(side, *piece) is not None:
                return None
    return opening


def _note(row: RequestCompleted, uses: list[tuple[Any, ...]], frame: tuple[bytes, bool] | None) -> Any:
    """As `kwire.protocol.observation.note_request` gave it."""
    assert row.api_key is not None
    assert row.api_version is not None
    if watch_of(row.api_key, row.api_version) < Watch.BOTH:
        return None
    if row.api_key in TOPIC_USERS:
        return [PartitionUse(*use) for use in uses]
    return frame  # None where nobody wants what it says: no lane keeps a request then
