"""Releases as verdicts see them, by facts that differ from what one would guess."""

from __future__ import annotations

import pytest

from kwire.analysis.release_ranges import (
    api_key_of,
    broker_highest,
    default_targets,
    guess_release,
    line_of,
    resolve_release,
    target_range,
)  # fmt: skip
from kwire.errors import InputError
from kwire.schema import releases

PRODUCE, FETCH, METADATA, JOIN_GROUP, LEADER_AND_ISR = 0, 1, 3, 11, 4


def test_accepting_not_advertising_decides() -> None:
    """4.x advertises Produce from v0 on and refuses what is below v3 (KAFKA-18659)."""
    assert target_range("4.3.1", PRODUCE).accepts == (3, 13)


def test_patches_differ() -> None:
    assert target_range("4.0.0", JOIN_GROUP).accepts == (2, 9)
    assert target_range("4.0.2", JOIN_GROUP).accepts == (0, 9)
    assert 3 in target_range("3.9.0", METADATA).marks
    assert not target_range("3.9.2", METADATA).marks


def test_what_becomes_of_marked_versions() -> None:
    """Kafka 4.0 took Fetch v0 to v3 away (KIP-896), kept Metadata v0 to v3, and lacked JoinGroup v0 and v1 in 4.0.0 alone."""
    fetch, metadata = target_range("3.9.2", FETCH).marks[3], target_range("3.8.1", METADATA).marks[3]
    join = target_range("3.8.1", JOIN_GROUP).marks[1]
    assert (fetch.marked_by, fetch.refusing, fetch.only_patches) == (("3.7", "3.8", "3.9"), "4.0", ())
    assert fetch.at_refusal is not None
    assert fetch.at_refusal.accepts == (4, 17)
    assert (metadata.marked_by, metadata.refusing, metadata.only_patches) == (("3.7", "3.8"), None, ())
    assert (join.marked_by, join.refusing, join.only_patches) == (("3.7", "3.8"), None, ("4.0.0",))
    assert target_range("3.9.0", METADATA).marks[3].marked_by == ("3.7", "3.8", "3.9.0")


def test_an_api_that_was_removed_has_no_range() -> None:
    assert target_range("3.9.2", LEADER_AND_ISR).accepts is not None
    assert target_range("4.3.1", LEADER_AND_ISR).accepts is None


def test_a_line_means_its_newest_patch() -> None:
    assert resolve_release("4.0") == "4.0.2"
    assert resolve_release("4.0.0") == "4.0.0"
    with pytest.raises(InputError, match=r"9\.9"):
        resolve_release("9.9")


def test_lines_before_1_0_have_three_numbers() -> None:
    assert line_of("0.10.2.2") == "0.10.2"
    assert line_of("4.0.2") == "4.0"


def test_default_targets_go_from_the_oldest_broker_to_the_newest_release() -> None:
    targets = default_targets(["4.1.2", "3.9.0"])
    assert targets[:3] == ["3.9.2", "4.0.2", "4.1.2"]
    assert targets[-1] == releases().newest.name
    assert default_targets([]) == targets


def test_a_release_is_guessed_from_what_it_advertises() -> None:
    for name in ("0.10.2.2", "2.8.2", "3.9.2", "4.3.1"):
        ranges = {key: (versions.lowest, versions.highest) for key, versions in releases()[name].advertised().items()}
        found = guess_release(ranges)
        assert found is not None
        assert line_of(found) == line_of(name)
    assert guess_release({0: (0, 3000)}) is None


def test_highest_versions_by_name() -> None:
    assert broker_highest("2.8.2")["Produce"] == 9
    assert broker_highest("2.8")["Produce"] == 9
    assert broker_highest("0.1") == {}
    assert api_key_of("FindCoordinator") == 10
