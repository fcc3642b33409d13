"""Conversion of one message of captures to rows: a row for each element of its arrays, with its position and client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from kwire.errors import WireError
from kwire.protocol.events import Asked
from kwire.schema import catalog
from kwire.spark.frame_rows import FrameRows
from kwire.spark.source.options import SourceOptions
from kwire.spark.source.partitions import SeriesPart
from kwire.tables.message_frames import iter_message_frames
from kwire.tables.schemas import MESSAGE_EVIDENCE

__all__ = ["asked_of", "frame_rows", "message_rows"]


def frame_rows(options: SourceOptions) -> FrameRows:
    return FrameRows("frame", tuple(MESSAGE_EVIDENCE.names), options.body, options.reading)


def message_rows(parts: Sequence[SeriesPart], options: SourceOptions) -> Iterator[pa.RecordBatch]:
    rows = frame_rows(options)
    for part in parts:
        frames = iter_message_frames(
            part.locations, asked_of(options), part.name, options.ports, share=part.share, strict=not options.ignore_corrupt_files
        )
        for batch in frames:
            try:
                yield from rows(iter((batch,)))
            except WireError as error:
                if error.index is not None:
                    at = batch.slice(error.index, 1).to_pylist()[0]
                    error.add_note(f"in {at['capture']} at packet {at['packet_number']}, of {at['connection_id']}; the mode is FAILFAST")
                raise


def asked_of(options: SourceOptions) -> Asked:
    message = catalog()[str(options.body.message)]
    assert options.body.version is not None
    return Asked("response" if message.kind == "response" else "request", options.body.api_key, options.body.version)
