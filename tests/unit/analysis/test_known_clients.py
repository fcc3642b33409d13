"""What is known of libraries, against what each of them did on a real 4.x broker."""

from __future__ import annotations

import pytest

from kwire.analysis.known_clients import library_of
from kwire.analysis.library_guesses import guess_unnamed
from unnamed_clients import guessed, known_of, observed

PRODUCE_OF_4X = 3
LIST_OFFSETS_OF_4X = 1


@pytest.mark.parametrize(
    ("name", "version", "library"),
    [
        ("apache-kafka-java", "3.9.2", "apache-kafka-java"),
        ("confluent-kafka-python", "1.4.2-rdkafka-1.4.2", "librdkafka"),
        ("librdkafka", "2.0.2", "librdkafka"),
        ("sarama", "v1.50.3", "sarama"),
        ("kgo", "v1.22.2", "franz-go"),
        ("somebody-elses", "1", None),
        ("unknown", "unknown", None),
        (None, None, None),
    ],
)
def test_libraries_are_known_by_the_names_they_send(name: str | None, version: str | None, library: str | None) -> None:
    assert library_of(name, version) == library


@pytest.mark.parametrize(("version", "breaks"), [("1.4.2", True), ("1.5.0", True), ("1.6.1", True), ("1.9.2", False), ("2.16.0", False)])
def test_librdkafka_cannot_list_offsets_on_4x_up_to_1_6(version: str, breaks: bool) -> None:
    """confluent-kafka 0.11.6 to 1.6.1 cannot consume from 4.x, 1.9.2 can."""
    known = known_of("confluent-kafka-python", f"{version}-rdkafka-{version}", None, "ListOffsets")
    assert known.certain
    assert (known.at_most is not None and known.at_most < LIST_OFFSETS_OF_4X) == breaks
    assert (known.at_least is not None and known.at_least >= LIST_OFFSETS_OF_4X) != breaks


def test_between_two_known_versions_nothing_is_claimed() -> None:
    known = known_of("librdkafka", "1.8.0", None, "ListOffsets")
    assert (known.at_least, known.at_most) == (0, 2)


def test_a_java_client_has_the_versions_of_its_release() -> None:
    known = known_of("apache-kafka-java", "3.9.2", None, "Produce")
    assert (known.at_least, known.at_most) == (11, 11)


def test_a_java_client_newer_than_every_known_release_is_no_older_than_the_newest() -> None:
    known = known_of("apache-kafka-java", "99.0.0", None, "Produce")
    assert known.at_least is not None
    assert known.at_least >= 13


def test_a_client_that_sends_no_name_is_known_by_what_it_sends() -> None:
    """kafka-go 0.4 as seen on 3.9."""
    guess = guessed(
        observed(
            Produce={8}, Fetch={10}, ListOffsets={1}, Metadata={6, 8}, OffsetCommit={2}, OffsetFetch={1}, JoinGroup={2}, ApiVersions={0}
        )
    )
    assert (guess.library.name, guess.after, guess.before, guess.confidence) == ("kafka-go", "0.4.42", None, "medium")


def test_a_client_that_negotiates_is_held_down_by_its_broker() -> None:
    """Java 1.1.1 on 0.10.2: it asks ApiVersions v1 first and sends what the broker has."""
    highest = {
        "Produce": 2, "Fetch": 3, "ListOffsets": 1, "Metadata": 2, "OffsetCommit": 2, "OffsetFetch": 2, "FindCoordinator": 0,
        "ApiVersions": 0,
    }  # fmt: skip
    guess = guessed(
        observed(
            True, highest, Produce={2}, Fetch={3}, ListOffsets={1}, Metadata={2}, OffsetFetch={2}, FindCoordinator={0}, ApiVersions={0, 1}
        )
    )
    assert guess.library.name == "apache-kafka-java"
    assert (guess.after, guess.before) == ("0.10.2", "2.0")
    known = known_of(None, None, guess, "Produce")
    assert not known.certain
    assert known.at_least is not None
    assert known.at_least >= PRODUCE_OF_4X


def test_what_fits_two_libraries_or_shows_too_little_is_no_guess() -> None:
    held_down = {"Produce": 2, "Fetch": 3, "ListOffsets": 1, "Metadata": 2, "OffsetCommit": 2, "OffsetFetch": 2}
    versions = {"Produce": {2}, "Fetch": {3}, "ListOffsets": {1}, "Metadata": {2}, "OffsetCommit": {2}, "OffsetFetch": {2}}
    assert guess_unnamed(observed(True, held_down, **versions)) is None
    assert guess_unnamed(observed(Produce={8}, Metadata={6})) is None


def test_negotiating_or_not_is_part_of_the_fingerprint() -> None:
    versions = {"Produce": {2}, "Fetch": {1}, "ListOffsets": {1}, "Metadata": {1}, "OffsetCommit": {2}, "OffsetFetch": {1}}
    found = guessed(observed(False, **versions))
    assert found.library.name == "kafka-go"
    assert guess_unnamed(observed(True, **versions)) is None


@pytest.mark.parametrize(
    ("client_id", "text"),
    [
        ("kafka-python-2.0.2", "kafka-python 2.0.2"),
        ("kafka-python-producer-1", "kafka-python before 2.1.6 (tried: 1.3.0"),
        ("producer-1", "apache-kafka-java"),
        ("consumer-orders-3", "apache-kafka-java"),
        ("sarama", "sarama"),
        ("app@host (github.com/segmentio/kafka-go)", "kafka-go"),
    ],
)
def test_a_default_client_id_names_the_library_even_of_a_client_that_did_little(client_id: str, text: str) -> None:
    guess = guessed(observed(Metadata={1}), client_id)
    assert guess.text.startswith(text)


def test_a_default_client_id_leaves_only_its_own_library() -> None:
    """Held down by its broker, many libraries look like this; the id says which it is."""
    held_down = {"Produce": 2, "Fetch": 3, "ListOffsets": 1, "Metadata": 2, "OffsetCommit": 2, "OffsetFetch": 2}
    versions = {"Produce": {2}, "Fetch": {3}, "ListOffsets": {1}, "Metadata": {2}, "OffsetCommit": {2}, "OffsetFetch": {2}}
    guess = guessed(observed(True, held_down, **versions), "consumer-orders-3")
    assert guess.library.name == "apache-kafka-java"
    known = known_of(None, None, guess, "Produce")
    assert (known.at_least, known.at_most) == (2, 7)  # 0.10.2 to 2.3: it may be either side of what 4.x accepts
