"""Last step of the job: for each bucket of keys, a task merges the sums of these keys and writes their tables.

Server nodes and brokers' version ranges need all series; they are small, so the driver sends them to every task.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa

from kwire.analysis.answers import Cluster, answers_by_key
from kwire.analysis.digests import PAGE, digest_of_answers
from kwire.analysis.digests.of_answers import OPENINGS
from kwire.analysis.owners import NO_OWNERS, Owners
from kwire.analysis.partials import merge, to_bytes
from kwire.analysis.programs import Moves, Program, united
from kwire.analysis.redaction import Redaction, Redactor
from kwire.runs.parts import PartWriter
from kwire.runs.sums_files import SumsFile, read_all_sums, read_bucket_sums, write_sums
from kwire.runs.workers import Workers, run_each
from kwire.tables import SCHEMAS

__all__ = ["BUCKET_BYTES", "FinishResult", "Finishing", "bits_of", "finish_tables", "gathered", "grouped", "run_finish", "write_table"]

BUCKET_BYTES: Final = 8 << 20
"""Stored bytes of sums that justify a separate task; in memory they take about ten times as much."""

STEP_BYTES: Final = 1 << 20
"""Stored bytes of sums that a task finishes at a time; sums of addresses with failed connections only take fifty times as much in
memory."""


@dataclass(frozen=True, slots=True)
class Finishing:
    """Input shared by all tasks of this step, with ``1 << bits`` buckets."""

    out: str
    run: int
    bits: int
    files: tuple[SumsFile, ...]
    cluster: Cluster
    owners: Owners = NO_OWNERS
    redaction: Redaction | None = None


@dataclass(slots=True)
class FinishResult:
    """Outcome of a task; `digest` is packed, `moves` has the values of the tables."""

    parts: list[str] = field(default_factory=list)
    digest: bytes = b""
    moves: Moves = field(default_factory=dict)


GATHERED_BYTES: Final = 64 << 20
"""Stored bytes of sums that one task merges first, if there are more buckets than divisions of the tasks' files."""

MAX_BITS: Final = 14
"""Largest number of bits: at most ``1 << MAX_BITS`` buckets."""

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
    return run_each(workers, grouped(files), partial(_gather, out, bits))[0], bits


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
    result = FinishResult()
    redactor = None if shared.redaction is None else Redactor(shared.redaction)
    finer = max(bits_of(shared.files, STEP_BYTES) - shared.bits, 0)
    steps: list[dict[str, pa.Table]] = []
    for step in range(bucket << finer, (bucket + 1) << finer):
        pieces = (piece for file in shared.files for piece in read_bucket_sums(shared.out, file, shared.bits + finer, step))
        sums, moves = united(merge(pieces))
        result.moves |= moves
        steps.append(answers_by_key(sums, shared.cluster, shared.owners) | {"openings": sums["openings"]})
    tables = {name: pa.concat_tables(step[name] for step in steps) for name in steps[0]}
    openings = tables.pop("openings")
    if redactor is not None:
        tables = redactor.tables(tables)
        who = redactor.table("connections", openings.select(OPENINGS.names[:3]))
        openings = who.append_column("connections", openings.column("connections"))
        result.moves = _redacted(result.moves, redactor)
    result.digest = to_bytes(digest_of_answers(tables, openings, PAGE, span=shared.cluster.span))
    name = f"part-key-{shared.run:03d}-{bucket:05d}"
    result.parts += [write_table(shared.out, table, name, rows) for table, rows in tables.items() if len(rows)]
    return result


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
