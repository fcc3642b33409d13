"""Kafka's own classes accept what the proxy's rules make of answers, and what `Admin.describeFeatures` checks in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from edited_answers import API_VERSIONS, CAPPED, CONFIGURATIONS, Exchange, exchanges
from kwire.schema import releases
from quick_spark import java_program

OLDER = "3.9"  # the last with the versions that 4.0 removed


def verdicts(answers: list[Exchange], release: str, path: Path) -> list[str]:
    path.write_text("".join(f"{each.api_key} {each.body_version} {each.got.hex()}\n" for each in answers))
    done = java_program("AcceptAnswers", [str(path)], 300, release)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check(configurations: list[str], keys: tuple[int, ...] | None, seeds: int, path: Path) -> int:
    """How many answers Java's classes have taken."""
    found = [each for one in configurations for seed in range(seeds) for each in exchanges(one, keys, seed)]
    edited = [each for each in found if each.got and each.got != each.sent]
    taken = 0
    for release in (releases().newest.name, releases().resolve(OLDER).name):
        said = verdicts(edited, release, path)
        refused = [pair for pair in zip(said, edited, strict=True) if pair[0] not in ("ok", "unknown")]
        assert not refused, refused[0]
        taken += said.count("ok")
        edited = [each for each, verdict in zip(edited, said, strict=True) if verdict == "unknown"]
    return taken


@pytest.mark.parametrize("count", [1, pytest.param(20, marks=pytest.mark.matrix)])
def test_java_takes_edited_answers(count: int, tmp_path: Path) -> None:
    assert check(list(CONFIGURATIONS), None, count, tmp_path / "answers") > 500
    assert check(list(CONFIGURATIONS), (API_VERSIONS,), 10 * count, tmp_path / "versions") > 100


@pytest.mark.matrix
def test_java_takes_the_limits_of_every_release(tmp_path: Path) -> None:
    assert check(list(CAPPED), (API_VERSIONS,), 5, tmp_path / "answers") > 500
