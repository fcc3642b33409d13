"""Frames of one message in the captures of a series, with their position and client; `kwire.codec.columns` decodes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from kwire.capture.files.piece_kinds import kind_of
from kwire.errors import InputError
from kwire.protocol.events import Asked
from kwire.tables.series import TablesCarry, begin_series, finish_series, iter_piece

__all__ = ["iter_message_frames"]


def iter_message_frames(
    locations: Sequence[str],
    asked: Asked,
    series: str = "",
    ports: Iterable[int] = (),
    *,
    share: tuple[int, int] = (0, 1),
    strict: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Read a series and yield the frames of one message, without their lengths.

    A damaged frame holds the bytes before the loss. An unreadable file is skipped; with `strict` it is an error.
    """
    carry = begin_series(series, ports, share=share, observing=False, hashed=False, asked=asked)
    for location in locations:
        try:
            kind = kind_of(location)
            if kind == "packets":
                for _ in iter_piece(location, carry, flush=False):
                    yield from _taken(carry)
        except InputError:
            if strict:
                raise
            continue
        if kind == "request_log":
            raise InputError(f"{location} is a request log, which has no message bytes; only captures do")
    finish_series(carry)
    yield from _taken(carry)


def _taken(carry: TablesCarry) -> list[pa.RecordBatch]:
    return carry.sink.messages.take(whole=True)
