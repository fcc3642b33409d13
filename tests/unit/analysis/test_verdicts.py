"""Upgrade verdicts: one test a line of the table of rules, with hand-made inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from kwire.analysis.verdicts import Answers, Basis, Judgement, KnownMaximum, LaterReleases, TargetRange, Use, Verdict, judge
from kwire.schema import releases

MARKED_BY = ("3.7", "3.8", "3.9")
REFUSED_LATER = LaterReleases(marked_by=MARKED_BY, newest="4.4", refusing="4.0", at_refusal=TargetRange(release="4.0.2", accepts=(3, 12)))
PRODUCE_MARKS = dict.fromkeys((0, 1, 2), REFUSED_LATER)


def verdict(
    accepts: tuple[int, int] | None, marks: Mapping[int, LaterReleases] | None = None, release: str = "4.3.1", **use: Any
) -> Judgement:
    given = {"api_name": "Produce", "api_version": 2, "broker_highest": 11, **use}
    return judge(Use(**given), TargetRange(release=release, accepts=accepts, marks=marks or {}))


def outcome(judgement: Judgement) -> tuple[str, str]:
    return judgement.verdict, judgement.basis


def test_api_versions_is_ok_in_any_version_because_error_35_is_answered() -> None:
    assert outcome(verdict((0, 4), api_name="ApiVersions", api_version=5, broker_highest=5)) == ("compatible", "inside_range")
    assert outcome(verdict((2, 4), api_name="ApiVersions", api_version=0, negotiates=False)) == ("compatible", "inside_range")


@pytest.mark.parametrize("version", [3, 7, 13])
def test_a_version_inside_the_range_is_ok(version: int) -> None:
    assert outcome(verdict((3, 13), api_version=version)) == ("compatible", "inside_range")


@pytest.mark.requirement("K511-44", "K35-37")
def test_a_version_inside_the_range_that_the_release_marks_is_marked() -> None:
    judgement = verdict((0, 11), PRODUCE_MARKS, "3.9.2", api_version=2)
    assert outcome(judgement) == ("deprecated", "inside_range")
    assert outcome(verdict((0, 11), PRODUCE_MARKS, "3.9.2", api_version=3)) == ("compatible", "inside_range")


def test_a_marked_version_names_the_release_that_refuses_it() -> None:
    reason = verdict((0, 11), PRODUCE_MARKS, "3.9.2", api_version=2).reason
    assert reason == "Kafka 3.9.2 supports Produce v2, deprecated in 3.7, 3.8 and 3.9 and rejected by Kafka 4.0."


def test_a_marked_version_that_no_release_refuses_is_said_to_be_accepted_by_all() -> None:
    """KIP-896 deprecated Metadata v0 to v3 in 3.7 and 3.8 and kept them after all: 4.x brokers accept them."""
    kept = {3: LaterReleases(marked_by=("3.7", "3.8"), newest="4.4")}
    judgement = verdict((0, 12), kept, "3.8.1", api_name="Metadata", api_version=3)
    assert outcome(judgement) == ("deprecated", "inside_range")
    assert judgement.reason == "Kafka 3.8.1 supports Metadata v3, deprecated in 3.7 and 3.8 and supported by all later releases up to 4.4."


def test_a_marked_version_that_one_patch_alone_refuses_says_so() -> None:
    """4.0.0 has no JoinGroup v0 and v1, 4.0.1 has them again."""
    patch = {1: LaterReleases(marked_by=("3.7", "3.8"), newest="4.4", only_patches=("4.0.0",))}
    reason = verdict((0, 9), patch, "3.8.1", api_name="JoinGroup", api_version=1).reason
    assert reason == "Kafka 3.8.1 supports JoinGroup v1, deprecated in 3.7 and 3.8 and rejected only by Kafka 4.0.0."


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ("none", "no request of this client was answered, besides negotiation and login"),
        ("unseen", "the answers to this client are not in the capture"),
        ("opened", "this client sent no request besides negotiation and login"),
        ("login_refused", "a broker refused this client's login, and none served it"),
        ("mechanism_refused", "a broker refused this client's SASL mechanism, and none served it"),
    ],
)
@pytest.mark.parametrize(("api", "version"), [("Metadata", 12), ("ApiVersions", 3)])
def test_a_client_that_was_never_served_is_unknown(answers: Answers, why: str, api: str, version: int) -> None:
    """39 Metadata requests, each closed without an answer, do not show that the client works."""
    judgement = verdict((0, 13), api_name=api, api_version=version, answers=answers)
    assert (judgement.verdict, judgement.confidence) == ("unknown", "low")
    assert judgement.reason.endswith(f", but {why}.")


def test_a_client_without_an_answer_is_rejected_where_the_release_refuses_what_it_sends() -> None:
    assert outcome(verdict((3, 13), broker_highest=11, answers="none")) == ("breaks", "own_maximum")
    assert outcome(verdict(None, api_name="LeaderAndIsr", role="broker", answers="none")) == ("compatible", "inside_range")


def test_a_version_above_the_range_is_ok_for_a_client_that_negotiates() -> None:
    assert outcome(verdict((0, 2), release="0.10.0.1", api_version=9)) == ("compatible", "inside_range")


def test_a_version_above_the_range_is_rejected_for_a_client_that_does_not() -> None:
    assert outcome(verdict((0, 2), release="0.10.0.1", api_version=9, negotiates=False)) == ("breaks", "no_negotiation")


def test_a_version_above_the_range_is_undetermined_where_nobody_saw_whether_the_client_negotiates() -> None:
    assert verdict((0, 2), api_version=9, negotiates=None).verdict == "unknown"


def test_below_the_range_and_below_the_broker_it_is_the_clients_own_maximum() -> None:
    assert outcome(verdict((3, 13), broker_highest=11)) == ("breaks", "own_maximum")
    assert outcome(verdict((3, 13), broker_highest=11, negotiates=None)) == ("breaks", "own_maximum")


def test_below_the_range_at_the_brokers_highest_nothing_is_known() -> None:
    judgement = verdict((3, 13), broker_highest=2)
    assert outcome(judgement) == ("unknown", "broker_ceiling")
    assert judgement.confidence == "low"


def test_below_the_range_without_a_known_broker_nothing_is_known() -> None:
    assert outcome(verdict((3, 13), broker_highest=None)) == ("unknown", "broker_ceiling")


def known(at_least: int | None, at_most: int | None, certain: bool = True) -> KnownMaximum:
    return KnownMaximum(library="some-library 1.0", at_least=at_least, at_most=at_most, certain=certain)


def test_at_the_brokers_highest_a_known_library_decides() -> None:
    assert outcome(verdict((3, 13), broker_highest=2, known=known(9, 9))) == ("compatible", "known_client")
    assert outcome(verdict((3, 13), broker_highest=2, known=known(3, 3))) == ("compatible", "known_client")
    assert outcome(verdict((3, 13), broker_highest=2, known=known(None, 2))) == ("breaks", "known_client")
    assert outcome(verdict((3, 13), broker_highest=2, known=known(2, 3))) == ("unknown", "broker_ceiling")


def test_a_library_known_by_its_fingerprint_is_less_sure_than_one_known_by_name() -> None:
    assert verdict((3, 13), broker_highest=2, known=known(9, 9, certain=False)).confidence == "medium"
    assert verdict((3, 13), broker_highest=2, known=known(9, 9, certain=True)).confidence == "high"


@pytest.mark.parametrize("highest", [2, 11, None])
def test_below_the_range_a_client_that_does_not_negotiate_is_rejected_whatever_the_broker_offers(highest: int | None) -> None:
    assert outcome(verdict((3, 13), broker_highest=highest, negotiates=False)) == ("breaks", "no_negotiation")


def test_an_api_that_the_release_does_not_have_is_rejected_for_a_client() -> None:
    assert verdict(None, api_name="LeaderAndIsr", api_version=5).verdict == "breaks"


def test_an_api_that_the_release_does_not_have_yet_is_not_called_removed() -> None:
    """A rollback from 4.0 to 3.6: ConsumerGroupHeartbeat came with 3.7."""
    judgement = judge(Use(api_name="ConsumerGroupHeartbeat", api_version=1), TargetRange(release="3.6.2", accepts=None, since="3.7"))
    assert outcome(judgement) == ("breaks", "own_maximum")
    assert judgement.reason == "Kafka 3.6.2 does not have ConsumerGroupHeartbeat, new in Kafka 3.7."


def test_a_client_that_negotiates_does_without_telemetry() -> None:
    """Java asks for subscriptions only where ApiVersions offers them (KIP-714)."""
    target = TargetRange(release="3.6.2", accepts=None, since="3.7")
    assert judge(Use(api_name="PushTelemetry", api_version=0), target).verdict == "compatible"
    assert judge(Use(api_name="PushTelemetry", api_version=0, negotiates=False), target).verdict == "breaks"


@pytest.mark.parametrize("role", ["broker", "controller"])
def test_brokers_and_controllers_are_upgraded_with_the_cluster(role: str) -> None:
    assert outcome(verdict(None, api_name="LeaderAndIsr", api_version=5, role=role)) == ("compatible", "inside_range")
    assert outcome(verdict((4, 18), api_name="Fetch", api_version=1, role=role)) == ("compatible", "inside_range")


@pytest.mark.requirement("K35-26")
def test_what_a_broker_of_the_line_refused_is_rejected() -> None:
    assert outcome(verdict((3, 13), broker_highest=2, refused_by="4.3")) == ("breaks", "observed_refusal")
    assert outcome(verdict((3, 13), api_version=3, refused_by="4.3", always_refused=True)) == ("breaks", "observed_refusal")


def test_a_refusal_by_a_broker_of_another_line_says_nothing() -> None:
    assert outcome(verdict((3, 13), broker_highest=2, refused_by="4.2")) == ("unknown", "broker_ceiling")


def test_a_broker_that_hung_up_on_a_version_that_it_accepts_did_not_refuse_the_version() -> None:
    """A broker that shuts down leaves requests unanswered."""
    assert outcome(verdict((3, 13), api_version=9, refused_by="4.3")) == ("compatible", "inside_range")


@pytest.mark.parametrize("accepts", [(3, 13), (0, 1), None])
def test_a_release_that_answered_a_version_does_not_reject_it(accepts: tuple[int, int] | None) -> None:
    judgement = verdict(accepts, negotiates=False, answered_by="4.3")
    assert outcome(judgement) == ("compatible", "inside_range")
    assert judgement.reason == "A Kafka 4.3 broker answered Produce v2 in this capture."
    assert verdict(accepts, negotiates=False, answered_by="4.2").verdict == "breaks"


def test_the_page_lists_every_basis_and_every_verdict() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "verdicts.md").read_text("utf-8")
    rules = page[page.index("| What is seen |") : page.index("Only what the client sent")]
    assert set(re.findall(r"`(\w+)`", rules)) == {*get_args(Basis), "verdict_basis"}
    assert set(get_args(Verdict)) <= set(re.findall(r"\b[a-z]+\b", rules))


@pytest.mark.parametrize(("role", "takes", "expected"), [
    ("client", False, ("breaks", "removed_feature")), ("client", True, ("compatible", "inside_range")),
    ("broker", False, ("compatible", "inside_range")),
])  # fmt: skip
def test_gssapi_tokens_without_a_handshake_break_where_the_release_does_not_take_them(role: str, takes: bool, expected: Any) -> None:
    """KAFKA-18339: a 4.0 broker takes the first frame for a request, and closes."""
    use = Use(api_name="Metadata", api_version=12, role=role, raw_gssapi=True)
    assert outcome(judge(use, TargetRange(release="4.0.2", accepts=(0, 13), takes_raw_gssapi=takes))) == expected
    assert judge(use, TargetRange(release="4.0.2", accepts=None)).verdict == ("breaks" if role == "client" else "compatible")


def test_kafka_takes_raw_gssapi_up_to_3_9() -> None:
    """SaslServerAuthenticator of 3.9 has the state INITIAL_REQUEST for it, that of 4.0.0 does not (apache/kafka pull request 18295)."""
    taking = {release.minor for release in releases() if release.takes_raw_gssapi}
    assert ("0.9.0" in taking, "3.9" in taking, "4.0" in taking, "4.4" in taking) == (True, True, False, False)


@pytest.mark.parametrize("accepts", [(3, 13), (0, 1), None, (0, 13)])
@pytest.mark.parametrize("negotiates", [True, False, None])
@pytest.mark.parametrize("highest", [None, 2, 11])
def test_every_reason_is_one_sentence_that_names_the_release_or_the_role(
    accepts: tuple[int, int] | None, negotiates: bool | None, highest: int | None
) -> None:
    reason = verdict(accepts, negotiates=negotiates, broker_highest=highest).reason
    assert reason.endswith(".")
    assert "4.3.1" in reason
    assert "\n" not in reason
