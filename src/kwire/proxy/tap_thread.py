"""Taps of the native loop: its threads copy passing bytes, and another thread converts them to packets and lines.

Blanking a frame costs many times more than forwarding it, so traffic does not wait for it. Bytes that cannot be blanked in time are
dropped; readers of the capture find a gap in their connection.
"""

from __future__ import annotations

import itertools
import logging
import os
import select
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from kwire.proxy.taps import Tapped, Taps

__all__ = ["TapThread"]

log = logging.getLogger("kwire.proxy")

_BATCH_MILLISECONDS: Final = 100
_REST_SECONDS: Final = 0.00005  # after about a millisecond's work, in which the loops did not get Python's lock
_SECONDS_BETWEEN_LINES: Final = 60.0


class TapThread:
    """Reader of the bytes copied by the loop's threads; `limit` is the total number of waiting bytes."""

    def __init__(self, taps: Taps, workers: Iterable[Any], limit: int) -> None:
        self._taps = taps
        self._workers = tuple(workers)
        self._numbers = itertools.count(1)
        self._open: dict[int, Tapped] = {}
        self._ending = False
        self._said = 0
        self._said_at = -_SECONDS_BETWEEN_LINES
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        for worker in self._workers:
            worker.tap(self._wake, max(limit // len(self._workers), 1))
        self._thread = threading.Thread(target=self._run, name="kwire taps", daemon=True)
        self._thread.start()

    def connected(self, tap: Tapped) -> int:
        """Return the number of a connection for the copies of a loop's thread."""
        number = next(self._numbers)
        self._open[number] = tap
        return number

    def close(self) -> None:
        """Process the rest and end, after the loop's threads have ended."""
        self._ending = True
        os.eventfd_write(self._wake, 1)
        self._thread.join()
        os.close(self._wake)

    def _run(self) -> None:
        woken = select.poll()
        woken.register(self._wake, select.POLLIN)
        while True:
            woken.poll()
            if not self._ending:
                os.eventfd_read(self._wake)
                woken.poll(_BATCH_MILLISECONDS)
            with suppress(BlockingIOError):
                os.eventfd_read(self._wake)
            ending = self._ending
            self._take_all()
            self._count_missed(ending)
            if ending:
                return

    def _take_all(self) -> None:
        for worker in self._workers:
            while worker.give_tapped(self._open):
                time.sleep(_REST_SECONDS)

    def _count_missed(self, ending: bool) -> None:
        self._taps.missed_bytes = missed = sum(worker.missed_bytes for worker in self._workers)
        now = time.monotonic()
        if missed > self._said and (ending or now - self._said_at >= _SECONDS_BETWEEN_LINES):
            log.warning("the taps drop bytes that arrive faster than they can be blanked: %d more, %d in all", missed - self._said, missed)
            self._said, self._said_at = missed, now
