"""Kind of a file by its first bytes: packets, or lines of a request log. Names are not trusted."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import tzinfo
from typing import Any, BinaryIO, Final, Literal, cast

from kwire.capture.files.capture_points import is_of_points
from kwire.capture.files.formats import PCAP_HEADER_BYTES, cut_header, identify
from kwire.capture.files.source import HEAD_BYTES, CaptureSource, open_capture
from kwire.capture.request_logs.entry import UnreadableLine
from kwire.capture.request_logs.lines import is_log_head, read_line
from kwire.capture.request_logs.names import is_log_name
from kwire.errors import InputError

__all__ = ["PieceKind", "first_logged_us", "kind_of", "look_ahead"]

PieceKind = Literal["packets", "request_log"]

# A capture shows in 24 bytes; a log may begin with a stack trace.
_STEP_BYTES: Final = 1 << 16
_HEAD_BYTES: Final = 1 << 20


def kind_of(location: str) -> PieceKind:
    """Detect the kind of a file, or of captures of several points; raise InputError for any other file."""
    if is_of_points(location):
        return "packets"
    with open_capture(location, hashed=False, block_bytes=HEAD_BYTES) as source:
        kind = _kind(_head(source.read), location)
        if kind is None and source.damage:
            raise InputError(f"{location} cannot be read: {source.damage}")
    return _known(kind, location)


def look_ahead(stream: BinaryIO) -> tuple[PieceKind, BinaryIO]:
    """Detect the kind of a stream that cannot be opened twice; return it, and a stream that begins with the bytes read so far."""
    read = getattr(stream, "read1", stream.read)
    stored = b""

    def more(size: int) -> bytes:
        nonlocal stored
        found = bytes(read(size))
        stored += found
        return found

    kind: PieceKind | None = None
    while kind is None and len(stored) < _HEAD_BYTES and more(_STEP_BYTES):
        # what is compressed is unpacked as far as it goes
        kind = _kind(CaptureSource(io.BytesIO(stored)).read(_HEAD_BYTES), "standard input", patient=True)
    if kind is None:
        kind = _kind(CaptureSource(io.BytesIO(stored)).read(_HEAD_BYTES), "standard input")
    return _known(kind, "standard input"), cast("BinaryIO", _Replayed(stored, stream))


def first_logged_us(location: str, zone: tzinfo) -> int | None:
    """Return the time of the first entry of a request log, microseconds since 1970."""
    try:
        with open_capture(location, hashed=False, block_bytes=HEAD_BYTES) as source:
            head = _head(source.read)
    except InputError:
        return None
    if identify(head[:PCAP_HEADER_BYTES]) is not None:
        return None
    for line in head.decode("utf-8", "replace").splitlines():
        try:
            entry = read_line(line, 1, zone)
        except UnreadableLine:
            continue
        if entry is not None:
            return entry.logged_us if entry.logged_us is not None else entry.arrived_us
    return None


def _head(read: Callable[[int], bytes]) -> bytes:
    head = read(_STEP_BYTES)
    while head and len(head) < _HEAD_BYTES and identify(head[:PCAP_HEADER_BYTES]) is None and not is_log_head(head):
        more = read(_HEAD_BYTES - len(head))
        if not more:
            break
        head += more
    return head


def _kind(head: bytes, name: str, *, patient: bool = False) -> PieceKind | None:
    """Return the kind, or None; with `patient`, more bytes may follow."""
    if identify(head[:PCAP_HEADER_BYTES]) is not None:
        return "packets"
    if is_log_head(head):
        return "request_log"
    if not head and not patient:
        # the file that a broker has just begun after rolling the last one
        if is_log_name(name.rpartition("/")[2]):
            return "request_log"
        raise InputError(f"{name} is empty")
    if not patient:
        if cut := cut_header(head):
            raise InputError(f"{name}: {cut}")
        raise InputError(f"{name} is not a capture file: not pcap, pcapng or a request log (begins with {ascii(head[:16])[1:]})")
    return None


def _known(kind: PieceKind | None, name: str) -> PieceKind:
    if kind is None:
        raise InputError(f"{name} is neither a capture nor a request log")
    return kind


class _Replayed(io.RawIOBase):
    """Stream that repeats the bytes already read, then continues."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head = head
        self._read: Callable[[int], Any] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._head:
            size = len(self._head) if size < 0 else size
            found, self._head = self._head[:size], self._head[size:]
            return found
        return bytes(self._read(size))
