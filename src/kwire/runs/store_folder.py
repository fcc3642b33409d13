"""Output folder of an analysis on a store without rename: an object store, or any file system of fsspec.

    DIR/_staging/run.json           who writes, and whether there was an analysis
    DIR/TABLE/part-*                or DIR/TABLE/date=DATE/part-*: final, under a name that no other run or attempt has
    DIR/_manifest.json              the parts that count: written in one step, when all of them are there
    DIR/_SUCCESS                    last of all

A run that replaces an analysis or appends to it first removes `_SUCCESS`; its tasks then write beside the old parts, which the manifest
lists until it is replaced. A run that fails restores `_SUCCESS` and removes its files. A run that is killed leaves an analysis without
`_SUCCESS`, and parts that its manifest does not list. The next run continues from the manifest and removes those parts.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from kwire.errors import InputError
from kwire.files.file_systems import has_rename
from kwire.json_encoding import encode_json
from kwire.runs.output import HISTORY, MANIFEST, REPORTS, SUCCESS, OutputFolder, manifest_text
from kwire.runs.parts import ROWS, RUN, STAGING, home_of, is_row_name, make_folder, output_place, writing_to

__all__ = ["StoreFolder", "output_folder"]


def output_folder(location: str, tables: Sequence[str]) -> OutputFolder:
    """Return the output folder of one run, for its kind of file system; arguments as in `OutputFolder`."""
    kind = OutputFolder if has_rename(output_place(location)[0]) else StoreFolder
    return kind(location, tables)


class StoreFolder(OutputFolder):
    """Output folder of one run on a store, for the driver; arguments, methods and errors as in `OutputFolder`."""

    def __init__(self, location: str, tables: Sequence[str]) -> None:
        super().__init__(location, tables)
        self._token = secrets.token_hex(4)
        self._earlier_parts: set[str] | None = None  # of the analysis that stood there; None for no analysis
        self._is_published = False

    def begin(self, *, overwrite: bool = False, append: bool = False) -> dict[str, Any] | None:
        with writing_to(self._shown):
            self._check_free(self._kind())
            held = self._names()
            run = (self._read(RUN) or {}) if STAGING in held else None
            manifest = self._standing(held, run, append)
            if manifest is not None and append:
                self._growing(manifest)
            elif manifest is not None:
                self._check_asked(overwrite)
            elif run is None and (held.difference(self.tables) or self._written()):  # empty folders are no more than marks
                self._check_ours(held, overwrite)
            self._made = not held
            self._earlier_parts = None if manifest is None else _parts_of(manifest)
            make_folder(self._filesystem, f"{self._path}/{STAGING}")
            self._write(RUN, encode_json({**self._who(), "token": self._token, "earlier": manifest is not None}))
            self._remove(SUCCESS)  # nothing is complete where parts come and go
            if manifest is None:
                self._remove(*self.tables, MANIFEST, HISTORY, *REPORTS)
            if manifest or ROWS in self.tables:
                self._sweep(_parts_of(manifest or {}))
        return manifest if append else None

    def _standing(self, held: set[str], run: Mapping[str, Any] | None, append: bool) -> dict[str, Any] | None:
        """Return the manifest of the analysis in the folder (empty if missing); None without an analysis.

        If a run was killed after writing its manifest, its analysis can be continued. If it was the first run, a run without --append may
        overwrite it.
        """
        if SUCCESS in held:
            return self._read(MANIFEST) or {}
        manifest: dict[str, Any] | None = self._read(MANIFEST) if run is not None and MANIFEST in held else None
        if run is None or manifest is None or not (append or run.get("earlier")):
            return None
        if append and not _parts_of(manifest) <= self._written():
            raise InputError(f"{self._shown} lacks parts listed in its manifest; use --overwrite.")
        return manifest

    def _written(self) -> set[str]:
        from pyarrow.fs import FileSelector, FileType

        selector = FileSelector(self._path, recursive=True, allow_not_found=True)
        names = [info.path[len(self._path) + 1 :] for info in self._filesystem.get_file_info(selector) if info.type is FileType.File]
        if ROWS in self.tables:
            names = [f"{ROWS}/{name}" for name in names if is_row_name(name)]
        return {name for name in names if _is_part(name) and name.partition("/")[0] in self.tables}

    def _sweep(self, kept: Iterable[str], written: set[str] | None = None) -> None:
        for part in sorted((self._written() if written is None else written).difference(kept)):
            self._filesystem.delete_file(home_of(self._path, part))

    def _is_ours(self) -> bool:
        run = self._read(RUN)
        return isinstance(run, dict) and run.get("token") == self._token

    def publish(self, manifest: Mapping[str, Any], expected: Sequence[str], kept: Sequence[str] = ()) -> None:
        with writing_to(self._shown):
            if not self._is_ours():
                raise InputError(f"Another run has begun to write to {self._shown}, so this one is not published; choose another --out.")
            written = self._written()
            parts = [*expected, *kept]
            self._check_written([part for part in parts if part not in written])
            self._write(MANIFEST, manifest_text(self._with_parts(manifest, parts)))
            self._is_published = True
            self._remove(*REPORTS, *(() if kept else (HISTORY,)))
            self._sweep(parts, written)

    def abandon(self) -> None:
        with suppress(OSError):
            if self._is_published or not self._is_ours():
                return  # the next run goes on from the manifest; or another run writes here, and removes what nobody names
            if self._earlier_parts is None:
                if ROWS in self.tables:
                    self._sweep(())
                self._remove(*self.tables, STAGING)
                if self._made and "/" in self._path.strip("/"):  # a bucket stays
                    self._filesystem.delete_dir(self._path)
                return
            written = self._written()
            if self._earlier_parts:
                self._sweep(self._earlier_parts, written)
            if self._earlier_parts <= written:
                self._write(SUCCESS, "")
            self._remove(STAGING)


def _is_part(name: str) -> bool:
    _, *dates, _ = ("", *name.split("/"))
    return len(dates) == 1 or (len(dates) == 2 and "=" in dates[1])


def _parts_of(manifest: Mapping[str, Any]) -> set[str]:
    return {f"{table}/{name}" for table, names in manifest.get("parts", {}).items() for name in names}
