"""Output folder of an analysis: staged, published as a whole, marked complete last. `store_folder` is for stores without rename.

    DIR/_staging/run.json           who writes
    DIR/_staging/TABLE/part-*       while the job runs
    DIR/_staging/publish.json       contents of the folder to publish, once every part is written
    DIR/TABLE/part-*                moved there by the driver
    DIR/TABLE/date=DATE/part-*      instead, if the rows of a table are divided by date
    DIR/part-*                      instead, if the only table is that of a conversion (`kwire.spark.conversion`)
    DIR/_manifest.json              what was read and written
    DIR/_SUCCESS                    last of all

A run that failed or was killed leaves no `_SUCCESS`; it or the next run removes its staging. If an appending run is killed while it
publishes, the next one finishes it from `publish.json`, because every step of publishing can be repeated. Names of parts consist of the
task, the run and a token of the attempt. If Spark runs a task twice, two files are written, and the one whose result was returned is
published; files of another run or attempt are never overwritten.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from kwire.analysis.digests import Digest
from kwire.analysis.digests.storing import DIGEST_FILE, write_digest
from kwire.errors import InputError
from kwire.files.file_systems import reason_of
from kwire.files.private_files import first_link, is_link, make_private, new_file
from kwire.json_encoding import encode_json
from kwire.runs.parts import ROWS, RUN, STAGING, STATE, home_of, is_row_name, output_place, writing_to

__all__ = ["HISTORY", "MANIFEST", "PAGE", "REPORTS", "SUCCESS", "OutputFolder", "manifest_text"]

SUCCESS: Final = "_SUCCESS"
MANIFEST: Final = "_manifest.json"
PAGE: Final = "report.html"
REPORTS: Final = (PAGE, "report.md", "report.json", "report.csv", "report.sarif", "report.junit.xml", "report.prom", DIGEST_FILE)
# What earlier reports of the same analysis found (kwire.report.burn_down): it stays when files are added, and goes with the analysis.
HISTORY: Final = "_history.json"
_PUBLISH: Final = f"{STAGING}/publish.json"


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """Write a manifest as JSON, with a line for each member and for each element of a list of objects.

    Python's encoder is ten times as fast without indentation, and a manifest may list ten thousand files.
    """
    members = []
    for name, value in manifest.items():
        is_rows = isinstance(value, list) and value and isinstance(value[0], dict)
        text = "[\n  " + ",\n  ".join(map(encode_json, value)) + "\n ]" if is_rows else encode_json(value)
        members.append(f" {encode_json(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}"


class OutputFolder:
    """Output folder of one run on a file system with rename; it removes only files of `tables`."""

    def __init__(self, location: str, tables: Sequence[str]) -> None:
        self.location = location if "://" in location else str(Path(location).absolute())
        self.tables = (*tables, STATE)
        self._filesystem, self._path = output_place(location)
        self._shown = location
        self._made = False
        self._is_local = self._filesystem.type_name == "local"

    def _kind(self, name: str = "") -> str:
        from pyarrow.fs import FileType

        info = self._filesystem.get_file_info(f"{self._path}/{name}" if name else self._path)
        return {FileType.Directory: "folder", FileType.NotFound: ""}.get(info.type, "file")

    def _remove(self, *names: str) -> None:
        for name in names:
            if self._is_local and is_link(f"{self._path}/{name}"):
                os.unlink(f"{self._path}/{name}")  # noqa: PTH108 - the link goes, not what it leads to
                continue
            kind = self._kind(name)
            if kind == "folder":
                self._filesystem.delete_dir(f"{self._path}/{name}")
            elif kind:
                self._filesystem.delete_file(f"{self._path}/{name}")

    def _write(self, name: str, text: str) -> None:
        path = f"{self._path}/{name}"
        with new_file(path) if self._is_local else self._filesystem.open_output_stream(path, compression=None) as file:
            file.write(text.encode())

    def _read(self, name: str) -> Any:
        """Return the JSON object of a file, None if the file is missing or incomplete."""
        if self._kind(name) != "file":
            return None
        with self._filesystem.open_input_stream(f"{self._path}/{name}", compression=None) as file:
            try:
                found = json.loads(file.read())
            except (ValueError, RecursionError):
                return None
        return found if isinstance(found, dict) else None

    def begin(self, *, overwrite: bool = False, append: bool = False) -> dict[str, Any] | None:
        """Prepare the folder for staging, and return the manifest of the analysis to continue.

        A folder with only the staging of a killed run counts as missing. An overwritten analysis stays until `publish`.
        """
        with writing_to(self._shown):
            kind = self._kind()
            self._check_free(kind)
            if kind and append:
                self._check_links()
            manifest = self._earlier() if append and kind else None
            if kind and not append:
                self._check(overwrite)
                self._check_links()
            self._made = not kind
            self._remove(STAGING)
            self._filesystem.create_dir(f"{self._path}/{STAGING}", recursive=True)
            self._write(RUN, encode_json(self._who()))
        return manifest

    @staticmethod
    def _who() -> dict[str, Any]:
        return {"host": socket.gethostname(), "pid": os.getpid()}

    def _check_free(self, kind: str) -> None:
        if kind == "file":
            raise InputError(f"{self._shown} is a file, not a folder; choose another --out.")
        if kind and self._in_use():
            raise InputError(f"Another run is writing to {self._shown}; wait for it, or choose another --out.")

    def _check_links(self) -> None:
        """Reject links inside the folder, which may lead to other files."""
        link = first_link(self._path) if self._is_local else None
        if link is not None:
            raise InputError(f"{link} is a link, and kwire does not write through links; remove it, or choose another --out.")

    def _earlier(self) -> dict[str, Any] | None:
        """Return the manifest of the analysis in the folder, after finishing a run that was killed while publishing."""
        plan = self._read(_PUBLISH)
        if plan is not None:
            from kwire.runs.manifest_types import check_manifest  # needs msgspec, as --append does

            check_manifest(self._shown, plan)
            self._publish(plan)
            self.complete()
        if self._kind(SUCCESS):
            return self._growing(self._read(MANIFEST))
        self._check(False)  # what a killed first run left is no analysis; anything else is not ours
        return None

    def finished(self) -> dict[str, Any]:
        """Return the manifest of the complete analysis in the folder."""
        try:
            manifest: dict[str, Any] | None = self._read(MANIFEST) if self._kind(SUCCESS) else None
        except OSError as error:
            raise InputError(f"{self._shown} cannot be read: {reason_of(error)}.") from error
        if manifest is None:
            raise InputError(f"{self._shown} has no complete analysis.")
        return manifest

    def _growing(self, manifest: dict[str, Any] | None) -> dict[str, Any]:
        if manifest is None or "series" not in manifest:
            raise InputError(f"{self._shown} was written without the state that --append needs; use --overwrite.")
        return manifest

    def _names(self) -> set[str]:
        from pyarrow.fs import FileSelector

        return {info.base_name for info in self._filesystem.get_file_info(FileSelector(self._path, allow_not_found=True))}

    def _check(self, overwrite: bool) -> None:
        held = self._names()
        if SUCCESS in held:
            self._check_asked(overwrite)
        elif STAGING not in held:
            self._check_ours(held, overwrite)

    def _check_asked(self, overwrite: bool) -> None:
        converts = ROWS in self.tables
        if overwrite and converts != (ROWS in (self._read(MANIFEST) or {}).get("parts", {})):
            kind = "a table of kwire.spark.convert" if converts else "an analysis"
            raise InputError(f"{self._shown} does not hold {kind}, so it is not overwritten; choose another folder.")
        if converts and not overwrite:
            raise InputError(f"{self._shown} exists already; pass overwrite=True to replace the table in it, or choose another folder.")
        if not overwrite:
            raise InputError(
                f"{self._shown} exists already; give --overwrite to replace the analysis in it, --append to add to it, "
                "or choose another --out."
            )

    def _check_ours(self, held: set[str], overwrite: bool) -> None:
        if not overwrite:
            raise InputError(f"{self._shown} exists already; choose a folder that does not exist yet.")
        if held - {*self.tables, MANIFEST, HISTORY, *REPORTS}:
            raise InputError(f"{self._shown} does not hold an analysis, so it is not overwritten; choose another --out.")

    def _in_use(self) -> bool:
        """Return whether the run that staged here is alive; staging from other machines counts as abandoned."""
        run = self._read(RUN)
        try:
            host, pid = run["host"], int(run["pid"])
        except (ValueError, KeyError, TypeError, OverflowError):
            return False  # nobody's, or killed while it wrote this
        if host != socket.gethostname() or pid == os.getpid() or os.name == "nt":
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def publish(self, manifest: Mapping[str, Any], expected: Sequence[str], kept: Sequence[str] = ()) -> None:
        """Replace the folder's contents by the staged ones and the parts `kept`; `complete` marks it complete."""
        self._check_written([part for part in expected if self._kind(f"{STAGING}/{part}") != "file"])
        written = self._with_parts(manifest, [*expected, *kept])
        with writing_to(self._shown):
            # Whole or not there: what it says can be done from here on, by this run or the next.
            self._write(f"{_PUBLISH}-", manifest_text(written))
            self._filesystem.move(f"{self._path}/{_PUBLISH}-", f"{self._path}/{_PUBLISH}")
            self._publish(written)
            if not kept:
                self._remove(HISTORY)

    def add_digest(self, digest: Digest, parts: Sequence[str]) -> None:
        with writing_to(self._shown):
            write_digest(self._filesystem, self._path, digest, self._with_parts({}, parts)["parts"])

    def _check_written(self, missing: Sequence[str]) -> None:
        if missing:
            raise InputError(
                f"{len(missing)} parts that executors wrote are not in {self._shown}; give an --out that all machines share, such as a URI."
            )

    def _with_parts(self, manifest: Mapping[str, Any], all_parts: Sequence[str]) -> dict[str, Any]:
        parts: dict[str, list[str]] = {table: [] for table in self.tables}
        for part in sorted(set(all_parts)):
            table, _, name = part.partition("/")
            parts[table].append(name)
        return {
            **manifest,
            "written": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "parts": {k: v for k, v in parts.items() if v},
        }

    def _publish(self, manifest: Mapping[str, Any]) -> None:
        self._remove(SUCCESS)  # first: from here on the folder is neither the old analysis nor the new one
        self._remove(*REPORTS)
        for table in self.tables:
            names = set(manifest["parts"].get(table, ()))
            if not names:
                self._remove(table)
                continue
            home = home_of(self._path, table)
            if table == STATE:
                make_private(self._filesystem, home)
            else:
                self._filesystem.create_dir(home, recursive=True)
            dates = {date for date, slash, _ in (name.rpartition("/") for name in names) if slash}
            self._move(table, names, dates)
            for date in sorted(dates):
                self._filesystem.create_dir(f"{home}/{date}", recursive=True)
                self._move(f"{table}/{date}", {name.rpartition("/")[2] for name in names if name.startswith(f"{date}/")})
        self._write(MANIFEST, manifest_text(manifest))

    def _move(self, folder: str, names: set[str], kept: Collection[str] = ()) -> None:
        """Move staged parts to the folder, and remove all else from it but `kept`; other files beside a conversion's parts stay."""
        from pyarrow.fs import FileSelector, FileType

        home = home_of(self._path, folder)
        for info in self._filesystem.get_file_info(FileSelector(home)):
            if info.base_name not in names and info.base_name not in kept and (folder != ROWS or is_row_name(info.base_name)):
                self._remove(info.path[len(self._path) + 1 :])
        for info in self._filesystem.get_file_info(FileSelector(f"{self._path}/{STAGING}/{folder}", allow_not_found=True)):
            if info.type is FileType.File and info.base_name in names:  # others: what a killed task left
                self._filesystem.move(info.path, f"{home}/{info.base_name}")

    def remove_page(self) -> None:
        """Remove a report that may be incomplete. Never raises, because it runs after another error."""
        with suppress(OSError):
            self._remove(*REPORTS)

    def complete(self) -> None:
        with writing_to(self._shown):
            self._write(SUCCESS, "")
            self._remove(STAGING)

    @contextmanager
    def writing(self, *, overwrite: bool = False, append: bool = False) -> Iterator[dict[str, Any] | None]:
        """Call `begin`, and `abandon` if the block fails or is interrupted."""
        manifest = self.begin(overwrite=overwrite, append=append)
        done = False
        try:
            yield manifest
            done = True
        finally:
            if not done:
                self.abandon()

    def abandon(self) -> None:
        """Remove the staging of this run; an earlier analysis that was not yet replaced stays. Never raises, because it runs after another
        error."""
        with suppress(OSError):
            if self._kind(_PUBLISH) and not self._made:
                return  # the next run goes on from here; an analysis that half stands there would be lost
            self._remove(STAGING)
            if self._made and not self._kind(SUCCESS):
                self._remove(*self.tables, MANIFEST, HISTORY, *REPORTS)
                self._filesystem.delete_dir(self._path)
