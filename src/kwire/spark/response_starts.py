"""Offsets at which the bodies of response frames in a binary column begin."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kwire.codec.binary_chunks import BinaryChunk, numbers_at

__all__ = ["response_starts"]

_ID_BYTES: Final = 4  # of a correlation id; version 1 has tagged fields behind it


def response_starts(chunk: BinaryChunk, header_versions: Any) -> tuple[Any, Any]:
    """Return the offset of each body, and the correlation ids; -1 where the header is cut, has tags, or its version is not 0 or 1."""
    ids, whole = numbers_at(chunk, 0, ">i4")
    tags, tagged = numbers_at(chunk, _ID_BYTES, "u1")
    plain = whole & ((header_versions == 0) | (tagged & (tags == 0) & (header_versions == 1)))
    return np.where(plain, _ID_BYTES + header_versions, -1).astype(np.int32), ids.astype(np.int32)
