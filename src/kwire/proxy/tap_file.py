"""Files of a tap, rotated by size and written in batches by a separate thread; the proxy never waits for them."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from kwire.capture.exported_packets import PCAPNG_HEAD
from kwire.errors import InputError

__all__ = ["TapFile"]

log = logging.getLogger("kwire.proxy")

_BATCH_BYTES: Final = 256 << 10  # with which a write does not wait
_OFFERED_BYTES: Final = 64 << 10
_OFFERS: Final = 16  # that a queue and a file hold at least
_BATCH_SECONDS: Final = 0.1
_SECONDS_BETWEEN_LINES: Final = 60.0
_MODE: Final = 0o600  # names of topics and clients are for the owner alone


class TapFile:
    """Files for packets or lines, readable by their owner only: `tap.pcapng` becomes `tap_00001.pcapng` and so on, after existing ones.

    Data that arrives faster than it can be written is dropped and counted; readers find a gap in its connection. With `offered_bytes` per
    `offer`, calls are few and each drop is small.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int, max_files: int, max_queued: int, head: bytes = PCAPNG_HEAD, name: str = "tap"
    ) -> None:
        self._path = Path(path)
        self._name = name
        self._head = head
        self._max_bytes, self._max_files, self._max_queued = max_bytes, max_files, max_queued
        self._batch = min(_BATCH_BYTES, max_queued // 2)
        self.offered_bytes = min(_OFFERED_BYTES, max_queued // _OFFERS, max_bytes // _OFFERS)
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._changed = threading.Condition()
        self._ending = False
        self.dropped = self.dropped_bytes = self.written_bytes = 0
        self._said = 0  # of `dropped_bytes`, in the log
        self._said_at = -_SECONDS_BETWEEN_LINES
        self._size = 0
        self._number = max((number for number, _ in self._numbered()), default=0)
        try:
            self._file = self._next()
        except OSError as error:
            raise InputError(f"{name}: {os.fspath(path)} cannot be written: {error.strerror}") from error
        self._thread = threading.Thread(target=self._write_all, name="kwire tap", daemon=True)
        self._thread.start()

    def files(self) -> list[Path]:
        return [path for _, path in sorted(self._numbered())]

    def offer(self, packets: bytes) -> bool:
        with self._changed:
            if self._ending or self._queued + len(packets) > self._max_queued:
                self.dropped += 1
                self.dropped_bytes += len(packets)
                return False
            self._queue.append(packets)
            before, self._queued = self._queued, self._queued + len(packets)
            if len(self._queue) == 1 or before < self._batch <= self._queued:
                self._changed.notify()
        return True

    def close(self) -> None:
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join()
        with suppress(OSError):  # of the disk that ended the file: its buffer is written again here
            self._file.close()

    def _numbered(self) -> list[tuple[int, Path]]:
        name = re.compile(re.escape(self._path.stem) + r"_([0-9]{5,})" + re.escape(self._path.suffix))
        if not self._path.parent.is_dir():
            return []
        found = ((name.fullmatch(path.name), path) for path in self._path.parent.iterdir())
        return [(int(match[1]), path) for match, path in found if match is not None]

    def _next(self) -> BinaryIO:
        self._number += 1
        path = self._path.with_name(f"{self._path.stem}_{self._number:05d}{self._path.suffix}")
        made = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE), "wb")
        made.write(self._head)
        made.flush()
        self._size = len(self._head)
        for old in self.files()[: -self._max_files]:
            old.unlink(missing_ok=True)
        return made

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._ending)
                self._changed.wait_for(lambda: self._queued >= self._batch or self._ending, _BATCH_SECONDS)
                if not self._queue:
                    break
                waiting = list(self._queue)
                self._queue.clear()
            self._write(waiting)
            with self._changed:
                self._queued -= sum(map(len, waiting))
            self._say_dropped(_SECONDS_BETWEEN_LINES)
        self._say_dropped(0)

    def _say_dropped(self, seconds: float) -> None:
        now, dropped = time.monotonic(), self.dropped_bytes
        if dropped > self._said and now - self._said_at >= seconds:
            more = dropped - self._said
            log.warning("the %s drops data, because its disk is slow: %s: %d bytes more, %d in all", self._name, self._path, more, dropped)
            self._said, self._said_at = dropped, now

    def _write(self, waiting: list[bytes]) -> None:
        for number, packets in enumerate(waiting):
            try:
                if self._size + len(packets) > self._max_bytes and self._size > len(self._head):
                    self._file.close()
                    self._file = self._next()
                self._file.write(packets)
                self._size += len(packets)
                self.written_bytes += len(packets)
            except (OSError, ValueError) as error:
                self._give_up(waiting[number:], error)
                return
        try:
            self._file.flush()
        except OSError as error:
            self._give_up([], error)

    def _give_up(self, waiting: list[bytes], error: Exception) -> None:
        """Stop writing after an error such as a full disk; traffic is not affected."""
        with self._changed:
            log.error("the %s ends: %s: %s", self._name, self._path, error)
            self._ending = True
            self.dropped += len(waiting) + len(self._queue)
            self.dropped_bytes += sum(map(len, waiting)) + sum(map(len, self._queue))
            self._queue.clear()
