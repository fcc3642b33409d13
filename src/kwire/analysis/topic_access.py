"""Table `topic_access`: clients by topic and direction, with amounts and formats.

Produce 13, Fetch 13 and all share group APIs have only topic ids (KIP-516). The names come from any message with both, in any file, before
or after; rows of one topic by name and by id are merged. A recreated topic has two ids and two rows; a row without an id is merged by name.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.columns import Ints, aggregated, flat, taken
from kwire.analysis.partials import Partial
from kwire.analysis.row_sums import codes_of
from kwire.analysis.shown_ids import ShownIds
from kwire.analysis.value_lists import lists_of
from kwire.schema import error_name
from kwire.tables.schemas import INTS, TEXT, TEXTS, TOPIC_ACCESS

__all__ = ["topic_access"]

# Codecs by number, as the attributes of a record batch have them (CompressionType).
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_SUMS: Final = ("requests", "errors", "unseen_requests", "records", "batches", "bytes")
_USE: Final = ("client_key", "client_id", "direction", "topic", "topic_id")
_SOFTWARE: Final = ("software_name", "software_version")


def topic_access(partial: Partial) -> pa.Table:
    shown, names = ShownIds(partial), _TopicNames(partial["topic_names"])
    use, marks = (names.resolve(partial[name], shown) for name in ("topic_use", "topic_marks"))
    both = {name: pa.concat_arrays([use[name], marks[name]]) for name in _USE}
    numbers, first = codes_of(*both.values())
    of_use, of_marks = numbers[: len(partial["topic_use"])], numbers[len(partial["topic_use"]) :]
    size = int(of_use.max(initial=-1)) + 1
    found = taken(both, first[:size])
    found |= _sums(partial["topic_use"], of_use) | _marks(partial["topic_marks"], of_marks, size)
    found |= _groups(partial["group_use"], shown, found)
    rows = pa.table({**found, **_of_clients(partial["identities"], found["client_key"])})
    empty: Any = ""
    order: Any = {name: pc.fill_null(rows.column(name), empty) for name in _USE}
    in_order = pc.sort_indices(pa.table(order), sort_keys=[(name, "ascending") for name in _USE])
    return rows.select(TOPIC_ACCESS.names).cast(TOPIC_ACCESS).take(in_order)


class _TopicNames:
    def __init__(self, names: pa.Table) -> None:
        self._ids, self._names = flat(names, "topic_id"), flat(names, "topic")
        last: Any = pc.ScalarAggregateOptions(skip_nulls=False)
        by_id = aggregated(names, ["topic_id"], [("topic", "last", last)])
        self._known, self._name_of = flat(by_id, "topic_id"), flat(by_id, "topic")
        by_name = aggregated(names, ["topic"], [("topic_id", "min"), ([], "count_all")])
        alone = by_name.filter(pc.field("count_all") == 1)
        self._alone, self._only_id = flat(alone, "topic"), flat(alone, "topic_id")

    def resolve(self, table: pa.Table, shown: ShownIds) -> dict[str, Any]:
        topic, topic_id = flat(table, "topic"), flat(table, "topic_id")
        named: Any = pc.is_valid(topic)
        nothing = pa.scalar(None, TEXT)
        by_id = self._name_of.take(pc.index_in(topic_id, value_set=self._known))
        by_name = self._only_id.take(pc.index_in(topic, value_set=self._alone))
        own = pc.if_else(pc.and_(named, pc.equal(topic_id, pa.scalar(""))), nothing, topic_id)
        return {
            "client_key": flat(table, "client_key"), "client_id": shown.column(table), "direction": flat(table, "direction"),
            "topic": pc.coalesce(topic, by_id), "topic_id": pc.coalesce(own, pc.if_else(named, by_name, nothing)),
        }  # fmt: skip


def _sums(use: pa.Table, numbers: Ints) -> dict[str, Any]:
    rules: list[Any] = [*((name, "sum") for name in _SUMS), ("max_batch_bytes", "max"), ("first_seen", "min"), ("last_seen", "max")]
    grouped = aggregated(use.append_column("row", pa.array(numbers)), ["row"], rules)
    return {name: flat(grouped, name) for name, _ in rules}


def _marks(marks: pa.Table, numbers: Ints, size: int) -> dict[str, Any]:
    kinds, values = flat(marks, "mark"), flat(marks, "value")
    known = numbers < size

    def of(mark: str) -> tuple[Ints, Any]:
        chosen: Any = pc.equal(kinds, pa.scalar(mark)).to_numpy(zero_copy_only=False) & known
        return numbers[chosen], values.filter(pa.array(chosen))

    def spelled(mark: str, names: Any) -> Any:
        of_mark, found = of(mark)
        codes = found.dictionary_encode()
        texts = pa.array([names(code) for code in codes.dictionary.to_pylist()], TEXT)
        return lists_of(of_mark, texts.take(codes.indices), size, TEXTS)

    plain = {mark: lists_of(*of(mark), size, INTS) for mark in ("magic", "acks", "partitions")}
    return plain | {"error_names": spelled("error_codes", error_name), "compression": spelled("compression", _codec)}


def _codec(number: int) -> str:
    return _CODECS[number] if number < len(_CODECS) else f"unknown {number}"


def _groups(use: pa.Table, shown: ShownIds, rows: dict[str, Any]) -> dict[str, Any]:
    ids = shown.column(use)
    numbers, first = codes_of(pa.concat_arrays([rows["client_key"], flat(use, "client_key")]), pa.concat_arrays([rows["client_id"], ids]))
    count = len(rows["client_key"])
    lists = lists_of(numbers[count:], flat(use, "group_id"), len(first), TEXTS)
    fetching: Any = pc.equal(rows["direction"], pa.scalar("fetch"))
    return {"group_ids": pc.if_else(fetching, lists.take(pa.array(numbers[:count])), pa.scalar([], TEXTS))}


def _of_clients(identities: pa.Table, keys: Any) -> dict[str, Any]:
    numbers, first = codes_of(pa.concat_arrays([flat(identities, "client_key"), keys]))
    of_rows: Any = pa.array(numbers[len(identities) :])
    mine = numbers[: len(identities)]
    unknown: Any = pa.array(np.where(first < len(identities), first, -1), mask=first >= len(identities))
    found = {name: identities.column(name).take(unknown).take(of_rows) for name in _SOFTWARE}
    kinds = (("principals", "principal"), ("addresses", "address"))
    lists = {name: lists_of(mine, flat(identities, column), len(first), TEXTS) for name, column in kinds}
    return found | {name: values.take(of_rows) for name, values in lists.items()}
