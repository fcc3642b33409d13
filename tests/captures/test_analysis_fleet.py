"""The whole analysis in one process, on clients of all ages: each was also run against a real 4.x broker, and the verdicts must agree."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire import analysis
from kwire.analysis import Options
from kwire.errors import InputError
from kwire.tables.schemas import SCHEMAS

ROOT = Path(__file__).parents[2]
CAPTURE = str(ROOT / "examples" / "upgrade-fleet.pcap.gz")
TRUTH = json.loads((Path(__file__).parent / "data" / "upgrade-fleet-truth.json").read_text())
CLIENTS = TRUTH["clients"]


@pytest.fixture(scope="module")
def answers() -> dict[str, pa.Table]:
    return analysis.run([CAPTURE], [19092], Options(target_releases=["4.0.0", "4.3"]))


@pytest.fixture(scope="module")
def impact(answers: dict[str, pa.Table]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in answers["upgrade_impact"].to_pylist():
        found[row["client_id"], row["target_release"]].append(row)
    return found


def test_all_tables_have_their_schemas(answers: dict[str, pa.Table]) -> None:
    assert answers.keys() == SCHEMAS.keys()
    for name, table in answers.items():
        assert table.schema == SCHEMAS[name], name


@pytest.mark.parametrize("client", CLIENTS, ids=[f"{client['library']}-{client['version']}" for client in CLIENTS])
def test_verdicts_agree_with_what_happened(client: dict[str, Any], impact: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    rows = impact[client["client_id"], "4.3.1"]
    assert rows
    assert ("breaks" in {row["verdict"] for row in rows}) == client["breaks_on_4x"]
    for row in rows:
        assert row["reason"].endswith(".")
        assert row["evidence_connection_id"] is not None
        if row["verdict"] == "breaks":
            assert row["remedy"]


def test_the_evidence_is_a_request_of_that_kind(answers: dict[str, pa.Table]) -> None:
    requests = {(row["connection_id"], row["request_index"]): row for row in answers["requests"].to_pylist()}
    seen = [row for row in answers["upgrade_impact"].to_pylist() if row["requests"]]
    assert len(seen) > 100
    for row in seen:
        request = requests[row["evidence_connection_id"], row["evidence_request_index"]]
        assert [request[name] for name in ("api_name", "api_version", "client_key")] == [
            row[name] for name in ("api_name", "api_version", "client_key")
        ]


def test_4_0_0_lacks_join_group_v0_and_v1(impact: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    """Which 4.0.2 has again: the same clients, two verdicts."""
    first = {row["api_name"]: row["verdict"] for row in impact["pricing-svc", "4.0.0"] if row["api_version"] == 1}
    later = {row["api_name"]: row["verdict"] for row in impact["pricing-svc", "4.3.1"] if row["api_version"] == 1}
    assert (first["JoinGroup"], later["JoinGroup"]) == ("breaks", "compatible")


def test_usage_adds_up_to_the_requests(answers: dict[str, pa.Table]) -> None:
    usage = Counter[str]()
    for row in answers["api_usage"].to_pylist():
        usage[f"{row['api_name']} v{row['api_version']}"] += row["requests"]
    assert usage == Counter(TRUTH["requests_by_api_version"])
    assert sum(answers["clients"]["requests"].to_pylist()) == sum(TRUTH["requests_by_api_version"].values())
    assert sum(answers["clients"]["connections"].to_pylist()) == TRUTH["connections"]


def test_clients_are_listed_by_the_name_they_send(answers: dict[str, pa.Table]) -> None:
    listed = {
        (row["software_name"], row["software_version"], client_id): row
        for row in answers["clients"].to_pylist()
        for client_id in row["client_ids"]
    }
    for client in CLIENTS:
        name, version = client["software_name"] or "unknown", client["software_version"] or "unknown"
        row = listed[name, version, client["client_id"]]
        assert (row["identity_source"] == "api_versions") == (client["software_name"] is not None)


def test_libraries_that_send_no_name_are_guessed_right_or_not_at_all(answers: dict[str, pa.Table]) -> None:
    names = {"kafka-clients": "apache-kafka-java", "confluent-kafka": "librdkafka"}
    guessed = {client_id: row["library_guess"] for row in answers["clients"].to_pylist() for client_id in row["client_ids"]}
    right = 0
    for client in CLIENTS:
        guess = guessed[client["client_id"]]
        if guess is not None:
            assert guess.split(" ")[0] == names.get(client["library"], client["library"])
            right += 1
    assert right >= 20


def test_the_broker_is_known_by_what_it_advertises(answers: dict[str, pa.Table]) -> None:
    rows = answers["brokers"].to_pylist()
    assert [(row["node_id"], row["release_guess"]) for row in rows] == [(3, TRUTH["broker_release"])]
    assert {entry["api_name"]: entry["max_version"] for entry in rows[0]["versions"]}["Produce"] == 11


def test_default_targets_begin_with_the_brokers_line() -> None:
    targets = {row["target_release"] for row in analysis.run([CAPTURE], [19092])["upgrade_impact"].to_pylist()}
    assert TRUTH["broker_release"] in targets
    assert {"4.0.2", "4.1.2"} <= targets
    assert not any(target.startswith("3.8") for target in targets)


def test_a_release_that_does_not_exist_is_one_clear_sentence() -> None:
    with pytest.raises(InputError, match=r"17\.3"):
        analysis.run([CAPTURE], [19092], Options(target_releases=["17.3"]))
