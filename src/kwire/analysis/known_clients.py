"""Facts about a client by its library: the highest versions that it can use, and fixes.

A library that names itself is looked up by name and version; for a guess, only facts true for all versions in its range are used.
"""

from __future__ import annotations

from kwire.analysis.library_guesses import Guess
from kwire.analysis.library_profiles import Library, named_library
from kwire.analysis.release_ranges import broker_highest
from kwire.analysis.remedies import Software
from kwire.analysis.verdicts import KnownMaximum
from kwire.schema.version_numbers import version_numbers

__all__ = ["known_maximum", "library_of", "software_of"]


def library_of(software_name: str | None, software_version: str | None) -> str | None:
    named = named_library(software_name, software_version)
    return None if named is None else named[0].name


def known_maximum(software_name: str | None, software_version: str | None, guess: Guess | None, api: str) -> KnownMaximum | None:
    """Return bounds of the highest version of an api that a client can use, from its name or the guess."""
    named = named_library(software_name, software_version)
    if named is not None:
        library, version = named
        return None if version is None else _of_version(library, version, api)
    if guess is None:
        return None
    return _within(f"a client like {guess.library.name} {guess.range}".rstrip(), guess.bounds(api), certain=False)


def _of_version(library: Library, version: str, api: str) -> KnownMaximum | None:
    text = f"{library.name} {version}"
    if library.kafka_release:
        highest = broker_highest(version).get(api)
        return None if highest is None else KnownMaximum(library=text, at_least=highest, at_most=highest, certain=True)
    return _within(text, library.bounds_of(version, api), certain=True)


def _within(library: str, bounds: tuple[int | None, int | None], *, certain: bool) -> KnownMaximum | None:
    return None if bounds == (None, None) else KnownMaximum(library=library, at_least=bounds[0], at_most=bounds[1], certain=certain)


def software_of(name: str | None, version: str | None, guess: Guess | None) -> Software:
    named = named_library(name, version)
    if named is not None:
        library, known = named
        return Software(library.name, None if known is None else version_numbers(known), library.fixes)
    if guess is not None:
        return Software(guess.library.name, guess.newest, guess.library.fixes)
    return Software(name if name != "unknown" else None, None, ())
