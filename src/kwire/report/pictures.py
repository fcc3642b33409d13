"""Charts of the page, each in three widths; charts over time are one stretchable drawing."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from markupsafe import Markup

from kwire.analysis.digests.of_clients import WORST_FIRST, release_order
from kwire.analysis.library_profiles import release_month
from kwire.report.amounts import compact, latency, length_of_time, moment, named, plural
from kwire.report.burn_down import HistoryPoint
from kwire.report.charts import MIDDLE, NARROW, WIDE, Dot, Series, draw_columns, draw_dots, draw_rows, draw_strip
from kwire.report.connection_times import ConnectionTimes
from kwire.report.fleet import Fleet
from kwire.report.group_lines import GroupLine, GroupLines
from kwire.report.inventory import Client
from kwire.report.lineage import SideRisk, Topic
from kwire.report.traffic_times import TrafficTimes
from kwire.report.wire_text import visible

__all__ = [
    "ClientStrip", "Picture", "Strip", "breaks_per_version", "burn_down", "client_strips", "connection_strip", "group_strip", "library_age",
    "topic_losses", "traffic_strips",
]  # fmt: skip

LIBRARIES_DRAWN: Final = 16
TOPICS_DRAWN: Final = 14
_APART: Final = 0.12
_PLAIN: Final = "plain"
_LEGEND: Final = {"unjudged": "no verdict", _PLAIN: "neither"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Chart in three widths; `legend` has the class and text of each color."""

    wide: Markup
    middle: Markup
    narrow: Markup
    legend: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    title: str
    most: str
    svg: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientStrip:
    client: Client
    verdict: str
    requests: int
    svg: Markup


def _picture(draw: Callable[[int], Markup], names: Iterable[str]) -> Picture:
    legend = tuple((name, _LEGEND.get(name, name)) for name in names)
    return Picture(wide=draw(WIDE), middle=draw(MIDDLE), narrow=draw(NARROW), legend=legend)


def breaks_per_version(fleet: Fleet, columns: Sequence[Sequence[str]], names: Mapping[str, str]) -> Picture | None:
    """Draw a column for each target; neighbors with equal verdicts share a column."""
    if not any(number for worst, number in fleet.worst.items() if worst is not None):
        return None
    tallies = [fleet.at(column[0]) for column in columns]
    shown = [name for name in WORST_FIRST if any(tally[name] for tally in tallies)]
    labels = [" to ".join(dict.fromkeys((names[column[0]], names[column[-1]]))) for column in columns]
    series = [
        Series(
            name,
            tuple(float(tally[name]) for tally in tallies),
            tuple(f"{named(label)}, {name}: {plural(tally[name], 'application')}" for label, tally in zip(labels, tallies, strict=True)),
        )
        for name in shown
    ]
    about = f"Applications by verdict on each Kafka version, {names[fleet.targets[0]]} to {names[fleet.targets[-1]]}"
    return _picture(lambda width: draw_columns(labels, series, width=width, height=210, about=about), shown)


def library_age(fleet: Fleet) -> Picture | None:
    """Draw a dot for each library version and verdict, as large as it has applications, by the release of its minor version."""
    by_library: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for group in sorted(fleet.applications, key=lambda group: (release_order(group.version), group.worst or "")):
        by_library[group.library][group.version][group.worst or "unjudged"] += group.clients
    if not by_library:
        return None

    def rank(library: str) -> tuple[int, int, int, str]:
        tally = sum(by_library[library].values(), Counter[str]())
        return -tally["breaks"], -tally["unknown"], -tally.total(), library

    libraries = sorted(by_library, key=rank)[:LIBRARIES_DRAWN]
    most = max(number for library in libraries for tally in by_library[library].values() for number in tally.values())
    dates = {(library, version): _release(library, version) for library in libraries for version in by_library[library]}
    axis = _TimeAxis([year for year, _ in dates.values()])
    dots: list[Dot] = []
    for row, library in enumerate(libraries):
        undated = [version for version in by_library[library] if dates[library, version][0] is None]
        for version, tally in by_library[library].items():
            year, when = dates[library, version]
            x = axis.place(year) if year is not None else _APART * undated.index(version) / len(undated)
            for name, number in sorted(tally.items(), key=lambda item: -item[1]):  # the smaller over the larger
                said = _LEGEND.get(name, name)
                title = f"{visible(library) or 'unknown library'} {visible(version)}: {plural(number, 'application')}, {said}; {when}"
                radius = 5 + 5 * math.sqrt(number / most) if most > 1 else 6
                dots.append(Dot(x, row, radius, name, title.replace(" :", ":"), _brief(version).partition("-")[0]))
    shown = [name for name in (*WORST_FIRST, "unjudged") if any(dot.name == name for dot in dots)]
    labels = [visible(library, 40).strip() or "unknown library" for library in libraries]
    about = "Applications by library and release date of the version, coloured by verdict"
    return _picture(lambda width: draw_dots(labels, dots, width=width, about=about, ticks=axis.ticks(width)), shown)


class _TimeAxis:
    """Years from left to right, as numbers between 0 and 1; versions without a date (None) stand apart on the left."""

    def __init__(self, years: Sequence[float | None]) -> None:
        known = [year for year in years if year is not None]
        self._first = math.floor(min(known, default=0))
        self._last = max(math.ceil(max(known, default=0)), self._first + 1)
        self._start = _APART + 0.12 if None in years else 0
        self._has_years = bool(known)

    def place(self, year: float) -> float:
        return self._start + (1 - self._start) * (year - self._first) / (self._last - self._first)

    def ticks(self, width: int) -> dict[str, float]:
        step = math.ceil((self._last - self._first) * 90 / width)
        years = range(self._last, self._first - 1, -step) if self._has_years else ()
        return ({"no date": 0.0} if self._start else {}) | {str(year): self.place(year) for year in reversed(years)}


def _release(library: str, version: str) -> tuple[float | None, str]:
    """Return the year of a version, or of the middle of a range, with its month; and the same in words."""
    words, years = version, list[float]()
    for bound in filter(None, re.split("^after | and before |^before ", version)):
        month = release_month(library, bound)
        if month is None:
            return None, "release date unknown"
        words = words.replace(bound, month, 1)
        years.append(int(month[:4]) + (int(month[5:]) - 1) / 12)
    return (sum(years) / len(years), f"minor version released {words}") if years else (None, "release date unknown")


def _brief(version: str) -> str:
    """Write a version, or the range of an inferred one, as in ``0.10.1–0.11.0``."""
    after, between, before = version.removeprefix("after ").partition(" and before ")
    if between:
        return f"{after}–{before}"
    sign = ">" if version.startswith("after ") else "<" if version.startswith("before ") else ""
    return visible(sign + version.removeprefix("after ").removeprefix("before "), 24)


def topic_losses(risks: Sequence[Topic]) -> Picture | None:
    """Draw producers and consumers of the topics with most breaking clients; None if there are none."""
    drawn = [one for one in risks if one.breaks or one.unknown][:TOPICS_DRAWN]
    if not drawn:
        return None
    parts: list[tuple[str, list[int], list[str]]] = []
    for name, word in (("breaks", "breaks"), ("unknown", "unknown"), (_PLAIN, "neither")):
        counts = [(_of_side(one.producers, name), _of_side(one.consumers, name)) for one in drawn]
        titles = [
            f"{visible(one.name)}: {plural(made, 'producer')} and {plural(read, 'consumer')}, {word}"
            for one, (made, read) in zip(drawn, counts, strict=True)
        ]
        parts.append((name, [made + read for made, read in counts], titles))
    series = [Series(name, tuple(map(float, values)), tuple(titles)) for name, values, titles in parts if any(values)]
    labels = [visible(one.name, 60).strip() or "(blank)" for one in drawn]
    about = "Producers and consumers of topics, those that break first"
    return _picture(lambda width: draw_rows(labels, series, width=width, about=about), [one.name for one in series])


def _of_side(side: SideRisk, name: str) -> int:
    return {"breaks": side.breaks, "unknown": side.unknown}.get(name, side.clients - side.breaks - side.unknown)


def burn_down(points: Sequence[HistoryPoint]) -> Picture | None:
    """Draw applications that break or might break by report, oldest first; None with fewer than two reports."""
    if len(points) < 2:
        return None
    drawn = points[-24:]
    labels = [point.until[:10] if len({one.until[:10] for one in drawn}) == len(drawn) else point.until[5:16] for point in drawn]
    rest = [point.applications - point.breaks - point.unknown for point in drawn]
    differ = len({point.to for point in drawn if point.to}) > 1
    series = [
        Series(
            name,
            tuple(map(float, values)),
            tuple(
                f"{label}: {number:,} of {plural(point.applications, 'application')} {word}"
                + (f" on {named(point.to)}" if differ and point.to else "")
                for label, number, point in zip(labels, values, drawn, strict=True)
            ),
        )
        for name, word, values in (
            ("breaks", "break", [point.breaks for point in drawn]),
            ("unknown", "unknown", [point.unknown for point in drawn]),
            (_PLAIN, "deprecated or compatible", rest),
        )
        if any(values)
    ]
    about = f"Applications that break, in {plural(len(drawn), 'report')}"
    names = [one.name for one in series]

    def draw(width: int) -> Markup:
        shown = [point.until[5:10] for point in drawn] if width == NARROW else labels
        return draw_columns(shown, series, width=width, height=210, about=about)

    return _picture(draw, names)


def connection_strip(times: ConnectionTimes) -> Markup:
    sums = tuple(float(sum(one.open[place] for one in times.series)) for place in range(len(times.series[0].open)))
    titles = tuple(f"{moment(times.start + times.interval * place)}: {number:,.0f} open" for place, number in enumerate(sums))
    return draw_strip([Series(_PLAIN, sums, titles)], about="Open connections over time")


def traffic_strips(times: TrafficTimes) -> tuple[Strip, ...]:
    when = [moment(times.start + times.step * place) for place in range(len(times.requests))]

    def strip(title: str, values: Sequence[int | None], unit: str, most: str, name: str = _PLAIN) -> Strip:
        titles = tuple(f"{at}: {value:,} {unit}" if value is not None else "" for at, value in zip(when, values, strict=True))
        return Strip(title=title, most=most, svg=draw_strip([Series(name, tuple(values), titles)], about=f"{title} over time"))

    slow = [
        None if high is None else f"median {_latency(low or 0)}, 99th percentile {_latency(high)}"
        for low, high in zip(times.p50, times.p99, strict=True)
    ]
    titles = tuple(f"{at}: {said}" if said else "" for at, said in zip(when, slow, strict=True))
    low = tuple(float(value) if value is not None else None for value in times.p50)
    above = tuple(float(high - (low or 0)) if high is not None else None for low, high in zip(times.p50, times.p99, strict=True))
    latencies = draw_strip([Series("median", low, titles), Series("tail", above, titles)], about="Latency over time")
    highest = max((value for value in times.p99 if value is not None), default=0)
    return (
        strip("Requests", times.requests, "requests", f"{compact(max(times.requests))} per {_step(times.step)}"),
        strip("Errors", times.errors, "errors", f"{compact(max(times.errors))} per {_step(times.step)}", "breaks"),
        Strip(title="Latency", most=_latency(highest), svg=latencies),
    )


def client_strips(times: TrafficTimes, clients: Sequence[Client], verdicts: Mapping[str, str | None]) -> tuple[ClientStrip, ...]:
    """Draw the activity of clients, worst first, each on its own scale; `verdicts` are by client key."""
    when = [moment(times.start + times.step * place) for place in range(len(times.requests))]
    found = []
    for client in clients:
        counts = times.clients.get(client.client_key)
        if counts is None:
            continue
        verdict = verdicts.get(client.client_key) or "unjudged"
        titles = tuple(f"{at}: {plural(number, 'request')}" for at, number in zip(when, counts, strict=True))
        name = visible(", ".join(client.client_ids) or next(iter(client.addresses), client.client_key), 60)
        svg = draw_strip([Series(verdict, counts, titles)], about=f"Requests of {name} over time", height=24)
        found.append(ClientStrip(client=client, verdict=verdict, requests=sum(counts), svg=svg))
    return tuple(found)


def group_strip(groups: GroupLines, group: GroupLine) -> Markup | None:
    """Draw members of a group over time, coloured by events; None for a group that only formed."""
    if not group.again and not group.troubled:
        return None
    assert groups.start is not None
    assert groups.end is not None
    steps = groups.steps(group)
    width = (groups.end - groups.start) / len(steps)
    low = max(group.most, 1) / 6  # so that a step without members, or one before the first generation, is seen where something happened
    series = []
    for state in ("trouble", "rebalancing", "forming", "steady"):
        values, titles = [], []
        for place, step in enumerate(steps):
            is_here = step.state == state and (step.members is not None or state != "steady")
            values.append(max(float(step.members or 0), low if state != "steady" else 0) if is_here else None)
            members = "members not seen" if step.members is None else plural(step.members, "member")
            titles.append(f"{moment(groups.start + width * place)}: {members}, {state}")
        if any(values):
            series.append(Series(state, tuple(values), tuple(titles)))
    about = f"{plural(group.again, 'rebalance')}, {plural(group.troubled, 'error')}, at most {plural(group.most, 'member')}"
    return draw_strip(series, about=about, height=36)


def _latency(microseconds: int) -> str:
    return f"{microseconds} µs" if microseconds < 1_000 else latency(microseconds)


def _step(step: timedelta) -> str:
    return "hour" if step == timedelta(hours=1) else length_of_time(step)
