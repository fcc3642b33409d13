"""Clients without a name: what was observed of them, and the guess that there has to be."""

from __future__ import annotations

from typing import Any

from kwire.analysis.known_clients import known_maximum
from kwire.analysis.library_guesses import Guess, Observed, guess_unnamed
from kwire.analysis.verdicts import KnownMaximum

MODERN = {
    "Produce": 11, "Fetch": 17, "ListOffsets": 9, "Metadata": 12, "OffsetCommit": 9, "OffsetFetch": 9, "FindCoordinator": 6, "JoinGroup": 9,
    "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "ApiVersions": 4,
}  # fmt: skip


def observed(negotiates: bool | None = True, highest: Any = None, watched: bool = True, **versions: set[int]) -> Observed:
    offered = MODERN if highest is None else highest
    offers = {api: frozenset({offered[api]} if api in offered else ()) for api in versions}
    return Observed({api: frozenset(used) for api, used in versions.items()}, offers, negotiates, watched)


def guessed(*given: Any, **options: Any) -> Guess:
    guess = guess_unnamed(*given, **options)
    assert guess is not None
    return guess


def known_of(*given: Any) -> KnownMaximum:
    known = known_maximum(*given)
    assert known is not None
    return known
