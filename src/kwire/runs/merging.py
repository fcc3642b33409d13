"""Merge of complete analyses: rows are copied, sums put together, and the tables that need all sums are made again.

An analysis ends what it has read, so a connection that is open over the border of two analyses is a row in both.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

import kwire
from kwire.analysis.key_buckets import whole_of
from kwire.analysis.partials import held, merge, to_bytes
from kwire.errors import InputError
from kwire.runs.finish_task import grouped
from kwire.runs.parts import STATE, copy_part, opened_part, part_batches
from kwire.runs.series_state import is_state, sums_of_state
from kwire.runs.series_task import SeriesResult
from kwire.runs.store_folder import output_folder
from kwire.runs.sums_files import SumsFile, is_sums, read_all_sums, sums_file, write_sums
from kwire.tables import SCHEMAS

__all__ = ["Merged", "border_sentences", "copy_analysis", "given_analyses"]

_TASK: Final = re.compile(r"(?<=-)\d{5}(?=-)")
_ENDS: Final = ("server_address", "server_port", "client_address", "client_port")


@dataclass(frozen=True, slots=True)
class Merged:
    """Analysis to merge: its parts, and the number that its first task gets."""

    location: str
    first: int
    parts: tuple[str, ...]
    manifest: Mapping[str, Any]

    def sums(self) -> list[SumsFile]:
        files = [sums_file(self.location, part) for part in self.parts if is_sums(part)]
        return [*files, *chain.from_iterable(sums_of_state(self.location, part) for part in self.parts if is_state(part))]


def given_analyses(locations: Sequence[str]) -> list[Merged]:
    """Read the manifests of analyses to merge.

    Raises:
        InputError: a folder has no analysis with sums, was written by another version, has another layout, or has captures of another.
    """
    from kwire.runs.manifest_types import check_parts  # needs msgspec, as sums do

    found: list[Merged] = []
    owners: dict[str, str] = {}
    first = 0
    for location in locations:
        manifest = output_folder(location, tuple(SCHEMAS)).finished()
        check_parts(location, manifest)
        if manifest.get("version") != kwire.__version__:
            raise InputError(
                f"{location} was written by kwire {manifest.get('version')}, and its sums cannot be read; analyze its captures again"
            )
        names = {table: tuple(parts) for table, parts in manifest["parts"].items()}
        if STATE not in names:
            raise InputError(f"{location} has no sums, because it is redacted; analyze its captures without --redact")
        if manifest.get("partition_by") != (found[0].manifest.get("partition_by") if found else manifest.get("partition_by")):
            raise InputError(f"only one of {found[0].location} and {location} is partitioned by date; analyze one again like the other")
        for row in manifest["captures"]:
            for mark in {row["capture"], row["sha256"]} - {None}:
                if owners.setdefault(mark, location) != location or location in {each.location for each in found}:
                    raise InputError(f"{row['capture']} is in {owners[mark]} and in {location}, so its requests would count twice")
        parts = tuple(f"{table}/{name}" for table, each in names.items() for name in each)
        tasks = [int(match[0]) for part in parts if (match := _task_of(part))]
        found.append(Merged(location, first, parts, manifest))
        first += max(tasks, default=-1) + 1
    return found


def _task_of(part: str) -> re.Match[str] | None:
    """Find the number of the reading task in the name of its part; parts of the last step have none."""
    name = part.rpartition("/")[2]
    return None if name.startswith("part-key-") else _TASK.search(name)


def copy_analysis(out: str, given: Merged) -> SeriesResult:
    """Copy the rows of an analysis into the staging of `out`, and put its sums together there."""
    result = SeriesResult(given.first, read=len(given.manifest["captures"]), keeps=False)
    for part in given.parts:
        table, _, name = part.partition("/")
        task = _task_of(part)
        if table != STATE and (task or (table == "violations" and "part-driver-" in name)):
            new = name if task is None else _TASK.sub(f"{given.first + int(task[0]):05d}", name, count=1)
            copy_part(given.location, part, out, table, new)
            result.parts.append(f"{table}/{new}")
    wholes = []
    for group in grouped(given.sums()):
        together = merge(read_all_sums(given.location, file) for file in group)
        wholes.append(whole_of(together))
        result.sums.append(write_sums(out, f"sums-{given.first:05d}-000-{secrets.token_hex(4)}", together))
    result.parts += [file.part for file in result.sums]
    result.whole = to_bytes(held(whole_of(merge(wholes))))
    return result


def border_sentences(given: Sequence[Merged]) -> list[str]:
    """Return sentences about connections that may go on from one analysis in another, and about file groups of several analyses."""
    groups = Counter(chain.from_iterable({row["series"] for row in each.manifest["captures"]} for each in given))
    said = [
        f"{name} is a file group of {count} analyses, and connection_id counts from 0 in each; tell connections apart by capture too."
        for name, count in groups.items()
        if count > 1
    ][:1]
    is_open, is_late = ([Counter(_ends(each, state)) for each in given] for state in ("open", "joined_late"))
    late = sum(is_late, Counter[Any]())
    count = sum(1 for at, ends in enumerate(is_open) for end in ends if late[end] > is_late[at][end])
    if not count:
        return said
    return [
        *said,
        f"{count:,} connections were open at the end of one analysis and go on in another: each is a row for either, and a request whose "
        "response is in the other is unanswered; --append, or one analysis of all captures, reads them as one.",
    ]


def _ends(given: Merged, state: str) -> Iterator[tuple[Any, ...]]:
    for part in given.parts:
        table = part.partition("/")[0]
        if table == "connections":
            with opened_part(given.location, part, is_fresh=False) as file:
                for batch in part_batches(file, table, (*_ENDS, "state")):
                    rows: pa.RecordBatch = batch.filter(pc.equal(batch.column("state"), pa.scalar(state)))
                    yield from zip(*(rows.column(name).to_pylist() for name in _ENDS), strict=True)
