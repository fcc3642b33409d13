"""Record batches without contents: keys, values and headers go; sizes, counts, offsets and times stay.

The frame of every record is kept, so that record counts stay the same. A compressed payload keeps only its codec and unpacked size.
Messages of magic 0 and 1 have their count inside, so their blanked contents are compressed again. Valid checksums are recomputed. Control
batches keep their keys, which are Kafka's own markers.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, Final

from kwire.codec._pure.primitives import Break, read_varint, read_varlong, read_zigzag
from kwire.codec.impl import backend, load_twin
from kwire.codec.records import scan
from kwire.codec.records.compression import MAX_DECOMPRESSED, unpack
from kwire.errors import Fault, InputError, WireError
from kwire.protocol.secrets.record_repacking import repack
from kwire.protocol.secrets.token_blanking import FILL

__all__ = ["blank_records"]

_CODEC: Final = 0x07
_CONTROL: Final = 0x20
_GZIP, _SNAPPY, _LZ4, _ZSTD = 1, 2, 3, 4
_MARKS: Final = {_GZIP: b"\x1f\x8b", _LZ4: b"\x04\x22\x4d\x18", _ZSTD: b"\x28\xb5\x2f\xfd"}  # Snappy's own format has none
_XERIAL_MARK: Final = b"\x82SNAPPY\x00"
_XERIAL_HEAD: Final = 20  # mark, two versions, size of the first chunk
_GZIP_HEAD: Final = 10
_GZIP_SIZE: Final = 4  # at the end; the checksum of the contents before it does not stay, for contents can be guessed with it
_CRC_AT: Final = {0: (12, 16), 1: (12, 16), 2: (17, 21)}  # by magic: where the checksum is, and what it is of begins
_HEADER_BYTES: Final = {0: 18, 1: 26, 2: 61}
_MAGIC_AT: Final = 16
_RECORD_HEAD: Final = 1  # attributes
_LONGEST_VARINT: Final = 5


def _fill(out: bytearray, start: int, stop: int) -> None:
    if start < stop:
        out[start:stop] = bytes((FILL,)) * (stop - start)


def blank_records(data: bytes, *, unpacked: bool = False) -> bytearray:
    """Blank record batches of any magic in place; `unpacked` ones were in a compressed message."""
    out = bytearray(data)
    batches = scan(data)
    end = 0
    for batch in batches:
        end = batch.position + batch.size
        _blank_batch(data, out, batch, unpacked)
        at, covered = _CRC_AT[batch.magic]
        if _checksum(batch.magic, data[batch.position + covered : end]) == batch.crc:
            new = _checksum(batch.magic, bytes(out[batch.position + covered : end]))
            out[batch.position + at : batch.position + at + 4] = new.to_bytes(4, "big")
    # of a cut batch its header stays, of what is no batch only what says so
    known = _HEADER_BYTES.get(data[end + _MAGIC_AT], _MAGIC_AT + 1) if len(data) > end + _MAGIC_AT else _MAGIC_AT + 1
    _fill(out, min(end + known, len(data)), len(data))
    return out


def _checksum(magic: int, data: bytes) -> int:
    if magic < 2:
        return zlib.crc32(data)
    found: int = load_twin("codec", "records", backend).crc32c(data)
    return found


def _blank_batch(data: bytes, out: bytearray, batch: Any, unpacked: bool) -> None:
    start, stop = batch.payload_start, batch.position + batch.size
    codec = batch.attributes & _CODEC
    if batch.flaw is not None:
        _fill(out, batch.position + _HEADER_BYTES[batch.magic], stop)
    elif codec:
        again = _packed_again(codec, batch.magic, data[start:stop]) if batch.magic < 2 and not unpacked else None
        if again is None:
            keep, last = _packing(codec, data[start:stop])
            _fill(out, start + min(keep, stop - start), max(stop - last, start))
        else:
            out[start:stop] = again
        if batch.magic < 2:  # a key beside a compressed value has no use, and Kafka does not read it
            _fill(out, batch.position + _HEADER_BYTES[batch.magic] + 4, start - 4)
    elif batch.magic == 2:
        _blank_many(data, out, start, stop, bool(batch.attributes & _CONTROL))
    else:
        _blank_message(data, out, start, stop)


def _packed_again(codec: int, magic: int, payload: bytes) -> bytes | None:
    try:
        data = bytes(unpack(codec, magic, payload, MAX_DECOMPRESSED, 0, ""))
    except (WireError, InputError):  # damaged, or the library for the codec is not there
        return None
    return repack(codec, magic, bytes(blank_records(data, unpacked=True)), payload)


def _packing(codec: int, payload: bytes) -> tuple[int, int]:
    if not payload.startswith(_MARKS.get(codec, b"")):
        return 0, 0
    if codec == _GZIP:
        return (_GZIP_HEAD, _GZIP_SIZE) if len(payload) >= _GZIP_HEAD + _GZIP_SIZE else (2, 0)
    if codec == _SNAPPY:
        if payload[:8] == _XERIAL_MARK:
            return _XERIAL_HEAD, 0
        try:
            return read_varint(payload, 0, len(payload))[1], 0
        except Break:
            return 0, 0
    if codec == _LZ4:
        return (15 if payload[4:5] and payload[4] & 0x08 else 7), 0
    if codec == _ZSTD and len(payload) > 4:
        single, flag = payload[4] >> 5 & 1, payload[4] >> 6
        return 5 + (1 - single) + (0, 1, 2, 4)[payload[4] & 3] + (single, 2, 4, 8)[flag], 0
    return 0, 0


def _blank_many(data: bytes, out: bytearray, at: int, end: int, control: bool) -> None:
    while at < end:
        try:
            size, behind = read_zigzag(data, at, end)
        except Break:
            at = min(at + _LONGEST_VARINT, end)  # what is wrong stays
            break
        at, stop = behind, behind + size
        if size < 0 or stop > end:
            break
        _blank_record(data, out, behind, stop, control)
        at = stop
    _fill(out, at, end)


def _blank_record(data: bytes, out: bytearray, at: int, stop: int, control: bool) -> None:
    pos = at
    with suppress(Break):  # what is left of it then is not understood
        pos = read_varlong(data, pos + _RECORD_HEAD, stop)[1]
        _, pos = read_zigzag(data, pos, stop)  # offset delta
        pos = _blank_content(data, out, pos, stop, control)
        pos = _blank_content(data, out, pos, stop, False)
        count, pos = read_zigzag(data, pos, stop)
        for _ in range(2 * min(max(count, 0), stop - pos)):
            pos = _blank_content(data, out, pos, stop, False)
    _fill(out, pos, stop)


def _blank_content(data: bytes, out: bytearray, at: int, stop: int, kept: bool) -> int:
    size, start = read_zigzag(data, at, stop)
    if size > stop - start:
        raise Break(Fault.TRUNCATED, at)
    behind = start + max(size, 0)
    if not kept:
        _fill(out, start, behind)
    return behind


def _blank_message(data: bytes, out: bytearray, at: int, end: int) -> None:
    for _ in range(2):
        if end - at < 4:
            break
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        at += 4
        behind = min(at + max(size, 0), end)
        _fill(out, at, behind)
        at = behind
    _fill(out, at, end)
