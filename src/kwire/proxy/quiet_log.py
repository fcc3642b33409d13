"""Warnings of a proxy, rate-limited by listener, cause and client."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from kwire.proxy.admission import network_of

__all__ = ["QuietLog"]

_FIRST: Final = 1.0
_LONGEST: Final = 60.0
_MOST_LINES: Final = 10_000  # causes and clients whose lines are counted

_Line = tuple[str, dict[str, Any]]


class QuietLog:
    """Warnings: the first of a cause and client at once, then one in 1, 2, 4 ... 60 seconds, with the number of suppressed lines.

    The attribute `fields` of a log record has the facts of its line by name.
    """

    def __init__(self, logger: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._lock = threading.Lock()
        self._said: OrderedDict[tuple[str, str, str], _Said] = OrderedDict()  # the oldest first

    def warning(self, kind: str, address: str, text: str, listener: str = "", /, **fields: Any) -> None:
        now = self._clock()
        key = listener, kind, network_of(address)
        fields = {"cause": kind, "listener": listener, **fields}
        with self._lock:
            said = self._said.get(key)
            if said is not None and now - said.at < said.wait:
                said.left_out += 1
                said.text, said.fields = text, fields
                return
            wait, lines = (_FIRST, []) if said is None else (min(2 * said.wait, _LONGEST), said.lines())
            self._said[key] = _Said(now, wait, text, fields)
            while len(self._said) > _MOST_LINES:
                lines += self._said.popitem(last=False)[1].lines()
        self._write([*lines, (text, fields)])

    def flush(self, *, everything: bool = False) -> None:
        """Write suppressed lines that are due; call it once per second, and with `everything` at the end."""
        now = self._clock()
        lines: list[_Line] = []
        with self._lock:
            for key, said in list(self._said.items()):
                silent = now - said.at
                if everything or (said.left_out and silent >= said.wait):
                    lines += said.lines()
                    said.at, said.wait, said.left_out = now, min(2 * said.wait, _LONGEST), 0
                elif silent >= 2 * said.wait:
                    del self._said[key]
        self._write(lines)

    def _write(self, lines: list[_Line]) -> None:
        for text, fields in lines:
            self._logger.warning("%s", text, extra={"fields": fields})


@dataclass(slots=True)
class _Said:
    """Last line of a cause and a client, with the number and the last text of lines suppressed in the `wait` seconds since."""

    at: float
    wait: float
    text: str
    fields: dict[str, Any]
    left_out: int = 0

    def lines(self) -> list[_Line]:
        if not self.left_out:
            return []
        more = self.left_out - 1
        return [(f"{self.text} (and {more} more)", {**self.fields, "more": more}) if more else (self.text, self.fields)]
