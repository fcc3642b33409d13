"""Buffers and messages of Arrow's binary arrays, without copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from kwire.errors import InputError

__all__ = ["BinaryChunk", "chunks_of", "messages_in", "messages_of", "numbers_at"]


class BinaryChunk(NamedTuple):
    """Buffers of one binary array."""

    offsets: Any  # int64 if `wide`, else int32, native byte order
    content: Any
    validity: Any  # a bit per element, lowest first; None if none is null
    first: int
    length: int
    wide: bool
    starts: Any = None  # bytes to skip at the beginning of each element (int32), negative for a null; None for none


def _chunk(array: Any) -> BinaryChunk:
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = array.cast(pa.large_binary())  # fixed-size and view types: a copy
    validity, offsets, content = array.buffers()
    wide = pa.types.is_large_binary(array.type)
    if not len(array):
        return BinaryChunk(bytes(8), b"", None, 0, 0, wide)
    return BinaryChunk(offsets, b"" if content is None else content, validity, array.offset, len(array), wide)


def chunks_of(array: Any) -> list[BinaryChunk]:
    """Return the chunks of an Arrow array of any binary type. Raises InputError: the array holds text."""
    if array.type in (pa.string(), pa.large_string(), pa.string_view()):
        raise InputError(f"expected a binary column, got {array.type}; convert it first, such as unhex(col) in Spark")
    return [_chunk(each) for each in (array.chunks if isinstance(array, pa.ChunkedArray) else [array])]


def messages_in(buffers: Any) -> list[Any]:
    """Return the messages of an Arrow array or an iterable of buffers (Arrow scalars included); None for a null."""
    if isinstance(buffers, (pa.Array, pa.ChunkedArray)):
        return [message for chunk in chunks_of(buffers) for message in messages_of(chunk)]
    scalars: Any = pa.Scalar
    return [data.as_buffer() if isinstance(data, scalars) else data for data in buffers]


def messages_of(chunk: BinaryChunk) -> Iterator[memoryview | None]:
    """Yield the elements of a chunk, None for a null; raise ValueError for offsets or validity bits that do not fit."""
    size = 8 if chunk.wide else 4
    content = memoryview(chunk.content).cast("B")
    bits = None if chunk.validity is None else memoryview(chunk.validity).cast("B")
    plain = memoryview(chunk.offsets).cast("B")
    if chunk.first < 0 or chunk.length < 0 or (chunk.first + chunk.length + 1) * size > plain.nbytes:
        raise ValueError("the offsets of a binary array are shorter than the array")
    if bits is not None and chunk.first + chunk.length > 8 * bits.nbytes:
        raise ValueError("the validity bits of a binary array are shorter than the array")
    offsets = plain[: plain.nbytes // size * size].cast("q" if chunk.wide else "i")
    starts = None if chunk.starts is None else memoryview(chunk.starts).cast("B").cast("i")
    if starts is not None and len(starts) < chunk.length:
        raise ValueError("there are fewer starts than elements")
    for index in range(chunk.first, chunk.first + chunk.length):
        skipped = 0 if starts is None else starts[index - chunk.first]
        if skipped < 0 or (bits is not None and not bits[index >> 3] >> (index & 7) & 1):
            yield None
            continue
        start, stop = offsets[index], offsets[index + 1]
        start += skipped
        if not 0 <= start - skipped <= start <= stop <= content.nbytes:
            raise ValueError(f"the offsets of a binary array leave its bytes at element {index - chunk.first}")
        yield content[start:stop]


def numbers_at(chunk: BinaryChunk, place: int, kind: str) -> tuple[Any, Any]:
    """Return the numbers of a numpy type at a byte of each element, and which elements have one; the others get 0. Raises ValueError: the
    offsets do not fit."""
    size = np.dtype(kind).itemsize
    of_offsets = np.dtype(np.int64 if chunk.wide else np.int32)
    offsets = np.frombuffer(chunk.offsets, of_offsets, chunk.length + 1, chunk.first * of_offsets.itemsize)
    places = offsets[:-1].astype(np.int64) + place
    held = places + size <= offsets[1:]
    if chunk.validity is not None:
        bits = np.unpackbits(np.frombuffer(chunk.validity, np.uint8), count=chunk.first + chunk.length, bitorder="little")
        held &= bits[chunk.first :].astype(bool)
    places = places[held]
    found = np.zeros(chunk.length, kind)
    if len(places):
        last = memoryview(chunk.content).nbytes - size
        if places.min() < place or places.max() > last:
            raise ValueError("the offsets of a binary array leave its bytes")
        every: Any = np.ndarray((last + 1,), kind, chunk.content, strides=(1,))
        found[held] = every[places]
    return found, held
