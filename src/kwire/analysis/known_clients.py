"""What is known of client libraries, as data: the versions they use, and what cures those that a release refuses.

A library that names itself is looked up by name and version. One that does not is looked up by what it uses: a negotiating client sends
min(its own version, the broker's highest) of each api, one that does not negotiate its own version always, so every profile tells what it
would send to the observed brokers, and those that agree with all that was seen are candidates. Candidates are evidence only where they
agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final, Literal

from kwire.analysis.release_ranges import broker_highest
from kwire.analysis.verdicts import KnownMaximum

__all__ = ["Cure", "Guess", "Observed", "cure_of", "guess_unnamed", "known_maximum", "library_of", "newest_version", "unseen_maxima"]

# Fewer apis than this in common with a profile are no fingerprint: every library asks for metadata first.
MIN_APIS: Final = 4
_NUMBERS: Final = re.compile(r"[0-9]+(\.[0-9]+)*")

Uses = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Cure:
    """What helps the users of a library.

    Attributes:
        kind, version: what has to change, and from which version of the library, or to which value of the setting.
        remedy: as a sentence.
        upgrade_version, upgrade: of a setting: what versions of the library before this one need too, as a sentence.
    """

    kind: Literal["library", "config", "proxy"]
    version: str | None
    remedy: str
    upgrade_version: str | None = None
    upgrade: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The versions that one version of a library uses against brokers that offer more."""

    library: str
    version: tuple[int, ...]
    negotiates: bool
    unnamed: bool
    uses: Uses


@dataclass(frozen=True, slots=True)
class Library:
    """A client library: the names it sends, with the place of its version in what it sends as version, and its default client ids."""

    name: str
    names: Mapping[str, str]
    client_ids: re.Pattern[str] | None
    kafka_release: bool
    cure: Cure | None
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen of a client: by api the versions it sent, and the highest that its brokers offer (None where not known)."""

    versions: Mapping[str, frozenset[int]]
    highest: Mapping[str, int | None]
    negotiates: bool | None


@dataclass(frozen=True, slots=True)
class Guess:
    """The library of a client that does not name it, with the profiles that fit; none where its default client id is all that tells."""

    library: str
    versions: str
    confidence: Literal["medium", "low"]
    profiles: tuple[Profile, ...]

    @property
    def text(self) -> str:
        """Library and version or versions, as one would say it."""
        return f"{self.library} {self.versions}".rstrip()


def _version(text: str) -> tuple[int, ...] | None:
    found = _NUMBERS.search(text)
    return tuple(int(part) for part in found.group().split(".")) if found else None


@lru_cache(maxsize=1)
def _libraries() -> tuple[Library, ...]:
    stored = json.loads(resources.files("kwire.analysis").joinpath("known_clients.json").read_text("utf-8"))
    return tuple(_library(entry) for entry in stored["libraries"])


def _library(entry: dict[str, Any]) -> Library:
    name = entry["library"]
    profiles = [
        Profile(
            name, _version(profile["version"]) or (), profile["negotiates"], profile.get("unnamed", False),
            {api: tuple(versions) for api, versions in profile["uses"].items()},
        )
        for profile in entry["profiles"]
    ]  # fmt: skip
    for release in entry.get("unnamed_releases", ()):
        uses = {api: (highest,) for api, highest in broker_highest(release).items()}
        profiles.append(Profile(name, _version(release) or (), True, True, uses))
    cure = entry.get("cure")
    return Library(
        name, entry["names"], re.compile(entry["client_ids"]) if "client_ids" in entry else None, entry.get("kafka_release", False),
        None if cure is None else Cure(**cure),
        tuple(sorted(profiles, key=lambda profile: profile.version)),
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _named(software_name: str | None, software_version: str | None) -> tuple[Library, tuple[int, ...] | None] | None:
    for library in _libraries():
        pattern = library.names.get(software_name or "")
        if pattern is not None:
            found = re.fullmatch(pattern, software_version or "")
            return library, _version(found.group(1)) if found else None
    return None


def library_of(software_name: str | None, software_version: str | None) -> str | None:
    """Name the library behind a software name, such as librdkafka behind confluent-kafka-python; None when it is not known."""
    named = _named(software_name, software_version)
    return None if named is None else named[0].name


def _by_client_id(client_id: str | None) -> tuple[Library, str] | None:
    """The library whose default id this is, with the version in it, if any."""
    for library in _libraries():
        found = library.client_ids.fullmatch(client_id or "") if library.client_ids else None
        if found is not None:
            return library, (found.group(1) or "") if found.re.groups else ""
    return None


def guess_unnamed(observed: Observed, client_id: str | None = None) -> Guess | None:
    """Guess the library of a client that sends no name, from its client id where that is a default, and from the versions it uses.

    Args:
        observed: what the client sent.
        client_id: its client id.

    Returns:
        None when nothing, or more than one library, fits.
    """
    fitting: dict[str, list[Profile]] = {}
    common = 0
    default = _by_client_id(client_id)
    for library in _libraries() if default is None else (default[0],):
        for profile in library.profiles:
            apis = _apis_in_common(profile, observed) if profile.unnamed else 0
            if apis >= MIN_APIS:
                fitting.setdefault(library.name, []).append(profile)
                common = max(common, apis)
    if default is not None and (not fitting or default[1]):
        return Guess(default[0].name, default[1], "medium", tuple(fitting.get(default[0].name, ())))
    if len(fitting) != 1:
        return None
    name, profiles = fitting.popitem()
    low, high = (".".join(map(str, profile.version)) for profile in (profiles[0], profiles[-1]))
    return Guess(name, low if low == high else f"{low} to {high}", "medium" if common > MIN_APIS else "low", tuple(profiles))


def _apis_in_common(profile: Profile, observed: Observed) -> int:
    """How many apis agree with the profile, 0 when one does not."""
    if observed.negotiates is not None and profile.negotiates != observed.negotiates:
        return 0
    common = 0
    for api, versions in observed.versions.items():
        uses = profile.uses.get(api)
        if uses is None:
            continue
        if api == "ApiVersions":  # asked in its own version first, then in whatever error 35 leaves (KIP-511)
            if max(versions) not in uses:
                return 0
            continue
        highest = observed.highest.get(api)
        ceiling = 1 << 15 if highest is None or not profile.negotiates else highest
        if not versions <= {min(version, ceiling) for version in uses}:
            return 0
        common += 1
    return common


def known_maximum(software_name: str | None, software_version: str | None, guess: Guess | None, api: str) -> KnownMaximum | None:
    """Tell what bounds the highest version of an api that a client can use.

    Args:
        software_name, software_version: as the client sent them, or None.
        guess: of a client that sends no name.
        api: name of the api.
    """
    named = _named(software_name, software_version)
    if named is not None:
        library, version = named
        if version is None:
            return None
        text = f"{library.name} {'.'.join(map(str, version))}"
        if library.kafka_release:
            highest = broker_highest(".".join(map(str, version))).get(api)
            return None if highest is None else KnownMaximum(library=text, at_least=highest, at_most=highest, certain=True)
        earlier = [max(profile.uses[api]) for profile in library.profiles if profile.version <= version and api in profile.uses]
        later = [max(profile.uses[api]) for profile in library.profiles if profile.version >= version and api in profile.uses]
        if not earlier and not later:
            return None
        return KnownMaximum(library=text, at_least=max(earlier, default=None), at_most=min(later, default=None), certain=True)
    if guess is None or not guess.profiles or not all(api in profile.uses for profile in guess.profiles):
        return None
    maxima = [max(profile.uses[api]) for profile in guess.profiles]
    return KnownMaximum(library=f"a client like {guess.text}", at_least=min(maxima), at_most=max(maxima), certain=False)


def unseen_maxima(
    software_name: str | None, software_version: str | None, guess: Guess | None, seen: frozenset[str]
) -> dict[str, KnownMaximum]:
    """Tell what a client's library is known to use although it was not seen: by api, only where an upper bound is known.

    Args:
        software_name, software_version, guess: as in `known_maximum`.
        seen: names of the apis that the client used.
    """
    named = _named(software_name, software_version)
    if named is not None:
        if named[0].kafka_release:  # a program uses a part of what its library can; what was not seen of Java is never below a release
            return {}
        apis = {api for profile in named[0].profiles for api in profile.uses}
    elif guess is not None and not next(library.kafka_release for library in _libraries() if library.name == guess.library):
        apis = {api for profile in guess.profiles for api in profile.uses}
    else:
        return {}
    found = {api: known_maximum(software_name, software_version, guess, api) for api in sorted(apis - seen)}
    return {api: known for api, known in found.items() if known is not None and known.at_most is not None}


def newest_version(software_name: str | None, software_version: str | None, guess: Guess | None) -> tuple[int, ...] | None:
    """Tell the newest version of its library that a client can have; None when nothing bounds it."""
    named = _named(software_name, software_version)
    if named is not None:
        return named[1]
    if guess is None:
        return None
    found = [tuple(int(part) for part in each.group().split(".")) for each in _NUMBERS.finditer(guess.versions)]
    return max(found, default=None)


def cure_of(software_name: str | None, software_version: str | None, guess: Guess | None) -> Cure | None:
    """Tell what helps a client; None when its library is not known or nothing is known to help."""
    named = _named(software_name, software_version)
    if named is not None:
        return named[0].cure
    if guess is None:
        return None
    return next(library.cure for library in _libraries() if library.name == guess.library)
