"""Fixes of libraries against runs: `client_runs.json` has how builds of clients ended on a real Kafka 4 broker.

`works` is what a person wants: records produced, consumed where the client consumes, and offsets committed. `sent` comes from a capture of
the same build on Kafka 3.9, which takes every version.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kwire.analysis.library_profiles import Library, known_libraries, version_numbers
from kwire.analysis.release_ranges import target_range
from kwire.analysis.remedies import Software, remedy_of
from kwire.analysis.verdicts import Use, judge
from kwire.schema import catalog

RUNS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("client_runs.json").read_text())
LIBRARIES = {library.name: library for library in known_libraries()}
FIXES = [
    pytest.param(library, fix, id=f"{library.name}-{fix.kind}-{fix.version}") for library in known_libraries() for fix in library.fixes
]
KEYS = {catalog().api_name(key): key for key in catalog().api_keys}


def numbers(version: str) -> tuple[int, ...]:
    return version_numbers(version) or ()


def refused(run: dict[str, Any]) -> list[tuple[str, int]]:
    """What the build sends and Kafka 4 does not take."""
    uses = [(api, version) for api, versions in run.get("sent", {}).items() for version in versions]
    ranges = {api: target_range(run["release"], KEYS[api]).accepts for api, _ in uses}
    return [(api, version) for api, version in uses if api != "ApiVersions" and not (ranges[api] and version >= ranges[api][0])]  # type: ignore[index]


def remedy(library: Library, version: str, api: str, api_version: int, release: str) -> Any:
    use = Use(api_name=api, api_version=api_version, broker_highest=99, negotiates=True)
    target = target_range(release, KEYS[api])
    return remedy_of(use, judge(use, target), target, Software(library.name, version_numbers(version), library.fixes))


@pytest.mark.parametrize(("library", "fix"), FIXES)
def test_every_fix_was_tried_or_names_its_source(library: Library, fix: Any) -> None:
    found = re.fullmatch(r"run: (.*)", fix.proof)
    if found is None:
        assert re.match(r"\S+ \d+\.\d+.*: \S+:\d+", fix.proof), fix.proof
        return
    (run,) = [each for each in RUNS if each["run"] == found[1]]
    assert run["library"] == library.name.partition(" ")[0]
    if fix.kind == "config":
        assert run["produced"] == run["consumed"] == 20
    elif fix.version is None:
        assert not run["works"]
    else:
        assert run["works"]
        assert fix.version in fix.remedy
        assert numbers(run["version"])[:2] == numbers(fix.version)[:2]


@pytest.mark.parametrize("run", [run for run in RUNS if refused(run)], ids=lambda run: str(run["run"]))
def test_each_use_that_is_refused_gets_a_fix_that_the_build_does_not_have(run: dict[str, Any]) -> None:
    assert not run["works"]
    library = LIBRARIES[run["library"]]
    for api, version in refused(run):
        found = remedy(library, run["version"], api, version, run["release"])
        assert found.kind in ("library", "config")
        assert found.kind == "config" or found.version is None or numbers(found.version) > numbers(run["version"])


@pytest.mark.parametrize("run", [run for run in RUNS if run["works"]], ids=lambda run: str(run["run"]))
def test_a_build_that_has_the_fix_sends_nothing_that_is_refused(run: dict[str, Any]) -> None:
    assert refused(run) == []


@pytest.mark.parametrize("run", [run for run in RUNS if not run["works"]], ids=lambda run: str(run["run"]))
def test_no_fix_is_a_version_that_was_seen_to_fail(run: dict[str, Any]) -> None:
    failed = numbers(run["version"])
    for fix in LIBRARIES[run["library"]].fixes:
        assert fix.kind == "config" or fix.version is None or numbers(fix.version) > failed


def test_a_fix_belongs_to_an_api() -> None:
    """sarama up to 1.40.1 commits with v1 whatever `Version` is set: five commits of five were cut off by Kafka 4.4.0."""
    sarama = LIBRARIES["sarama"]
    commit, produce, fetch = (remedy(sarama, "1.27.2", *use, "4.4.0") for use in (("OffsetCommit", 1), ("Produce", 2), ("Fetch", 3)))
    assert (commit.kind, commit.version) == ("library", "1.41")
    assert (produce.kind, produce.version) == (fetch.kind, fetch.version) == ("config", "V2_1_0_0")
    assert "Version" in produce.text
