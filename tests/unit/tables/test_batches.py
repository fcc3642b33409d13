"""Schemas that Spark takes, builders that fill them, spools that keep them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from kwire.tables.batch_spool import BatchSpool
from kwire.tables.column_builder import ColumnBuilder
from kwire.tables.facts import FACT_SCHEMAS
from kwire.tables.schemas import SCHEMAS

PAIR = pa.schema([pa.field("number", pa.int64()), pa.field("time", pa.timestamp("us", tz="UTC"))])


def flat(kind: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_list(kind):
        return flat(kind.value_type)
    if pa.types.is_struct(kind):
        return [inner for field in kind for inner in flat(field.type)]
    return [kind]


@pytest.mark.parametrize("name", sorted(SCHEMAS | FACT_SCHEMAS))
def test_every_type_is_one_that_spark_takes_as_it_is(name: str) -> None:
    allowed = {
        pa.bool_(),
        pa.int32(),
        pa.int64(),
        pa.float64(),
        pa.string(),
        pa.map_(pa.string(), pa.string()),
        pa.timestamp("us", tz="UTC"),
    }
    for field in (SCHEMAS | FACT_SCHEMAS)[name]:
        assert set(flat(field.type)) <= allowed, field
        assert field.nullable


def test_a_builder_gives_whole_batches_and_on_demand_the_rest() -> None:
    builder = ColumnBuilder(PAIR, batch_rows=3)
    for number in range(7):
        builder.add((number, number * 1_000_000))
    assert [batch.num_rows for batch in builder.take(whole=False)] == [3, 3]
    rest = builder.take(whole=True)
    assert [batch.to_pydict()["number"] for batch in rest] == [[6]]
    assert rest[0].schema == PAIR
    assert rest[0].to_pylist()[0]["time"].isoformat() == "1970-01-01T00:00:06+00:00"
    assert builder.take(whole=True) == []


@pytest.mark.parametrize("limit", [1, 64, 1 << 20])
def test_a_spool_gives_back_what_it_took_as_often_as_asked(limit: int) -> None:
    batches = [pa.RecordBatch.from_pydict({"number": [n, n + 1], "time": [0, n]}, schema=PAIR) for n in range(5)]
    with BatchSpool(PAIR, limit) as spool:
        assert list(spool) == []
        for batch in batches:
            spool.add(batch)
        for _ in range(2):
            assert [batch.to_pydict() for batch in spool] == [batch.to_pydict() for batch in batches]
