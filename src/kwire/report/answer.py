"""Answer of a report in one sentence: the number of breaking applications, the Kafka version, and the confidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from kwire.report.amounts import length_of_time, named, plural
from kwire.report.coverage import Coverage
from kwire.report.fleet import Fleet, line_of, worst_of
from kwire.schema import releases

__all__ = ["Answer", "Confidence", "answer_of", "kafka_names"]

Confidence = Literal["low", "medium", "high"]

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Short form of the answer, such as "11 of 26 applications break on Kafka 4.0 (brokers run 3.9)"; its counts are by worst verdict.

    Confidence is low if there are warnings about the captures or they cover less than an hour. It is high from a day on if most libraries
    name themselves.
    """

    sentence: str
    breaks: int
    unknown: int
    confidence: Confidence
    reasons: tuple[str, ...]


def kafka_names(targets: Sequence[str]) -> dict[str, str]:
    """Return names of Kafka releases for people: the minor version, or the patch if it is not the newest or two targets share a minor."""
    known = releases()
    minors = [known[target].minor if target in known else target for target in targets]
    newest = {release.name for release in known.newest_per_minor()}
    return {
        target: minor if target in newest and minors.count(minor) == 1 else target for target, minor in zip(targets, minors, strict=True)
    }


def answer_of(fleet: Fleet, coverage: Coverage) -> Answer:
    confidence, reasons = _confidence(fleet, coverage)
    return Answer(
        sentence=_sentence(fleet),
        breaks=fleet.worst["breaks"],
        unknown=fleet.worst["unknown"],
        confidence=confidence,
        reasons=reasons,
    )


def _sentence(fleet: Fleet) -> str:
    count = fleet.kinds["application"]
    if not count:
        return "no application was seen"
    if not fleet.targets:
        return f"{plural(count, 'application')} seen, and no Kafka version to judge them for"
    running = f" (brokers run {', '.join(fleet.running)})" if fleet.running else ""
    rejected = sum(group.clients for group in fleet.applications if fleet.rejects_today(group.verdicts))
    parts = [_today(fleet, rejected)] if rejected else []
    if fleet.back and (any(fleet.at(target)["breaks"] for target in fleet.back) or fleet.back == fleet.targets):
        parts.append(f"if you roll back, {_on(fleet, fleet.back)}")
    ahead = tuple(target for target in fleet.targets if target not in fleet.back)
    if ahead and not rejected:
        parts.append(f"{'if you upgrade, ' if parts else ''}{_on(fleet, ahead)}")
    return "; ".join(parts) + ("" if rejected else running)


def _today(fleet: Fleet, rejected: int) -> str:
    lines = ", ".join(line_of(target) for target in fleet.now if fleet.at(target)["breaks"])
    said = f"{plural(rejected, 'application')} {'is' if rejected == 1 else 'are'} rejected by your brokers today ({lines})"
    others = [group for group in fleet.applications if not fleet.rejects_today(group.verdicts)]
    ahead = [target for target in fleet.targets if target not in fleet.back]
    later = {target: sum(group.clients for group in others if group.verdicts.get(target) == "breaks") for target in ahead}
    first = next((target for target, number in later.items() if number), None)
    more = sum(group.clients for group in others if any(group.verdicts.get(target) == "breaks" for target in ahead))
    if first is not None:
        said += f", {more:,} more {'breaks' if more == 1 else 'break'} from {named(kafka_names(fleet.targets)[first])} on"
    unknown = fleet.worst["unknown"]
    return said + (f", {unknown:,} more may break" if unknown else "")


def _on(fleet: Fleet, targets: Sequence[str]) -> str:
    count, names = fleet.kinds["application"], kafka_names(fleet.targets)
    worst: Counter[str | None] = Counter()
    for group in fleet.applications:
        worst[worst_of({target: group.verdicts[target] for target in targets if target in group.verdicts})] += group.clients
    breaks, unknown, unjudged = worst["breaks"], worst["unknown"], worst[None]
    last = targets[0] if targets == fleet.back else targets[-1]
    up_to = f"{'down' if targets == fleet.back else 'up'} to {named(names[last])}"
    others = any(target not in releases() for target in targets)  # which are no steps of an upgrade
    if others:
        up_to = f"on {_listed([named(names[target]) for target in targets])}"
    if not breaks and unjudged:
        judged = f"{count - unjudged - unknown:,} of {plural(count, 'application')} judged compatible {up_to}"
        return f"{judged}, {f'{unknown:,} may break, ' if unknown else ''}{unjudged:,} could not be read"
    if not breaks and unknown:
        return f"{unknown:,} of {plural(count, 'application')} may break {up_to}"
    if not breaks:
        return f"none of {plural(count, 'application')} {'breaks' if count == 1 else 'break'} {up_to}"
    by_target = {target: fleet.at(target)["breaks"] for target in targets}
    first = next(target for target, number in by_target.items() if number)
    verb = "breaks" if by_target[first] == 1 else "break"
    said = f"{by_target[first]:,} of {plural(count, 'application')} {verb} on {named(names[first])}"
    if others:
        rest = [f"{number or 'none'} on {named(names[target])}" for target, number in by_target.items() if target != first]
        said = _listed([said, *rest])
    elif by_target[targets[-1]] not in ((0, by_target[first]) if targets == fleet.back else (by_target[first],)):
        said += f" and {by_target[targets[-1]]:,} on {names[targets[-1]]}"
    return said + (f", {unknown:,} more may" if unknown else "")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), parts[-1]])


def _confidence(fleet: Fleet, coverage: Coverage) -> tuple[Confidence, tuple[str, ...]]:
    count = fleet.kinds["application"]
    inferred = sum(group.clients for group in fleet.applications if group.guessed)
    nameless = sum(group.clients for group in fleet.applications if not group.library)
    said = [fact.sentence.partition(". ")[0].rstrip(".:") for fact in coverage.facts if fact.level == "warning"]
    warnings = [sentence[:1].lower() + sentence[1:] for sentence in said]  # they stand in parentheses
    length = coverage.length
    reasons = [f"{length_of_time(length)} captured"] if length is not None and length < _WEEK else []
    if inferred or nameless:
        parts = [f"{inferred:,} of {count:,} libraries inferred" if inferred else ""]
        parts.append((f"{nameless:,} unknown" if inferred else f"{nameless:,} of {count:,} libraries unknown") if nameless else "")
        reasons.append(", ".join(part for part in parts if part))
    reasons += dict.fromkeys(warnings)
    if warnings or length is None or length < _HOUR:
        return "low", tuple(reasons)
    return ("high" if length >= _DAY and 2 * (inferred + nameless) <= count else "medium"), tuple(reasons)
