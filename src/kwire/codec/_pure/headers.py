"""Reads request headers: which header version a frame has, and the header object.

Every header version begins with the api key and the api version; the pair says which header version the frame has. A newer version of a
known api has the header of the highest known one (KIP-511: a broker must read the header of a version that it does not know).
"""

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
    """Reads the header of a request frame.

    Arguments:
        decoders: `Decoder` of the `RequestHeader` message by header version.
        versions_of: gives the header versions of an api key as a tuple indexed by api version, or None when the api is unknown. A version
            below 0 has the first, one above the end has the last. It is asked once per api key; unknown keys are asked again.
        fallback: header version of an unknown api.
    """

    __slots__ = ("_decoders", "_fallback", "_versions", "_versions_of")

    def __init__(self, decoders: dict[int, Decoder], versions_of: Callable[[int], tuple[int, ...] | None], fallback: int = 1) -> None:
        self._decoders = decoders
        self._versions_of = versions_of
        self._fallback = fallback
        self._versions: dict[int, tuple[int, ...]] = {}

    def read(self, frame: Any, *, strict: bool = True) -> tuple[Any, int]:
        """The header of a frame and the offset of its body.

        Arguments:
            frame: a request without its 4-byte length, any contiguous buffer.
            strict: raise for an unknown API key and for strings that are not UTF-8; else read the header of an unknown api in the
                fallback version and replace what is not UTF-8.

        Raises:
            WireError: the header is malformed; `UnknownApi` at byte 0 in `api_key` for an unknown api.
        """
        buffer = as_buffer(frame)
        if len(buffer) < PREFIX.size:
            return self._decoders[self._fallback].decode(buffer, 0, not strict)  # raises, with the place
        api_key, api_version = PREFIX.unpack_from(buffer)
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
        """The header of a frame; arguments and errors as in `read`."""
        return self.read(frame, strict=strict)[0]
