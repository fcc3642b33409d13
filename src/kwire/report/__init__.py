"""Reports of an analysis for people: the page, its other forms, and the summary for the terminal."""

from __future__ import annotations

from kwire.report.fix_tickets import FixGroup
from kwire.report.formats import FILES, FORMATS, render_report, write_page, write_reports
from kwire.report.summary import Summary, summarize

__all__ = ["FILES", "FORMATS", "FixGroup", "Summary", "render_report", "summarize", "write_page", "write_reports"]
