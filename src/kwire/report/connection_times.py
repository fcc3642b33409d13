"""Connections open over time, by the library that speaks on them, counted without loading the table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.analysis_folder import AnalysisFolder, tally

__all__ = ["BINS", "SERIES_SHOWN", "UNKNOWN", "ConnectionTimes", "Tally", "TimeSeries", "read_connection_times"]

BINS: Final = 60
SERIES_SHOWN: Final = 7
UNKNOWN: Final = "unknown library"
_COLUMNS: Final = ("client_key", "first_seen", "last_seen", "state", "protocol")
_NO_CLIENT: Final = {
    "kafka": "no request read",
    "tls": "TLS",
    "http": "HTTP",
    "ssh": "SSH",
    "silent": "no data sent",
    "proxy": "no data sent",
    None: "unknown protocol",
    "unknown": "unknown protocol",
}

_Bins = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSeries:
    """Connections of one library: how many were open in each interval, and how many there were in all.

    `colour` is ``series0`` and so on for those that have a name, ``unknown`` and ``others`` for the rest.
    """

    label: str
    colour: str
    open: tuple[int, ...]
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many connections have a state or a protocol."""

    name: str
    connections: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionTimes:
    """`BINS` equal intervals from `start` to `end`; series with most connections first, the rest of them as one."""

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


def read_connection_times(folder: AnalysisFolder, labels: Mapping[str, str]) -> ConnectionTimes | None:
    """Count open connections in equal intervals; None where no connection has a time.

    Args:
        folder: the analysis.
        labels: library of a client key.
    """
    times = _range(folder)
    if times is None:
        return None
    first, last = times
    width = max(last - first, 1)
    begun: dict[str, _Bins] = {}
    ended: dict[str, _Bins] = {}
    states: Counter[str] = Counter()
    protocols: Counter[str] = Counter()
    for batch in folder.scan("connections", _COLUMNS):
        states.update(tally(batch["state"]))
        protocols.update(tally(batch["protocol"]))
        for label, start, end in _by_label(batch, labels):
            from_bin, to_bin = ((at - first) * BINS // width for at in (start, end))
            begun[label] = begun.get(label, 0) + np.bincount(np.clip(from_bin, 0, BINS - 1), minlength=BINS)
            ended[label] = ended.get(label, 0) + np.bincount(np.clip(to_bin, 0, BINS - 1) + 1, minlength=BINS + 1)
    ranked = sorted(begun, key=lambda label: (-int(begun[label].sum()), label))
    # One library too many still has room: "1 other" would say less than its name.
    kept = ranked if len(ranked) <= SERIES_SHOWN + 1 else ranked[:SERIES_SHOWN]
    rest = ranked[len(kept) :]
    colours = {label: f"series{place}" for place, label in enumerate(label for label in kept if label != UNKNOWN)}
    series = [_series(label, colours.get(label, "unknown"), begun[label], ended[label]) for label in kept]
    if rest:
        series.append(_series(f"{len(rest)} others", "others", sum(begun[name] for name in rest), sum(ended[name] for name in rest)))
    return ConnectionTimes(
        start=_moment(first),
        end=_moment(last),
        series=tuple(series),
        others=len(rest),
        states=_ranked(states),
        protocols=_ranked(protocols),
        connections=states.total(),
    )


def _series(label: str, colour: str, begun: Any, ended: Any) -> TimeSeries:
    still_open = np.cumsum(begun) - np.cumsum(ended)[:BINS]
    return TimeSeries(label=label, colour=colour, open=tuple(int(number) for number in still_open), connections=int(begun.sum()))


def _range(folder: AnalysisFolder) -> tuple[int, int] | None:
    firsts, lasts = list[int](), list[int]()
    for batch in folder.scan("connections", ["first_seen", "last_seen"]):
        first, last = pc.min(batch["first_seen"]), pc.max(batch["last_seen"])
        if first.is_valid and last.is_valid:
            firsts.append(first.value)
            lasts.append(last.value)
    return (min(firsts), max(lasts)) if firsts else None


def _by_label(batch: pa.RecordBatch, labels: Mapping[str, str]) -> Iterator[tuple[str, _Bins, _Bins]]:
    """Split a batch by label: the label, then first and last times in microseconds."""
    timed = batch.filter(pc.and_(pc.is_valid(batch["first_seen"]), pc.is_valid(batch["last_seen"])))
    starts, ends = (timed[name].cast(pa.int64()).to_numpy(zero_copy_only=False) for name in ("first_seen", "last_seen"))
    rows: dict[str, list[int]] = defaultdict(list)
    for row, (key, protocol) in enumerate(zip(timed["client_key"].to_pylist(), timed["protocol"].to_pylist(), strict=True)):
        rows[_NO_CLIENT.get(protocol, f"protocol {protocol}") if key is None else labels.get(key, UNKNOWN)].append(row)
    for label, chosen in rows.items():
        yield label, starts[chosen], ends[chosen]


def _ranked(found: Counter[str]) -> tuple[Tally, ...]:
    return tuple(Tally(name=name, connections=number) for name, number in found.most_common())


def _moment(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, tz=UTC) + timedelta(microseconds=microseconds)
