"""The table that a run prints: every contender of every work, ratios to the native twin, targets and floors beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NATIVE = "native"
FLOORS = Path(__file__).with_name("floors.toml")


@dataclass
class Figure:
    """Seconds for one message; `size` is its bytes, `rounds` are those that were done in turns with the other contenders."""

    best: float
    median: float
    size: float
    rounds: list[float] = field(default_factory=list)

    def over(self, base: Figure) -> float:
        """How many times the base's time this is.

        The median of neighbouring rounds: a machine that is slow for seconds is so for both. Else the ratio of the best.
        """
        pairs = [ours / theirs for ours, theirs in zip(self.rounds, base.rounds, strict=False)]
        return median(pairs) if pairs else self.best / base.best


@dataclass(frozen=True)
class Floor:
    """A line of floors.toml.

    Attributes:
        target: what is wanted, a ratio or a rate.
        floor: below it the run fails; None where the line is shown only.
        unit: "" for a ratio of the peer's time to the native one, "GB/s" or "M/s" for a rate of `peer` itself.
        of: the contender that the peer is divided by.
    """

    work: str
    peer: str
    target: float
    floor: float | None = None
    unit: str = ""
    of: str = NATIVE


Floors = dict[tuple[str, str], list[Floor]]


def read_floors() -> Floors:
    found: Floors = {}
    for line in tomllib.loads(FLOORS.read_text())["line"]:
        floor = Floor(**line)
        found.setdefault((floor.work, floor.peer), []).append(floor)
    return found


def duration(seconds: float) -> str:
    for limit, factor, unit in ((1e-5, 1e9, "ns"), (1e-2, 1e6, "us"), (10, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.4g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"
    return f"{seconds:.3g} s"


def data_rate(per_second: float) -> str:
    return f"{per_second / 1e9:.3g} GB/s" if per_second >= 1e8 else f"{per_second / 1e6:.3g} MB/s"


class Results:
    """The figures of a run: work -> contender -> figure."""

    def __init__(self) -> None:
        self.figures: dict[str, dict[str, Figure]] = {}

    def add(self, work: str, contender: str, best: float, median: float, messages: float, size: int) -> None:
        """Take what a contender did by itself; the best where it comes again."""
        contenders = self.figures.setdefault(work, {})
        if contender not in contenders or best / messages < contenders[contender].best:
            contenders[contender] = Figure(best / messages, median / messages, size / messages)

    def add_rounds(self, work: str, contender: str, rounds: list[float]) -> None:
        """Take the rounds that all contenders of a work did in turns."""
        figure = self.figures[work][contender]
        figure.rounds = rounds
        figure.best = min(figure.best, *rounds)

    def value(self, floor: Floor) -> float | None:
        """What was measured of a line, or None if it was not part of this run."""
        figures = self.figures.get(floor.work, {})
        peer = figures.get(floor.peer)
        if peer is None:
            return None
        if floor.unit == "GB/s":
            return peer.size / peer.best / 1e9
        if floor.unit == "M/s":
            return 1e-6 / peer.best
        base = figures.get(floor.of)
        return peer.over(base) if base else None

    def below(self, floors: Floors) -> list[Floor]:
        """The gated lines that this run did not hold."""
        every = (floor for lines in floors.values() for floor in lines if floor.floor is not None)
        return [floor for floor in every if (value := self.value(floor)) is not None and value < (floor.floor or 0)]

    def lines(self, floors: Floors) -> Iterator[str]:
        """The table, then a sentence about each line below its floor."""
        yield f"{'work':38} {'contender':16} {'best':>9} {'median':>9} {'rate':>10} {'x native':>9}  target"
        for work, figures in self.figures.items():
            base = figures.get(NATIVE)
            shown = work
            for contender in sorted(figures, key=lambda name: (not name.startswith(NATIVE), name != "pure")):
                figure = figures[contender]
                rate = data_rate(figure.size / figure.best) if figure.size else ""
                ratio = f"{figure.over(base):.2f}" if base and contender != NATIVE else ""
                wanted = "; ".join(self._wanted(floor) for floor in floors.get((work, contender), ()))
                times = f"{duration(figure.best):>9} {duration(figure.median):>9}"
                yield f"{shown:38} {contender:16} {times} {rate:>10} {ratio:>9}  {wanted}".rstrip()
                shown = ""
        for floor in self.below(floors):
            yield f"BELOW ITS FLOOR: {floor.work} against {floor.peer}: {self.value(floor):.2f} and not {floor.floor}"

    def _wanted(self, floor: Floor) -> str:
        value = self.value(floor)
        of = "" if floor.of == NATIVE else f" of {floor.of}"
        gate = "" if floor.floor is None else f" (floor {floor.floor:g})"
        short = f", missed: {value:.2f}" if value is not None and (floor.of != NATIVE or floor.unit) else ", missed"
        met = "" if value is None else ", met" if value >= floor.target else short
        return f"{floor.target:g} {floor.unit}".rstrip() + of + gate + met
