"""Running of tasks on workers, with progress reports."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from kwire.capture.tls.session_keys import TlsOptions, current_tls_options, tls_options
from kwire.errors import InputError
from kwire.files.file_systems import StoreOptions, current_store_options, store_options
from kwire.runs.parts import bytes_read

__all__ = ["Workers", "run_each", "watching"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_POLL_SECONDS: Final = 0.2


class Workers(Protocol):
    """Processes that run tasks: local ones (`kwire.runs.local_processes`), or Spark's."""

    def run_each(self, items: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
        """Call `work` with each item and return the results in order; `work` and items must be picklable."""


@contextmanager
def watching(out: str, total: int, size: int, progress: Callable[[str, int, int], None]) -> Iterator[None]:
    """Report the phase, the bytes read and their `size`, counting each byte once, although tasks that share files read `total` bytes."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_POLL_SECONDS):
            progress("Reading captures", min(bytes_read(out), total) * size // max(total, 1), size)

    watcher = threading.Thread(target=watch, name="kwire-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


@dataclass(frozen=True, slots=True)
class _Work(Generic[Item, Result]):
    """Function for items of tasks, called with the driver's file options; an error that it raises is returned as its result."""

    work: Callable[[Item], Result]
    store: StoreOptions
    tls: TlsOptions

    def __call__(self, item: Item) -> tuple[Result | InputError, float]:
        cpu = time.process_time()
        try:
            with store_options(self.store), tls_options(self.tls):
                found: Result | InputError = self.work(item)
        except InputError as error:  # a fault of the user's, so that Spark need not try again
            found = error
        return found, time.process_time() - cpu


def run_each(workers: Workers, items: Sequence[Item], work: Callable[[Item], Result]) -> tuple[list[Result], float]:
    """Call a picklable function with each item in a task; return ordered results and CPU seconds. The function is sent to each machine
    once."""
    if not items:
        return [], 0.0
    told = workers.run_each(items, _Work(work, current_store_options(), current_tls_options()))
    results = []
    for result, _ in told:
        if isinstance(result, InputError):
            raise result
        results.append(result)
    return results, sum(seconds for _, seconds in told)
