"""The answer that a reader came for, as one sentence: how many applications break, on which Kafka version, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from kwire.report.amounts import length_of_time, plural
from kwire.report.coverage import Coverage
from kwire.report.fleet import Fleet
from kwire.schema import releases

__all__ = ["VERDICT_WORDS", "Answer", "Confidence", "answer_of", "kafka_names"]

Confidence = Literal["low", "medium", "high"]

VERDICT_WORDS: Final = {"breaks": "breaks", "unknown": "unknown", "deprecated": "deprecated", "compatible": "compatible"}
"""What people read for the verdicts that the tables hold; worst first."""

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer in short.

    Attributes:
        sentence: such as "11 of 26 applications break on Kafka 4.0 (brokers run 3.9)", without a full stop.
        breaks, unknown: how many applications have this as their worst verdict over all targets.
        confidence: low with warnings about the captures or below an hour of them, high from a day on where most libraries name themselves.
        reasons: what limits the confidence, each as a few words.
    """

    sentence: str
    breaks: int
    unknown: int
    confidence: Confidence
    reasons: tuple[str, ...]


def kafka_names(targets: Sequence[str]) -> dict[str, str]:
    """How to write Kafka releases: by their minor version, but for a patch that is not its newest, or where two targets share a minor.

    Args:
        targets: releases of the catalog; others are written as they are.
    """
    known = releases()
    minors = [known[target].minor if target in known else target for target in targets]
    newest = {release.name for release in known.newest_per_minor()}
    return {
        target: minor if target in newest and minors.count(minor) == 1 else target for target, minor in zip(targets, minors, strict=True)
    }


def answer_of(fleet: Fleet, coverage: Coverage, brokers: Iterable[str] = ()) -> Answer:
    """Answer the question.

    Args:
        fleet: all clients in counts.
        coverage: how much was seen.
        brokers: the releases that the observed brokers run, as far as known.
    """
    breaks, unknown = fleet.worst["breaks"], fleet.worst["unknown"]
    confidence, reasons = _confidence(fleet, coverage)
    return Answer(
        sentence=_sentence(fleet, breaks, unknown) + _running(brokers),
        breaks=breaks,
        unknown=unknown,
        confidence=confidence,
        reasons=reasons,
    )


def _running(brokers: Iterable[str]) -> str:
    """Which Kafka the observed brokers run; of a line with the patches that fit, `3.9 (3.9.0 to 3.9.2)`, the line will do."""
    known, lines = releases(), [name.partition(" (")[0] for name in brokers]
    found = dict.fromkeys(known[name].minor if name in known else name for name in lines if name)
    return f" (brokers run {', '.join(found)})" if found else ""


def _sentence(fleet: Fleet, breaks: int, unknown: int) -> str:
    count = fleet.kinds["application"]
    if not count:
        return "no application was seen"
    if not fleet.targets:
        return f"{plural(count, 'application')} seen, and no Kafka version to judge them for"
    names = kafka_names(fleet.targets)
    newest = names[fleet.targets[-1]]
    may = f", {unknown:,} more may" if unknown and breaks else ""
    unjudged = fleet.worst[None]
    if not breaks and unjudged:
        judged = f"{count - unjudged - unknown:,} of {plural(count, 'application')} judged compatible up to Kafka {newest}"
        return f"{judged}, {f'{unknown:,} may break, ' if unknown else ''}{unjudged:,} could not be read"
    if not breaks:
        return (
            f"{unknown:,} of {plural(count, 'application')} may break up to Kafka {newest}"
            if unknown
            else f"none of {plural(count, 'application')} {'breaks' if count == 1 else 'break'} up to Kafka {newest}"
        )
    by_target = {target: fleet.at(target)["breaks"] for target in fleet.targets}
    first = next(target for target, number in by_target.items() if number)
    last = fleet.targets[-1]
    verb = "breaks" if by_target[first] == 1 else "break"
    said = f"{by_target[first]:,} of {plural(count, 'application')} {verb} on Kafka {names[first]}"
    if by_target[last] != by_target[first]:
        said += f" and {by_target[last]:,} on {newest}"
    return said + may


def _confidence(fleet: Fleet, coverage: Coverage) -> tuple[Confidence, tuple[str, ...]]:
    count = fleet.kinds["application"]
    inferred = sum(group.clients for group in fleet.applications if group.guessed)
    nameless = sum(group.clients for group in fleet.applications if not group.library)
    warnings = [fact.about.lower() for fact in coverage.facts if fact.level == "warning"]
    length = coverage.length
    reasons = [f"{length_of_time(length)} captured"] if length is not None and length < _WEEK else []
    if inferred or nameless:
        parts = [f"{inferred:,} of {count:,} libraries inferred" if inferred else ""]
        parts.append((f"{nameless:,} unknown" if inferred else f"{nameless:,} of {count:,} libraries unknown") if nameless else "")
        reasons.append(", ".join(part for part in parts if part))
    reasons += [f"see {about}" for about in dict.fromkeys(warnings)]
    if warnings or length is None or length < _HOUR:
        return "low", tuple(reasons)
    return ("high" if length >= _DAY and 2 * (inferred + nameless) <= count else "medium"), tuple(reasons)
