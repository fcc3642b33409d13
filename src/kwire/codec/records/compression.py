"""Unpacking of compressed batches within a limit; output buffers grow up to it, regardless of the claimed size."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from kwire.codec._pure.primitives import Break, Buffer, read_varint
from kwire.errors import Fault, InputError, LimitExceeded, raise_for, wire_error

__all__ = [
    "CODECS", "HIGHEST_CODEC", "MAX_DECOMPRESSED", "UNPACKED_BYTES", "UNPACKED_MULTIPLE", "UnpackLimit", "cramjam",
    "lz4_header_checksum", "unpack",
]  # fmt: skip

MAX_DECOMPRESSED: Final = 64 << 20
"""Default limit of the unpacked size of one batch; Kafka's default limit of a request is 100 MiB, of a batch 1 MiB."""
UNPACKED_BYTES: Final = 128 << 20
UNPACKED_MULTIPLE: Final = 64
"""Default limits of the unpacked batches of one call: in bytes, and in bytes per byte of input."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
HIGHEST_CODEC: Final = {0: 3, 1: 3, 2: 4}  # by magic: zstd came with KIP-110, for magic 2 alone

_FIRST_OUTPUT: Final = 1 << 16
_GROWTH: Final = 8
_GZIP: Final = 16 + zlib.MAX_WBITS
_GZIP_MARK: Final = b"\x1f\x8b"
# The frame of xerial's snappy-java, which Java clients write: this mark, two int32 versions, then chunks behind their int32 sizes.
_XERIAL_MARK: Final = b"\x82SNAPPY\x00"
_XERIAL_HEAD: Final = 16
_SNAPPY_RATIO: Final = 22  # three bytes of a copy give at most 64
_LZ4_MARK: Final = b"\x04\x22\x4d\x18"


class _Full(Exception): ...


class _Unreadable(Exception): ...


def unpack(codec: int, magic: int, payload: Buffer, limit: int, offset: int, path: str) -> Buffer:
    """Unpack a payload of a `magic` into at most `limit` bytes; `offset` and `path` are for errors."""
    name, size = CODECS[codec], len(payload)
    try:
        if codec == 1:
            return _gunzip(payload, limit)
        if codec == 2:
            return _unsnap(payload, limit)
        if codec == 3:
            return _grow(cramjam().lz4.decompress_into, _with_right_checksum(payload) if magic == 0 else payload, limit)
        return _grow(cramjam().zstd.decompress_into, payload, limit)
    except _Full:
        raise_for(Fault.LIMIT_EXCEEDED, offset, path, reason=f"{name} payload of {size} bytes unpacks to more than {limit}")
    except _Unreadable as error:
        raise_for(Fault.BAD_COMPRESSION, offset, path, reason=f"{name} payload cannot be unpacked ({error})")


class UnpackLimit:
    """Budget of unpacked bytes for the batches of one call; for a rejected batch, the bytes unpacked so far count."""

    __slots__ = ("each", "left", "total")

    def __init__(self, each: int, total: int | None, size: int) -> None:
        self.each = each
        self.total = max(UNPACKED_BYTES, UNPACKED_MULTIPLE * size) if total is None else total
        self.left = self.total

    def unpack(self, codec: int, magic: int, payload: Buffer, offset: int, path: str) -> Buffer:
        """Call the function `unpack` within the budget."""
        limit = min(self.each, self.left)
        try:
            data = unpack(codec, magic, payload, limit, offset, path)
        except LimitExceeded:
            self.left -= limit
            if limit == self.each:
                raise
            reason = f"the batches together unpack to more than {self.total} bytes"
            raise wire_error(Fault.LIMIT_EXCEEDED, offset, path, reason=reason) from None
        self.left -= len(data)
        return data

    def claim(self, size: int, offset: int, path: str) -> None:
        """Charge a batch that is not unpacked with the smallest possible size of its records."""
        limit = min(self.each, self.left)
        if size > limit:
            raise_for(Fault.LIMIT_EXCEEDED, offset, path, reason=f"the records would take {size} bytes or more, {limit} are allowed")
        self.left -= size


def cramjam() -> ModuleType:
    """Import the library of snappy, lz4 and zstd."""
    try:
        return importlib.import_module("cramjam")
    except ImportError as error:
        raise InputError("snappy, lz4 and zstd record batches need the cramjam package: run pip install 'kwire[records]'.") from error


def _gunzip(payload: Buffer, limit: int) -> bytes:
    parts: list[bytes] = []
    rest: Buffer = payload
    while True:
        member = zlib.decompressobj(_GZIP)
        try:
            # one byte more than allowed: a payload that fits exactly leaves it empty
            parts.append(member.decompress(rest, limit + 1))
        except zlib.error as error:
            raise _Unreadable(str(error).partition(": ")[2] or "zlib") from error
        limit -= len(parts[-1])
        if limit < 0:
            raise _Full
        if not member.eof:
            raise _Unreadable("it ends early")
        rest = member.unused_data
        # Members may follow each other; what is not a member is padding, as for Java's GZIPInputStream.
        if rest[:2] != _GZIP_MARK:
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _unsnap(payload: Buffer, limit: int) -> Buffer:
    if bytes(payload[:8]) != _XERIAL_MARK:
        return _unsnap_block(payload, limit)
    view = memoryview(payload)
    parts: list[Buffer] = []
    at = _XERIAL_HEAD
    while at < len(view):
        if bytes(view[at : at + 8]) == _XERIAL_MARK:  # streams may follow each other
            at += _XERIAL_HEAD
            continue
        size = int.from_bytes(view[at : at + 4], "big")
        at += 4
        if size > len(view) - at:
            raise _Unreadable("a chunk ends early")
        parts.append(_unsnap_block(view[at : at + size], limit))
        limit -= len(parts[-1])
        at += size
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _unsnap_block(block: Buffer, limit: int) -> Buffer:
    try:
        size, _ = read_varint(block, 0, len(block))
    except Break:
        raise _Unreadable("its size is not a varint") from None
    if size > _SNAPPY_RATIO * len(block):
        raise _Unreadable("it claims more than snappy can pack")
    if size > limit:
        raise _Full
    output = bytearray(size)
    if _decompress(cramjam().snappy.decompress_raw_into, block, output) != size:
        raise _Unreadable("it is shorter than it claims")
    return memoryview(output)


def _grow(decompress: Callable[[Any, Any], int], payload: Buffer | bytearray, limit: int) -> Buffer:
    size = min(max(_FIRST_OUTPUT, 4 * len(payload)), limit)
    while True:
        output = bytearray(size)
        try:
            return memoryview(output)[: _decompress(decompress, payload, output)]
        except _Full:
            if size == limit:
                raise
        del output
        size = min(size * _GROWTH, limit)


def _decompress(decompress: Callable[[Any, Any], int], payload: Buffer | bytearray, output: bytearray) -> int:
    library = cramjam()
    try:
        return decompress(payload, output)
    except library.DecompressionError as error:
        # cramjam has one exception for all; this text is Rust's own for a slice that is full
        if "failed to write whole buffer" in str(error):
            raise _Full from error
        raise _Unreadable(str(error).partition(" (")[0]) from error


def _with_right_checksum(payload: Buffer) -> Buffer | bytearray:
    """Return an LZ4 frame with a correct header checksum: clients before 0.10 included the magic number in it (KAFKA-3160)."""
    if bytes(payload[:4]) != _LZ4_MARK or len(payload) < 7:
        return payload
    flags = payload[4]
    at = 6 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    if at >= len(payload):
        return payload
    fixed = bytearray(payload)
    fixed[at] = lz4_header_checksum(bytes(fixed[4:at]))
    return fixed


def lz4_header_checksum(descriptor: bytes) -> int:
    """Return the checksum of an LZ4 frame header from the flags on; in magic 0 it includes the magic number (KAFKA-3160)."""
    return _xxh32_of_short(descriptor) >> 8 & 0xFF


def _xxh32_of_short(data: bytes) -> int:
    """Return xxHash32 (seed 0) of fewer than 16 bytes."""
    mask, second, third, fourth, fifth = 0xFFFFFFFF, 2246822519, 3266489917, 668265263, 374761393
    state = fifth + len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        state = (state + int.from_bytes(data[at : at + 4], "little") * third) & mask
        state = ((state << 17 | state >> 15) & mask) * fourth & mask
    for byte in data[whole:]:
        state = (state + byte * fifth) & mask
        state = ((state << 11 | state >> 21) & mask) * 2654435761 & mask
    state = (state ^ state >> 15) * second & mask
    state = (state ^ state >> 13) * third & mask
    return state ^ state >> 16
