"""Sums of what is over, in memory and in files (kwire.runs.settled_sums)."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from kwire.analysis.partials import Partial, empty, merge, schema_of
from kwire.errors import InputError
from kwire.runs import settled_sums
from kwire.runs.parts import STAGING
from kwire.runs.settled_sums import SettledSums
from kwire.runs.sums_files import is_sums, read_all_sums, sums_file

LIMIT = 32 << 10


@pytest.fixture(autouse=True)
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settled_sums, "SUMS_BYTES", LIMIT)


@pytest.fixture
def out(tmp_path: Path) -> str:
    (tmp_path / STAGING).mkdir()
    return str(tmp_path)


def clients(first: int, count: int) -> Partial:
    """One connection of each of some client addresses."""
    row = dict.fromkeys(schema_of("identities").names)
    rows = [
        row | {"client_key": "k", "address": f"10.0.{number >> 8}.{number & 255}", "connections": 1}
        for number in range(first, first + count)
    ]
    return empty() | {"identities": pa.Table.from_pylist(rows, schema=schema_of("identities"))}


def held(sums: SettledSums) -> int:
    return sum(table.nbytes for partial in sums._waiting for table in partial.values())


def test_what_a_task_holds_has_a_cap(out: str) -> None:
    """Twelve thousand addresses, 600 KB of sums: never more than the cap and what came last."""
    sums = SettledSums(out, "sums-00000-000-x")
    most = 0
    for first in range(0, 12_000, 200):
        sums.add(clients(first, 200))
        most = max(most, held(sums))
    assert most <= LIMIT
    assert len(sums.files) > 8
    whole = merge([*(read_all_sums(out, file) for file in sums.files), sums.take()])
    assert whole["identities"].num_rows == 12_000
    assert whole["identities"].column("connections").unique().to_pylist() == [1]


def test_equal_keys_are_put_together_and_need_no_part(out: str) -> None:
    sums = SettledSums(out, "sums-00000-000-x")
    for _ in range(60):
        sums.add(clients(0, 50))
    assert not sums.files
    assert sums.take()["identities"].column("connections").unique().to_pylist() == [60]


def test_files_of_earlier_runs_and_of_this_one(out: str, tmp_path: Path) -> None:
    sums = SettledSums(out, "sums-00000-000-x")
    for first in range(0, 8_000, 200):
        sums.add(clients(first, 200))
    file = sums.files[0]
    fresh = read_all_sums(out, file)
    (tmp_path / "_state").mkdir()
    (tmp_path / STAGING / file.part).rename(tmp_path / file.part)
    earlier = read_all_sums(out, sums_file(out, file.part))
    assert all(earlier[name].equals(fresh[name]) for name in fresh)
    assert all(is_sums(each.part) for each in sums.files)
    assert not is_sums("_state/state-00000-000-x")
    with pytest.raises(InputError, match="cannot be read"):
        read_all_sums(out, file)


def test_what_is_not_divided_is_at_hand(out: str) -> None:
    """Names of brokers come to the driver without the rest of what is in the files."""
    sums = SettledSums(out, "sums-00000-000-x")
    schema = schema_of("nodes")
    node = pa.Table.from_pylist([dict.fromkeys(schema.names) | {"node_id": 4, "host": "h", "port": 9092}], schema=schema)
    for first in range(0, 2_000, 200):
        sums.add(clients(first, 200) | {"nodes": node})
    assert sums.files
    assert sums.whole["nodes"].column("node_id").to_pylist() == [4]
