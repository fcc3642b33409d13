"""Open connections over time, by library."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kwire.analysis.digests.of_rows import BINS, UNKNOWN
from kwire.report.analysis_folder import AnalysisFolder, rows_of

__all__ = ["BINS", "SERIES_SHOWN", "UNKNOWN", "ConnectionTimes", "Tally", "TimeSeries", "read_connection_times"]

SERIES_SHOWN: Final = 7

_Bins = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """Connections of one library; `colour` is ``series0`` and so on for those with a name, ``unknown`` and ``others`` for the rest."""

    label: str
    colour: str
    open: tuple[int, ...]
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    name: str
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTimes:
    start: datetime
    end: datetime
    series: tuple[TimeSeries, ...]
    others: int
    states: tuple[Tally, ...]
    protocols: tuple[Tally, ...]
    connections: int

    @property
    def interval(self) -> timedelta:
        return (self.end - self.start) / BINS

    @property
    def peak(self) -> int:
        return max((sum(one.open[index] for one in self.series) for index in range(BINS)), default=0)


def read_connection_times(folder: AnalysisFolder) -> ConnectionTimes | None:
    """Read the number of open connections in equal intervals; None if no connection has a time."""
    rows = rows_of(folder.digest, "open_connections")
    if not rows:
        return None
    (span,) = rows_of(folder.digest, "open_span")
    begun: dict[str, _Bins] = defaultdict(lambda: np.zeros(BINS + 1, np.int64))
    ended: dict[str, _Bins] = defaultdict(lambda: np.zeros(BINS + 1, np.int64))
    for row in rows:
        begun[row["library"]][row["step"]] += row["begun"]
        ended[row["library"]][row["step"]] += row["ended"]
    states: Counter[str] = Counter()
    protocols: Counter[str] = Counter()
    for row in rows_of(folder.digest, "streams"):
        states[row["state"]] += row["connections"]
        protocols[row["protocol"]] += row["connections"]
    ranked = sorted(begun, key=lambda label: (-int(begun[label].sum()), label))
    # One library too many still has room: "1 other" would say less than its name.
    kept = ranked if len(ranked) <= SERIES_SHOWN + 1 else ranked[:SERIES_SHOWN]
    rest = ranked[len(kept) :]
    colours = {label: f"series{place}" for place, label in enumerate(label for label in kept if label != UNKNOWN)}
    series = [_series(label, colours.get(label, "unknown"), begun[label], ended[label]) for label in kept]
    if rest:
        series.append(_series(f"{len(rest)} others", "others", sum(begun[name] for name in rest), sum(ended[name] for name in rest)))
    return ConnectionTimes(
        start=span["start"],
        end=span["end"],
        series=tuple(series),
        others=len(rest),
        states=_ranked(states),
        protocols=_ranked(protocols),
        connections=states.total(),
    )


def _series(label: str, colour: str, begun: Any, ended: Any) -> TimeSeries:
    still_open = (np.cumsum(begun) - np.cumsum(ended))[:BINS]
    return TimeSeries(label=label, colour=colour, open=tuple(int(number) for number in still_open), connections=int(begun.sum()))


def _ranked(found: Counter[str]) -> tuple[Tally, ...]:
    return tuple(Tally(name=name, connections=number) for name, number in found.most_common())
