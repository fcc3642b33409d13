"""What an analysis found, for people: the page, its other forms, and the summary for the terminal."""

from __future__ import annotations

from kwire.report.formats import FORMATS, render_report, write_page, write_reports
from kwire.report.summary import Summary, summarize

__all__ = ["FORMATS", "Summary", "render_report", "summarize", "write_page", "write_reports"]
