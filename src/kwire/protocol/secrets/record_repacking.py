"""Compression of bytes to exactly their previous size, because a compressed message of magic 0 or 1 has its record count inside.

Blanked records compress better than the original, and each format can be padded: gzip by a comment in its header, snappy by longer
literals, LZ4 by a stored block. Only batches of magic 2 may use Zstandard, and they have their count outside.

    gzip    header 10, comment with a zero behind it, deflated bytes, CRC-32, size
    snappy  size varint, elements: literals and copies (google/snappy, format_description.txt); a xerial stream has 16 bytes and a chunk's
            size before that
    lz4     mark 4, flags, block size, header checksum, blocks with their little-endian size (top bit: stored), a size of 0
"""

from __future__ import annotations

import zlib
from typing import Final

from kwire.codec._pure.primitives import read_varint
from kwire.codec.records.compression import cramjam, lz4_header_checksum

__all__ = ["repack"]

_GZIP, _SNAPPY, _LZ4 = 1, 2, 3
_GZIP_HEADER: Final = bytes.fromhex("1f8b0800000000000000")
_GZIP_COMMENT: Final = bytes.fromhex("1f8b0810000000000000")
_XERIAL_MARK: Final = b"\x82SNAPPY\x00"
_XERIAL_HEAD: Final = 16
_LZ4_MARK: Final = b"\x04\x22\x4d\x18"
_LZ4_FLAGS: Final = 0x60  # version 1, independent blocks, which is all that Kafka reads
_LZ4_BLOCK: Final = 4 << 20
_LZ4_BLOCK_SIZE: Final = 0x70
_LZ4_STORED: Final = 0x80000000
_LZ4_TRIES: Final = 64  # around where the size must come out
_LZ4_LAST: Final = 12  # bytes at the end that may be stored to make it come out
_FILLER: Final = b"x"


def repack(codec: int, magic: int, data: bytes, packed: bytes) -> bytes | None:
    """Pack `data` into as many bytes as `packed` has, with its framing, or return None. Magic 0 has its own LZ4 checksum (KAFKA-3160)."""
    if codec == _GZIP:
        return _gzip(data, len(packed))
    if codec == _SNAPPY:
        if packed[:8] != _XERIAL_MARK:
            return _snappy(data, len(packed))
        block = _snappy(data, len(packed) - _XERIAL_HEAD - 4)
        return None if block is None else packed[:_XERIAL_HEAD] + len(block).to_bytes(4, "big") + block
    return _lz4(data, len(packed), magic) if codec == _LZ4 else None


def _gzip(data: bytes, size: int) -> bytes | None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = deflate.compress(data) + deflate.flush()
    body += zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    left = size - len(_GZIP_HEADER) - len(body)
    if left < 0:
        return None
    return _GZIP_HEADER + body if not left else _GZIP_COMMENT + _FILLER * (left - 1) + b"\0" + body


def _literal(data: bytes, start: int, stop: int) -> bytes:
    size = stop - start - 1
    if size < 60:
        return bytes((size << 2,)) + data[start:stop]
    width = 1 if size < 1 << 8 else 2 if size < 1 << 16 else 3
    return bytes((59 + width << 2,)) + size.to_bytes(width, "little") + data[start:stop]


def _snappy(data: bytes, size: int) -> bytes | None:
    """Lengthen a compressed payload until the size fits: turn copies into literals, split literals."""
    block = bytes(cramjam().snappy.compress_raw(data))
    at = read_varint(block, 0, len(block))[1]
    left = size - len(block)
    if left < 0:
        return None
    head, pos = block[:at], 0
    elements: list[tuple[bytes, int, int]] = []  # each with the part of the data that it stands for
    while at < len(block):
        stop, length = _snappy_element(block, at)
        elements.append((block[at:stop], pos, pos + length))
        at, pos = stop, pos + length
    longer = []
    for element, start, stop in elements:
        if element[0] & 3 and left > 1:
            element, left = _less_copied(data, start, stop, element, left)
        longer.append((element, start, stop))
    out = [head]
    for element, start, _stop in longer:
        if not element[0] & 3 and left:
            element, left = _split(data, start, start + _snappy_element(element, 0)[1], element, left)
        out.append(element)
    return None if left else b"".join(out)


def _snappy_element(block: bytes, at: int) -> tuple[int, int]:
    kind, value = block[at] & 3, block[at] >> 2
    if kind == 0:
        width = max(value - 59, 0)
        length = (int.from_bytes(block[at + 1 : at + 1 + width], "little") if width else value) + 1
        return at + 1 + width + length, length
    return at + (2, 3, 5)[kind - 1], (value & 7) + 4 if kind == 1 else value + 1


def _less_copied(data: bytes, start: int, stop: int, element: bytes, left: int) -> tuple[bytes, int]:
    whole = _literal(data, start, stop)
    if len(whole) - len(element) <= left:
        return (whole, left - len(whole) + len(element)) if len(whole) > len(element) else (element, left)
    if element[0] & 3 == 3:
        return element, left
    offset = (element[0] >> 5 << 8 | element[1]) if element[0] & 3 == 1 else int.from_bytes(element[1:3], "little")
    count = left + len(element) - 4  # bytes of the literal; its tag and a copy take four more
    if not 0 < count < min(stop - start, 60):
        return element, left
    copy = bytes((stop - start - count - 1 << 2 | 2,)) + offset.to_bytes(2, "little")
    return _literal(data, start, start + count) + copy, 0


def _split(data: bytes, start: int, stop: int, element: bytes, left: int) -> tuple[bytes, int]:
    singles = min(left, stop - start - 1)
    while singles > 0:
        made = b"".join(_literal(data, at, at + 1) for at in range(start, start + singles)) + _literal(data, start + singles, stop)
        more = len(made) - len(element)
        if 0 < more <= left:
            return made, left - more
        singles -= 1
    size = stop - start - 1
    if size < 60:
        width = min(left, 3)
        return bytes((59 + width << 2,)) + size.to_bytes(width, "little") + data[start:stop], left - width
    return element, left


def _lz4(data: bytes, size: int, magic: int) -> bytes | None:
    if len(data) > _LZ4_BLOCK:
        return None
    flags = bytes((_LZ4_FLAGS, _LZ4_BLOCK_SIZE))
    head = _LZ4_MARK + flags + bytes((lz4_header_checksum(flags if magic else _LZ4_MARK + flags),))
    blocks = _lz4_blocks(data, size - len(head) - 4)
    return None if blocks is None else head + blocks + bytes(4)


def _lz4_blocks(data: bytes, size: int) -> bytes | None:
    compress = cramjam().lz4.compress_block

    def stored(part: bytes) -> bytes:
        return (len(part) | _LZ4_STORED).to_bytes(4, "little") + part if part else b""

    def packed(part: bytes) -> bytes:
        block = bytes(compress(part, store_size=False)) if part else b""
        return len(block).to_bytes(4, "little") + block if part else b""

    low, high = 0, len(data)
    while low < high:  # the more is stored, the longer it gets, nearly always
        middle = (low + high) // 2
        if len(stored(data[:middle])) + len(packed(data[middle:])) < size:
            low = middle + 1
        else:
            high = middle
    nearest = sorted(range(max(low - _LZ4_TRIES, 0), min(low + _LZ4_TRIES, len(data)) + 1), key=lambda count: abs(count - low))
    for last in range(_LZ4_LAST):
        for count in nearest:
            end = len(data) - last
            if count > end:
                continue
            rest = packed(data[count:end]) + stored(data[end:])
            left = size - len(stored(data[:count])) - len(rest)
            if left == 0:
                return stored(data[:count]) + rest
            if left > 0 and left % 4 == 0 and left // 4 < count:  # single bytes in blocks of their own
                singles = left // 4
                return b"".join(stored(data[at : at + 1]) for at in range(singles)) + stored(data[singles:count]) + rest
    return None
