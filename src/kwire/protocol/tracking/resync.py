"""Search for frame borders after a loss that includes a length, and in a connection joined late.

A border is accepted if a whole frame behind it is readable to its last byte: a request of a released API and version, or the
response to a waiting request. The four extra bytes that old librdkafka sends in ApiVersions v0 are accepted. The beginning of a long frame
is tried before its end arrives, so that a false length does not delay the search.
"""

from __future__ import annotations

import re
from typing import Any, Final

from kwire.errors import Fault, WireError
from kwire.protocol.events import RequestCompleted
from kwire.protocol.negotiation import API_VERSIONS
from kwire.protocol.tracking.frames import LEAST_BELIEVED, REJECT
from kwire.protocol.tracking.pairing import Pairing
from kwire.protocol.tracking.prefix_reading import read_damaged
from kwire.protocol.tracking.reading import header_reader, request_decoder, response_decoders
from kwire.schema import catalog

__all__ = ["RequestJudge", "ResponseJudge", "judge_response"]

# A length from 10 bytes to 32 MiB, an api key below 128, a version below 32, any correlation id, a client id that is null or below 1280
# bytes.
_LENGTH: Final = rb"(?:\x00\x00\x00[\x0a-\xff]|\x00\x00[\x01-\xff].|\x00[\x01-\xff]..|\x01...)"
_REQUEST: Final = re.compile(rb"(?s)(?=" + _LENGTH + rb"\x00[\x00-\x7f]\x00[\x00-\x1f]....(?:\xff\xff|[\x00-\x04].))")
# Sizes at which the beginning of a frame is tried. One whose first 64 KiB agree with all that is known is believed.
_TRIALS: Final = (64, 512, 4096, LEAST_BELIEVED - 4)
_SHORTEST_REQUEST: Final = 10  # api key, version, correlation id, length of the client id
_MOST_IDS: Final = 256
# librdkafka up to 1.0 writes an empty array of api keys into ApiVersions v0, which has no field (rd_kafka_ApiVersionRequest).
_NO_API_KEYS: Final = bytes(4)


def _next_trial(have: int, whole: int) -> int:
    return min([size for size in _TRIALS if size > have] + [whole])


def _trial(have: int) -> int:
    return max((size for size in _TRIALS if size <= have), default=0)


def _agrees(decoder: Any, data: bytes, offset: int, length: int) -> bool:
    """Return whether a body is readable to its end, or fails only for missing bytes; `length` is the whole frame's."""
    whole = len(data) == length
    try:
        _, end = decoder.decode(data, offset)
    except WireError as error:
        if whole or error.code is not Fault.TRUNCATED:
            return False
        # A count that no frame of this length can hold is truncated in its beginning too.
        fault = read_damaged(decoder.plan, data, offset, length).error
        return fault is None or fault.code is Fault.TRUNCATED
    return whole and bool(end == len(data))


def _names_client(payload: bytes, length: int) -> bool:
    """Return whether a long request has a plausible client id; random bytes often claim a long value."""
    if length <= _TRIALS[-1]:
        return True
    try:
        client_id = header_reader().peek(payload).client_id
    except WireError as error:
        return error.code is Fault.TRUNCATED
    return bool(client_id) and client_id.isprintable()


class RequestJudge:
    """Judge for requests; `client_id` is the latest client id of the connection."""

    __slots__ = ("client_id",)

    window: Final = 4 + _SHORTEST_REQUEST

    def __init__(self) -> None:
        self.client_id: str | None = None

    def find(self, data: bytes, start: int) -> int:
        found = _REQUEST.search(data, start)
        return -1 if found is None else found.start()

    def judge(self, data: bytes, start: int) -> int:
        length = int.from_bytes(data[start : start + 4], "big")
        key = int.from_bytes(data[start + 4 : start + 6], "big")
        version = int.from_bytes(data[start + 6 : start + 8], "big")
        message = catalog().request(key)
        if length < _SHORTEST_REQUEST or message is None or version not in message.valid_versions:
            return REJECT
        have = min(len(data) - start - 4, length)
        if have == length <= _TRIALS[-1]:
            return 4 + length if self.accepts(data[start + 4 : start + 4 + length]) else REJECT
        trial = _trial(have)
        payload = data[start + 4 : start + 4 + trial]
        if trial and not (self._reads(payload, length) and _names_client(payload, length)):
            return REJECT
        return 4 + (trial if trial == _TRIALS[-1] else _next_trial(have, length))

    def accepts(self, payload: bytes) -> bool:
        if len(payload) < _SHORTEST_REQUEST:
            return False
        message = catalog().request(int.from_bytes(payload[:2], "big", signed=True))
        version = int.from_bytes(payload[2:4], "big", signed=True)
        return message is not None and version in message.valid_versions and self._reads(payload, len(payload))

    def _reads(self, payload: bytes, length: int) -> bool:
        try:
            header, offset = header_reader().read(payload)
        except WireError as error:
            return len(payload) < length and error.code is Fault.TRUNCATED
        if header.api_key == API_VERSIONS and header.api_version == 0 and length - offset == len(_NO_API_KEYS):
            return _NO_API_KEYS.startswith(payload[offset:])
        return _agrees(request_decoder(header.api_key, header.api_version, True), payload, offset, length)

    def salvage(self, data: bytes, start: int, lost: int, at_border: bool) -> bool:
        length = int.from_bytes(data[start : start + 4], "big")
        if self.judge(data, start) == REJECT or 4 + length < len(data) - start:
            return False
        ends_with_loss = start + 4 + length == len(data) + lost
        try:
            client_id = header_reader().peek(data[start + 4 :]).client_id
        except WireError:
            return ends_with_loss and at_border
        return ends_with_loss or (at_border and client_id is not None and client_id == self.client_id)


def judge_response(payload: bytes, length: int, api_key: int, api_version: int) -> int:
    """Judge the response to a request of this API and version, see `Judge.judge`; `length` is the frame's, at least 4."""
    message = catalog().response(api_key)
    if message is None or api_version not in message.valid_versions:
        # Only the correlation id matches, so do not wait long.
        return 4 + length if length < _TRIALS[-1] else REJECT
    decoders = response_decoders(api_key, api_version, True)
    have = len(payload)
    if have == length <= _TRIALS[-1]:
        if api_key == API_VERSIONS and payload[4:6] == b"\0\x23":  # in version 0 form, whatever was asked (KIP-511)
            decoders = response_decoders(API_VERSIONS, 0, True)
        return 4 + length if _reads(decoders, payload, length) else REJECT
    trial = _trial(have)
    if trial and not _reads(decoders, payload[:trial], length):
        return REJECT
    return 4 + (trial if trial == _TRIALS[-1] else _next_trial(have, length))


def _reads(decoders: tuple[Any, Any], payload: bytes, length: int) -> bool:
    header, body = decoders
    try:
        _, offset = header.decode(payload)
    except WireError as error:
        return len(payload) < length and error.code is Fault.TRUNCATED
    return _agrees(body, payload, offset, length)


class ResponseJudge:
    """Judge for responses to waiting requests."""

    __slots__ = ("_ids", "_pairing", "_pattern")

    window: Final = 8

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._ids: tuple[int, ...] = ()
        self._pattern: re.Pattern[bytes] | None = None

    def _compile(self) -> re.Pattern[bytes] | None:
        ids = tuple(dict.fromkeys(each.correlation_id for each in self._pairing.waiting[:_MOST_IDS] if each.correlation_id is not None))
        if ids != self._ids:
            alternatives = b"|".join(re.escape(number.to_bytes(4, "big", signed=True)) for number in ids)
            self._pattern = re.compile(rb"(?s)(?=[\x00-\x06]...(?:" + alternatives + rb"))") if ids else None
            self._ids = ids
        return self._pattern

    def find(self, data: bytes, start: int) -> int:
        pattern = self._compile()
        found = None if pattern is None else pattern.search(data, start)
        return -1 if found is None else found.start()

    def _asked(self, data: bytes, start: int) -> RequestCompleted | None:
        """Return the first waiting request with the id of a response; None if it has been answered meanwhile."""
        number = int.from_bytes(data[start + 4 : start + 8], "big", signed=True)
        return self._pairing.first_asked(number)

    def judge(self, data: bytes, start: int) -> int:
        length = int.from_bytes(data[start : start + 4], "big")
        row = self._asked(data, start)
        if length < 4 or row is None or row.api_key is None or row.api_version is None:
            return REJECT
        return judge_response(data[start + 4 : start + 4 + length], length, row.api_key, row.api_version)

    def salvage(self, data: bytes, start: int, lost: int, at_border: bool) -> bool:
        length = int.from_bytes(data[start : start + 4], "big")
        if self.judge(data, start) == REJECT or 4 + length < len(data) - start:
            return False
        return at_border or start + 4 + length == len(data) + lost
