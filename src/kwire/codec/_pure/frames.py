"""Reader of whole frames, header and body, in one call: well-formed frames of a known api and version. The careful reader handles all
others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kwire.codec._pure.headers import PREFIX
from kwire.codec._pure.objects import Decoder
from kwire.codec._pure.primitives import as_buffer
from kwire.errors import WireError

__all__ = ["RequestReader", "ResponseReader"]


class _FrameTable:
    __slots__ = ("_careful", "_kind", "_pairs")

    def __init__(self, kind: Callable[..., Any], careful: Callable[..., Any]) -> None:
        self._kind = kind
        self._careful = careful
        self._pairs: dict[tuple[int, int], tuple[Decoder, Decoder]] = {}

    def learn(self, api_key: int, api_version: int, header: Decoder, body: Decoder) -> None:
        self._pairs[api_key, api_version] = header, body


class RequestReader(_FrameTable):
    """Decoder of request frames; `kind(header, body)` makes a frame, `careful` decodes the frames not read here."""

    __slots__ = ()

    def decode_request(self, frame: Any, *, strict: bool = True, fields: Sequence[str] | None = None, memoryviews: bool = False) -> Any:
        buffer = as_buffer(frame)
        if fields is None and len(buffer) >= PREFIX.size:
            pair = self._pairs.get(PREFIX.unpack_from(buffer))
            if pair is not None:
                try:
                    header, offset = pair[0].decode(buffer, 0, not strict)
                    return self._kind(header, pair[1].decode_whole(buffer, offset, not strict, memoryviews))
                except WireError:
                    pass  # said by the careful reader
        return self._careful(frame, strict, fields, memoryviews)


class ResponseReader(_FrameTable):
    """Decoder of response frames; `kind` and `careful` as in `RequestReader`, with api key and version."""

    __slots__ = ()

    def decode_response(
        self,
        frame: Any,
        api_key: int,
        api_version: int,
        *,
        strict: bool = True,
        fields: Sequence[str] | None = None,
        memoryviews: bool = False,
    ) -> Any:
        if fields is None:
            pair = self._pairs.get((api_key, api_version))
            if pair is not None:
                try:
                    header, offset = pair[0].decode(frame)
                    if not header.unknown_tagged_fields:
                        body = pair[1].decode_whole(frame, offset, not strict, memoryviews)
                        return self._kind(header, body, api_key, api_version)
                except WireError:
                    pass  # said by the careful reader
        return self._careful(frame, api_key, api_version, strict, fields, memoryviews)
