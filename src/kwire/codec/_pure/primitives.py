"""Readers of single values at a position, which also return the next position. A fault is raised as `Break`, and callers add its path."""

from __future__ import annotations

from typing import Final

from kwire.errors import Fault

__all__ = ["MAX_LENGTH", "Break", "Buffer", "as_buffer", "join_path", "read_length", "read_varint", "read_varlong", "read_zigzag"]

Buffer = bytes | memoryview

MAX_LENGTH: Final = 0x7FFFFFFF


class Break(Exception):
    """Raised fault: code, offset and path steps (attributes and indexes), innermost first."""

    def __init__(self, code: Fault, offset: int, *steps: str | int) -> None:
        super().__init__()
        self.code = code
        self.offset = offset
        self.steps = list(steps)


def join_path(steps: list[str | int]) -> str:
    """Return the steps of a `Break` as a path such as `topics[2].name`."""
    text = ""
    for step in reversed(steps):
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def as_buffer(data: object) -> Buffer:
    """View any contiguous buffer as bytes, without a copy."""
    if type(data) is bytes:
        return data
    view = memoryview(data)  # type: ignore[arg-type]
    if not view.c_contiguous:
        raise BufferError("memoryview: underlying buffer is not C-contiguous")
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def read_varint(data: Buffer, at: int, end: int, last_shift: int = 28, last_most: int = 0x0F) -> tuple[int, int]:
    """Read an unsigned varint of 32 bits; `last_shift` and `last_most` change the bound."""
    value = shift = 0
    for pos in range(at, end):
        byte = data[pos]
        if shift == last_shift and byte > last_most:
            raise Break(Fault.BAD_VARINT, at)
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos + 1
        shift += 7
    raise Break(Fault.TRUNCATED, at)


def read_zigzag(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Read a zigzag varint of 32 bits, as in lengths of records."""
    if at < end and (byte := data[at]) < 0x80:
        return (byte >> 1) ^ -(byte & 1), at + 1
    value, pos = read_varint(data, at, end)
    return (value >> 1) ^ -(value & 1), pos


def read_varlong(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Read a zigzag varint of 64 bits."""
    value, pos = read_varint(data, at, end, 63, 1)
    return (value >> 1) ^ -(value & 1), pos


def read_length(data: Buffer, at: int, end: int, width: int) -> tuple[int, int]:
    """Read a length or count, -1 for null; `width` is 2 or 4, or 0 for a compact one (varint of length + 1)."""
    if width:
        pos = at + width
        if pos > end:
            raise Break(Fault.TRUNCATED, at)
        # Java takes any negative length for null (a real client sends the count -2).
        return max(int.from_bytes(data[at:pos], "big", signed=True), -1), pos
    if at < end and (byte := data[at]) < 0x80:
        return byte - 1, at + 1
    value, pos = read_varint(data, at, end)
    if value > MAX_LENGTH + 1:
        raise Break(Fault.BAD_LENGTH, at)
    return value - 1, pos
