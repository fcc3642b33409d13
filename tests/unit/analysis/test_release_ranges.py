"""Releases as verdicts see them, by facts that differ from what one would guess."""

from __future__ import annotations

import pytest

from kwire.analysis.release_ranges import (
    broker_highest,
    default_targets,
    fitting_releases,
    guess_release,
    line_of,
    releases_text,
    target_range,
)  # fmt: skip
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


def test_lines_before_1_0_have_three_numbers() -> None:
    assert line_of("0.10.2.2") == "0.10.2"
    assert line_of("4.0.2") == "4.0"


def test_default_targets_go_from_the_oldest_broker_to_the_newest_release() -> None:
    targets = default_targets(["4.1.2", "3.9.0"])
    assert targets[:3] == ["3.9.2", "4.0.2", "4.1.2"]
    assert targets[-1] == releases().newest.name
    assert default_targets([]) == targets


def advertised(name: str) -> dict[int, tuple[int, int]]:
    return {key: (versions.lowest, versions.highest) for key, versions in releases()[name].advertised().items()}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("0.10.2.1", "0.10.2 (0.10.2.0 to 0.10.2.2)"),
        ("3.9.1", "3.9 (3.9.0 to 3.9.2)"),
        ("4.0.0", "4.0.0"),
        ("4.0.1", "4.0 (4.0.1 to 4.0.2)"),
        ("3.3.1", "3.3 to 3.4 (3.3.0 to 3.4.1)"),
        ("4.4.0", "4.4.0"),
    ],
)
def test_a_release_is_guessed_no_closer_than_its_ranges_say(name: str, text: str) -> None:
    """The ranges of all patches of 3.9 are alike, those of 4.0.0 differ from 4.0.1 (JoinGroup v0 and v1 came back)."""
    fitting = fitting_releases(advertised(name))
    assert releases_text(fitting) == text
    assert line_of(guess_release(fitting) or "") == line_of(fitting[0])


def test_a_broker_that_names_its_release_has_it() -> None:
    assert fitting_releases(advertised("3.9.1"), ["3.9.1"]) == ["3.9.1"]
    assert fitting_releases({}, ["3.9.1"]) == ["3.9.1"]  # its answer was cut
    assert fitting_releases(advertised("3.9.1"), ["4.0.0", "7.6.0-ccs"]) == ["3.9.0", "3.9.1", "3.9.2"]


@pytest.mark.parametrize("kept", range(1, 70))
def test_an_answer_that_was_cut_fits_no_other_release(kept: int) -> None:
    """A broker of 4.4.0 whose answer was cut at 96 bytes is not one of 4.1.2, and one that lacks APIs (tansu) is none."""
    whole = advertised("4.4.0")
    assert fitting_releases({key: whole[key] for key in sorted(whole)[:kept]}) == []


def test_nothing_is_no_release() -> None:
    assert (releases_text([]), guess_release([])) == (None, None)
    assert fitting_releases({0: (0, 3000)}) == []


def test_highest_versions_by_name() -> None:
    assert broker_highest("2.8.2")["Produce"] == 9
    assert broker_highest("2.8")["Produce"] == 9
    assert broker_highest("0.1") == {}
