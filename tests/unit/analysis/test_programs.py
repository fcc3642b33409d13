"""Client keys brought to programs: one client id, address and principal is one application; folded ids are one while they agree."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis import finish, merge
from kwire.analysis.partials import empty, schema_of
from kwire.analysis.programs import Program, moved_rows, united

SEEN = datetime(2026, 11, 21, tzinfo=timezone.utc)


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([{"first_seen": SEEN, "last_seen": SEEN, **row} for row in rows], schema=schema_of(name))


def identity(key: str, client_id: str | None, name: str | None = "unknown", address: str = "10.0.0.1", **more: Any) -> dict[str, Any]:
    named = {"software_name": name, "software_version": name and ("unknown" if name == "unknown" else "3.9.2")}
    return {
        "client_key": key,
        "client_id": client_id,
        "address": address,
        "role": "client",
        "identity_source": "not_sent",
        "connections": 1,
        **named,
        **more,
    }


def use(key: str, client_id: str, versions: dict[int, int], name: str = "unknown") -> list[dict[str, Any]]:
    of_client = {"client_key": key, "client_id": client_id, "software_name": name, "software_version": name, "server": "s:1"}
    return [
        of_client | {"api_key": api, "api_version": version, "requests": 1, "errors": 0, "wanted": 1, "answered": 1, "unseen": 0}
        for api, version in versions.items()
    ]


def moved(identities: list[dict[str, Any]], usage: list[dict[str, Any]] = []) -> dict[tuple[str, str | None], str]:  # noqa: B006
    _, moves = united(merge([empty() | {"identities": table("identities", identities), "usage": table("usage", usage)}]))
    return {who: program.client_key for who, program in moves.items()}


@pytest.mark.parametrize("name", ["unknown", None])
def test_connections_without_a_name_are_of_the_program_that_has_one(name: str | None) -> None:
    assert moved([identity("k1", "app", "apache-kafka-java"), identity("k2", "app", name)]) == {("k2", "app"): "k1", ("k2", None): "k1"}


def test_a_connection_that_was_joined_late_is_of_the_program_without_a_name() -> None:
    assert moved([identity("k1", "app"), identity("k2", "app", None)])["k2", "app"] == "k1"


@pytest.mark.parametrize(
    "other",
    [identity("k2", "app", address="10.0.0.2"), identity("k2", "app", principal="User:a"), identity("k2", "app-2"), identity("k2", None)],
)
def test_another_address_principal_or_id_is_another_program(other: dict[str, Any]) -> None:
    assert moved([identity("k1", "app", "apache-kafka-java"), other]) == {}


def test_old_instances_on_machines_of_their_own_stay_apart() -> None:
    """Half of the machines have the new version: the others are what breaks."""
    old = [identity("k2", "app", address=f"10.0.0.{host}") for host in (1, 2, 3)]
    assert moved([*(identity("k1", "app", "apache-kafka-java", address=f"10.0.0.{host}") for host in (1, 2)), *old]) == {}


def test_of_several_names_the_first_counts() -> None:
    later = identity("a", "app", "kgo", first_seen=SEEN + timedelta(hours=1))
    assert moved([later, identity("b", "app", "sarama"), identity("k", "app")])["k", "app"] == "b"


def test_ids_that_differ_in_digits_are_one_program_while_they_agree() -> None:
    ids = [identity("k", "gateway-1"), identity("k", "gateway-2"), identity("k", "gateway-3")]
    agreeing = [*use("k", "gateway-1", {0: 3, 3: 1}), *use("k", "gateway-1", {3: 0}), *use("k", "gateway-2", {3: 1, 1: 4})]
    assert moved(ids, agreeing) == {}
    found = moved(ids, [*agreeing, *use("k", "gateway-3", {1: 11})])
    assert set(found) == {("k", "gateway-3")}
    assert found["k", "gateway-3"] != "k"


def test_a_program_that_was_told_apart_finds_its_name() -> None:
    ids = [identity("k", "gw-1"), identity("k", "gw-2"), identity("n", "gw-2", "sarama")]
    assert moved(ids, [*use("k", "gw-1", {1: 4}), *use("k", "gw-2", {1: 11})]) == {("k", "gw-2"): "n"}


def test_all_tables_have_the_key_of_the_program() -> None:
    partial = empty() | {
        "identities": table("identities", [identity("k1", "app", "kgo"), identity("k2", "app")]),
        "usage": table("usage", [*use("k1", "app", {3: 12}, "kgo"), *use("k2", "app", {3: 12})]),
        "hourly": table(
            "hourly",
            [
                {"client_key": key, "client_id": client_id, "server": "s:1", "api_key": 3, "api_version": 12, "hour": SEEN, "requests": 1}
                for key, client_id in (("k1", None), ("k2", "app"))
            ],
        ),
    }
    found = finish(merge([partial]))
    assert [(row["client_key"], row["connections"], row["requests"]) for row in found["clients"].to_pylist()] == [("k1", 2, 2)]
    assert [(row["client_key"], row["software_name"], row["requests"]) for row in found["api_usage"].to_pylist()] == [("k1", "kgo", 2)]
    assert [(row["client_key"], row["requests"]) for row in found["client_hourly"].to_pylist()] == [("k1", 2)]


def test_rows_of_any_id_follow_a_key_that_is_gone() -> None:
    rows = pa.RecordBatch.from_pydict({"client_key": ["k2", "k2", "k1", None], "client_id": ["app", None, "app", "app"]})
    program = Program("k1", "kgo", "v1")
    assert moved_rows(rows, {("k2", "app"): program, ("k2", None): program}).column(0).to_pylist() == ["k1", "k1", "k1", None]
    assert moved_rows(rows, {("k2", "app"): program}).column(0).to_pylist() == ["k1", "k2", "k1", None]
