"""Broker's direction of a relay: the request that a response answers, and the plan's action."""

from __future__ import annotations

from typing import Final

from kwire.protocol.relay.connection_state import ConnectionState, int32, split_head
from kwire.protocol.relay.frame_stream import FrameStream
from kwire.protocol.relay.heads import API_VERSIONS, LENGTH, SASL_HANDSHAKE, SHORTEST_RESPONSE, UNSUPPORTED_VERSION
from kwire.protocol.relay.moves import Buffer, Held
from kwire.protocol.relay.observed import error_of
from kwire.protocol.relay.owed import Owed
from kwire.protocol.relay.plan import CALL, CLOSE, PASS

__all__ = ["ResponseSide"]

_ID_AT: Final = LENGTH
_MOST_SEEN: Final = 32  # bytes of a response that are looked at for counters
_ERROR_SIZE: Final = 6  # correlation id and error code
_ERROR_AT: Final = LENGTH + 4  # in the responses whose error code is looked at: behind the correlation id


class ResponseSide:
    __slots__ = ("_client", "_state", "stream")

    def __init__(self, state: ConnectionState, client: FrameStream) -> None:
        self._state = state
        self._client = client
        self.stream = FrameStream("response")

    def look(self, t: int) -> None:
        state, stream = self._state, self.stream
        first = state.owed.first
        if stream.stage == "length":
            if state.check_length(stream, 0 if first is not None and first.kind == "token" else SHORTEST_RESPONSE):
                stream.want("head", SHORTEST_RESPONSE)
        elif stream.stage in ("head", "error"):
            self._decide(t)
        elif stream.stage == "raw":
            token = stream.take_frame()
            stream.restart()
            state.tokens.server_token(token)
            state.moves.to_client.append(len(token).to_bytes(LENGTH, "big") + token)
            self.answered()
        else:
            self._take_whole(t)

    def _is_token(self) -> bool:
        owed = self._state.owed
        if owed.first is None or owed.first.kind != "token":
            return False
        if self.stream.length >= SHORTEST_RESPONSE:
            owed.drop_last_token(int32(self.stream.kept, _ID_AT))
            self._state.send_answers()
        return owed.first.kind == "token"

    def _decide(self, t: int) -> None:
        state, stream = self._state, self.stream
        if self._is_token():
            state.gather_whole(stream, "raw")
            return
        number = int32(stream.kept, _ID_AT)
        first = state.owed.first
        if first is None:
            state.close("response_unexpected", "response", number)
            return
        if number != first.correlation_id:
            state.close("response_mismatched", "response", number)
            return
        if _needs_error(first) and stream.stage == "head":
            stream.want("error", _ERROR_SIZE)
            return
        if first.api_key == SASL_HANDSHAKE and first.api_version == 0:
            self._shake(self._error() if stream.length >= _ERROR_SIZE else -1)
            if state.closing is not None:
                return
        version = self._version(first)
        action = self._action(first, version)
        if action == CLOSE:
            state.close("refused", "response", first.api_key, version)
        elif action != PASS:
            state.gather_whole(stream, "whole")
        else:
            state.moves.to_client.append(bytes(stream.kept))
            stream.pass_on(None)
            self.passed(t)

    def _shake(self, error: int) -> None:
        self._state.tokens.handshake_answered(error)
        if error and self._client.parked:  # tokens without a broker that takes them, or requests in their place
            self._state.close("sasl_refused", "request", error)

    def _error(self) -> int:
        return int.from_bytes(self.stream.kept[_ERROR_AT : _ERROR_AT + 2], "big", signed=True)

    def _version(self, owed: Owed) -> int:
        return 0 if owed.api_key == API_VERSIONS and self._error() == UNSUPPORTED_VERSION else owed.api_version

    def _action(self, owed: Owed, version: int) -> int:
        return self._state.plan.action("response", owed.api_key, version) if owed.action is None else owed.action

    def _take_whole(self, t: int) -> None:
        state, stream = self._state, self.stream
        first = state.owed.first
        assert first is not None
        version = self._version(first)
        action = self._action(first, version)
        held = Held(
            "response", stream.take_frame(), first.api_key, version, first.api_version, first.correlation_id, True, t,
            state.owed.asked, state.owed.served, first.action is not None,
        )  # fmt: skip
        self._count(held.frame, LENGTH + len(held.frame), t)
        stream.restart()
        if action == CALL:
            state.hold("response", held)
        elif action == PASS:  # another plan has come meanwhile
            self.send(held, [held.frame])
        elif (pieces := state.edited("response", action, held)) is not None:
            self.send(held, pieces)

    def send(self, held: Held, pieces: list[Buffer]) -> None:
        if self._state.fits("response", pieces, SHORTEST_RESPONSE):
            head, rest = split_head(pieces, SHORTEST_RESPONSE)
            head[_ID_AT : _ID_AT + 4] = held.correlation_id.to_bytes(4, "big", signed=True)
            self._state.moves.to_client += [bytes(head), *rest]
            self.answered()

    def passed(self, t: int) -> None:
        if not self.stream.left:
            self._count(self.stream.seen, self.stream.size, t)
            self.stream.restart()
            self.answered()

    def _count(self, seen: bytes, size: int, t: int) -> None:
        counters, owed = self._state.counters, self._state.owed.first
        if counters is not None and owed is not None and owed.kind == "broker":
            error = error_of(seen[:_MOST_SEEN], owed.api_key, owed.api_version)
            counters.count(owed.software, owed.client, owed.api_key, owed.api_version, error, owed.request_bytes, size, t - owed.time)

    def answered(self) -> None:
        self._state.owed.take()
        self._state.send_answers()


def _needs_error(owed: Owed) -> bool:
    """Return whether the error code decides the version of ApiVersions, or whether raw tokens follow SaslHandshake v0."""
    return owed.api_key == API_VERSIONS or (owed.api_key == SASL_HANDSHAKE and owed.api_version == 0)
