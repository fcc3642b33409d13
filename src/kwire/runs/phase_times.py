"""Duration of each phase of a run, which separates the cost of the captures from the cost of Spark."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["PHASES", "PhaseTimes"]

PHASES: Final = {
    "start_spark": "Spark start-up",
    "start_workers": "worker start-up",
    "route": "routing packets",
    "read": "reading",
    "second_pass": "second pass",
    "by_key": "clients and groups",
    "stop_spark": "Spark shutdown",
    "answers": "aggregation",
    "page": "report",
}
"""Names of the phases in order, as in a summary.

Packets are routed if several tasks share a series. The first pass over the captures makes rows. The second one fills in columns known only
at the end of a series, writes the rows and sums them up. The tables of clients and groups are finished in tasks by key.
"""


class PhaseTimes:
    """Wall-clock seconds of ended phases, by name in `PHASES`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def _lap(self) -> float:
        now = time.perf_counter()
        gone, self._since = now - self._since, now
        return gone

    def end(self, phase: str) -> None:
        self.seconds[phase] = self.seconds.get(phase, 0.0) + self._lap()

    def end_tasks(self, tasks: Iterable[Mapping[str, float]], waited: float = 0.0) -> None:
        """End the phases of tasks, and divide the elapsed time in proportion to the tasks' phases."""
        sums: dict[str, float] = {}
        for task in tasks:
            for phase, seconds in task.items():
                sums[phase] = sums.get(phase, 0.0) + seconds
        whole, gone = sum(sums.values()), self._lap()
        if not whole:
            return
        waited = min(max(waited, 0.0), gone)  # clocks of other machines may differ
        gone -= waited
        self.seconds["start_workers"] = self.seconds.get("start_workers", 0.0) + waited
        for phase, seconds in sums.items():
            self.seconds[phase] = self.seconds.get(phase, 0.0) + gone * seconds / whole
