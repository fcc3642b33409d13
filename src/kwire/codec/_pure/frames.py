"""Reader of whole frames, header and body, in one call. The native one reads usual frames itself; here the careful reader takes all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["RequestReader", "ResponseReader"]


class _Reader:
    __slots__ = ("_careful",)

    def __init__(self, kind: Callable[..., Any], careful: Callable[..., Any]) -> None:
        self._careful = careful

    def learn(self, api_key: int, api_version: int, header: Any, body: Any) -> None:
        """Take decoders that the native reader needs."""


class RequestReader(_Reader):
    """Decoder of request frames."""

    __slots__ = ()

    def decode_request(self, frame: Any, *, strict: bool = True, fields: Sequence[str] | None = None, memoryviews: bool = False) -> Any:
        return self._careful(frame, strict, fields, memoryviews)


class ResponseReader(_Reader):
    """Decoder of response frames."""

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
        return self._careful(frame, api_key, api_version, strict, fields, memoryviews)
