"""What an analysis found, for people: the page and the summary for the terminal."""

from __future__ import annotations

from kwire.report.page import write_page
from kwire.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_page"]
