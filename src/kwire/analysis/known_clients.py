"""Facts about a client by its library: the highest versions that it can use, and fixes.

A library that names itself is looked up by name and version; for a guess, only what holds for all versions in its range counts.
"""

from __future__ import annotations

from kwire.analysis.library_guesses import Guess
from kwire.analysis.library_profiles import Fix, Library, named_library
from kwire.analysis.release_ranges import broker_highest
from kwire.analysis.verdicts import KnownMaximum
from kwire.schema.version_numbers import version_numbers

__all__ = ["fixes_of", "known_maximum", "library_of", "newest_version"]


def library_of(software_name: str | None, software_version: str | None) -> str | None:
    """Return the library behind a software name, such as librdkafka behind confluent-kafka-python; None if unknown."""
    named = named_library(software_name, software_version)
    return None if named is None else named[0].name


def known_maximum(software_name: str | None, software_version: str | None, guess: Guess | None, api: str) -> KnownMaximum | None:
    """Return bounds of the highest version of an api that a client can use.

    Args:
        software_name, software_version: as the client sent them, or None.
        guess: of a client that sends no name.
    """
    named = named_library(software_name, software_version)
    if named is not None:
        library, version = named
        return None if version is None else _of_version(library, version, api)
    if guess is None:
        return None
    at_least, at_most = guess.bounds(api)
    if at_least is None and at_most is None:
        return None
    like = f"{guess.library.name} {guess.range}".rstrip()
    return KnownMaximum(library=f"a client like {like}", at_least=at_least, at_most=at_most, certain=False)


def _of_version(library: Library, version: str, api: str) -> KnownMaximum | None:
    text = f"{library.name} {version}"
    if library.kafka_release:
        highest = broker_highest(version).get(api)
        return None if highest is None else KnownMaximum(library=text, at_least=highest, at_most=highest, certain=True)
    numbers = version_numbers(version)
    earlier = [known for known in library.versions if version_numbers(known) <= numbers]
    later = [known for known in library.versions if version_numbers(known) >= numbers]
    at_least, at_most = library.bounds(api, earlier, later)
    if at_least is None and at_most is None:
        return None
    return KnownMaximum(library=text, at_least=at_least, at_most=at_most, certain=True)


def newest_version(software_name: str | None, software_version: str | None, guess: Guess | None) -> tuple[int, ...] | None:
    named = named_library(software_name, software_version)
    if named is not None:
        return None if named[1] is None else version_numbers(named[1])
    return None if guess is None else guess.newest


def fixes_of(software_name: str | None, software_version: str | None, guess: Guess | None) -> tuple[Fix, ...]:
    named = named_library(software_name, software_version)
    if named is not None:
        return named[0].fixes
    return () if guess is None else guess.library.fixes
