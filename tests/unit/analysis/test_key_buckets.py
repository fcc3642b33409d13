"""Buckets of keys: what is finished together lies in one bucket, and all buckets together give the tables of the whole."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.answers import Options, answers_by_key, cluster_of, finish
from kwire.analysis.key_buckets import WHOLE, bucket_of, divided, whole_of
from kwire.analysis.partials import Partial, empty, merge, partial_of_series, schema_of
from kwire.analysis.programs import moved_tables, united
from kwire.tables import read_series
from kwire.tables.client_keys import client_key

EXAMPLE = Path(__file__).parents[3] / "examples" / "upgrade-fleet.pcap.gz"
BITS = 3


def table(name: str, *rows: dict[str, Any]) -> pa.Table:
    schema = schema_of(name)
    return pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in rows], schema=schema)


def identity(software: str, client_id: str, address: str, principal: str | None = None) -> dict[str, Any]:
    key = client_key(software, "1", client_id, principal, address)
    return {"client_key": key, "client_id": client_id, "address": address, "principal": principal, "software_name": software}


def buckets(*identities: dict[str, Any]) -> list[int]:
    """The bucket of each of some connections, the sums of which are divided together."""
    pieces = divided(empty() | {"identities": table("identities", *identities)}, BITS)
    where = {key: at for at, piece in enumerate(pieces) if piece for key in piece["identities"].column("client_key").to_pylist()}
    return [where[each["client_key"]] for each in identities]


def test_a_program_lies_together_whatever_it_says_of_its_software() -> None:
    """kafkajs names itself on one connection only: two client keys, one program."""
    named, nameless = identity("kafkajs", "orders-7", "10.0.0.1"), identity("unknown", "orders-8", "10.0.0.2")
    assert named["client_key"] != nameless["client_key"]
    assert len({*buckets(named, nameless)}) == 1


def test_programs_behind_a_librarys_default_id_are_told_apart_by_address() -> None:
    found = buckets(*(identity("unknown", "rdkafka", f"10.0.0.{number}") for number in range(64)))
    assert {*found} == set(range(1 << BITS))


def test_principals_are_told_apart() -> None:
    assert len({*buckets(*(identity("unknown", "app", "10.0.0.1", f"User:{number}") for number in range(64)))}) == 1 << BITS


@pytest.fixture(scope="module")
def sums() -> Partial:
    with read_series([str(EXAMPLE)], "x", ()) as rows:
        return merge([partial_of_series(rows)])


def rows_of(tables: dict[str, pa.Table]) -> dict[str, Counter[str]]:
    return {name: Counter(map(repr, rows.to_pylist())) for name, rows in tables.items()}


def test_the_buckets_give_the_tables_of_the_whole(sums: Partial) -> None:
    cluster = cluster_of(whole_of(sums), Options())
    found: dict[str, Counter[str]] = {}
    buckets = [united(merge([piece])) for piece in divided(sums, BITS)]
    moves = {who: program for _, some in buckets for who, program in some.items()}
    for bucket, _ in buckets:
        answers = moved_tables(answers_by_key(bucket, cluster), moves)  # a group may be in another bucket than its members
        for name, rows in rows_of(answers).items():
            found[name] = found.get(name, Counter()) + rows
    expected = rows_of(finish(sums))
    assert found == {name: expected[name] for name in found}
    assert {*expected} - {*found} == {"captures", "brokers"}


def test_a_coarse_bucket_holds_finer_ones_side_by_side(sums: Partial) -> None:
    fine, coarse = divided(sums, BITS), divided(sums, 1)
    for half in (0, 1):
        together = merge(fine[half << (BITS - 1) : (half + 1) << (BITS - 1)])
        assert all(together[name].equals(rows) for name, rows in merge([coarse[half]]).items())
    for number, piece in enumerate(fine):
        picked = bucket_of(coarse[number >> (BITS - 1)], BITS, number)
        assert picked.keys() == piece.keys()
        assert all(picked[name].equals(piece[name]) for name in piece)


def test_what_is_small_is_in_no_bucket(sums: Partial) -> None:
    assert not {name for piece in divided(sums, BITS) for name in piece} & {*WHOLE}
