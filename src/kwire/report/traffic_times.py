"""Requests, errors and latency over time, and the activity of clients.

For a short capture, requests are counted in equal steps; for a longer one, or one with many requests, the hourly sums (`client_hourly`) are
used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.digests.of_answers import WAITING
from kwire.analysis.latency_buckets import quantile_rows
from kwire.protocol.expected_errors import are_errors
from kwire.report.analysis_folder import AnalysisFolder

__all__ = ["STEPS", "TrafficTimes", "read_traffic"]

STEPS: Final = 60
"""Number of steps of a short capture."""
MOST_HOURS: Final = 24 * 14
"""Maximum number of steps of a longer one; beyond two weeks, a step has several hours."""
_SHORT: Final = timedelta(hours=6)
_FEW: Final = 500_000  # requests that are read one by one
_HOUR: Final = 3_600_000_000

_Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficTimes:
    """Equal steps from `start`.

    Attributes:
        requests, errors: of all clients; expected steps of the protocol are not errors.
        p50, p99: microseconds, without requests that wait on purpose (Fetch, JoinGroup, SyncGroup); None without any.
    """

    start: datetime
    step: timedelta
    requests: tuple[int, ...]
    errors: tuple[int, ...]
    p50: tuple[int | None, ...]
    p99: tuple[int | None, ...]
    clients: dict[str, tuple[int, ...]]

    @property
    def end(self) -> datetime:
        return self.start + self.step * len(self.requests)


def read_traffic(folder: AnalysisFolder, clients: Iterable[str]) -> TrafficTimes | None:
    """Count requests over time, and those of the clients with the given keys; None if no request has a time."""
    wanted = pa.array(list(dict.fromkeys(clients)), pa.string())
    times = folder.time_range()
    if times is not None and times[1] - times[0] < _SHORT and 0 < folder.requests <= _FEW:
        return _of_requests(folder, wanted)
    return _of_hours(folder, wanted)


def _of_requests(folder: AnalysisFolder, wanted: pa.Array[Any]) -> TrafficTimes | None:
    columns = ["client_key", "request_time", "api_key", "error_code", "latency_us", "api_name"]
    table = folder.read("requests", columns)
    table = table.filter(pc.is_valid(table["request_time"]))
    if not table.num_rows:
        return None
    times = _numbers(table["request_time"].cast(pa.int64()))
    first, last = int(times.min()), int(times.max())
    width = max(1, -(-(last - first + 1) // STEPS))
    step = (times - first) // width
    failed = are_errors(*(_filled(table[name], 0) for name in ("api_key", "error_code")))
    waits = pc.is_in(table["api_name"], value_set=pa.array(WAITING)).to_numpy().astype(np.bool_)
    latency = np.where(waits, -1, _filled(table["latency_us"], -1))
    order = np.argsort(step, kind="stable")
    borders = np.searchsorted(step[order], np.arange(STEPS + 1))
    p50, p99 = list[int | None](), list[int | None]()
    for left, right in pairwise(borders):
        seen = latency[order[left:right]]
        seen = seen[seen >= 0]
        p50.append(int(np.percentile(seen, 50)) if len(seen) else None)
        p99.append(int(np.percentile(seen, 99)) if len(seen) else None)
    return TrafficTimes(
        start=_moment(first),
        step=timedelta(microseconds=width),
        requests=_tuple(np.bincount(step, minlength=STEPS)),
        errors=_tuple(np.bincount(step[failed], minlength=STEPS)),
        p50=tuple(p50),
        p99=tuple(p99),
        clients=_by_client(table["client_key"], step, np.ones(len(step), np.int64), wanted, STEPS),
    )


def _of_hours(folder: AnalysisFolder, wanted: pa.Array[Any]) -> TrafficTimes | None:
    table = folder.digest["hours"]
    if not table.num_rows:
        return None
    hours = _numbers(table["hour"].cast(pa.int64())) // _HOUR
    first, last = int(hours.min()), int(hours.max())
    per_step = -(-(last - first + 1) // MOST_HOURS)
    steps = -(-(last - first + 1) // per_step)

    def step_of(rows: pa.Table) -> _Counts:
        return (_numbers(rows["hour"].cast(pa.int64())) // _HOUR - first) // per_step

    latencies, by_client = folder.digest["hour_latencies"], folder.digest["client_hours"]
    p50, p99 = _quantiles(latencies, step_of(latencies), steps)
    requests, errors = (_sums(step_of(table), _filled(table[name], 0), steps) for name in ("requests", "errors"))
    return TrafficTimes(
        start=_moment(first * _HOUR),
        step=timedelta(hours=per_step),
        requests=requests,
        errors=errors,
        p50=p50,
        p99=p99,
        clients=_by_client(by_client["client_key"], step_of(by_client), _filled(by_client["requests"], 0), wanted, steps),
    )


def _quantiles(latencies: pa.Table, of_step: _Counts, steps: int) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Return median and 99th percentile of each step, as the upper ends of histogram buckets."""
    tops, counts = (_filled(latencies[name], 0) for name in ("up_to_us", "requests"))
    order = np.lexsort((tops, of_step))
    of_step, tops, counts = of_step[order], tops[order], counts[order]

    def quantile(part: float) -> tuple[int | None, ...]:
        at, nothing = quantile_rows(of_step, counts, steps, part)
        return tuple(None if empty else int(tops[row]) for row, empty in zip(at.tolist(), nothing.tolist(), strict=True))

    return quantile(0.5), quantile(0.99)


def _by_client(keys: Any, step: _Counts, weights: _Counts, wanted: pa.Array[Any], steps: int) -> dict[str, tuple[int, ...]]:
    if not len(wanted):
        return {}
    place = _filled(pc.index_in(keys, value_set=wanted), -1)
    kept = place >= 0
    sums = _sums(place[kept] * steps + step[kept], weights[kept], len(wanted) * steps)
    by_client = {str(key): sums[at * steps : (at + 1) * steps] for at, key in enumerate(wanted.to_pylist())}
    return {key: counts for key, counts in by_client.items() if any(counts)}


def _filled(column: Any, missing: int) -> _Counts:
    return _numbers(pc.if_else(pc.is_valid(column), column, pa.scalar(missing)))


def _numbers(column: Any) -> _Counts:
    found: _Counts = column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    return found.astype(np.int64)


def _sums(places: _Counts, weights: _Counts, length: int) -> tuple[int, ...]:
    return _tuple(np.bincount(places, weights=weights, minlength=length))


def _tuple(counts: npt.NDArray[Any]) -> tuple[int, ...]:
    return tuple(int(number) for number in counts)


def _moment(microseconds: int) -> datetime:
    return datetime.fromtimestamp(0, tz=timezone.utc) + timedelta(microseconds=microseconds)
