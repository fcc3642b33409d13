"""The state of a conversation as plain values, for the native reader of captures: it goes on where Python stopped, and Python where it did.

    state = plain_state(conversation)         None unless all is regular
    put_back(conversation, state)             write what has changed since

*Regular* is a conversation of which it is known who is the client, that speaks Kafka, is in step in both directions, has no tokens without
headers under way and holds no response back. What a regular conversation cannot change stays in its objects and is not part of the state;
nor is it taken apart how far authentication has come.
"""

from __future__ import annotations

from typing import Any, Final

from kwire.protocol.connection import Connection
from kwire.protocol.events import Asked, Direction
from kwire.protocol.exchange import Exchange
from kwire.protocol.frames import MAX_FRAME, Frame, FrameSplitter
from kwire.protocol.opening import Opening
from kwire.protocol.pairing import Waiting, kept_bytes
from kwire.protocol.roles import Conversation
from kwire.schema import catalog

__all__ = ["MOST_CLIENT_IDS", "new_conversation", "plain_state", "put_back"]

State = dict[str, Any]
# Stream offset of the first byte that waits, the bytes, time and packet of the first, whether nothing has come yet; of a damaged frame how
# many bytes are missing until its end, be they lost or to come, and when the latest of those passed that are behind the loss.
_Buffer = tuple[int, bytes, int, int, bool, tuple[int, int]]

# A lane counts no more client ids.
MOST_CLIENT_IDS: Final = 4
_DIRECTIONS: Final[tuple[Direction, Direction]] = ("request", "response")
_SIDES: Final = ("client", "server")


def plain_state(conversation: Conversation) -> State | None:
    """The state of a conversation, None unless it is regular; nothing is changed.

    Returns:
        Values by name; pairs are those of requests and of responses.
    """
    connection = conversation.connection
    if connection is None or not _is_regular(connection):
        return None
    exchange = connection._exchange
    identity = exchange.identity
    return {
        "received": tuple(connection.received[each] for each in _DIRECTIONS),
        "frames": tuple(connection._frames[each] for each in _DIRECTIONS),
        "closed": tuple(connection._closed[each] for each in _DIRECTIONS),
        "first_seen": connection._first_seen,
        "last_seen": connection._last_seen,
        "closed_by": None if connection._closed_by is None else _SIDES.index(connection._closed_by),
        "reset": connection._reset,
        "gaps": connection.gaps,
        "bytes_lost": connection.bytes_lost,
        "is_kafka": exchange.is_kafka,
        "observed": identity._observed,
        "settled": identity._settled,
        "doubted": identity._doubted,
        "said": set(exchange._said),
        "source": identity.source,
        "role": identity.role,
        "software": identity.software,
        "named": exchange.named,
        "instance_id": identity.instance_id,
        "sasl": exchange.sasl,
        "judge_client_id": exchange.judge.client_id,
        "last_api_name": exchange.last_api_name,
        "requests": exchange.requests,
        "unanswered": exchange.unanswered,
        "last_answered": exchange.pairing.last_answered,
        "losses": exchange.losses,
        "response_breaks": exchange.response_breaks,
        "client_ids": list(identity._client_ids.items()),
        "advertised": exchange.advertised,
        "buffers": tuple(_buffer(connection._splitters[each], connection._openings[each]) for each in _DIRECTIONS),
        "waiting": [(each.row, each.losses, each.response_breaks, each.note) for each in exchange.pairing.waiting],
    }


def _is_regular(connection: Connection) -> bool:
    exchange = connection._exchange
    if (
        connection._protocol is not None
        or exchange.frames
        or exchange.passing.bodies is not None
        or exchange.sasl.raw
        or exchange.pairing._held
        or exchange._unheard
        or exchange.pairing.is_unclear
        or (exchange.pairing.waiting and exchange.pairing.waiting[0].response_breaks < exchange.response_breaks)
    ):
        return False
    if len(exchange.identity._client_ids) > MOST_CLIENT_IDS or not all(_is_ordinary(each) for each in exchange.pairing.waiting):
        return False
    for direction in _DIRECTIONS:
        splitter, opening = connection._splitters[direction], connection._openings[direction]
        if splitter.seeking or splitter.max_frame != MAX_FRAME:
            return False
        if opening is not None and (opening.has_bytes or opening.skipped or connection.joined_late):
            return False
    return True


def _is_ordinary(waiting: Waiting) -> bool:
    row = waiting.row
    if row is None or waiting.overtaken_by or waiting.may_be_silent or waiting.is_lost or not waiting.is_timed or row.state != "unanswered":
        return False
    if row.body not in ("decoded", "truncated"):
        return False
    if row.api_key is None or row.api_version is None or row.request_time is None:
        return False
    message = catalog().request(row.api_key)
    return message is not None and row.api_version in message.valid_versions


def _buffer(splitter: FrameSplitter, opening: Opening | None) -> _Buffer:
    broken = splitter._broken
    if broken is not None:
        data = broken.length.to_bytes(4, "big") + broken.payload
        return broken.offset, data, broken.begin_time, broken.packet, False, (splitter._skip, splitter._skipped_time)
    time, packet = splitter._marks[0][1:] if splitter._buffer else (0, 0)
    return splitter._base, bytes(splitter._buffer), time, packet, opening is not None, (0, 0)


def new_conversation(port_0: int, port_1: int, client_side: int, asked: Asked | None = None) -> Conversation:
    """The conversation of two ports whose client side has said so with a SYN."""
    conversation = Conversation(port_0, port_1, asked=asked)
    conversation.opened(client_side, 0)
    return conversation


def put_back(conversation: Conversation, state: State) -> None:
    """Write a state into a conversation: a new one, or the one that the state came from.

    Arguments:
        state: as `plain_state` gives it; `pieces` holds, by direction, the (bytes, time, packet) that are not known to be Kafka yet.
    """
    connection = conversation.connection
    assert connection is not None
    exchange = connection._exchange
    for index, direction in enumerate(_DIRECTIONS):
        connection.received[direction] = state["received"][index]
        connection._splitters[direction].prove(state["frames"][index] - connection._frames[direction])
        connection._frames[direction] = state["frames"][index]
        connection._closed[direction] = state["closed"][index]
        _put_buffer(connection, direction, state["buffers"][index], state["pieces"][index])
    connection._first_seen, connection._last_seen = state["first_seen"], state["last_seen"]
    connection._closed_by = None if state["closed_by"] is None else "server" if state["closed_by"] else "client"
    connection._reset = state["reset"]
    connection.gaps, connection.bytes_lost = state["gaps"], state["bytes_lost"]
    exchange.missing = connection.joined_late or connection.gaps > 0 or exchange.missing
    exchange.left = state["closed_by"] == 0
    _put_exchange(exchange, state)


def _put_exchange(exchange: Exchange, state: State) -> None:
    identity = exchange.identity
    identity.software, identity.source, identity.role = state["software"], state["source"], state["role"]
    identity.instance_id = state["instance_id"]
    identity._observed, identity._settled, identity._doubted = state["observed"], state["settled"], state["doubted"]
    if state["sasl"] is not None:
        exchange.sasl = state["sasl"]
    identity._client_ids = dict(state["client_ids"])
    exchange.named = state["named"]
    exchange.is_kafka = state["is_kafka"]
    exchange.judge.client_id = state["judge_client_id"]
    exchange.last_api_name = state["last_api_name"]
    exchange.requests, exchange.unanswered = state["requests"], state["unanswered"]
    exchange.advertised = state["advertised"]
    exchange._said |= state["said"]
    exchange.pairing.last_answered = state["last_answered"]
    exchange.pairing.put_back(
        [Waiting(row, losses, breaks, note=note, kept=kept_bytes(row, note)) for row, losses, breaks, note in state["waiting"]]
    )


def _put_buffer(connection: Connection, direction: Direction, buffer: _Buffer, pieces: list[tuple[bytes, int, int]]) -> None:
    offset, data, time, packet, undecided, (skip, skipped) = buffer
    if undecided:
        opening = connection._openings[direction]
        assert opening is not None
        for piece in pieces:
            opening.take(*piece)
        return
    connection._openings[direction] = None
    splitter = connection._splitters[direction]
    splitter._broken, splitter._skip, splitter._skipped_time = None, skip, skipped
    if skip:
        length = int.from_bytes(data[:4], "big")
        splitter._broken = Frame(data[4:], length, offset, packet, time, skipped, damaged=True)
        offset, data = offset + 4 + length - skip, b""
    splitter._base = offset
    splitter._buffer = bytearray(data)
    splitter._marks = [(offset, time, packet)] if data else []
    splitter._need = 4 + int.from_bytes(data[:4], "big") if len(data) >= 4 else 4
