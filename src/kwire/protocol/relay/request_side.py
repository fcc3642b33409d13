"""Client's direction of a relay: actions on requests, and raw SASL tokens."""

from __future__ import annotations

from kwire.protocol.relay.connection_state import ConnectionState, split_head
from kwire.protocol.relay.frame_stream import FrameStream
from kwire.protocol.relay.heads import (
    API_VERSIONS,
    LENGTH,
    MAX_AUTHENTICATION,
    MAX_HEAD,
    PRODUCE,
    REQUEST_HEAD,
    SASL_HANDSHAKE,
    SHORTEST_REQUEST,
    acks_of,
    mechanism_of,
    refusal,
)
from kwire.protocol.relay.moves import Buffer, Held
from kwire.protocol.relay.observed import MOST_OBSERVED, client_of, software_of
from kwire.protocol.relay.owed import SASL_AUTHENTICATE, SASL_KEYS, Owed
from kwire.protocol.relay.plan import CALL, CLOSE, PASS, REFUSE
from kwire.protocol.relay.raw_tokens import FIRST_TOKEN

__all__ = ["RequestSide"]

_ID_AT = LENGTH + 4  # behind length, api key and version


class RequestSide:
    __slots__ = ("_state", "stream")

    def __init__(self, state: ConnectionState) -> None:
        self._state = state
        self.stream = FrameStream("request")

    def look(self, t: int) -> None:
        state, stream = self._state, self.stream
        if stream.stage == "length":
            if not state.check_length(stream, 0):
                return
            if state.tokens.is_open or state.requests == 0:
                stream.want("token", 2)
            elif state.check_length(stream, SHORTEST_REQUEST):
                stream.want("head", SHORTEST_REQUEST)
        elif stream.stage == "token":
            if self._is_token():
                if self._fits_authentication():
                    state.gather_whole(stream, "raw")
            elif state.check_length(stream, SHORTEST_REQUEST):
                stream.want("head", SHORTEST_REQUEST)
        elif stream.stage == "head":
            self._decide(t)
        elif stream.stage == "raw":
            self._take_token(t)
        else:
            self._take_whole(t)

    def _is_token(self) -> bool:
        state, begin = self._state, bytes(self.stream.kept[LENGTH : LENGTH + 2])
        if not state.tokens.is_open and begin[:1] == FIRST_TOKEN:
            state.tokens.begins()
            if not state.plan.raw_gssapi:
                state.close("sasl_without_handshake", "request")
        return state.tokens.is_open and state.tokens.is_token(begin)

    def _fits_authentication(self) -> bool:
        if self.stream.length > MAX_AUTHENTICATION:
            self._state.close("authentication_too_large", "request", self.stream.length)
        return self.stream.length <= MAX_AUTHENTICATION

    def _take_token(self, t: int) -> None:
        token = self.stream.take_frame()
        self.stream.restart()
        self._state.requests += 1
        if self._state.tokens.client_token(token):
            varies = self._state.tokens.sasl.expected is None  # the last token of GSSAPI gets no answer that could be waited for
            self._state.owed.add(Owed("token", -1 if varies else SASL_AUTHENTICATE, time=t))
        self._state.moves.to_server.append(len(token).to_bytes(LENGTH, "big") + token)

    def _decide(self, t: int) -> None:
        state, stream = self._state, self.stream
        key, version, number = REQUEST_HEAD.unpack_from(stream.kept, LENGTH)
        if (key == API_VERSIONS or key in SASL_KEYS) and not self._fits_authentication():
            return
        known = state.plan.is_known(key, version)
        action = state.plan.action("request", key, version)
        if action == CLOSE or (key == PRODUCE and not known):  # of an unknown Produce nothing says whether an answer will come
            state.close("refused" if known else "unknown_api", "request", key, version)
            return
        stream.silent = False
        if key == PRODUCE:
            acks = acks_of(bytes(stream.kept[LENGTH:]), version)
            if acks is None:
                self._want_acks()
                return
            stream.silent = acks == 0
        if action == REFUSE:
            self._refuse(key, number, t)
        elif action == PASS and not (key == SASL_HANDSHAKE and version == 0):
            state.requests += 1
            owed = None if stream.silent else Owed("broker", key, version, number, t)
            if owed is not None:
                state.owed.add(owed)
            state.moves.to_server.append(bytes(stream.kept))
            stream.pass_on(owed)
            self.passed(t)
        else:
            state.gather_whole(stream, "whole")

    def _want_acks(self) -> None:
        have = len(self.stream.kept) - LENGTH
        if have >= self.stream.length:
            self._state.close("header_malformed", "request")
        elif have >= MAX_HEAD:
            self._state.close("head_too_long", "request", MAX_HEAD)
        else:
            self.stream.want_more(MAX_HEAD)

    def _refuse(self, key: int, number: int, t: int) -> None:
        state = self._state
        state.requests += 1
        silent = self.stream.silent
        self.stream.drop()
        if not silent:
            state.answer(number, refusal(key, number, state.plan.versions_of(API_VERSIONS)))
        self.passed(t)

    def _take_whole(self, t: int) -> None:
        state, stream = self._state, self.stream
        key, version, number = REQUEST_HEAD.unpack_from(stream.kept, LENGTH)
        action = state.plan.action("request", key, version)
        owed = state.owed
        held = Held("request", stream.take_frame(), key, version, version, number, not stream.silent, t, owed.asked, owed.served)
        stream.restart()
        state.requests += 1
        if action == CALL:
            state.hold("request", held)
        elif action == PASS:
            self.send(held, [held.frame])
        elif (pieces := state.edited("request", action, held)) is not None:
            self.send(held, pieces)

    def send(self, held: Held, pieces: list[Buffer], action: int | None = None) -> None:
        state = self._state
        if not state.fits("request", pieces, SHORTEST_REQUEST):
            return
        if held.api_key == SASL_HANDSHAKE and held.api_version == 0 and not state.tokens.handshake(mechanism_of(b"".join(pieces))):
            state.close("sasl_unknown_mechanism", "request")
            return
        owed = None
        if held.wants_answer:
            owed = Owed("broker", held.api_key, held.api_version, held.correlation_id, held.time, action=action)
        head, rest = split_head(pieces, SHORTEST_REQUEST)
        head[_ID_AT : _ID_AT + 4] = held.correlation_id.to_bytes(4, "big", signed=True)
        if owed is not None:
            state.owed.add(owed)
        state.moves.to_server += [bytes(head), *rest]
        self._observe(held.frame[:MOST_OBSERVED], LENGTH + len(held.frame), owed)

    def passed(self, t: int) -> None:
        stream = self.stream
        if not stream.left:
            if stream.owed is not None:
                stream.owed.time = t
            if not stream.drops:
                self._observe(stream.seen, stream.size, stream.owed)
            stream.restart()

    def _observe(self, seen: bytes, size: int, owed: Owed | None) -> None:
        state = self._state
        if state.counters is None:
            return
        key, version, _ = REQUEST_HEAD.unpack_from(seen)
        known = state.plan.is_known(key, version)
        client = state.counters.client(client_of(seen, state.plan.header_version(key, version) if known else None))
        if owed is not None:
            owed.software, owed.client, owed.request_bytes = state.software, client, size
        else:
            state.counters.count(state.software, client, key, version, None, size, 0, None)
        if known and key == API_VERSIONS and (software := software_of(seen, version)) is not None:
            state.software = state.counters.software(software)
