"""Files with routed packets in the staging folder, written by the task that read a range, read by the tasks of its connections.

When a task's buffer is full, the packets of all shares are appended; the sizes are written last. Spark's own shuffle would carry the same
bytes through its JVMs, which takes 15 s of CPU a GB (benchmarks/costs.md), would lose them with an executor, and is not available to Python
in Spark Connect.
"""

from __future__ import annotations

import secrets
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from heapq import nlargest
from types import TracebackType
from typing import Any, Final

from kwire.capture.files.source import StoredBlocks, open_stored
from kwire.errors import InputError
from kwire.files.file_systems import below, reason_of
from kwire.runs.parts import STAGING, check_running, make_folder, output_place

__all__ = ["PacketFile", "PacketFileWriter", "remove_packet_files"]

_FOLDER: Final = f"{STAGING}/packets"
# A connection that has most of the bytes shows in all ranges; one in hundreds has no weight.
_LARGEST: Final = 16


@dataclass(frozen=True, slots=True)
class PacketFile:
    """File with the packets of a range: `times` blocks up to `end`, then 8 bytes for each size. Without packets, the name is empty."""

    name: str
    shares: int
    times: int
    end: int

    def packets_of(self, out: str, share: int) -> Iterator[bytes]:
        """Yield the packets of a share (from 0) in their order."""
        if not self.times:
            return
        import numpy as np

        location = below(out, f"{_FOLDER}/{self.name}")
        with open_stored(location, streamed=False) as (stored, _):
            blocks = StoredBlocks(location, stored)
            sizes = np.frombuffer(blocks.read_at(self.end, 8 * self.times * self.shares), np.dtype("<i8"))
            ends = np.cumsum(sizes)
            for place in range(share, len(sizes), self.shares):
                size = int(sizes[place])
                if size:
                    yield blocks.read_at(int(ends[place]) - size, size)


class PacketFileWriter:
    """Writer of the packets of a range, a context manager; it creates the file on the first write."""

    def __init__(self, out: str, index: int, shares: int) -> None:
        self._out, self._name, self._shares = out, f"{index:05d}-{secrets.token_hex(4)}", shares
        self._file: Any = None
        self._sizes = array("q")
        self._of_share = [0] * shares
        self._end = 0

    def __enter__(self) -> PacketFileWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def add(self, router: Any) -> None:
        try:
            if self._file is None:
                check_running(self._out)  # an attempt that outlives its run leaves nothing behind
                filesystem, path = output_place(self._out)
                make_folder(filesystem, f"{path}/{_FOLDER}")
                self._file = filesystem.open_output_stream(f"{path}/{_FOLDER}/{self._name}", compression=None)
            for share in range(self._shares):
                packets = router.take(share)
                self._sizes.append(len(packets))
                self._of_share[share] += len(packets)
                self._end += len(packets)
                self._file.write(packets)
        except OSError as error:
            raise self._fault(error) from error

    def largest(self) -> list[tuple[int, int]]:
        return nlargest(_LARGEST, enumerate(self._of_share), key=lambda found: found[1])

    def finish(self) -> PacketFile:
        if self._file is not None:
            import numpy as np

            try:
                self._file.write(np.frombuffer(self._sizes, np.int64).astype("<i8").tobytes())
                self._file.close()
            except OSError as error:
                raise self._fault(error) from error
        return PacketFile(self._name, self._shares, len(self._sizes) // self._shares, self._end)

    def _fault(self, error: OSError) -> InputError:
        return InputError(f"{self._out} cannot be written: {reason_of(error)}.")


def remove_packet_files(out: str) -> None:
    filesystem, path = output_place(out)
    with suppress(OSError):
        filesystem.delete_dir(f"{path}/{_FOLDER}")
