"""Headers of a stream of request frames: position of each frame and fields of its header."""

from __future__ import annotations

import struct
from array import array
from itertools import pairwise
from typing import Any, Final

from kwire.codec._pure.objects import Decoder, make_classes
from kwire.codec._pure.primitives import Break, as_buffer, read_length
from kwire.codec.plan import Flag, Plan
from kwire.errors import Fault, WireError

__all__ = ["COLUMNS", "HeaderScanner"]

# Names and types, as letters of `struct`: `client_id_length` and the offsets are -1 where there is none; `header_version`, `api_key` and
# `api_version` are -1 in a frame that ends before its client id.
COLUMNS: Final = (
    ("frame_offset", "q"), ("frame_length", "i"), ("header_version", "b"), ("api_key", "h"), ("api_version", "h"), ("correlation_id", "i"),
    ("client_id_offset", "q"), ("client_id_length", "i"), ("body_offset", "q"), ("error", "b"),
)  # fmt: skip

LENGTH: Final = 4  # bytes of a frame's length
MAX_LENGTH: Final = (1 << 31) - 1  # of a frame: lengths are Java ints
_FIXED: Final = struct.Struct(">hhi")  # api key, api version and correlation id, in every version


class _Header:
    """Header version; `nullable` is None if it has no client id."""

    def __init__(self, plan: Plan) -> None:
        block = plan.blocks[0]
        used = min(block.untagged, 4)
        self.nullable = bool(plan.operation(block.first + 3).flags & Flag.NULLABLE) if used == 4 else None
        rest = block._replace(first=block.first + used, untagged=block.untagged - used)
        self._rest = Decoder(plan._replace(blocks=(rest, *plan.blocks[1:])), make_classes(plan.layouts))

    def client_id(self, frame: Any) -> tuple[int, int, int]:
        """Return offset, length (-1 for null) and end of the client id."""
        at, end = _FIXED.size, len(frame)
        if self.nullable is None:
            return -1, -1, at
        length, begin = read_length(frame, at, end, 2)
        if length < 0:
            if not self.nullable:
                raise Break(Fault.NULL_NOT_ALLOWED, at)
            return -1, -1, begin
        if begin + length > end:
            raise Break(Fault.TRUNCATED, begin)
        return begin, length, begin + length

    def skip(self, frame: Any, at: int) -> int:
        return self._rest.skip(frame, at)


class HeaderScanner:
    """Reader of the headers of request frames; `versions` has the header versions of each api key, up to its highest known version."""

    def __init__(self, plans: dict[int, Plan], versions: dict[int, tuple[int, ...]], fallback: int) -> None:
        self._headers = {version: _Header(plan) for version, plan in plans.items()}
        self._versions = versions
        self._fallback = fallback

    def _row(self, frame: Any) -> tuple[int, ...]:
        """Return header version, api key, api version, correlation id, client id offset and length, body offset, error."""
        header = self._headers[self._fallback]
        if len(frame) < _FIXED.size:
            return -1, -1, -1, 0, -1, -1, -1, int(Fault.TRUNCATED)
        api_key, api_version, correlation_id = _FIXED.unpack_from(frame)
        known = self._versions.get(api_key)
        if not 0 <= api_version < len(known or ()) and int.from_bytes(frame[:LENGTH], "big") == len(frame) - LENGTH:
            return -1, -1, -1, 0, -1, -1, -1, int(Fault.BAD_LENGTH)  # the frame begins with its own length
        version, error = self._fallback, int(Fault.UNKNOWN_API)
        if known is not None:
            version, error = known[min(max(api_version, 0), len(known) - 1)], 0
            header = self._headers[version]
        client_id_at, length, body_at = -1, -1, -1
        try:
            client_id_at, length, end = header.client_id(frame)
            body_at = header.skip(frame, end)
        except (Break, WireError) as fault:
            error = int(fault.code)
        return version, api_key, api_version, correlation_id, client_id_at, length, body_at, error

    def scan_buffer(self, data: Any, most: int) -> tuple[list[Any], int, int, int]:
        """Read all headers of a buffer of frames with their lengths; `most` is the largest frame size.

        Returns the columns, the number of rows, the end of the last whole frame, and the `Fault` of the length there (0 for none).
        """
        buffer = memoryview(as_buffer(data))
        rows: list[tuple[int, ...]] = []
        at, size, fault = 0, len(buffer), 0
        while size - at >= LENGTH:
            length = int.from_bytes(buffer[at : at + LENGTH], "big", signed=True)
            if length < 0 or length > most:
                fault = int(Fault.BAD_LENGTH if length < 0 else Fault.LIMIT_EXCEEDED)
                break
            start, stop = at + LENGTH, at + LENGTH + length
            if stop > size:
                break
            version, api_key, api_version, correlation_id, client_at, client, body, error = self._row(buffer[start:stop])
            places = [each if each < 0 else each + start for each in (client_at, body)]
            rows.append((at, length, version, api_key, api_version, correlation_id, places[0], client, places[1], error))
            at = stop
        return _packed(rows), len(rows), at, fault

    def scan_column(self, chunk: Any, with_texts: bool) -> tuple[list[Any], tuple[Any, Any, bool] | None]:
        """Read the headers of the frames in a `BinaryChunk`; offsets count from the frame, and a null has a `frame_length` of -1.

        With `with_texts`, also returns the end offsets of client ids (int32, 0 first), their content, and whether all of it is UTF-8.
        """
        from kwire.codec.binary_chunks import messages_of

        rows: list[tuple[int, ...]] = []
        ends, content = array("i", [0]), bytearray()
        for frame in messages_of(chunk):
            length, error = (-1, 0) if frame is None else (len(frame), int(Fault.LIMIT_EXCEEDED))
            if frame is None or length > MAX_LENGTH:
                rows.append((0, min(length, MAX_LENGTH), -1, -1, -1, 0, -1, -1, -1, error))
            else:
                rows.append((0, length, *self._row(frame)))
                at, size = rows[-1][6:8]
                content += frame[at : at + size] if size > 0 else b""
            ends.append(len(content))
        return _packed(rows), (ends, content, _is_utf8(content, ends)) if with_texts else None


def _packed(rows: list[tuple[int, ...]]) -> list[bytearray]:
    return [bytearray(struct.pack(f"={len(rows)}{letter}", *(row[index] for row in rows))) for index, (_, letter) in enumerate(COLUMNS)]


def _is_utf8(content: bytearray, ends: Any) -> bool:
    try:
        return all(content[start:stop].decode() is not None for start, stop in pairwise(ends))
    except UnicodeDecodeError:
        return False
