"""Releases against a table that was read from Kafka's classes by another program, and against what KIPs and release notes say."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from kwire.errors import InputError
from kwire.schema import Release, Versions, error_name, guess, releases

DATA = Path(__file__).parent / "schema_data"
LISTENERS = ("zk_broker", "broker", "controller")


def _cases() -> list[tuple[str, dict[str, Any]]]:
    """(full release name, api) for every api of every release that was read."""
    found = []
    for minor in json.loads(gzip.decompress((DATA / "releases.json.gz").read_bytes()))["releases"]:
        for name in (minor["read_from"], *minor["also_read"]):
            apis = {api["api_key"]: api for api in minor["apis"]}
            apis |= {api["api_key"]: api for api in (minor["differs_in"] or {}).get(name, [])}
            found += [(name, api) for api in apis.values()]
    return found


def _pair(versions: Versions | None) -> list[int] | None:
    return None if versions is None else [versions.lowest, versions.highest]


def test_every_release_is_as_kafkas_classes_say() -> None:
    cases = _cases()
    assert len(cases) == 3940
    for name, api in cases:
        release, key = releases()[name], api["api_key"]
        for listener in release.listeners:
            place = (name, api["name"], listener)
            accepts, advertises = api["accepts"], api["advertises"]
            assert _pair(release.accepts(key, listener)) == accepts.get(listener), place
            assert _pair(release.advertises(key, listener)) == advertises.get(listener), place
            unstable = api.get("accepts_with_unstable", accepts)
            assert _pair(release.accepts(key, listener, unstable=True)) == unstable.get(listener), place
            unstable = api.get("advertises_with_unstable", advertises)
            assert _pair(release.advertises(key, listener, unstable=True)) == unstable.get(listener), place
        deprecated = release.deprecated(key)
        assert (None if deprecated is None else str(deprecated)) == api["deprecated_versions"], (name, api["name"])


def test_no_release_has_apis_that_its_classes_do_not_have() -> None:
    known: dict[str, set[int]] = {}
    for name, api in _cases():
        known.setdefault(name, set()).add(api["api_key"])
    for name, keys in known.items():
        assert set(releases()[name].api_keys) <= keys, name


@pytest.mark.requirement("K511-44", "K35-37")
def test_4x_advertises_produce_from_0_and_accepts_it_from_3() -> None:
    for name in ("4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0"):
        accepts, advertises = releases()[name].accepts(0), releases()[name].advertises(0)
        assert accepts is not None
        assert advertises is not None
        assert (accepts.lowest, advertises.lowest) == (3, 0), name
    assert releases()["4.4.0"].accepts(0) == Versions(3, 13)


def test_patch_releases_differ() -> None:
    assert releases()["4.0.0"].accepts(11) == Versions(2, 9)
    assert releases()["4.0.2"].accepts(11) == Versions(0, 9)
    assert releases()["3.9.0"].deprecated(3) == Versions(0, 3)
    assert releases()["3.9.2"].deprecated(3) is None
    assert releases()["3.9.1"].deprecated(11) == Versions(0, 1)


def test_before_apiversions_brokers_accept_but_do_not_advertise() -> None:
    known = releases()
    assert known["0.8.0"].api_keys == list(range(8))
    assert known["0.8.1.1"].accepts(9) == Versions(0, 0)
    assert known["0.8.2.2"].accepts(8) == Versions(0, 1)
    assert known["0.8.2.2"].accepts(11) is None, "0.8.2 names JoinGroup but does not handle it"
    assert known["0.9.0.1"].accepts(0) == Versions(0, 1)
    assert known["0.9.0.1"].accepts(8) == Versions(0, 2)
    assert known["0.9.0.1"].accepts(16) == Versions(0, 0)
    assert known["0.9.0.1"].accepts(17) is None
    assert not any(release.advertised() for release in known if release < known["0.10.0.0"])
    assert known["0.10.0.0"].advertises(18) == Versions(0, 0)


def test_kinds_of_nodes() -> None:
    assert releases()["2.7.2"].listeners == ("zk_broker",)
    assert releases()["3.9.2"].listeners == LISTENERS
    assert releases()["4.0.0"].listeners == ("broker", "controller")
    assert releases()["2.7.2"].accepts(4) == releases()["2.7.2"].accepts(4, "zk_broker") is not None
    assert releases()["3.9.2"].accepts(4) is None, "LeaderAndIsr is for ZooKeeper brokers"
    assert releases()["3.9.2"].accepts(4, "zk_broker") == Versions(0, 7)
    assert releases()["4.4.0"].accepts(52) is None
    assert releases()["4.4.0"].accepts(52, "controller") == Versions(0, 2)
    with pytest.raises(InputError, match="'zookeeper' is not a kind of Kafka node"):
        releases()["4.4.0"].accepts(52, "zookeeper")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("4.0", "4.0.2"), ("4.0.0", "4.0.0"), ("3.9", "3.9.2"), ("3.9.0", "3.9.0"), ("4", "4.4.0"), ("0.10.2", "0.10.2.2"),
        ("0.9", "0.9.0.1"), ("0.8.2", "0.8.2.2"), (" 2.8 ", "2.8.2"),
    ],
)  # fmt: skip
def test_resolve(text: str, name: str) -> None:
    assert releases().resolve(text).name == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("4.9", r"unknown Kafka release 4\.9 \(near it: 4\.3\.1, 4\.4\.0; `kwire catalog releases` lists all\)"),
        ("3.9.7", r"unknown Kafka release 3\.9\.7 \(near it: 3\.9\.1, 3\.9\.2, 4\.0\.0, 4\.0\.1; `kwire catalog releases` lists all\)"),
        ("newest", r"'newest' is not a Kafka release; releases look like 3\.9 or 4\.0\.2\."),
        ("", r"'' is not a Kafka release; .*"),
    ],
)
def test_unknown_releases_are_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}$"):
        releases().resolve(text)


def test_order() -> None:
    known = releases()
    assert known["0.10.2.2"] < known["0.11.0.0"] < known["1.0.0"] < known["3.9.2"] < known["4.0.0"]
    assert known.newest is known["4.4.0"]
    assert list(known) == sorted(known)
    assert [release.name for release in known.newest_per_minor("3.9")] == ["3.9.2", "4.0.2", "4.1.2", "4.2.2", "4.3.1", "4.4.0"]
    assert known.newest_per_minor("3.9.0")[0].name == "3.9.2"
    assert [release.name for release in known.newest_per_minor()][:5] == ["0.8.0", "0.8.1.1", "0.8.2.2", "0.9.0.1", "0.10.0.1"]
    assert (known["0.10.2.1"].minor, known["3.9.2"].minor) == ("0.10.2", "3.9")


def test_releases_travel() -> None:
    release = releases()["4.0.2"]
    copied: Release = pickle.loads(pickle.dumps(release))
    assert copied == release
    assert copied.accepts(11) == Versions(0, 9)


def test_guess_from_what_a_broker_advertises() -> None:
    known = releases()
    for release in known:
        for listener in release.listeners:
            ranges = release.advertised(listener)
            if ranges:
                fitting = guess(ranges)
                assert release.name in fitting
                without_telemetry = {key: versions for key, versions in ranges.items() if key not in (71, 72)}
                assert guess(without_telemetry) == fitting
    assert guess(known["4.0.0"].advertised()) == ["4.0.0"]
    assert guess(known["4.4.0"].advertised("controller")) == ["4.4.0"]
    assert guess(known["2.8.0"].advertised()) == ["2.8.0", "2.8.1", "2.8.2"]


def test_guess_when_apis_are_held_back_or_nothing_fits() -> None:
    ranges = releases()["3.6.1"].advertised()
    del ranges[56 if 56 in ranges else 57]
    assert guess(ranges) == ["3.6.0", "3.6.1", "3.6.2"]
    del ranges[1]  # Fetch, which every broker offers
    assert guess(ranges) == []
    assert guess({0: (0, 99)}) == []
    assert guess({}) == []


@pytest.mark.parametrize(
    ("code", "name"),
    [(0, "NONE"), (-1, "UNKNOWN_SERVER_ERROR"), (35, "UNSUPPORTED_VERSION"), (3, "UNKNOWN_TOPIC_OR_PARTITION"),
     (16, "NOT_COORDINATOR"), (27, "REBALANCE_IN_PROGRESS"), (42, "INVALID_REQUEST"), (999, "999"), (-7, "-7")],
)  # fmt: skip
def test_error_names(code: int, name: str) -> None:
    assert error_name(code) == name
