"""Reading of a series file by file: each call takes a file and the state, emits events, and updates the state.

    carry = SeriesCarry()
    for location in pieces:
        facts = read_piece(location, carry, sink)
    carry.finish(sink)

A file that ends inside a packet, or has invalid records, is read up to that offset, which is in the facts of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import BinaryIO

from kwire.capture.carry import SeriesStreams
from kwire.capture.files.capture_chunks import FileFacts, iter_chunks, read_again
from kwire.capture.files.capture_points import is_of_points, iter_points
from kwire.capture.files.sized_file import SizedFile
from kwire.capture.files.source import CHUNK_BYTES, open_capture, quiet
from kwire.capture.packet_columns import PacketColumns
from kwire.capture.sink import StreamSink, give_secrets

__all__ = ["FileFacts", "iter_piece", "read_piece"]


def read_piece(
    location: str | BinaryIO,
    carry: SeriesStreams,
    sink: StreamSink,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Callable[[int], None] | None = None,
) -> FileFacts:
    """Read one file of a series: a path, URI, open binary stream, or a set of captures of several points (`files.capture_points`). Raises
    InputError: the file is missing, unreadable, empty or not a capture. The state is unchanged."""
    steps = iter_piece(location, carry, sink, chunk_bytes=chunk_bytes, progress=progress)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            facts: FileFacts = end.value
            return facts


def iter_piece(
    location: str | BinaryIO | SizedFile,
    carry: SeriesStreams,
    sink: StreamSink,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    progress: Callable[[int], None] | None = None,
    hashed: bool = True,
) -> Generator[None, None, FileFacts]:
    """Read one file of a series as `read_piece` does, and pause after each chunk; the generator returns the facts."""
    tell = progress or quiet
    sized = location if isinstance(location, SizedFile) else None
    place = location.location if isinstance(location, SizedFile) else location
    if isinstance(place, str) and is_of_points(place):
        points = iter_points(place, chunk_bytes, tell, () if sized is None else sized.sizes)
        return (yield from _hand_over(points, carry, sink))
    name = place if isinstance(place, str) else "standard input"
    before = None
    if sized is not None and sized.before:
        with open_capture(name, hashed=False, limit=sized.before) as source:
            before = read_again(name, source, chunk_bytes)
    with open_capture(place, hashed=hashed, limit=None if sized is None else sized.size) as source:
        return (yield from _hand_over(iter_chunks(name, source, carry.scan, chunk_bytes, tell, before), carry, sink))


def _hand_over(
    chunks: Generator[tuple[bytes, PacketColumns], None, FileFacts], carry: SeriesStreams, sink: StreamSink
) -> Generator[None, None, FileFacts]:
    while True:
        try:
            data, columns = next(chunks)
        except StopIteration as end:
            facts: FileFacts = end.value
            return facts
        if columns.secrets:
            give_secrets(sink, columns.secrets)
        carry.take(data, columns, sink)
        yield
