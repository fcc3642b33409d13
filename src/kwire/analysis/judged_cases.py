"""Cases: uses of apis with equal inputs for a verdict; each case is judged once per target release.

A fleet of thousands of clients has a few hundred cases.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import pyarrow as pa

from kwire.analysis.client_groups import ClientGroup
from kwire.analysis.known_clients import known_maximum, software_of
from kwire.analysis.library_guesses import Guess
from kwire.analysis.release_ranges import target_range
from kwire.analysis.remedies import NOTHING, Remedy, Software, remedy_of
from kwire.analysis.verdicts import Answers, Judgement, TargetRange, Use, judge
from kwire.schema.release_table import Release, release_key
from kwire.schema.version_numbers import version_numbers
from kwire.tables.schemas import TEXT, schema_named

__all__ = ["JUDGED", "Cases", "Program"]

JUDGED: Final = schema_named("target_release verdict verdict_basis confidence reason remedy cure_version cure_kind refused_by")
"""Columns of `upgrade_impact` that depend on case and target."""

Lines = tuple[str, ...]
_Judged = tuple[str | None, ...]

_BASIS: Final = JUDGED.get_field_index("verdict_basis")


class Program(NamedTuple):
    """Facts about the sending program that verdicts depend on; `sent` is its software name and version, from any of its connections."""

    sent: tuple[str | None, str | None]
    role: str
    negotiates: bool | None
    answers: Answers
    raw_gssapi: bool
    guess: Guess | None

    @classmethod
    def of(cls, group: ClientGroup, name: str | None, version: str | None) -> Program:
        return cls(group.software or (name, version), group.role, group.negotiates, group.answers, group.raw_gssapi > 0, group.guess)


class Cases:
    """Numbers of programs and cases, with a verdict of each case for every target.

    Deprecations in the oldest running release (`running`, None if unknown) and earlier ones are only notes.
    """

    def __init__(self, targets: Sequence[Release], running: str | None = None) -> None:
        self._targets = targets
        self._is_ahead = [running is None or target.key > release_key(running) for target in targets]
        self._programs: dict[Hashable, int] = {}
        self._software: list[tuple[Program, Software]] = []
        self._judged: list[_Judged] = []
        self._cases: dict[Hashable, int] = {}

    def program(self, program: Program) -> int:
        guess = program.guess
        like = None if guess is None else (guess.library.name, guess.after, guess.before, guess.tried, guess.confidence, guess.exact)
        found = self._programs.setdefault((*program[:-1], like), len(self._programs))
        if found == len(self._software):
            self._software.append((program, software_of(*program.sent, guess)))
        return found

    def case(
        self, program: int, api_key: int, api_name: str, api_version: int, highest: int | None, lines: tuple[Lines, Lines], always: bool
    ) -> int:
        """Return the case number of a use; judge it if it is new.

        `lines` has the release lines of brokers that rejected it, by time, and of brokers that answered it although their release rejects
        it; with `always`, every answer was error 35.
        """

        def judged() -> Iterator[_Judged]:
            who, software = self._software[program]
            use = Use(
                api_name=api_name, api_version=api_version, role=who.role, broker_highest=highest, negotiates=who.negotiates,
                always_refused=always, known=known_maximum(*who.sent, who.guess, api_name), answers=who.answers,
                raw_gssapi=who.raw_gssapi,
            )  # fmt: skip
            for target, is_ahead in zip(self._targets, self._is_ahead, strict=True):
                refused_by, answered_by = (self.line_of(each, target) for each in lines)
                observed = replace(use, refused_by=refused_by, answered_by=answered_by)
                yield _judged(observed, target_range(target, api_key), software, is_ahead, software_of(*who.sent, None).version is not None)

        case = (program, api_key, api_name, api_version, highest, lines, always)
        found = self._cases.get(case)
        if found is None:
            found = self._cases[case] = len(self._cases)
            self._judged += judged()
        return found

    @staticmethod
    def line_of(lines: Lines, target: Release) -> str | None:
        return next((line for line in lines if target.key[:2] == release_key(line)[:2]), None)

    def basis(self, case: int, target: int) -> str | None:
        return self._judged[case * len(self._targets) + target][_BASIS]

    def table(self) -> pa.Table:
        columns = list(zip(*self._judged, strict=True)) or [()] * len(JUDGED)
        return pa.table([pa.array(column, TEXT) for column in columns], schema=JUDGED)


def _judged(use: Use, target: TargetRange, software: Software, is_ahead: bool, is_exact: bool) -> _Judged:
    judgement = judge(use, target)
    remedy, refused_by = remedy_of(use, judgement, target, software), None
    if target.unread and use.role == "client" and judgement.verdict != "breaks":
        judgement, remedy = _of_unread(use, target, software) or (judgement, remedy)
    if judgement.verdict == "breaks" and target.accepts and use.api_version < target.accepts[0] and software.name in target.earlier:
        judgement, remedy = _of_earlier(use, target, software, judgement, is_exact)
    if judgement.verdict == "deprecated":
        if is_ahead:
            remedy, refused_by = _of_marked(use, target, software)
        later = target.marks[use.api_version]
        # a note where brokers run this release already, the mark was taken back, or the client steps up by itself
        if not is_ahead or (refused_by is None and later.newest not in later.marked_by):
            judgement = replace(judgement, verdict="compatible")
    return (
        target.release, judgement.verdict, judgement.basis, judgement.confidence, judgement.reason, remedy.text, remedy.version,
        remedy.kind, refused_by,
    )  # fmt: skip


def _of_unread(use: Use, target: TargetRange, software: Software) -> tuple[Judgement, Remedy] | None:
    """Judge a version whose answer the client's library cannot read; None if it can."""
    is_tried = software.name in target.unread
    first, fixed = target.unread.get((is_tried and software.name) or "", (use.api_version + 1, ""))
    if use.api_version < first or (fixed and (software.version is None or software.version >= version_numbers(fixed))):
        return None
    answer = f"the answer of {target.name} to {use.api_name} v{use.api_version}"
    remedy = Remedy(f"Use a client there that asks for {use.api_name} v{first - 1} or earlier.")
    if not is_tried:
        reason = f"Most libraries cannot read {answer}, and no run has tried this one."
        return Judgement(verdict="unknown", basis="known_client", confidence="low", reason=reason), remedy
    if fixed:
        remedy = Remedy(f"Upgrade {software.name} to {fixed} or later.", fixed, "library")
    reason = f"{software.name}{f' before {fixed}' if fixed else ''} cannot read {answer}."
    return Judgement(verdict="breaks", basis="own_maximum", confidence="high", reason=reason), remedy


def _of_earlier(use: Use, target: TargetRange, software: Software, judgement: Judgement, is_exact: bool) -> tuple[Judgement, Remedy]:
    """Judge a version below those that a target accepts, of a library that can use it from some release on."""
    first = target.earlier[software.name or ""]
    remedy = Remedy(f"Upgrade {software.name} to {first} or later.", first, "library")
    since = f"{software.name} {first} and later can use {use.api_name} v{use.api_version} of {target.name}"
    if software.version is not None and software.version < version_numbers(first):
        return replace(judgement, reason=f"{since}; this client is older."), remedy
    if is_exact:
        return Judgement(verdict="compatible", basis="known_client", confidence="high", reason=f"{since}."), NOTHING
    reason = f"{since}, but the version of this client is not known."
    return Judgement(verdict="unknown", basis="known_client", confidence="low", reason=reason), remedy


def _of_marked(use: Use, target: TargetRange, software: Software) -> tuple[Remedy, str | None]:
    """Return the remedy of a deprecated use and the release that needs it; empty if later releases accept it or the client negotiates."""
    later = target.marks[use.api_version]
    if later.at_refusal is None:
        return NOTHING, None
    then = judge(use, later.at_refusal)
    if then.verdict != "breaks":
        return NOTHING, None
    return remedy_of(use, then, later.at_refusal, software), later.refusing
