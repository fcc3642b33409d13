from collections.abc import Callable, Sequence
from typing import Any

from kwire.codec._native.objects import Decoder

class RequestReader:
    def __init__(self, kind: type, careful: Callable[..., Any]) -> None: ...
    def learn(self, api_key: int, api_version: int, header: Decoder, body: Decoder) -> None: ...
    def decode_request(self, frame: Any, *, strict: bool = True, fields: Sequence[str] | None = None, memoryviews: bool = False) -> Any: ...

class ResponseReader:
    def __init__(self, kind: type, careful: Callable[..., Any]) -> None: ...
    def learn(self, api_key: int, api_version: int, header: Decoder, body: Decoder) -> None: ...
    def decode_response(
        self,
        frame: Any,
        api_key: int,
        api_version: int,
        *,
        strict: bool = True,
        fields: Sequence[str] | None = None,
        memoryviews: bool = False,
    ) -> Any: ...
