"""Guesses of library versions, against versions that were left out of the table.

`client_versions.json` has what client versions sent: rows from brokers' logs of captures, and versions read from the libraries' sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kwire.analysis.known_clients import known_maximum, software_of
from kwire.analysis.library_guesses import Guess, Observed, guess_unnamed, widest
from kwire.analysis.library_profiles import Library, known_libraries
from kwire.analysis.release_ranges import broker_highest
from kwire.schema.version_numbers import version_numbers as numbers
from unnamed_clients import MODERN, guessed, known_of, observed

FACTS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("client_versions.json").read_text())


def label(fact: dict[str, Any]) -> str:
    return f"{fact['library']}-{fact['version']}-on-{fact['broker']}"


def seen(fact: dict[str, Any]) -> Observed:
    """What a capture shows of a client from its beginning: 0.9 does not answer ApiVersions, so its ranges are not known."""
    highest = {} if fact["broker"].startswith("0.9") else broker_highest(fact["broker"])
    return observed("ApiVersions" in fact["sent"], highest, **{api: set(versions) for api, versions in fact["sent"].items()})


def contains(guess: Guess, version: str) -> bool:
    """Whether a version lies in the range; a line of Kafka such as 0.10.2 stands for 0.10.2.2 too."""

    def lined(bound: str) -> tuple[int, ...]:
        return numbers(version)[: len(numbers(bound))] if guess.library.kafka_release else numbers(version)

    later = guess.after is None or lined(guess.after) > numbers(guess.after)
    return later and (guess.before is None or lined(guess.before) < numbers(guess.before))


def table(keep: Callable[[Library, str], bool]) -> list[Library]:
    return [replace(one, profiles=tuple(profile for profile in one.profiles if keep(one, profile.version))) for one in known_libraries()]


def known_as(library: Library, version: str) -> str | None:
    """The profile of a version: for Java that of its line."""
    lined = [known for known in library.versions if numbers(version)[: len(numbers(known))] == numbers(known)]
    return lined[0] if lined and (library.kafka_release or lined[0] == version) else None


def left_out() -> Iterator[Any]:
    """Facts with the half of the table that does not have their version."""
    for half in (0, 1):
        kept = table(lambda library, version, half=half: library.versions.index(version) % 2 == half)  # type: ignore[misc]
        for fact in FACTS:
            library = next(one for one in known_libraries() if one.name == fact["library"])
            known = known_as(library, fact["version"])
            if known is None or library.versions.index(known) % 2 != half:
                yield pytest.param(kept, fact, id=f"{label(fact)}-half-{half}")


@pytest.mark.parametrize(("libraries", "fact"), list(left_out()))
def test_a_version_that_was_left_out_of_the_table_is_in_the_range(libraries: list[Library], fact: dict[str, Any]) -> None:
    guess = guess_unnamed(seen(fact), libraries=libraries)
    if guess is not None and guess_unnamed(seen(fact)) is not None:  # else it is a look-alike of another library
        assert guess.library.name == fact["library"]
        assert contains(guess, fact["version"]), guess.text
        assert guess.exact is None


@pytest.mark.parametrize("fact", FACTS, ids=label)
def test_a_version_that_was_left_out_alone_is_in_the_range(fact: dict[str, Any]) -> None:
    def keep(library: Library, version: str) -> bool:
        return library.name != fact["library"] or version != known_as(library, fact["version"])

    guess = guess_unnamed(seen(fact), libraries=table(keep))
    if guess is not None and guess_unnamed(seen(fact)) is not None:
        assert guess.library.name == fact["library"]
        assert contains(guess, fact["version"]), guess.text


@pytest.mark.parametrize("fact", FACTS, ids=label)
def test_what_is_known_of_a_guess_holds_for_every_version_in_its_range(fact: dict[str, Any]) -> None:
    """No guess says of an api that less can be sent than was sent, or that more must be possible than the brokers' answers show."""
    guess = guess_unnamed(seen(fact))
    if guess is None:
        return
    assert contains(guess, fact["version"]), guess.text
    highest = broker_highest(fact["broker"])
    for api, versions in fact["sent"].items():
        known = known_maximum(None, None, guess, api)
        if known is not None and known.at_most is not None:
            assert max(versions) <= known.at_most
        if known is not None and known.at_least is not None and api != "ApiVersions" and "ApiVersions" in fact["sent"]:
            assert max(versions) >= min(known.at_least, highest[api])


def test_most_versions_that_were_left_out_still_get_their_library() -> None:
    """A table that never guesses would be right too."""
    cases = [case.values for case in left_out()]
    named = [guess_unnamed(seen(fact), libraries=libraries) for libraries, fact in cases]
    assert sum(guess is not None for guess in named) >= 30
    assert sum(guess is not None for guess in map(guess_unnamed, map(seen, FACTS))) >= 60


ROLES = {
    "everything": set(MODERN),
    "producer": {"Produce", "Metadata", "ApiVersions"},
    "group": set(MODERN) - {"Produce"},
    "reader": {"Fetch", "ListOffsets", "Metadata", "ApiVersions"},
    "without heartbeats": set(MODERN) - {"Heartbeat", "LeaveGroup"},
    "old offsets": {"Produce", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator", "ApiVersions"},
}


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    "release", ["0.9.0", "0.11.0", "2.8", *(pytest.param(each, marks=pytest.mark.whole) for each in ("0.10.2", "1.1", "2.3", "3.9", "4.3"))]
)
def test_no_known_version_is_taken_for_another_library(release: str, role: str) -> None:
    """What each profile sends to a release, and what its admin client adds."""
    offers = broker_highest(release) if release != "0.9.0" else {}
    for library in known_libraries():
        for profile in library.profiles:
            apis = [api for api in profile.uses if api in ROLES[role] and (api != "ApiVersions" or profile.negotiates)]
            sent = {api: profile.sends(api, offers.get(api) if profile.negotiates and api != "ApiVersions" else None) for api in apis}
            highest = {api: frozenset({offers[api]}) for api in apis if api in offers}
            for more, watched in product(({}, profile.also), (True, False) if profile.unnamed else (False,)):
                versions = {api: found | more.get(api, frozenset()) for api, found in sent.items()}
                guess = guess_unnamed(Observed(versions, highest, True if profile.negotiates else False if watched else None, watched))
                assert guess is None or guess.library.name == library.name, (library.name, profile.version, guess.text)


@pytest.mark.parametrize(
    ("library", "version"), [("aiokafka", "0.8.1"), ("aiokafka", "0.10.0"), ("aiokafka", "0.11.0"), ("kafka-python", "2.0.1")]
)
def test_an_admin_client_in_the_same_program_does_not_hide_the_library(library: str, version: str) -> None:
    """It asks for Metadata v5 and for coordinators with v0, which the consumer and the producer do not."""
    one = seen(next(each for each in FACTS if (each["library"], each["version"]) == (library, version)))
    also = {"Metadata": 5, "FindCoordinator": 0, "OffsetFetch": 3}
    asked = {api: one.versions[api] | {sent} for api, sent in also.items()}
    with_admin = replace(one, versions={**one.versions, **asked, "CreateTopics": frozenset({3})})
    for each in (one, with_admin):
        guess = guess_unnamed(each)
        assert guess is not None
        assert guess.library.name == library
        assert contains(guess, version)


def test_a_look_alike_is_not_named() -> None:
    """kafka-node 5.0.0 sends what kafka-python 1.3.0 sends, and kafka-python-ng 2.2.3 what kafka-python 2.0.2 sends."""
    node = {"Produce": {2}, "Fetch": {2}, "ListOffsets": {0}, "Metadata": {0}, "OffsetCommit": {2}, "OffsetFetch": {1}}
    node |= {"FindCoordinator": {0}, "JoinGroup": {0}, "Heartbeat": {0}, "LeaveGroup": {0}, "SyncGroup": {0}, "ApiVersions": {0}}
    assert guess_unnamed(observed(**node)) is None
    named = guessed(observed(**node), "kafka-node-client")
    (fix,) = software_of(None, None, named).fixes
    assert fix.remedy.startswith("Replace kafka-node")
    assert guess_unnamed(seen(next(fact for fact in FACTS if fact["library"] == "kafka-python-ng"))) is None


def kafkajs(highest: Any = None) -> Observed:
    """kafkajs 1.15 to 2.2.4: src/protocol/requests has the same versions."""
    return observed(
        True, highest, Produce={7}, Fetch={11}, ListOffsets={3}, Metadata={6}, OffsetCommit={5}, OffsetFetch={4}, FindCoordinator={2},
        JoinGroup={5}, Heartbeat={3}, LeaveGroup={3}, SyncGroup={3}, ApiVersions={2},
    )  # fmt: skip


def test_a_guess_is_a_range_with_its_tried_bounds() -> None:
    guess = guessed(kafkajs())
    assert (guess.after, guess.before, guess.tried) == ("1.14.0", None, ("1.15.0", "1.16.0", "2.2.4"))
    assert guess.text == "kafkajs after 1.14.0 (tried: 1.15.0, 1.16.0, 2.2.4)"


def test_a_left_out_version_ends_at_the_versions_known_to_differ() -> None:
    """aiokafka 0.5.2 was "0.7.2": between 0.5.0, which sends JoinGroup v0, and 0.8.1, which sends Produce v7, it may be any."""
    versions = {
        "Produce": {3}, "Fetch": {4}, "ListOffsets": {1}, "Metadata": {0, 1}, "OffsetCommit": {2}, "OffsetFetch": {1},
        "FindCoordinator": {1}, "JoinGroup": {2}, "Heartbeat": {1}, "LeaveGroup": {1}, "SyncGroup": {1}, "ApiVersions": {0},
    }  # fmt: skip
    guess = guessed(observed(**versions), libraries=table(lambda library, version: version not in ("0.5.2", "0.6.0")))
    assert guess.text == "aiokafka after 0.5.0 and before 0.8.1 (tried: 0.7.2)"


def librdkafka_1_0_on_4x() -> Observed:
    """librdkafka 1.0.1 finds no ListOffsets v0 on 4.x: it joins its group and never fetches."""
    return observed(
        Metadata={2}, FindCoordinator={0}, JoinGroup={2}, SyncGroup={0}, Heartbeat={0}, LeaveGroup={0}, OffsetFetch={1}, ApiVersions={0}
    )


def test_librdkafka_1_0_is_known_to_refuse_4x_itself() -> None:
    guess = guessed(librdkafka_1_0_on_4x())
    assert guess.text == "librdkafka after 0.11.6 and before 1.3.0 (tried: 1.0.0, 1.1.0, 1.2.2)"
    known = known_of(None, None, guess, "ListOffsets")
    assert (known.at_most, known.certain) == (0, False)


def test_a_range_says_of_an_api_only_what_holds_from_one_end_to_the_other() -> None:
    """OffsetCommit is v1 up to librdkafka 1.2.2 and v7 from 1.3.0: what the last before 1.3.0 sends is not known."""
    guess = guess_unnamed(librdkafka_1_0_on_4x())
    known = known_of(None, None, guess, "OffsetCommit")
    assert (known.at_least, known.at_most) == (1, 7)


def test_the_newest_version_that_a_guess_can_be() -> None:
    """A fix names no version that the client may have: before 1.3.0 it may have 1.2.2, and not 1.3.0."""
    bounded, opened = guess_unnamed(librdkafka_1_0_on_4x()), guess_unnamed(kafkajs())
    assert bounded is not None
    assert bounded.newest is not None
    assert (1, 2, 2) < bounded.newest < (1, 3, 0)
    assert opened is not None
    assert opened.newest == (2, 2, 4)


def test_what_brokers_hold_down_is_no_older_library() -> None:
    """A broker that was not seen may have kept the client from more: no upper bound, and alone it is no fingerprint."""
    held_down = observed(True, {}, Produce={3}, Fetch={4}, ListOffsets={0}, Metadata={4}, OffsetCommit={2}, OffsetFetch={2}, JoinGroup={0})
    assert guess_unnamed(held_down) is None
    guess = guessed(held_down, "kafkajs")
    assert (guess.after, guess.before) == ("1.3.1", None)


def test_a_late_join_may_be_a_library_whose_name_was_missed() -> None:
    """Java 2.4 and later send what 2.3 sends to a broker of 1.1; the name came in a packet before the capture."""
    highest = {"Produce": 5, "Fetch": 6, "ListOffsets": 2, "Metadata": 5, "OffsetCommit": 3, "OffsetFetch": 3, "FindCoordinator": 1}
    versions = {api: {most} for api, most in highest.items()}
    whole = guessed(observed(True, highest | {"ApiVersions": 1}, True, ApiVersions={0, 2}, **versions), "consumer-orders-3")
    late = guessed(observed(True, highest | {"ApiVersions": 1}, False, ApiVersions={0}, **versions), "consumer-orders-3")
    assert (whole.after, whole.before) == ("1.1", "2.4")
    assert (late.after, late.before) == ("0.11.0", None)


def test_brokers_of_two_releases_show_what_each_holds_down() -> None:
    """Java 1.1 in the middle of a rolling upgrade from 0.11 to 3.9: Produce v3 to one broker, its own v5 to the other."""
    old, new = broker_highest("0.11.0"), broker_highest("3.9")
    apis = ("Produce", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator")
    own = broker_highest("1.1")
    sent = {api: frozenset({min(own[api], old[api]), own[api]}) for api in apis} | {"ApiVersions": frozenset({1})}
    guess = guessed(Observed(sent, {api: frozenset({old[api], new[api]}) for api in (*apis, "ApiVersions")}, True))
    assert guess.text == "apache-kafka-java after 1.0 and before 2.0 (tried: 1.1)"


def test_a_version_that_the_program_set_is_no_older_library() -> None:
    """sarama sends what its Config.Version says: by what it sends its own version is open."""
    guess = guessed(
        observed(
            False, Produce={3}, Fetch={4}, ListOffsets={1}, Metadata={5}, OffsetCommit={1}, OffsetFetch={1}, FindCoordinator={0},
            JoinGroup={1}, Heartbeat={0}, LeaveGroup={0}, SyncGroup={0},
        )
    )  # fmt: skip
    assert guess.text == "sarama (tried: 1.27.2)"
    assert (guess.after, guess.before) == (None, None)
    assert [fix.kind for fix in software_of(None, None, guess).fixes] == ["config", "library"]


def test_what_librdkafka_falls_back_to_is_not_taken_for_java() -> None:
    """librdkafka on 0.9 sends what Java 0.9 sends, but for OffsetCommit, and what pykafka sends, but for Produce."""
    fallback = {
        "Produce": {1}, "Fetch": {1}, "ListOffsets": {0}, "Metadata": {0}, "OffsetFetch": {1}, "FindCoordinator": {0}, "JoinGroup": {0},
        "Heartbeat": {0}, "LeaveGroup": {0}, "SyncGroup": {0},
    }  # fmt: skip
    assert guess_unnamed(observed(False, {}, **fallback)) is None
    found = [guess_unnamed(observed(False, {}, **fallback, OffsetCommit={version})) for version in (1, 2)]
    assert [guess and guess.text for guess in found] == [
        "librdkafka (tried: 0.11.6)",
        "apache-kafka-java after 0.8.2 and before 0.10.0 (tried: 0.9.0)",
    ]


def test_a_client_id_with_a_version_says_it() -> None:
    guess = guessed(observed(Metadata={1}), "aiokafka-0.5.2")
    assert (guess.text, guess.exact) == ("aiokafka 0.5.2", "0.5.2")
    known = known_of(None, None, guess, "Produce")
    assert (known.at_least, known.at_most) == (3, 3)


def test_parts_of_one_client_have_the_range_that_holds_for_all() -> None:
    first, second = guess_unnamed(librdkafka_1_0_on_4x()), guess_unnamed(observed(Produce={3}), "rdkafka")
    whole = widest([first, None, second])
    assert whole is not None
    assert (whole.after, whole.before, whole.tried) == (None, "1.3.0", ("0.11.3", "0.11.6", "1.0.0", "1.1.0", "1.2.2"))
    assert widest([first, guess_unnamed(kafkajs())]) is None
    assert widest([]) is None


def test_a_guess_that_is_kept_is_of_no_client_that_differs() -> None:
    """Guesses from the shipped table are kept; those from a table that is given are made each time."""
    for fact in FACTS[::6]:
        first = seen(fact)
        few = dict(list(first.versions.items())[:6])
        others = (replace(first, negotiates=None), replace(first, watched=False), replace(first, highest={}), replace(first, versions=few))
        for client in (first, *others, first):
            for client_id in (None, "kafka-python-1.4.7"):
                assert guess_unnamed(client, client_id) == guess_unnamed(client, client_id, known_libraries()), label(fact)


def test_every_profile_names_its_source() -> None:
    stored = json.loads(Path(__file__).parents[3].joinpath("src/kwire/analysis/known_clients.json").read_text())
    assert all(profile["source"] for library in stored["libraries"] for profile in library["profiles"])
