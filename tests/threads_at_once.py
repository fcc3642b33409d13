"""Threads that do the same work at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["ROUNDS", "THREADS", "at_once"]

THREADS, ROUNDS = 8, 200
Found = TypeVar("Found")


def at_once(work: Callable[[int], Found]) -> list[Found]:
    """What each thread found, by its number; all begin together, and an error of one is an error of the test."""
    found: dict[int, Found] = {}
    errors: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        try:
            found[number] = work(number)
        except BaseException as error:  # noqa: BLE001 - it is raised below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [found[number] for number in range(THREADS)]
