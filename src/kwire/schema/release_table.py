"""Versions that brokers of each Kafka release accept, advertise and mark deprecated, from 0.8.0 to the newest release.

The three differ: 4.x brokers advertise Produce from version 0, so that old librdkafka can connect, but accept it from 3 (KIP-896). The
data is computed from the published jars by `tools/build_catalog.py`; before 0.10 there is no ApiVersions, so nothing is advertised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, total_ordering
from types import MappingProxyType
from typing import Any, Final

from kwire.errors import InputError
from kwire.schema.model import Field, Versions
from kwire.schema.stored import read_data

__all__ = ["LISTENERS", "Release", "Releases", "Target", "guess", "name_in", "release_key", "releases"]

LISTENERS: Final = ("zk_broker", "broker", "controller")
_TARGET_NAME: Final = re.compile(r"(?=\D|.*:)[\w.:\[\]-]{1,255}")

# A broker without a telemetry receiver plugin does not advertise GetTelemetrySubscriptions and PushTelemetry (KIP-714).
_TELEMETRY: Final = frozenset((71, 72))
# APIs that a broker leaves out while an older message format (ApiKeys.minRequiredInterBrokerMagic) or an older controller, to which it
# forwards (ApiKeys.forwardable), is in force.
_HELD_BACK: Final = _TELEMETRY | {19, 20, *range(22, 29), 30, 31, 33, *range(37, 41), *range(43, 47), 49, 51, 55, 57, 64, 80, 81}


def release_key(name: str) -> tuple[int, ...]:
    """Return the sort key of a release: `3.9.2` -> (3, 9, 2). Raises InputError: not numbers with dots between."""
    try:
        return tuple(int(part) for part in name.split("."))
    except ValueError:
        raise InputError(f"{name!r} is not a Kafka release; releases look like 3.9 or 4.0.2.") from None


def name_in(field: Field, minor: str) -> str:
    former = sorted((release_key(last), name) for name, last in field.former_names)
    return next((name for last, name in former if release_key(minor) <= last), field.name)


@dataclass(frozen=True, slots=True)
class _Api:
    accepts: Mapping[str, Versions]
    advertises: Mapping[str, Versions]
    accepts_with_unstable: Mapping[str, Versions]
    advertises_with_unstable: Mapping[str, Versions]
    deprecated: Versions

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> _Api:
        def ranges(name: str, otherwise: Mapping[str, Versions]) -> Mapping[str, Versions]:
            return {listener: Versions.parse(text) for listener, text in row[name].items()} if name in row else otherwise

        accepts = ranges("accepts", {})
        advertises = ranges("advertises", accepts)
        return cls(
            accepts,
            advertises,
            ranges("accepts_with_unstable", accepts),
            ranges("advertises_with_unstable", advertises),
            Versions.parse(row.get("deprecated")),
        )


@total_ordering
class Release:
    """A Kafka release such as `3.9.2`, ordered by number."""

    def __init__(self, name: str, apis: Mapping[int, _Api]) -> None:
        self.name = name
        self._apis = apis

    @cached_property
    def key(self) -> tuple[int, ...]:
        return release_key(self.name)

    @property
    def minor(self) -> str:
        """`3.9` of `3.9.2`; before 1.0 minor releases had three numbers, `0.10.2` of `0.10.2.1`."""
        return ".".join(map(str, self.key[: 3 if self.key[0] == 0 else 2]))

    @property
    def title(self) -> str:
        """`Kafka 3.9.2`; of a target, its name."""
        return f"Kafka {self.name}"

    @property
    def takes_raw_gssapi(self) -> bool:
        """True if brokers accept GSSAPI tokens without SaslHandshake, as clients before KIP-43 send them; 4.0 removed it (KAFKA-18339)."""
        return self.key < (4,)

    @cached_property
    def listeners(self) -> tuple[str, ...]:
        """Kinds of node of the release: `zk_broker` up to 3.9, `broker` (KRaft) and `controller` from 2.8 on."""
        found = {listener for api in self._apis.values() for listener in api.accepts}
        return tuple(listener for listener in LISTENERS if listener in found)

    @property
    def api_keys(self) -> list[int]:
        """Apis that any listener of the release accepts or advertises, in order."""
        return sorted(key for key, api in self._apis.items() if api.accepts or api.advertises)

    def _kind(self, listener: str) -> str:
        if listener not in LISTENERS:
            raise InputError(f"{listener!r} is not a kind of Kafka node; there are {', '.join(LISTENERS)}.")
        return "zk_broker" if listener == "broker" and "broker" not in self.listeners else listener

    def accepts(self, api_key: int, listener: str = "broker", *, unstable: bool = False) -> Versions | None:
        """Return the versions that a node of this release answers, None if it does not know the api.

        Arguments:
            listener: kind of node; `broker` of a release before KRaft (2.8) is its ZooKeeper broker.
            unstable: with `unstable.api.versions.enable` (KAFKA-14304).

        Raises:
            InputError: no such kind of node.
        """
        api = self._apis.get(api_key)
        if api is None:
            return None
        return (api.accepts_with_unstable if unstable else api.accepts).get(self._kind(listener))

    def accepts_anywhere(self, api_key: int, *, unstable: bool = False) -> Versions | None:
        """Return the range of versions that any kind of node of this release answers; None if none has the api."""
        api = self._apis.get(api_key)
        if api is None:
            return None
        ranges = (api.accepts_with_unstable if unstable else api.accepts).values()
        return Versions(min(each.lowest for each in ranges), max(each.highest for each in ranges)) if ranges else None

    def advertises(self, api_key: int, listener: str = "broker", *, unstable: bool = False) -> Versions | None:
        """Return the versions in the release's ApiVersions response, None without the api; arguments as in `accepts`.

        Telemetry apis (KIP-714) are included as if enabled. Nothing is advertised before 0.10.

        Raises:
            InputError: no such kind of node.
        """
        api = self._apis.get(api_key)
        if api is None:
            return None
        return (api.advertises_with_unstable if unstable else api.advertises).get(self._kind(listener))

    def deprecated(self, api_key: int) -> Versions | None:
        """Return the accepted versions that the release marks deprecated (KIP-896), or None."""
        api = self._apis.get(api_key)
        return api.deprecated or None if api is not None else None

    def advertised(self, listener: str = "broker", *, unstable: bool = False) -> dict[int, Versions]:
        """Return the whole ApiVersions response of a node: versions by api key."""
        ranges = ((key, self.advertises(key, listener, unstable=unstable)) for key in sorted(self._apis))
        return {key: versions for key, versions in ranges if versions is not None}

    @cached_property
    def responses(self) -> tuple[dict[int, Versions], ...]:
        """ApiVersions responses of all kinds of node, with and without unstable versions."""
        found = [self.advertised(listener, unstable=unstable) for listener in self.listeners for unstable in (False, True)]
        return tuple(full for place, full in enumerate(found) if full and full not in found[:place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.name == other.name

    def __lt__(self, other: Release) -> bool:
        return self.key < other.key

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Release({self.name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _named, (self.name,)


def _named(name: str) -> Release:
    return releases()[name]


class Target(Release):
    """Brokers whose answer to ApiVersions is that of no Kafka release: what they advertise counts as accepted, but for `accepted`.

    Attributes:
        ranges: lowest and highest version by API key.
        source: where the answer is from.
        date: when it was given, as `2026-11-29`.
        accepted: versions that clients could use in a run, of APIs where those are not `ranges`.
        unread: answers that a library cannot read, by API key and library: the first such version, and the library's release with the fix,
            empty if none has it. The library "" stands for those that no run tried.
        earlier: libraries that can use versions below `accepted`, by API key, and the first release of each that can.
    """

    def __init__(
        self,
        name: str,
        ranges: Mapping[int, tuple[int, int]],
        source: str,
        date: str,
        accepted: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        unread: Mapping[int, Mapping[str, tuple[int, str]]] = MappingProxyType({}),
        earlier: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        if not _TARGET_NAME.fullmatch(name):
            raise InputError(f"{name!r} cannot name a target: expected a letter, then letters, digits and . _ : [ ] -")
        apis = {}
        for key, advertised in ranges.items():
            spans = ("accepts", accepted.get(key, advertised)), ("advertises", advertised)
            apis[key] = _Api.of({kind: {"broker": f"{low}-{high}"} for kind, (low, high) in spans})
        super().__init__(name, apis)
        self.ranges, self.source, self.date, self.accepted, self.unread = dict(ranges), source, date, dict(accepted), dict(unread)
        self.earlier = dict(earlier)

    @property
    def key(self) -> tuple[int, ...]:  # has no number; no feature of a release is taken for granted
        return ()

    @property
    def minor(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and (self.name, self.ranges, self.accepted) == (other.name, other.ranges, other.accepted)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        return Target, (self.name, self.ranges, self.source, self.date, self.accepted, self.unread, self.earlier)


class Releases:
    """All releases, oldest first; `spans` has the state of each API key from a release on (`since`)."""

    def __init__(self, names: list[str], spans: Mapping[str, list[Mapping[str, Any]]]) -> None:
        self.names = tuple(names)
        states: dict[str, dict[int, _Api]] = {name: {} for name in names}
        place = {name: position for position, name in enumerate(names)}
        for key, rows in spans.items():
            ends = [place[row["since"]] for row in rows[1:]] + [len(names)]
            for row, end in zip(rows, ends, strict=True):
                if "accepts" in row:
                    api = _Api.of(row)
                    for name in names[place[row["since"]] : end]:
                        states[name][int(key)] = api
        self._all = {name: Release(name, apis) for name, apis in states.items()}

    def __getitem__(self, name: str) -> Release:
        return self._all[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[Release]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    @property
    def newest(self) -> Release:
        return self._all[self.names[-1]]

    def resolve(self, text: str | Release) -> Release:
        """Return the release of this name, else the newest whose name begins with these numbers: `4.0` is 4.0.2, `4.0.0` is itself.

        A release is itself.

        Raises:
            InputError: no release fits; names near ones.
        """
        if isinstance(text, Release):
            return text
        text = text.strip()
        if text in self._all:
            return self._all[text]
        wanted = release_key(text)
        fitting = [release for release in self if release.key[: len(wanted)] == wanted]
        if fitting:
            return fitting[-1]
        below = [release.name for release in self if release.key < wanted][-2:]
        above = [release.name for release in self if release.key > wanted][:2]
        raise InputError(f"unknown Kafka release {text} (near it: {', '.join(below + above)}; `kwire catalog releases` lists all)")

    def short_name(self, name: str) -> str:
        """Return the display name of a release: `4.0` for the newest patch of a line, else the full name."""
        return self[name].minor if name in self and self.resolve(self[name].minor).name == name else name

    def newest_per_minor(self, since: str | None = None) -> list[Release]:
        """Return the newest patch of each minor release, oldest first, from the minor release `since` on.

        Raises:
            InputError: no release fits `since`.
        """
        newest = {release.minor: release for release in self}
        start = None if since is None else newest[self.resolve(since).minor]
        return [release for release in newest.values() if start is None or release >= start]


@cache
def releases() -> Releases:
    """Return the releases that kwire knows."""
    data = read_data("releases.json")
    return Releases(data["releases"], data["apis"])


def guess(ranges: Mapping[int, Versions | tuple[int, int]]) -> list[str]:
    """Return the releases whose brokers or controllers advertise these ranges, oldest first.

    A release fits when its ApiVersions response, of any kind of node and with or without unstable versions, has the same ranges; telemetry
    APIs may be absent. When none fits whole, those that a broker leaves out while an older message format or controller is in force may be
    absent too: then the releases that miss least. An answer that was cut, or is not Apache Kafka's, fits none.

    Arguments:
        ranges: from an ApiVersions response, API key to (lowest, highest).
    """
    given = {key: value if isinstance(value, Versions) else Versions(*value) for key, value in ranges.items()}
    missing: dict[int, list[str]] = {}
    for release in releases():
        fitting = [full for full in release.responses if all(full.get(key) == versions for key, versions in given.items())]
        absent = [full.keys() - given.keys() for full in fitting if full.keys() - given.keys() <= _HELD_BACK]
        if given and absent:
            missing.setdefault(min(len(keys - _TELEMETRY) for keys in absent), []).append(release.name)
    return missing[min(missing)] if missing else []
