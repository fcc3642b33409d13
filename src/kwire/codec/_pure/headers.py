"""Reader of request headers; a newer version of a known api has the header of its highest known version (KIP-511)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from kwire.codec._pure.objects import Decoder
from kwire.codec._pure.primitives import as_buffer
from kwire.errors import Fault, raise_for

__all__ = ["HeaderReader"]

PREFIX: Final = struct.Struct(">hh")  # api key and api version begin a request header of any version


class HeaderReader:
    """Reader of request headers; `versions_of` returns the header versions of an api key by api version, None for an unknown api."""

    __slots__ = ("_decoders", "_fallback", "_refuse", "_versions", "_versions_of")

    def __init__(
        self,
        decoders: dict[int, Decoder],
        versions_of: Callable[[int], tuple[int, ...] | None],
        fallback: int = 1,
        refuse: Callable[[int, int, Any], None] | None = None,
    ) -> None:
        self._decoders = decoders
        self._versions_of = versions_of
        self._fallback = fallback
        self._refuse = refuse  # raises for a frame that begins with its length
        self._versions: dict[int, tuple[int, ...]] = {}

    def read(self, frame: Any, *, strict: bool = True) -> tuple[Any, int]:
        """Return the header of a frame and the offset of its body; without `strict` an unknown api has the fallback version."""
        buffer = as_buffer(frame)
        if len(buffer) < PREFIX.size:
            return self._decoders[self._fallback].decode(buffer, 0, not strict)  # raises, with the place
        api_key, api_version = PREFIX.unpack_from(buffer)
        if strict and self._refuse is not None and int.from_bytes(buffer[:4], "big") == len(buffer) - 4:
            self._refuse(api_key, api_version, buffer)
        versions = self._versions.get(api_key)
        if versions is None:
            versions = self._versions_of(api_key)
            if versions is None:
                if strict:
                    raise_for(Fault.UNKNOWN_API, 0, "api_key", "RequestHeader", api_key, api_version, f"unknown API key {api_key}")
                return self._decoders[self._fallback].decode(buffer, 0, not strict)
            self._versions[api_key] = versions
        version = versions[min(max(api_version, 0), len(versions) - 1)]
        return self._decoders[version].decode(buffer, 0, not strict)

    def peek(self, frame: Any, *, strict: bool = True) -> Any:
        return self.read(frame, strict=strict)[0]
