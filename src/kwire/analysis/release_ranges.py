"""Versions that Kafka releases accept, offer and deprecate, prepared for verdicts from `kwire.schema.releases`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from kwire.analysis.verdicts import LaterReleases, TargetRange
from kwire.errors import InputError
from kwire.schema import Release, Target, Versions, catalog, guess, releases
from kwire.schema.release_table import release_key

__all__ = [
    "accepts", "broker_highest", "default_targets", "fitting_releases", "guess_release", "highest_by_name", "line_of", "releases_text",
    "target_range",
]  # fmt: skip

# A client talks to brokers; what only a controller's listener has is for administrators (KIP-919). Up to 3.9 a broker may still be one of
# ZooKeeper's, which has the apis of the old controller.
_LISTENERS: Final = ("broker", "zk_broker", "controller")
# The last line that accepts everything that an older one does: where no broker is known, the question begins here.
_LAST_TOLERANT: Final = "3.9"

_CONSUMER_GROUP_HEARTBEAT: Final = 68
# `group.coordinator.rebalance.protocols` is `classic` there unless it is set, and brokers answer with error 35.
_PREVIEWS_OF_KIP_848: Final = ("3.7", "3.8", "3.9")

Range = tuple[int, int]


def line_of(release: str) -> str:
    """Return the minor version of a release: `4.0` of `4.0.2`, `0.10.2` of `0.10.2.1`."""
    return releases()[release].minor


def _accepts(release: Release, api_key: int) -> Versions | None:
    found = (release.accepts(api_key, listener) for listener in _LISTENERS)
    return next((versions for versions in found if versions is not None), None)


@cache
def target_range(release: str | Release, api_key: int) -> TargetRange:
    known = releases().resolve(release)
    accepts, marked = _accepts(known, api_key), known.deprecated(api_key)
    newest = _accepts(releases().newest, api_key)
    return TargetRange(
        release=known.name,
        accepts=None if accepts is None else (accepts.lowest, accepts.highest),
        since=None if accepts is not None else next((one.minor for one in releases() if one > known and _accepts(one, api_key)), None),
        marks={} if marked is None else {version: _later(known, api_key, version) for version in marked},
        off_by_default=api_key == _CONSUMER_GROUP_HEARTBEAT and known.minor in _PREVIEWS_OF_KIP_848,
        takes_raw_gssapi=known.takes_raw_gssapi,
        short=releases().short_name(known.name),
        is_release=not isinstance(known, Target),
        beyond=isinstance(known, Target) and accepts is not None and newest is not None and accepts.lowest > newest.lowest,
        held=isinstance(known, Target) and api_key in known.accepted,
        unread=known.unread.get(api_key, {}) if isinstance(known, Target) else {},
        earlier=known.earlier.get(api_key, {}) if isinstance(known, Target) else {},
    )


def _later(release: Release, api_key: int, version: int) -> LaterReleases:
    """Return how later releases treat a deprecated version; not every one is removed (KIP-896)."""
    newest = releases().newest_per_minor()
    marked = [one.minor for one in newest if version in (one.deprecated(api_key) or ())]
    if release.minor not in marked:  # an older patch, which marks more than the newest of its line
        marked = sorted([*marked, release.name], key=release_key)
    later = [one for one in newest if one > release and one.minor != release.minor]
    refusing = next((one for one in later if _refuses(one, api_key, version)), None)
    patches = [one.name for one in releases() if one > release and _refuses(one, api_key, version)] if refusing is None else []
    whole = refusing is not None and all(_refuses(one, api_key, version) for one in releases() if one.minor == refusing.minor)
    return LaterReleases(
        marked_by=tuple(marked),
        newest=newest[-1].minor,
        refusing=None if refusing is None else refusing.minor if whole else refusing.name,
        at_refusal=None if refusing is None else target_range(refusing.name, api_key),
        only_patches=tuple(patches),
    )


def accepts(release: str, api_key: int, version: int) -> bool:
    return not _refuses(releases()[release], api_key, version)


def _refuses(release: Release, api_key: int, version: int) -> bool:
    accepted = _accepts(release, api_key)
    return accepted is None or version not in accepted


def highest_by_name(ranges: Mapping[int, Range]) -> dict[str, int]:
    named = {catalog().api_name(key): high for key, (_low, high) in ranges.items()}
    return {name: high for name, high in named.items() if name is not None}


@cache
def broker_highest(release: str) -> Mapping[str, int]:
    """Return the highest version that brokers of a release accept of each api, by api name.

    An unknown release, such as a newer patch, is treated as the newest known one before it.
    """
    try:
        known = releases().resolve(release)
    except InputError:
        before = [one for one in releases() if one.key <= release_key(release)]
        if not before:
            return {}
        known = before[-1]
    accepted = {key: _accepts(known, key) for key in known.api_keys}
    return highest_by_name({key: (versions.lowest, versions.highest) for key, versions in accepted.items() if versions is not None})


def fitting_releases(ranges: Mapping[int, Range], sent: Collection[str] = ()) -> list[str]:
    """Return the possible releases of a server, oldest first: the one named in its own requests, else those that match its ranges."""
    fitting = guess(ranges)
    named = [release for release in sent if release in (fitting or releases())]
    return named if len(named) == 1 else fitting


def releases_text(fitting: Sequence[str]) -> str | None:
    """Format releases, oldest first: `4.0.0`, or `3.9 (3.9.0 to 3.9.2)`; None if there are none."""
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    lines = dict.fromkeys(map(line_of, (fitting[0], fitting[-1])))
    return f"{' to '.join(lines)} ({fitting[0]} to {fitting[-1]})"


def guess_release(fitting: Sequence[str]) -> str | None:
    """Choose the brokers' release for verdicts: among several, the newest patch of the oldest minor version."""
    return next((release for release in reversed(fitting) if line_of(release) == line_of(fitting[0])), None)


def default_targets(observed: Iterable[str]) -> list[str]:
    """Return the newest patch of each minor version from the oldest observed broker's to the newest.

    Without an observed broker, start at 3.9, the last minor version that accepts everything older ones accept.
    """
    oldest = min(observed, key=release_key, default=_LAST_TOLERANT)
    return [release.name for release in releases().newest_per_minor(oldest)]
