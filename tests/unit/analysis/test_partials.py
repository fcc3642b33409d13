"""Parts that add up: any split of the rows, merged in any order, gives the whole."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from kwire.analysis.partials import KEPT, PARTS, empty, from_bytes, merge, reduce_rows, schema_of, to_bytes

START = 1_700_000_000_000_000


def usage_row(number: int) -> dict[str, Any]:
    random_of = random.Random(number)
    time = START + random_of.randrange(1000)
    return {
        "client_key": random_of.choice("ab"), "client_id": random_of.choice(["x", None]), "software_name": "n", "software_version": None,
        "server": random_of.choice(["s1", "s2"]), "api_key": random_of.randrange(3), "api_name": "A", "api_version": random_of.randrange(2),
        "requests": 1, "errors": random_of.randrange(2), "wanted": 1, "answered": 1, "unseen": 0, "first_seen": time, "last_seen": time,
        "evidence_connection_id": f"c{random_of.randrange(4)}", "evidence_request_index": number,
    }  # fmt: skip


def usage(numbers: range | list[int]) -> pa.Table:
    rows = [usage_row(number) for number in numbers]
    schema = schema_of("usage")
    return pa.Table.from_arrays([pa.array([row[field.name] for row in rows], field.type) for field in schema], schema=schema)


@pytest.mark.parametrize("seed", range(5))
def test_any_split_in_any_order_gives_the_same(seed: int) -> None:
    shuffled = list(range(200))
    random.Random(seed).shuffle(shuffled)
    borders = sorted(random.Random(seed).sample(range(1, 200), 4))
    pieces = [shuffled[start:end] for start, end in zip([0, *borders], [*borders, 200], strict=True)]
    parts = [empty() | {"usage": reduce_rows("usage", usage(piece))} for piece in pieces]
    left = merge([merge(parts[:2]), *parts[2:]])
    right = merge([parts[0], merge(parts[1:])])
    whole = reduce_rows("usage", usage(range(200)))
    assert left["usage"].equals(whole)
    assert right["usage"].equals(whole)
    assert sum(whole["requests"].to_pylist()) == 200


def test_the_evidence_is_that_of_the_earliest_request() -> None:
    rows = [
        usage_row(number) | {"client_key": "a", "client_id": "x", "server": "s", "api_key": 1, "api_version": 1} for number in range(50)
    ]
    schema = schema_of("usage")
    table = pa.Table.from_arrays([pa.array([row[field.name] for row in rows], field.type) for field in schema], schema=schema)
    first = min(rows, key=lambda row: (row["first_seen"], row["evidence_connection_id"], row["evidence_request_index"]))
    merged = reduce_rows("usage", table).to_pylist()
    assert len(merged) == 1
    assert merged[0]["evidence_connection_id"] == first["evidence_connection_id"]
    assert merged[0]["evidence_request_index"] == first["evidence_request_index"]
    assert merged[0]["requests"] == 50


def test_nothing_merged_is_empty_and_changes_nothing() -> None:
    part = empty() | {"usage": reduce_rows("usage", usage(range(20)))}
    assert all(table.num_rows == 0 for table in merge([]).values())
    assert merge([part, empty()])["usage"].equals(part["usage"])


def test_names_and_racks_keep_what_any_part_knew() -> None:
    schema = schema_of("nodes")
    rows = [(1, "h", 9092, START, None, "C", START), (1, "h", 9092, START + 5, "r", None, START + 9)]
    columns = list(zip(*rows, strict=True))
    table = pa.Table.from_arrays([pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)
    merged = reduce_rows("nodes", table)
    assert merged.select(["rack", "cluster_id"]).to_pylist() == [{"rack": "r", "cluster_id": "C"}]


def test_parts_travel_as_bytes() -> None:
    part = empty() | {"usage": reduce_rows("usage", usage(range(20)))}
    again = from_bytes(to_bytes(part))
    assert again.keys() == part.keys() == {*PARTS, *KEPT}
    assert all(again[name].equals(part[name]) for name in part)
