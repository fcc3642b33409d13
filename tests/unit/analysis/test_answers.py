"""Answers from hand-made parts: what only several connections of a client tell together."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis import Options, finish, merge
from kwire.analysis.partials import Partial, empty, schema_of
from kwire.analysis.remedies import Software, remedy_of
from kwire.analysis.shown_ids import MAX_IDS
from kwire.analysis.verdicts import TargetRange, Use, judge
from kwire.errors import InputError
from kwire.schema import releases

SERVER = "10.0.0.9:9092"
SEEN = datetime(2026, 11, 21, tzinfo=timezone.utc)
KEYS = {
    "Produce": 0, "Fetch": 1, "ListOffsets": 2, "Metadata": 3, "OffsetCommit": 8, "OffsetFetch": 9, "FindCoordinator": 10, "JoinGroup": 11,
    "LeaderAndIsr": 4, "ConsumerGroupHeartbeat": 68, "ShareFetch": 78,
    "Heartbeat": 12, "LeaveGroup": 13, "SyncGroup": 14, "SaslHandshake": 17, "ApiVersions": 18, "SaslAuthenticate": 36,
}  # fmt: skip


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    schema = schema_of(name)
    return pa.Table.from_pylist([{"first_seen": SEEN, "last_seen": SEEN, **row} for row in rows], schema=schema)


def identity(key: str, client_id: str | None, name: str | None = "unknown", version: str | None = "unknown", **more: Any) -> dict[str, Any]:
    source = "api_versions" if name not in (None, "unknown") else "not_sent" if name else "not_observed"
    return {
        "client_key": key, "client_id": client_id, "software_name": name, "software_version": version, "identity_source": source,
        "address": "10.0.0.1", "role": "client", "connections": 1, "request_bytes": 10, "response_bytes": 20, **more,
    }  # fmt: skip


def use(key: str, client_id: str | None, api: str, version: int, **more: Any) -> dict[str, Any]:
    return {
        "client_key": key, "client_id": client_id, "software_name": "unknown", "software_version": "unknown", "server": SERVER,
        "api_key": KEYS[api], "api_name": api, "api_version": version, "requests": 5, "errors": 0, "wanted": 5, "answered": 5, "unseen": 0,
        "evidence_connection_id": f"{key}-{client_id}", "evidence_request_index": 3, **more,
    }  # fmt: skip


def offered(release: str) -> list[dict[str, Any]]:
    ranges = releases()[release].advertised()
    return [{"server": SERVER, "api_key": key, "min_version": v.lowest, "max_version": v.highest} for key, v in ranges.items()]


def answers(
    identities: list[dict[str, Any]], usage: list[dict[str, Any]], broker: str | None = "3.9.2", options: Options | None = None, **more: Any
) -> dict[str, pa.Table]:
    partial: Partial = empty() | {"identities": table("identities", identities), "usage": table("usage", usage)}
    partial["servers"] = table("servers", [{"server": SERVER, "node_id": None, "connections": 1}])
    partial["advertised"] = table("advertised", offered(broker) if broker else [])
    partial |= {name: table(name, rows) for name, rows in more.items()}
    return finish(merge([partial]), options or Options(target_releases=["4.3.1"]))


def verdicts(found: dict[str, pa.Table]) -> dict[tuple[str, str, int], tuple[str, str]]:
    rows = found["upgrade_impact"].to_pylist()
    return {(row["client_id"], row["api_name"], row["api_version"]): (row["verdict"], row["verdict_basis"]) for row in rows}


def test_a_client_negotiates_when_any_of_its_connections_asks() -> None:
    """kafka-go and kafkajs ask ApiVersions on one connection and use what they learned on the others."""
    alone = answers([identity("k", "app")], [use("k", "app", "Fetch", 20)])
    together = answers([identity("k", "app")], [use("k", "app", "Fetch", 20), use("k", "app", "ApiVersions", 0)])
    assert verdicts(alone)["app", "Fetch", 20] == ("breaks", "no_negotiation")
    assert verdicts(together)["app", "Fetch", 20] == ("compatible", "inside_range")


def test_what_a_named_connection_tells_holds_for_the_nameless_ones_of_the_same_client() -> None:
    """@platformatic/kafka and rskafka send their name on some connections only; the keys differ, the client id does not."""
    found = answers(
        [identity("named", "app", "sarama", "v1.50.3"), identity("bare", "app")],
        [use("named", "app", "ApiVersions", 3), use("bare", "app", "Produce", 2)],
        broker="0.10.2.2",
    )
    assert verdicts(found)["app", "Produce", 2] == ("compatible", "known_client")
    (client,) = found["clients"].to_pylist()
    assert (client["client_key"], client["library_guess"], client["identity_source"]) == ("named", "sarama", "api_versions")
    assert (client["connections"], client["requests"]) == (2, 10)


def test_a_client_that_joins_and_never_fetches_is_judged_by_what_it_sends() -> None:
    """librdkafka 1.0.1 on 4.3: it finds no ListOffsets v0 there, so it sends none, and no Fetch after it."""
    sent = {
        "Metadata": 2, "FindCoordinator": 0, "JoinGroup": 2, "SyncGroup": 0, "Heartbeat": 0, "LeaveGroup": 0, "OffsetFetch": 1,
        "ApiVersions": 0,
    }  # fmt: skip
    found = answers([identity("k", "app")], [use("k", "app", api, version) for api, version in sent.items()], broker="4.3.1")
    assert {verdict for verdict, _ in verdicts(found).values()} == {"compatible"}
    assert {row["api_name"] for row in found["upgrade_impact"].to_pylist()} == sent.keys()
    row = found["clients"].to_pylist()[0]
    assert (row["identity_source"], row["library_guess_after"], row["library_guess_before"]) == ("fingerprint", "0.11.6", "1.3.0")
    assert row["library_guess_tried"] == ["1.0.0", "1.1.0", "1.2.2"]


@pytest.mark.parametrize(("whole", "asked", "verdict"), [(True, [1, 0], "compatible"), (True, [0], "breaks"), (False, [0], "unknown")])
def test_a_verdict_that_uses_a_guess_holds_for_its_whole_range(whole: bool, asked: list[int], verdict: str) -> None:
    """On 0.10.2 every Java sends Produce v2. What asks ApiVersions v1 first is 0.11 to 1.1 and can v3, what asks v0 first is 0.10.2.

    Of a connection whose beginning is missing v0 may be what error 35 left to a later version.
    """
    sent = [("Produce", 2), ("Fetch", 3), ("ListOffsets", 1), ("Metadata", 2), ("OffsetFetch", 2), ("FindCoordinator", 0)]
    usage = [use("k", "producer-1", api, version) for api, version in [*sent, *(("ApiVersions", version) for version in asked)]]
    found = answers([identity("k", "producer-1", "unknown" if whole else None)], usage, broker="0.10.2.2")
    assert verdicts(found)["producer-1", "Produce", 2][0] == verdict


def test_two_programs_behind_a_default_id_are_told_apart_by_address() -> None:
    found = answers(
        [identity("one", "rdkafka", address="10.0.0.1"), identity("two", "rdkafka", address="10.0.0.2")],
        [use("one", "rdkafka", "ApiVersions", 0), use("one", "rdkafka", "Fetch", 20), use("two", "rdkafka", "Fetch", 21)],
    )
    assert verdicts(found)["rdkafka", "Fetch", 20] == ("compatible", "inside_range")
    assert verdicts(found)["rdkafka", "Fetch", 21] == ("breaks", "no_negotiation")


def test_a_client_of_which_only_the_middle_was_seen_is_not_said_to_ignore_versions() -> None:
    found = answers([identity("k", "app", None, None)], [use("k", "app", "Fetch", 20), use("k", "app", "Produce", 2)])
    assert verdicts(found)["app", "Fetch", 20] == ("unknown", "broker_ceiling")
    assert verdicts(found)["app", "Produce", 2] == ("breaks", "own_maximum")


@pytest.mark.parametrize(("broker", "verdict"), [("4.3.1", "unknown"), ("3.9.2", "compatible")])
def test_a_preview_may_be_off_after_a_rollback(broker: str, verdict: str) -> None:
    """KIP-848 is a preview up to 3.9, where `group.coordinator.rebalance.protocols` is `classic` by default."""
    usage = [use("k", "app", "ConsumerGroupHeartbeat", 0), use("k", "app", "ApiVersions", 4)]
    found = answers([identity("k", "app")], usage, broker, Options(target_releases=["3.9.2"]))
    row = next(row for row in found["upgrade_impact"].to_pylist() if row["api_name"] == "ConsumerGroupHeartbeat")
    assert row["verdict"] == verdict
    assert (row["cure_version"] == "classic") is (verdict == "unknown")


@pytest.mark.parametrize(
    ("api", "target", "remedy"),
    [
        ("ConsumerGroupHeartbeat", "3.6.2", "Set group.protocol=classic in the client's configuration before the rollback."),
        ("ShareFetch", "4.0.2", "Before the rollback, turn off the feature that uses ShareFetch."),
        ("LeaderAndIsr", "4.0.2", "Upgrade apache-kafka-java to a version that does not need LeaderAndIsr."),
    ],
)
def test_the_fix_for_a_rollback_is_not_an_upgrade(api: str, target: str, remedy: str) -> None:
    sent = {"software_name": "apache-kafka-java", "software_version": "4.3.0"}
    usage = [use("k", "app", api, 1, **sent), use("k", "app", "ApiVersions", 4, **sent)]
    found = answers([identity("k", "app", *sent.values())], usage, "4.3.1", Options(target_releases=[target]))
    row = next(row for row in found["upgrade_impact"].to_pylist() if row["api_name"] == api)
    assert (row["verdict"], row["remedy"]) == ("breaks", remedy)


def test_brokers_are_upgraded_with_the_cluster() -> None:
    found = answers([identity("k", "broker-1-fetcher-0", role="broker")], [use("k", "broker-1-fetcher-0", "Fetch", 1)])
    assert verdicts(found)["broker-1-fetcher-0", "Fetch", 1] == ("compatible", "inside_range")
    assert found["clients"].to_pylist()[0]["role"] == "broker"


@pytest.mark.requirement("K35-26")
def test_a_refusal_names_the_refused_request_as_evidence() -> None:
    refusal = {
        "client_key": "k", "client_id": "app", "server": SERVER, "api_key": 0, "api_version": 2, "refusal": "disconnected", "requests": 1,
        "evidence_connection_id": "refused-here", "evidence_request_index": 7,
    }  # fmt: skip
    found = answers([identity("k", "app")], [use("k", "app", "Produce", 2, answered=0)], broker="4.3.1", refusals=[refusal])
    row = found["upgrade_impact"].to_pylist()[0]
    assert (row["verdict"], row["verdict_basis"]) == ("breaks", "observed_refusal")
    assert (row["evidence_connection_id"], row["evidence_request_index"]) == ("refused-here", 7)


def test_a_library_that_cannot_consume_does_not_break_a_program_that_only_produces() -> None:
    """confluent-kafka 1.4.2 cannot list offsets on 4.x; as a producer it works there."""
    name, version = "confluent-kafka-python", "1.4.2-rdkafka-1.4.2"
    produce = use("k", "app", "Produce", 7, software_name=name, software_version=version)
    asked = use("k", "app", "ApiVersions", 3, software_name=name, software_version=version)
    rows = answers([identity("k", "app", name, version)], [produce, asked])["upgrade_impact"].to_pylist()
    assert {(row["api_name"], row["requests"], row["verdict"]) for row in rows} == {
        ("Produce", 5, "compatible"), ("ApiVersions", 5, "compatible"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answered", "errors", "verdict"), [(5, [], "compatible"), (0, [], "breaks"), (5, ["UNSUPPORTED_VERSION"], "breaks")]
)
def test_a_release_that_answered_a_client_does_not_reject_it(answered: int, errors: list[str], verdict: str) -> None:
    """A broker of another maker may answer Produce v2 although it offers just what 4.3.1 does."""
    error_names = [
        {"client_key": "k", "client_id": "app", "api_key": 0, "api_version": 2, "error_name": name, "requests": 5} for name in errors
    ]
    sent = [use("k", "app", "Produce", 2, answered=answered), use("k", "app", "Metadata", 1)]
    options = Options(target_releases=["4.2.1", "4.3.1"])
    found = answers([identity("k", "app")], sent, "4.3.1", options, error_names=error_names)
    judged = {row["target_release"]: row["verdict"] for row in found["upgrade_impact"].to_pylist() if row["api_name"] == "Produce"}
    assert judged == {"4.2.1": "breaks", "4.3.1": verdict}


@pytest.mark.parametrize(("ids", "rows"), [(MAX_IDS, MAX_IDS), (MAX_IDS + 1, 1)])
def test_a_client_that_makes_up_ids_gets_one_row_with_the_folded_id(ids: int, rows: int) -> None:
    found = answers(
        [identity("k", f"run-{number}") for number in range(ids)],
        [use("k", f"run-{number}", api, 1) for number in range(ids) for api in ("Produce", "ApiVersions")],
    )
    produced = [row for row in found["api_usage"].to_pylist() if row["api_name"] == "Produce"]
    assert len(produced) == rows
    assert sum(row["requests"] for row in produced) == 5 * ids
    judged = [row for row in found["upgrade_impact"].to_pylist() if row["api_name"] == "Produce"]
    assert {row["verdict_basis"] for row in judged} == {"own_maximum"}
    assert len(judged) == rows
    if rows == 1:
        assert produced[0]["client_id"] == "run-#"
    assert len(found["clients"].to_pylist()[0]["client_ids"]) == ids


def test_a_broker_release_stands_in_where_no_answer_was_seen() -> None:
    seen = [identity("k", "app")], [use("k", "app", "Produce", 2), use("k", "app", "ApiVersions", 0)]
    unknown = answers(*seen, broker=None)
    given = answers(*seen, broker=None, options=Options(target_releases=["4.3"], broker_release="3.9"))
    assert verdicts(unknown)["app", "Produce", 2] == ("unknown", "broker_ceiling")
    assert verdicts(given)["app", "Produce", 2] == ("breaks", "own_maximum")


def test_releases_that_do_not_exist_are_refused_before_the_work() -> None:
    with pytest.raises(InputError, match="99"):
        Options(target_releases=["99.1"]).check()
    with pytest.raises(InputError, match="98"):
        Options(broker_release="98").check()


def test_an_api_that_no_release_has_is_counted_and_not_judged() -> None:
    found = answers([identity("k", "app")], [use("k", "app", "Produce", 9) | {"api_key": 10001, "api_name": None}])
    assert found["api_usage"].num_rows == 1
    assert found["upgrade_impact"].num_rows == 0


def test_a_client_that_names_itself_is_not_a_guess_whatever_its_name() -> None:
    """Any name is valid by KIP-511; a library that is not known here named itself all the same."""
    named = {"software_name": "market-maker", "software_version": "7"}
    found = answers(
        [identity("k", "quotes", "market-maker", "7"), identity("g", "tail", "kgo", "v1.22.2")],
        [use("k", "quotes", "ApiVersions", 3, **named), use("g", "tail", "ApiVersions", 3)],
    )
    rows = {row["client_key"]: row for row in found["clients"].to_pylist()}
    assert {key: (row["identity_source"], row["library_guess"]) for key, row in rows.items()} == {
        "k": ("api_versions", None), "g": ("api_versions", "franz-go"),
    }  # fmt: skip


SILENT = {"wanted": 39, "answered": 0, "requests": 39}


@pytest.mark.parametrize(
    ("unseen", "reason"),
    [
        (0, "no request of this client was answered, besides negotiation and login"),
        (39, "the answers to this client are not in the capture"),
    ],
)
def test_a_client_that_never_got_an_answer_is_undetermined(unseen: int, reason: str) -> None:
    found = answers([identity("k", "app")], [use("k", "app", "Metadata", 1, **SILENT, unseen=unseen)])
    row = found["upgrade_impact"].to_pylist()[0]
    assert (row["verdict"], row["reason"]) == ("unknown", f"Kafka 4.3 supports Metadata v0 to v13; this client sends v1, but {reason}.")
    assert row["remedy"]
    assert row["cure_version"] is None


LOGIN = {"ApiVersions": 3, "SaslHandshake": 1, "SaslAuthenticate": 2}


@pytest.mark.parametrize(
    ("sent", "failures", "why"),
    [
        # kafka-broker-api-versions and probes, or a raw token that is cut off
        ({"ApiVersions": {}}, 0, "this client sent no request besides negotiation and login"),
        ({"ApiVersions": {}, "SaslHandshake": {"errors": 5}}, 5, "a broker refused this client's SASL mechanism, and none served it"),
        ({api: {} for api in LOGIN}, 5, "a broker refused this client's login, and none served it"),
        # 4.0 hangs up on Metadata of a client that does not log in
        ({"ApiVersions": {}, "Metadata": {"answered": 0}}, 0, "no request of this client was answered, besides negotiation and login"),
    ],
)
def test_negotiation_and_login_are_no_service(sent: dict[str, dict[str, int]], failures: int, why: str) -> None:
    usage = [use("k", "app", api, LOGIN.get(api, 12), **more) for api, more in sent.items()]
    rows = answers([identity("k", "app", auth_failures=failures)], usage)["upgrade_impact"].to_pylist()
    assert {row["verdict"] for row in rows} == {"unknown"}
    assert all(row["reason"].endswith(f", but {why}.") and row["remedy"] for row in rows)


def test_one_answer_on_any_connection_of_the_client_is_enough() -> None:
    """ApiVersions that an old broker hangs up on, then the same client without it."""
    unanswered = use("k", "app", "ApiVersions", 3, **SILENT)
    found = answers([identity("k", "app"), identity("other", "app")], [unanswered, use("other", "app", "Metadata", 1)])
    assert verdicts(found)["app", "ApiVersions", 3] == ("compatible", "inside_range")


def test_requests_that_want_no_answer_leave_the_verdict_alone() -> None:
    found = answers([identity("k", "app")], [use("k", "app", "Produce", 9, wanted=0, answered=0), use("k", "app", "ApiVersions", 3)])
    assert verdicts(found)["app", "Produce", 9] == ("compatible", "inside_range")


def hung_up(version: int, refusal: str = "disconnected") -> dict[str, Any]:
    return {
        "client_key": "k", "client_id": "app", "server": SERVER, "api_key": 0, "api_version": version, "refusal": refusal, "requests": 15,
        "evidence_connection_id": "c", "evidence_request_index": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("refusal", "version", "errors"),
    [
        ("disconnected", 2, 15),
        ("disconnected", 9, 15),
        ("closed", 2, 15),  # no broker of 4.3 serves Produce v2, so it refused it by closing
        ("closed", 9, 0),
        ("unsupported_version", 9, 0),  # counted already: it was answered, with error 35
    ],
)
def test_requests_that_the_server_hung_up_on_are_errors(refusal: str, version: int, errors: int) -> None:
    sent = use("k", "app", "Produce", version, requests=20)
    found = answers([identity("k", "app")], [sent], broker="4.3.1", refusals=[hung_up(version, refusal)])
    row = found["api_usage"].to_pylist()[0]
    assert (row["errors"], row["disconnects"]) == (errors, errors)
    assert found["clients"].to_pylist()[0]["errors"] == errors


MARKING = Options(target_releases=["3.9.2"])


def test_a_marked_use_that_no_release_refuses_needs_nothing() -> None:
    """kafka-go 0.4.51 sends FindCoordinator v0, which 3.8 marks and every 4.x accepts."""
    found = answers([identity("k", "app")], [use("k", "app", "FindCoordinator", 0)], options=Options(target_releases=["3.8.1"]))
    row = found["upgrade_impact"].to_pylist()[0]
    assert (row["verdict"], row["remedy"], row["cure_version"], row["refused_by"]) == ("compatible", None, None, None)
    assert row["reason"].endswith(" and supported by all later releases up to 4.4.")


def test_a_marked_use_that_a_later_release_refuses_names_what_that_one_wants() -> None:
    found = answers([identity("k", "app")], [use("k", "app", "Fetch", 2)], broker="3.8.1", options=MARKING)
    row = found["upgrade_impact"].to_pylist()[0]
    assert (row["verdict"], row["refused_by"]) == ("deprecated", "4.0")
    assert row["remedy"] == (
        "Identify the library and upgrade it to a version that sends Fetch v4 or later; until then, a proxy can translate."
    )


@pytest.mark.parametrize(
    ("api", "feature"),
    [("ShareGroupHeartbeat", "share.version"), ("StreamsGroupHeartbeat", "streams.version"), ("ConsumerGroupHeartbeat", "group.version")],
)
def test_the_fix_for_a_feature_that_is_off_names_the_feature(api: str, feature: str) -> None:
    """Brokers of 4.1 offer these APIs and answer them with error 35 while the feature is not finalized (KIP-1022)."""
    target = TargetRange(release="4.1.2", accepts=(0, 1))
    use = Use(api_name=api, api_version=1, refused_by="4.1", always_refused=True)
    judgement = judge(use, target)
    assert (judgement.verdict, judgement.basis) == ("breaks", "observed_refusal")
    assert f"Enable {feature} on the brokers" in (remedy_of(use, judgement, target, Software("kafka-clients", (4, 1, 0), None)).text or "")


def test_a_mark_of_the_release_that_runs_announces_nothing() -> None:
    """On brokers of 3.8, the marks of 3.7 and 3.8 are notes, that of 3.9 is an announcement."""
    options = Options(target_releases=["3.7.2", "3.8.1", "3.9.2"])
    found = answers([identity("k", "app")], [use("k", "app", "Fetch", 2)], broker="3.8.1", options=options)
    rows = found["upgrade_impact"].to_pylist()
    assert [row["verdict"] for row in rows] == ["compatible", "compatible", "deprecated"]
    assert rows[0]["reason"].endswith(", deprecated in 3.7, 3.8 and 3.9 and rejected by Kafka 4.0.")


def test_a_marked_use_of_a_client_that_steps_up_by_itself_needs_nothing() -> None:
    """Java 3.9 on a broker of 0.10 sends the broker's highest; a newer broker gets more."""
    name, version = "apache-kafka-java", "3.9.2"
    sent = {"software_name": name, "software_version": version}
    found = answers(
        [identity("k", "app", name, version)], [use("k", "app", "ApiVersions", 3, **sent), use("k", "app", "Fetch", 3, **sent)],
        broker="0.10.2.2", options=MARKING,
    )  # fmt: skip
    rows = {row["api_name"]: row for row in found["upgrade_impact"].to_pylist()}
    assert (rows["Fetch"]["verdict"], rows["Fetch"]["remedy"], rows["Fetch"]["refused_by"]) == ("compatible", None, None)
    assert rows["Fetch"]["reason"].endswith(" and rejected by Kafka 4.0.")


@pytest.mark.parametrize(
    ("version", "remedy", "cure"),
    [
        ("1.4.2-rdkafka-1.4.2", "Upgrade librdkafka (or confluent-kafka) to 1.8.2 or later.", "1.8.2"),
        (
            "2.5.3-rdkafka-2.5.3",
            "Upgrade librdkafka to a version that sends Fetch v4 or later; until then, a proxy can translate.",
            None,
        ),
    ],
)
def test_a_remedy_never_names_a_version_that_the_client_has(version: str, remedy: str, cure: str | None) -> None:
    name = "confluent-kafka-python"
    sent = {"software_name": name, "software_version": version}
    found = answers([identity("k", "app", name, version)], [use("k", "app", "ApiVersions", 3, **sent), use("k", "app", "Fetch", 2, **sent)])
    rows = {row["api_name"]: row for row in found["upgrade_impact"].to_pylist() if row["requests"]}
    assert (rows["Fetch"]["remedy"], rows["Fetch"]["cure_version"]) == (remedy, cure)
