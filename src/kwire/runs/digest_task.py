"""Digest of the tables of rows; `kwire.runs.finish_task` makes the digest of tables divided by key.

An appending run keeps what earlier ones have found in final rows, in the digest file: of their parts it reads only times.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.analysis.digests import (
    DIGESTED_COLUMNS,
    NO_TIMES,
    OF_SPAN,
    PAGE,
    TIME_COLUMNS,
    Digest,
    RowDigest,
    Wanted,
    merge_digests,
)
from kwire.analysis.digests.storing import read_final
from kwire.analysis.partials import from_bytes, to_bytes
from kwire.runs.parts import Part, opened_part, output_place, part_batches
from kwire.runs.workers import Workers, run_each
from kwire.tables.schemas import TEXT

__all__ = ["KnownRows", "digest_rows", "known_rows", "merged"]

_AT_ONCE: Final = 64
"""Number of digests that are unpacked at once."""
_PARTS_OF_TASK: Final = 32
_MOST_CLIENTS: Final = 256
"""Clients of a part whose times are kept; a part with more is read again."""
_NUMBER: Final = re.compile(r"-(\d{5})\b")


def merged(packed: Iterable[bytes]) -> Digest:
    found: list[Digest] = []
    for one in packed:
        found.append(from_bytes(one))
        if len(found) >= _AT_ONCE:
            found = [merge_digests(found, PAGE)]
    return merge_digests(found, PAGE)


@dataclass(frozen=True, slots=True)
class KnownRows:
    """Findings of a run in final rows: a hash of what it looked for and of the parts, the hash `late` of facts that the rows were filled
    in from, and the digest."""

    key: str = ""
    late: str = ""
    digest: Digest = field(default_factory=dict)


def known_rows(location: str, manifest: Mapping[str, Any] | None) -> KnownRows:
    """Read what the earlier run has found; nothing if that is missing or damaged, because it can be found again."""
    found = None if manifest is None else read_final(*output_place(location), manifest["parts"])
    return KnownRows() if found is None else KnownRows(*found)


def digest_rows(
    workers: Workers, out: str, parts: Mapping[str, bool], wanted: Wanted, slots: int, known: KnownRows
) -> tuple[Digest, KnownRows, float]:
    """Return the digest of all parts, each with whether this run wrote it; what is to be known of final ones; and CPU seconds."""
    final = [part for part in parts if _is_final(part)]
    is_known = known.late != "" and known.key == _key(wanted, [part for part in final if not parts[part]])
    old = {part for part in final if not parts[part]} if is_known else set[str]()
    of_old = RowDigest(wanted)
    told = of_old.add_known_times(known.digest.get("part_times", NO_TIMES)) if is_known else set[str]()
    groups = (
        [part for part in parts.items() if part[0] in old and part[0].startswith("connections/") and part[0] not in told],
        [part for part in parts.items() if part[0] in final and part[0] not in old],
        [part for part in parts.items() if part[0] not in final],
    )
    tasks = [(number, task) for number, group in enumerate(groups) for task in _tasks(group, wanted, slots)]
    found, seconds = run_each(workers, tasks, partial(_digest, out, wanted))
    times, new, rest = (merged(one for one, (group, _) in zip(found, tasks, strict=True) if group == number) for number in range(3))
    settled = merge_digests([known.digest if is_known else {}, {name: rows for name, rows in new.items() if name not in OF_SPAN}], PAGE)
    if "part_times" in settled:
        times_of = settled["part_times"]
        counts: Any = times_of.column("part").value_counts()
        few = [each["values"] for each in counts.to_pylist() if each["counts"] <= _MOST_CLIENTS]
        settled["part_times"] = times_of.filter(pc.is_in(times_of.column("part"), value_set=pa.array(few, TEXT)))
    span = {name: rows for name, rows in new.items() if name in OF_SPAN}
    whole = merge_digests([settled, span, times, rest, of_old.result()], PAGE)
    whole.pop("part_times", None)
    return whole, KnownRows(_key(wanted, final), known.late, settled), seconds


def _is_final(part: str) -> bool:
    kind, _, rest = part.rpartition("/")[2].partition("-")
    return kind == "part" and rest[:5].isdigit()


def _key(wanted: Wanted, parts: Iterable[str]) -> str:
    clients, findings = sorted(wanted.clients.to_pylist(), key=str), sorted(wanted.findings.to_pylist(), key=repr)
    facts = (wanted.limits, clients, findings, wanted.span is None, sorted(parts))
    return hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()


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


def _digest(out: str, wanted: Wanted, task: tuple[int, Sequence[Part]]) -> bytes:
    group, parts = task
    rows = RowDigest(wanted)
    order = list(DIGESTED_COLUMNS)
    for part, is_fresh in sorted(parts, key=lambda each: (order.index(each[0].partition("/")[0]), each[0])):
        table = part.partition("/")[0]
        with opened_part(out, part, is_fresh) as file:
            for batch in part_batches(file, table, DIGESTED_COLUMNS[table] if group else TIME_COLUMNS):
                rows.add(table, batch) if group else rows.add_times(batch)
                if group == 1 and table == "connections":
                    rows.add_part_times(part[0], batch)
    return to_bytes(rows.result())
