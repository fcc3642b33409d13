"""Buffer of record batches until the end of their series: first in memory, then in a temporary file."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Final

import pyarrow as pa

from kwire.files.scratch_disk import scratch_disk

__all__ = ["SPOOL_BYTES", "BatchSpool"]

# Rows wait because a client's identity may be known only after them; more than this much of them waits on disk.
SPOOL_BYTES: Final = 128 << 20


class BatchSpool:
    """Batches of one schema, in order, which can be read repeatedly."""

    def __init__(self, schema: pa.Schema, limit: int = SPOOL_BYTES) -> None:
        self.schema = schema
        self.nbytes = 0
        self._limit = limit
        self._bytes = 0
        self._batches: list[pa.RecordBatch] = []
        self._file: io.BufferedRandom | None = None
        self._writer: pa.ipc.RecordBatchStreamWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        size = batch.get_total_buffer_size()  # `nbytes` takes 2 us a column: it looks at where offsets begin and end
        self._bytes += size
        self.nbytes += size
        if self._bytes > self._limit:
            self._spill()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._file is not None:
            self._spill()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._file.seek(0)
            yield from pa.ipc.open_stream(self._file)
        yield from self._batches

    def __enter__(self) -> BatchSpool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._batches = []
        if self._file is not None:
            self._file.close()

    def _spill(self) -> None:
        with scratch_disk():
            self._write()

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="kwire-")  # noqa: SIM115 - closed in __exit__
            self._writer = pa.ipc.new_stream(self._file, self.schema)
        if self._writer is not None:
            for batch in self._batches:
                self._writer.write_batch(batch)
            self._batches = []
            self._bytes = 0
