"""Tables of one analysis, of which only the needed columns and rows are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

from kwire.analysis.digests import (
    DIGESTED_COLUMNS,
    EVERYTHING,
    PAGE,
    Digest,
    Limits,
    RowDigest,
    digest_of_answers,
    merge_digests,
    openings_of,
    wanted_of,
)  # fmt: skip
from kwire.analysis.digests.of_answers import ANSWER_COLUMNS
from kwire.analysis.digests.storing import read_digest
from kwire.errors import InputError
from kwire.files.file_systems import below, filesystem_of, has_rename, reason_of
from kwire.files.private_files import new_file
from kwire.tables.schemas import SCHEMAS

__all__ = ["AnalysisFolder", "Judged", "rows_of"]

_ENDS: Final = ("first_seen", "last_seen")
_FORMER_VERDICTS: Final[dict[Any, str]] = {"rejected": "breaks", "undetermined": "unknown", "marked": "deprecated", "ok": "compatible"}
"""Verdicts in folders of earlier releases, with their current values."""


def rows_of(digest: Digest, name: str, where: pc.Expression | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table of a digest; empty if the table is missing."""
    table = digest.get(name)
    if table is None:
        return []
    return (table if where is None else table.filter(where)).to_pylist()


def _with_verdicts_of_today(table: pa.Table) -> pa.Table:
    index = table.schema.get_field_index("verdict")
    if index < 0 or not pc.any(pc.is_in(table.column(index), pa.array(_FORMER_VERDICTS))).as_py():
        return table
    values = [_FORMER_VERDICTS.get(value, value) for value in table.column(index).to_pylist()]
    return table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))


@dataclass(frozen=True, slots=True)
class Judged:
    """Rows of `upgrade_impact` for other targets than those of the analysis, and what a manifest says of these (`in_manifest`)."""

    impact: pa.Table
    targets: Mapping[str, Any]


class AnalysisFolder:
    """Output folder of an analysis: DIR/TABLE/*.parquet, on any file system (`kwire.files.file_systems`).

    A missing table reads as empty, a missing column as null: an older analysis stays readable. On a store, only parts in the manifest are
    read; others may belong to an unfinished or killed run. With `judged`, verdicts are those, and the stored digest is not used.
    """

    def __init__(self, location: str | Path, limits: Limits = PAGE, judged: Judged | None = None) -> None:
        self.location = text = str(location)
        self.limits = limits
        self.judged = judged
        self._digest: Digest | None = None
        self._tables: dict[str, ds.Dataset] = {} if judged is None else {"upgrade_impact": ds.dataset(judged.impact)}
        self._parts: dict[str, list[str]] | None = None
        try:
            self.filesystem, self.path = filesystem_of(text)
            self.path = self.path.rstrip("/") or self.path
            infos = self.filesystem.get_file_info(fs.FileSelector(self.path))
            kinds = {info.base_name for info in infos if info.type is fs.FileType.Directory}
            if not has_rename(self.filesystem):
                self._parts = self._named_parts({info.base_name for info in infos})
                kinds = kinds if self._parts is None else set(self._parts)
        except (OSError, pa.ArrowInvalid, NotADirectoryError) as error:
            raise InputError(f"{text} cannot be read as the folder of an analysis: {reason_of(error)}.") from error
        if not kinds & SCHEMAS.keys():
            raise InputError(f"{text} holds no tables of an analysis; `kwire analyze CAPTURE --out {text}` writes them.")

    def manifest(self) -> dict[str, Any]:
        """Return the inputs and options of the analysis; empty if the file is not there or not whole: the tables are what counts."""
        try:
            with self.filesystem.open_input_stream(f"{self.path}/_manifest.json", compression=None) as file:
                found = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return found if self.judged is None else {**found, "targets": [], "answered": [], **self.judged.targets}

    def _named_parts(self, names: set[str]) -> dict[str, list[str]] | None:
        """Return the names of parts by table; None for all files, empty if no analysis has finished."""
        if "_manifest.json" in names:
            with self.filesystem.open_input_stream(f"{self.path}/_manifest.json", compression=None) as file, suppress(ValueError):
                parts: dict[str, list[str]] = json.loads(file.read()).get("parts", {})
                return parts
        return None if "_SUCCESS" in names else {}

    def _dataset(self, table: str) -> ds.Dataset | None:
        if table not in self._tables:
            folder = f"{self.path}/{table}"
            source: str | list[str] = folder
            if self._parts is not None:
                source = [f"{folder}/{name}" for name in self._parts.get(table, ())]
                if not source:
                    return None
            elif self.filesystem.get_file_info(folder).type is not fs.FileType.Directory:
                return None
            self._tables[table] = ds.dataset(source, schema=SCHEMAS[table], format="parquet", filesystem=self.filesystem)
        return self._tables[table]

    @contextmanager
    def _told(self, table: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowInvalid) as error:
            raise InputError(f"The table {table} in {self.location} cannot be read: {reason_of(error)}.") from error

    def read(self, table: str, columns: Sequence[str], where: pc.Expression | None = None) -> pa.Table:
        with self._told(table):
            dataset = self._dataset(table)
            if dataset is None:
                return pa.schema([SCHEMAS[table].field(name) for name in columns]).empty_table()
            return _with_verdicts_of_today(dataset.to_table(columns=list(columns), filter=where))

    def scan(self, table: str, columns: Sequence[str], where: pc.Expression | None = None) -> Iterator[pa.RecordBatch]:
        """Iterate over a table that may be larger than memory."""
        with self._told(table):
            dataset = self._dataset(table)
            if dataset is not None:
                yield from dataset.to_batches(columns=list(columns), filter=where)

    def count(self, table: str) -> int:
        with self._told(table):
            dataset = self._dataset(table)
            return 0 if dataset is None else dataset.count_rows()

    def rows(self, table: str, columns: Sequence[str], where: pc.Expression | None = None) -> list[dict[str, Any]]:
        return self.read(table, columns, where).to_pylist()

    @property
    def digest(self) -> Digest:
        """Return the contents of a report in tables of limited size: those in the folder, else made from all its tables."""
        if self._digest is None and self.limits is not EVERYTHING and self.judged is None:
            self._digest = read_digest(self.filesystem, self.path, self._parts)
        if self._digest is None:
            self._digest = self._made()
        return self._digest

    def _made(self) -> Digest:
        answers = {name: self.read(name, columns) for name, columns in ANSWER_COLUMNS.items()}
        opened = [pa.Table.from_batches([batch]) for batch in self.scan("connections", ("client_key", "protocol", "first_seen"))]
        openings = openings_of(pa.concat_tables([SCHEMAS["connections"].empty_table(), *opened], promote_options="default"))
        found = merge_digests([digest_of_answers(answers, openings, self.limits, span=self.time_range())], self.limits)
        wanted = wanted_of(found, self.limits, self.requests)
        if wanted.span is None:
            wanted = replace(wanted, span=self._ends_of_connections())
        rows = RowDigest(wanted)
        for name, columns in DIGESTED_COLUMNS.items():
            if name != "requests" or wanted.reads_requests:
                for batch in self.scan(name, columns):
                    rows.add(name, batch)
        return found | rows.result()

    def _ends_of_connections(self) -> tuple[datetime, datetime] | None:
        """Return first and last packet of all connections, for clients without times."""
        ends = [(pc.min(batch["first_seen"]).as_py(), pc.max(batch["last_seen"]).as_py()) for batch in self.scan("connections", _ENDS)]
        known = [(first, last) for first, last in ends if first is not None and last is not None]
        return (min(first for first, _ in known), max(last for _, last in known)) if known else None

    @property
    def requests(self) -> int:
        told = pc.sum(self.read("captures", ["requests"])["requests"]).as_py()
        return self.count("requests") if told is None else int(told)

    def time_range(self) -> tuple[datetime, datetime] | None:
        times = self.read("captures", ["start", "end"])
        first, last = pc.min(times["start"]).as_py(), pc.max(times["end"]).as_py()
        return None if first is None or last is None else (first, last)

    def read_text(self, name: str) -> str:
        with self.filesystem.open_input_stream(f"{self.path}/{name}", compression=None) as file:
            text: str = file.read().decode()
            return text

    def write(self, name: str, content: bytes) -> str:
        """Write a file beside the tables atomically, and return its location."""
        target, renames = f"{self.path}/{name}", has_rename(self.filesystem)
        draft = f"{self.path}/.{name}.part" if renames else target  # a store shows a file when it is whole
        try:
            is_local = self.filesystem.type_name == "local"
            with new_file(draft) if is_local else self.filesystem.open_output_stream(draft, compression=None) as stream:
                stream.write(content)
            if renames:
                self.filesystem.move(draft, target)
        except OSError as error:
            with suppress(OSError):
                self.filesystem.delete_file(draft)
            raise InputError(f"{target} cannot be written: {reason_of(error)}.") from error
        return below(self.location, name)
