"""Digest of the tables of rows; `kwire.spark.finish_task` makes the digest of tables divided by key."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from kwire.analysis.digests import DIGESTED_COLUMNS, PAGE, Digest, RowDigest, Wanted, merge_digests
from kwire.analysis.partials import from_bytes, to_bytes
from kwire.spark.parts import Part, opened_part, part_batches
from kwire.spark.task_running import run_each

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kwire.spark.local_processes import LocalProcesses

__all__ = ["digest_rows", "merged"]

_AT_ONCE: Final = 64
"""Number of digests that are unpacked at once."""
_PARTS_OF_TASK: Final = 32
_NUMBER: Final = re.compile(r"-(\d{5})\b")


def merged(packed: Iterable[bytes]) -> Digest:
    found: list[Digest] = []
    for one in packed:
        found.append(from_bytes(one))
        if len(found) >= _AT_ONCE:
            found = [merge_digests(found, PAGE)]
    return merge_digests(found, PAGE)


def digest_rows(
    spark: SparkSession | SparkContext | LocalProcesses, out: str, parts: Iterable[Part], wanted: Wanted, slots: int
) -> tuple[Digest, float]:
    found, seconds = run_each(spark, _tasks(parts, wanted, slots), partial(_digest, out, wanted))
    return merged(found), seconds


def _tasks(parts: Iterable[Part], wanted: Wanted, slots: int) -> list[tuple[Part, ...]]:
    """Divide the parts; parts of one reading task stay together, because they hold connections and their violations."""
    groups: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        table, _, name = part[0].partition("/")
        if table in DIGESTED_COLUMNS and (table != "requests" or wanted.reads_requests):
            number = _NUMBER.search(name)
            groups[f"{table == 'topic_access'}{number[1] if number else name}"].append(part)
    listed = [groups[name] for name in sorted(groups)]
    total = sum(map(len, listed))
    count = min(len(listed), max(slots, -(-total // _PARTS_OF_TASK)))
    return [tuple(part for group in listed[at::count] for part in group) for at in range(count)]


def _digest(out: str, wanted: Wanted, parts: Sequence[Part]) -> bytes:
    rows = RowDigest(wanted)
    order = list(DIGESTED_COLUMNS)
    for part, is_fresh in sorted(parts, key=lambda each: (order.index(each[0].partition("/")[0]), each[0])):
        table = part.partition("/")[0]
        with opened_part(out, part, is_fresh) as file:
            for batch in part_batches(file, table, DIGESTED_COLUMNS[table]):
                rows.add(table, batch)
    return to_bytes(rows.result())
