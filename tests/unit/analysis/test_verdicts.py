"""Upgrade verdicts: the rules line by line, with hand-made inputs."""

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


def known(at_least: int | None, at_most: int | None, certain: bool = True) -> KnownMaximum:
    return KnownMaximum(library="some-library 1.0", at_least=at_least, at_most=at_most, certain=certain)


RULES: list[tuple[tuple[int, int] | None, dict[str, Any], tuple[str, str]]] = [
    # error 35 is answered, so ApiVersions does in any version
    ((0, 4), {"api_name": "ApiVersions", "api_version": 5, "broker_highest": 5}, ("compatible", "inside_range")),
    ((2, 4), {"api_name": "ApiVersions", "api_version": 0, "negotiates": False}, ("compatible", "inside_range")),
    # inside the range
    *(((3, 13), {"api_version": version}, ("compatible", "inside_range")) for version in (3, 7, 13)),
    # a broker that hung up on a version that it accepts may have been shutting down
    ((3, 13), {"api_version": 9, "refused_by": "4.3"}, ("compatible", "inside_range")),
    # above the range
    ((0, 2), {"api_version": 9}, ("compatible", "inside_range")),
    ((0, 2), {"api_version": 9, "negotiates": False}, ("breaks", "no_negotiation")),
    # below the range: the client's own maximum, if its broker offers more
    ((3, 13), {}, ("breaks", "own_maximum")),
    ((3, 13), {"negotiates": None}, ("breaks", "own_maximum")),
    ((3, 13), {"answers": "none"}, ("breaks", "own_maximum")),
    *(((3, 13), {"broker_highest": highest, "negotiates": False}, ("breaks", "no_negotiation")) for highest in (2, 11, None)),
    # below the range at the broker's highest, a known library decides
    *(((3, 13), {"broker_highest": highest}, ("unknown", "broker_ceiling")) for highest in (2, None)),
    ((3, 13), {"broker_highest": 2, "refused_by": "4.2"}, ("unknown", "broker_ceiling")),
    ((3, 13), {"broker_highest": 2, "known": known(9, 9)}, ("compatible", "known_client")),
    ((3, 13), {"broker_highest": 2, "known": known(3, 3)}, ("compatible", "known_client")),
    ((3, 13), {"broker_highest": 2, "known": known(None, 2)}, ("breaks", "known_client")),
    ((3, 13), {"broker_highest": 2, "known": known(2, 3)}, ("unknown", "broker_ceiling")),
    # an api that the release does not have
    (None, {"api_name": "LeaderAndIsr", "api_version": 5}, ("breaks", "own_maximum")),
    # the cluster's own are upgraded with it
    *((None, {"api_name": "LeaderAndIsr", "role": role}, ("compatible", "inside_range")) for role in ("broker", "controller")),
    *(((4, 18), {"api_name": "Fetch", "role": role}, ("compatible", "inside_range")) for role in ("broker", "controller")),
    (None, {"api_name": "LeaderAndIsr", "role": "broker", "answers": "none"}, ("compatible", "inside_range")),
]


@pytest.mark.parametrize(("accepts", "use", "expected"), RULES)
def test_rules(accepts: tuple[int, int] | None, use: dict[str, Any], expected: tuple[str, str]) -> None:
    assert outcome(verdict(accepts, **use)) == expected


def test_what_was_not_seen_leaves_a_verdict_open() -> None:
    assert verdict((0, 2), api_version=9, negotiates=None).verdict == "unknown"
    assert verdict((3, 13), broker_highest=2).confidence == "low"


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


def test_a_library_known_by_its_fingerprint_is_less_sure_than_one_known_by_name() -> None:
    assert verdict((3, 13), broker_highest=2, known=known(9, 9, certain=False)).confidence == "medium"
    assert verdict((3, 13), broker_highest=2, known=known(9, 9, certain=True)).confidence == "high"


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


@pytest.mark.requirement("K35-26")
def test_what_a_broker_of_the_line_refused_is_rejected() -> None:
    assert outcome(verdict((3, 13), broker_highest=2, refused_by="4.3")) == ("breaks", "observed_refusal")
    assert outcome(verdict((3, 13), api_version=3, refused_by="4.3", always_refused=True)) == ("breaks", "observed_refusal")


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
