"""Formats of a report, and their files in the folder of the analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from kwire.analysis.digests import EVERYTHING, PAGE, Limits
from kwire.report.analysis_folder import AnalysisFolder, Judged
from kwire.report.burn_down import HISTORY, history_text
from kwire.report.contents import Report, read_report
from kwire.report.csv_rows import csv_rows
from kwire.report.json_document import json_document
from kwire.report.junit import junit
from kwire.report.markdown import markdown
from kwire.report.metrics import metrics
from kwire.report.page import render_page
from kwire.report.sarif import sarif
from kwire.schema import Release

__all__ = ["FILES", "FORMATS", "render_report", "write_page", "write_reports"]

FORMATS: Final[dict[str, Callable[[Report], str]]] = {
    "html": render_page, "md": markdown, "json": json_document, "csv": csv_rows, "sarif": sarif, "junit": junit,
    "prometheus": metrics,
}  # fmt: skip
"""Functions that make the text of each format, by name."""

NOT_JUDGED: Final[Mapping[str, Judged]] = MappingProxyType({})
_WHOLE: Final = ("json", "csv", "sarif", "junit")
_ENDINGS: Final = {"junit": "junit.xml", "prometheus": "prom"}
FILES: Final = {form: f"report.{_ENDINGS.get(form, form)}" for form in FORMATS}
"""File of each form in the folder of an analysis."""


def render_report(
    out_dir: str | Path,
    form: str,
    *,
    before: str = "",
    command: str = "",
    judged: Mapping[str, Judged] = NOT_JUDGED,
    clients_to: Release | None = None,
) -> str:
    """Return the report in one format as text; arguments as in `write_reports`."""
    return FORMATS[form](_read(out_dir, _limits(form), before, judged, command=command, clients_to=clients_to))


def _read(out_dir: str | Path, limits: Limits, before: str, judged: Mapping[str, Judged], **more: Any) -> Report:
    earlier = AnalysisFolder(before, judged=judged.get(before)) if before else None
    return read_report(AnalysisFolder(out_dir, limits, judged.get(str(out_dir))), before=earlier, **more)


def _limits(form: str) -> Limits:
    """Return limits with all rows for machine-readable formats; the others show the worst rows and count the rest."""
    return EVERYTHING if form in _WHOLE else PAGE


def write_reports(
    out_dir: str | Path,
    forms: Sequence[str] = ("html",),
    *,
    before: str = "",
    command: str = "",
    judged: Mapping[str, Judged] = NOT_JUDGED,
    clients_to: Release | None = None,
) -> list[str]:
    """Write a report (`FILES`) in each format from the tables in a folder and return the paths.

    Args:
        out_dir: folder or URI of an analysis.
        forms: of `FORMATS`.
        before: folder or URI of an earlier analysis to compare with.
        command: command that made the analysis, for the end of the page.
        judged: verdicts for other targets, by folder; the history of `out_dir` is then not changed.
        clients_to: release of Kafka's Java clients, to judge upgrades of client libraries with the brokers as they are.

    Raises:
        InputError: a folder is not an analysis, a table cannot be read, a file cannot be written.
    """
    report = _read(out_dir, PAGE, before, judged, command=command, clients_to=clients_to)
    texts = {form: FORMATS[form](report) for form in forms if _limits(form) is PAGE}
    if len(texts) < len(forms):
        whole = _read(out_dir, EVERYTHING, before, judged, command=command, clients_to=clients_to, made=report.made)
        texts = {form: texts[form] if form in texts else FORMATS[form](whole) for form in forms}
    folder = AnalysisFolder(out_dir)
    written = [folder.write(FILES[form], text.encode()) for form, text in texts.items()]
    if report.matrix.targets and not judged:
        folder.write(HISTORY, history_text(report.history).encode())
    return written


def write_page(out_dir: str | Path, *, command: str = "") -> str:
    """Write DIR/report.html and return its path; see `write_reports`."""
    return write_reports(out_dir, command=command)[0]
