"""Last step of the job: for each bucket of keys, a task merges the sums of these keys and writes their tables.

Server nodes and brokers' version ranges need all series; they are small, so the driver sends them to every task.

When an analysis is appended to, `client_hourly` has a part for each day before the newest one. It stays if no task has sums of that day and
the columns that come from other tables are the same; so the sums of that day are not read.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from kwire.analysis.answers import Cluster, answers_by_key
from kwire.analysis.client_hourly import software_of
from kwire.analysis.digests import PAGE, digest_of_answers
from kwire.analysis.digests.of_answers import ANSWER_COLUMNS, OPENINGS
from kwire.analysis.hourly_days import day_numbers, without_days
from kwire.analysis.owners import NO_OWNERS, Owners
from kwire.analysis.partials import merge, to_bytes
from kwire.analysis.programs import Moves, Program, united
from kwire.analysis.redaction import Redaction, Redactor
from kwire.runs.parts import PartWriter, opened_part, part_batches
from kwire.runs.sums_files import SumsFile, read_all_sums, read_bucket_sums, write_sums
from kwire.runs.workers import Workers, run_each
from kwire.tables import SCHEMAS
from kwire.tables.schemas import CLIENT_HOURLY

__all__ = [
    "BUCKET_BYTES",
    "FinishResult",
    "Finishing",
    "bits_of",
    "day_of_part",
    "finish_tables",
    "gathered",
    "grouped",
    "run_finish",
    "write_table",
]

BUCKET_BYTES: Final = 8 << 20
"""Stored bytes of sums that justify a separate task; in memory they take about ten times as much."""

STEP_BYTES: Final = 1 << 20
"""Stored bytes of sums that a task finishes at a time; sums of addresses with failed connections only take fifty times as much in
memory."""


@dataclass(frozen=True, slots=True)
class Finishing:
    """Input shared by all tasks of this step, with ``1 << bits`` buckets.

    `by_day` are parts of `client_hourly` whose days got no new sums; days before `newest` get parts of their own, none if it is empty.
    """

    out: str
    run: int
    bits: int
    files: tuple[SumsFile, ...]
    cluster: Cluster
    owners: Owners = NO_OWNERS
    redaction: Redaction | None = None
    by_day: tuple[str, ...] = ()
    newest: str = ""


@dataclass(slots=True)
class FinishResult:
    """Outcome of a task; `digest` is packed, `moves` has the values of the tables, `kept` parts of an earlier run stay."""

    parts: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    digest: bytes = b""
    moves: Moves = field(default_factory=dict)


GATHERED_BYTES: Final = 64 << 20
"""Stored bytes of sums that one task merges first, if there are more buckets than divisions of the tasks' files."""

MAX_BITS: Final = 14
"""Largest number of bits: at most ``1 << MAX_BITS`` buckets."""

_HOURS: Final = ANSWER_COLUMNS["client_hourly"]
_DAY_PART: Final = re.compile(r"part-key-(\d{4}-\d\d-\d\d)-(\d\d)-(\d{5})-([0-9a-f]{16})-")  # day, bits, bucket, facts
_FEW_BITS: Final = 6  # files of tasks have so many or little fewer


def bits_of(files: Iterable[SumsFile], size: int) -> int:
    """Return the bits of a division whose buckets have about `size` bytes."""
    return min((sum(file.size for file in files) // size).bit_length(), MAX_BITS)


def gathered(workers: Workers, out: str, files: Sequence[SumsFile]) -> tuple[list[SumsFile], int]:
    """Merge many files of sums into a few that are divided by bucket, and return the bits; up to a few hundred megabytes are left
    unchanged.

    Otherwise each task of the last step would read most of all sums to select its own. The new files are not published.
    """
    bits = bits_of(files, BUCKET_BYTES)
    if bits <= _FEW_BITS:
        return list(files), bits
    days = [file for file in files if file.day]
    return [*run_each(workers, grouped(file for file in files if not file.day), partial(_gather, out, bits))[0], *days], bits


def grouped(files: Iterable[SumsFile]) -> list[list[SumsFile]]:
    """Divide files into groups that one task can merge."""
    groups: list[list[SumsFile]] = [[]]
    for file in files:
        if sum(each.size for each in groups[-1]) + file.size > GATHERED_BYTES and groups[-1]:
            groups.append([])
        groups[-1].append(file)
    return groups


def _gather(out: str, bits: int, files: Sequence[SumsFile]) -> SumsFile:
    return write_sums(out, f"gathered-{secrets.token_hex(8)}", merge(read_all_sums(out, file) for file in files), bits)


def finish_tables(workers: Workers, shared: Finishing) -> tuple[list[FinishResult], float]:
    return run_each(workers, range(1 << shared.bits), partial(run_finish, shared))


def run_finish(shared: Finishing, bucket: int) -> FinishResult:
    days = filter(None, map(_DAY_PART.match, shared.by_day))
    kept = {match[1]: match for match in days if (int(match[2]), int(match[3])) == (shared.bits, bucket)}
    tables, result, facts = _answers(shared, bucket, kept)
    if any(match[4] != facts for match in kept.values()):
        kept = {}
        tables, result, facts = _answers(shared, bucket, kept)
    result.kept = [f"client_hourly/{match.string}" for match in kept.values()]
    openings = tables.pop("openings")
    if shared.redaction is not None:
        redactor = Redactor(shared.redaction)
        tables = redactor.tables(tables)
        named = redactor.table("connections", openings.select(OPENINGS.names[:3]))
        openings = named.append_column("connections", openings.column("connections"))
        result.moves = _redacted(result.moves, redactor)
    hourly = pa.concat_tables([tables["client_hourly"].select(_HOURS), *(_hours_of(shared.out, part) for part in result.kept)])
    result.digest = to_bytes(digest_of_answers(tables | {"client_hourly": hourly}, openings, PAGE, span=shared.cluster.span))
    name = f"part-key-{shared.run:03d}-{bucket:05d}"
    if shared.newest:
        days = np.datetime_as_string(day_numbers(tables["client_hourly"].column("hour")))
        for day in sorted({*days.tolist(), *(file.day for file in shared.files if file.day)} - kept.keys()):
            if day < shared.newest:
                rows = tables["client_hourly"].filter(pa.array(days == day))
                result.parts.append(
                    write_table(shared.out, "client_hourly", f"part-key-{day}-{shared.bits:02d}-{bucket:05d}-{facts}", rows)
                )
        tables["client_hourly"] = tables["client_hourly"].filter(pa.array(days >= shared.newest))  # also those of no day, NaT
    result.parts += [write_table(shared.out, table, name, rows) for table, rows in tables.items() if len(rows)]
    return result


def _answers(shared: Finishing, bucket: int, kept: Collection[str]) -> tuple[dict[str, pa.Table], FinishResult, str]:
    """Return the tables of a bucket without the hours of `kept` days, and a hash of what these hours take from elsewhere."""
    result = FinishResult()
    files = [file for file in shared.files if file.day not in kept]
    finer = max(bits_of(files, STEP_BYTES) - shared.bits, 0)
    steps: list[dict[str, pa.Table]] = []
    software: list[dict[str, Any]] = []
    for step in range(bucket << finer, (bucket + 1) << finer):
        pieces = (piece for file in files for piece in read_bucket_sums(shared.out, file, shared.bits + finer, step))
        sums, moves = united(without_days(merge(pieces), kept))
        result.moves |= moves
        software += software_of(sums["identities"]).to_pylist() if shared.newest else []
        steps.append(answers_by_key(sums, shared.cluster, shared.owners) | {"openings": sums["openings"]})
    nodes = shared.cluster.whole["servers"].select(["server", "node_id"]).to_pylist()
    facts = repr((nodes, sorted(software, key=str), sorted(result.moves.items(), key=repr))).encode("utf-8", "surrogateescape")
    return {name: pa.concat_tables(step[name] for step in steps) for name in steps[0]}, result, hashlib.sha256(facts).hexdigest()[:16]


def day_of_part(name: str) -> str | None:
    """Return the day of a part of `client_hourly`, None if it has those of all days."""
    match = _DAY_PART.match(name)
    return match and match[1]


def _hours_of(out: str, part: str) -> pa.Table:
    with opened_part(out, part, is_fresh=False) as file:
        return pa.Table.from_batches(
            part_batches(file, "client_hourly", _HOURS), schema=pa.schema([CLIENT_HOURLY.field(name) for name in _HOURS])
        )


def _redacted(moves: Moves, redactor: Redactor) -> Moves:
    return {
        (redactor.client_key(key), client_id and redactor.token("client", client_id)): Program(redactor.client_key(to.client_key), *to[1:])
        for (key, client_id), to in moves.items()
    }


def write_table(out: str, table: str, name: str, rows: pa.Table) -> str:
    """Write a part of a table, with a token of the attempt after its name; return `TABLE/NAME`."""
    file = f"{name}-{secrets.token_hex(4)}.parquet"
    with PartWriter(out, table, file, SCHEMAS[table]) as part:
        for batch in rows.to_batches():
            part.write(batch)
    return f"{table}/{file}"
