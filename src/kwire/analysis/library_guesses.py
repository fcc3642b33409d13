"""Guesses of the library and the range of versions of a client that does not name itself.

For each api, a library that negotiates sends min(its own version, the broker's highest); other libraries always send their own version. So
each profile predicts the versions that its library sends to the observed brokers. The profiles that match all observations identify the
library. The others bound its version: maxima never decrease between versions, so a client that sends more than a profile is later, and one
that sends less is earlier. The guess is the range between the bounds, even if no profile in it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final, Literal

from kwire.analysis.library_profiles import Library, Profile, known_libraries
from kwire.schema.version_numbers import version_numbers

__all__ = ["Guess", "Observed", "guess_unnamed", "widest"]

# Fewer apis than this in common with a profile are no fingerprint: a reader's handful is the same in several libraries.
MIN_APIS: Final = 6
# And as many have to be the client's own choice: what several libraries are held down to by an old broker is alike.
_MIN_OWN: Final = 4
_API_VERSIONS: Final = "ApiVersions"
# Above every number in a version.
_ANY: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations of a client.

    Attributes:
        versions: used versions by api.
        highest: highest versions offered by its brokers, by api; several for brokers of different releases, empty if unknown.
        negotiates: whether the client sends ApiVersions; None if the capture may have missed it.
        watched: whether any of its connections was captured from its beginning.
    """

    versions: Mapping[str, frozenset[int]]
    highest: Mapping[str, frozenset[int]]
    negotiates: bool | None
    watched: bool = True


@dataclass(frozen=True, slots=True)
class Guess:
    """Guessed library of a client that does not name it, with the range of its versions.

    Attributes:
        after, before: nearest versions known to differ, on either side; None if unknown. A Kafka minor version includes all its patches.
        tried: known versions in between that send the same versions.
        confidence: confidence in the library.
        exact: exact version from the client id, if any.
    """

    library: Library
    after: str | None
    before: str | None
    tried: tuple[str, ...]
    confidence: Literal["medium", "low"]
    exact: str | None = None

    @property
    def range(self) -> str:
        bounds = (("after", self.after), ("before", self.before))
        return self.exact or " and ".join(f"{word} {version}" for word, version in bounds if version is not None)

    @property
    def text(self) -> str:
        tried = f"(tried: {', '.join(self.tried)})" if self.tried else ""
        return " ".join(part for part in (self.library.name, self.range, tried) if part)

    @property
    def newest(self) -> tuple[int, ...] | None:
        """Parsed numbers of the newest version in the range, or of the newest tried one if the range is open; None if unknown."""
        if self.exact is not None:
            return version_numbers(self.exact) or None
        if self.before is None:
            return version_numbers((self.tried or (self.after,))[-1] or "") or None
        *first, last = _without_zeros(version_numbers(self.before))
        return (*first, last - 1, _ANY)

    def bounds(self, api: str) -> tuple[int | None, int | None]:
        versions = self.library.versions
        if self.exact is not None:
            return self.library.bounds_of(self.exact, api)
        # no line of Kafka lies between two profiles of Java's: the first in the range is known
        inside = 1 if self.library.kafka_release else 0
        first = 0 if self.after is None else versions.index(self.after) + 1 + inside
        last = len(versions) if self.before is None else versions.index(self.before) - inside
        return self.library.bounds(api, versions[:first], versions[last:])


def guess_unnamed(observed: Observed, client_id: str | None = None, libraries: Sequence[Library] | None = None) -> Guess | None:
    """Guess the library of a client that sends no name, from a default client id or from the versions it uses.

    Returns None unless exactly one library fits the observations.
    """
    if libraries is not None:
        return _guessed(observed, client_id, libraries)
    like = client_id if _by_client_id(client_id, known_libraries()) is not None else None
    return _guessed_once(
        frozenset(observed.versions.items()), frozenset(observed.highest.items()), observed.negotiates, observed.watched, like
    )


_Versions = frozenset[tuple[str, frozenset[int]]]


@lru_cache(maxsize=4096)  # the programs of a fleet are mostly alike, and each is held against hundreds of profiles
def _guessed_once(versions: _Versions, highest: _Versions, negotiates: bool | None, watched: bool, client_id: str | None) -> Guess | None:
    return _guessed(Observed(dict(versions), dict(highest), negotiates, watched), client_id, known_libraries())


def _guessed(observed: Observed, client_id: str | None, table: Sequence[Library]) -> Guess | None:
    default = _by_client_id(client_id, table)
    if default is not None:
        library, exact = default
        found = _Comparison(library, observed)
        return found.guess("medium", exact or None)
    compared = [_Comparison(library, observed) for library in table]
    agreeing = [found for found in compared if found.common]
    if len(agreeing) != 1 or agreeing[0].common < MIN_APIS or not agreeing[0].is_fingerprint:
        return None
    return agreeing[0].guess("medium" if agreeing[0].common > MIN_APIS else "low")


def _without_zeros(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return numbers if numbers[-1] else _without_zeros(numbers[:-1])


def widest(guesses: Iterable[Guess | None]) -> Guess | None:
    """Merge the guesses of several parts of a client into their common range; None if the libraries differ."""
    known = [guess for guess in guesses if guess is not None]
    if len({guess.library.name for guess in known}) != 1:
        return None
    return reduce(_joined, known)


def _joined(one: Guess, other: Guess) -> Guess:
    if one == other:
        return one
    if one.exact is not None or other.exact is not None:
        return Guess(one.library, None, None, (), "low")
    versions = one.library.versions
    after = None if one.after is None or other.after is None else min(one.after, other.after, key=versions.index)
    before = None if one.before is None or other.before is None else max(one.before, other.before, key=versions.index)
    tried = tuple(version for version in versions if version in one.tried or version in other.tried)
    confidence: Literal["medium", "low"] = "medium" if one.confidence == other.confidence == "medium" else "low"
    return Guess(one.library, after, before, tried, confidence)


def _by_client_id(client_id: str | None, libraries: Iterable[Library]) -> tuple[Library, str] | None:
    for library in libraries:
        found = library.client_ids.fullmatch(client_id or "") if library.client_ids else None
        if found is not None:
            return library, (found.group(1) or "") if found.re.groups else ""
    return None


class _Comparison:
    """Comparison of a library's profiles with the observations.

    Attributes:
        common: number of apis that match the best profile; 0 if no profile matches.
        is_fingerprint: whether part of the match is the client's own choice, not only a limit of its brokers.
    """

    def __init__(self, library: Library, observed: Observed) -> None:
        self.library = library
        self.common = 0
        self.is_fingerprint = False
        self._agreeing: set[str] = set()
        later_than: list[str] = []
        earlier_than: list[str] = []
        for profile in library.profiles:
            found = _Difference(profile, library, observed)
            if found.agrees and (profile.unnamed or not observed.watched):
                self._agreeing.add(profile.version)
                self.common = max(self.common, found.common)
                self.is_fingerprint |= found.own >= _MIN_OWN
            is_set = library.set_by_program == "versions" or (library.set_by_program == "negotiation" and not profile.negotiates)
            if is_set or (found.newer and found.older):
                continue
            if found.newer:
                later_than.append(profile.version)
            if found.older:
                earlier_than.append(profile.version)
        self._bound(later_than, earlier_than)

    def _bound(self, later_than: list[str], earlier_than: list[str]) -> None:
        order = self.library.versions.index
        agreeing = sorted(self._agreeing, key=order)
        if agreeing:
            later_than = [version for version in later_than if order(version) < order(agreeing[0])]
            earlier_than = [version for version in earlier_than if order(version) > order(agreeing[-1])]
        self.after = max(later_than, key=order, default=None)
        self.before = min(earlier_than, key=order, default=None)
        if self.after is None or self.before is None:
            return
        # what differs from every line of Kafka is not Java
        if order(self.before) <= order(self.after) or (self.library.kafka_release and not agreeing):
            self.after = self.before = None

    def guess(self, confidence: Literal["medium", "low"], exact: str | None = None) -> Guess:
        tried = tuple(version for version in self.library.versions if version in self._agreeing)
        return Guess(self.library, self.after, self.before, () if exact else tried, confidence, exact)


class _Difference:
    """Differences of a client from one profile.

    Attributes:
        agrees: whether nothing differs and something is equal.
        newer, older: whether the client's library version is proven to be later or
        earlier than the profile's.
        common: number of equal apis, without ApiVersions.
        own: number of those that are the client's own choice: it does not negotiate, or the brokers offer more.
    """

    def __init__(self, profile: Profile, library: Library, observed: Observed) -> None:
        self.newer = self.older = False
        self.common = self.own = 0
        self.agrees = self._differs = False
        self._profile = profile
        self._observed = observed
        if observed.negotiates is not None and profile.negotiates != observed.negotiates:
            self._differs = True
            if library.set_by_program is None:
                self.newer, self.older = observed.negotiates, not observed.negotiates
            return
        # a library that names itself goes on doing so
        self.older = not profile.unnamed and observed.watched and observed.negotiates is True
        for api, versions in observed.versions.items():
            if api == _API_VERSIONS and api in profile.uses:
                self._compare_asked(max(versions))
            elif api in profile.uses:
                self._compare_sent(api, versions)
        self.agrees = not self._differs and not self.older and self.common > 0
        if not profile.negotiates and "Fetch" not in observed.versions:
            self.own = 0  # libraries before ApiVersions differ in little else

    def _compare_asked(self, asked: int) -> None:
        """Compare ApiVersions, which is sent in the library's own version first, then in a version allowed by error 35 (KIP-511)."""
        own, highest = self._profile.maximum(_API_VERSIONS), max(self._observed.highest.get(_API_VERSIONS, ()), default=None)
        assert own is not None
        if asked == own or asked in self._profile.sends(_API_VERSIONS, None):
            self.own += _MIN_OWN if asked > 0 else 0  # few libraries ask in a later version without their name
            return
        self._differs = True
        self.newer |= asked > own
        # where the first question was missed, what is left may be a later version's step down
        stepped_down = not self._observed.watched and (highest is None or asked <= highest)
        self.older |= asked < own and not stepped_down

    def _compare_sent(self, api: str, versions: frozenset[int]) -> None:
        profile, ceilings = self._profile, self._observed.highest.get(api, frozenset())
        also = profile.also.get(api, frozenset())
        sends = frozenset().union(*(profile.sends(api, ceiling) for ceiling in ceilings)) if profile.negotiates and ceilings else None
        wants = profile.sends(api, None) if sends is None else sends
        strange = versions - wants - also
        self.newer |= max(strange, default=-1) > max(profile.maximum(api) or 0, *also, 0)
        if profile.negotiates and sends is None:
            # what is below may be the doing of a broker that was not seen
            self._differs |= max(versions) > max(wants | also)
            return
        self._differs |= bool(strange) or not versions & wants
        self.older |= min(strange, default=1 << 15) < min(wants) and self._observed.negotiates is not None
        self.common += not strange
        self.own += not strange and not (profile.negotiates and versions <= ceilings)
