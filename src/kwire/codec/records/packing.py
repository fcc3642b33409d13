"""Compression of a batch's records in the framings of Kafka's producers (`org.apache.kafka.common.compress`).

gzip comes with Python; snappy, lz4 and zstd come from `cramjam` (extra ``records``). Kafka's lz4 blocks must be independent, so blocks are
packed one by one and framed here.
"""

from __future__ import annotations

import zlib
from typing import Final

from kwire.codec.records.compression import CODECS, cramjam, lz4_header_checksum

__all__ = ["LEVELS", "pack"]

LEVELS: Final = {"gzip": (1, 9), "lz4": (1, 17), "zstd": (-131072, 22)}
"""Lowest and highest level of the codecs with levels, as in Kafka's ``compression.*.level`` (KIP-390)."""

_ZSTD_LEVEL: Final = 3  # Kafka's default
_GZIP: Final = 16 + zlib.MAX_WBITS
# xerial's snappy-java: a mark, its version and the oldest that reads it, then chunks of at most 32 KiB behind their sizes.
_XERIAL_HEAD: Final = b"\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
_SNAPPY_CHUNK: Final = 32 << 10
_LZ4_MARK: Final = b"\x04\x22\x4d\x18"
_LZ4_DESCRIPTOR: Final = b"\x60\x40"  # version 1, blocks that stand alone, no checksums, no size; blocks of at most 64 KiB
_LZ4_BLOCK: Final = 64 << 10
_LZ4_PLAIN: Final = 1 << 31  # the bit of a block's size that says that it is not compressed


def _gzip(plain: bytes, level: int | None) -> bytes:
    member = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION if level is None else level, zlib.DEFLATED, _GZIP)
    return member.compress(plain) + member.flush()


def _snappy(plain: bytes) -> bytes:
    compress = cramjam().snappy.compress_raw
    view = memoryview(plain)
    parts = [_XERIAL_HEAD]
    for at in range(0, len(view), _SNAPPY_CHUNK):
        chunk = bytes(compress(view[at : at + _SNAPPY_CHUNK]))
        parts += len(chunk).to_bytes(4, "big"), chunk
    return b"".join(parts)


def _lz4(plain: bytes, magic: int, level: int | None) -> bytes:
    # Magic 0: clients before 0.10 computed the checksum of the frame's header over the mark too, and brokers expect it (KAFKA-3160).
    check = lz4_header_checksum(_LZ4_MARK + _LZ4_DESCRIPTOR if magic == 0 else _LZ4_DESCRIPTOR)
    parts = [_LZ4_MARK, _LZ4_DESCRIPTOR, bytes((check,))]
    compress = cramjam().lz4.compress_block
    view = memoryview(plain)
    for at in range(0, len(view), _LZ4_BLOCK):
        block = view[at : at + _LZ4_BLOCK]
        if level is None:
            packed = bytes(compress(block, store_size=False))
        else:
            packed = bytes(compress(block, mode="high_compression", compression=level, store_size=False))
        if len(packed) < len(block):
            parts += len(packed).to_bytes(4, "little"), packed
        else:
            parts += (len(block) | _LZ4_PLAIN).to_bytes(4, "little"), bytes(block)
    parts.append(bytes(4))  # the end
    return b"".join(parts)


def pack(codec: int, magic: int, plain: bytes, level: int | None = None) -> bytes:
    """Pack the records of a batch, or the messages of magic 0 and 1; `level` is one of `LEVELS`, None for Kafka's default."""
    match CODECS[codec]:
        case "gzip":
            return _gzip(plain, level)
        case "snappy":
            return _snappy(plain)
        case "lz4":
            return _lz4(plain, magic, level)
        case _:
            return bytes(cramjam().zstd.compress(plain, level=_ZSTD_LEVEL if level is None else level))
