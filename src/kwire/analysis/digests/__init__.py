"""Digests: the contents of a report in tables of limited size, for an analysis of any size.

    digest = merge_digests([digest_of_answers(...), ...], limits)   # a task for each bucket of keys
    wanted = wanted_of(digest, ...)                                 # the driver: single clients and topics of the page
    digest |= merge_digests([digest_of_rows(...), ...], limits)     # a task for parts of the tables of rows

`kwire.report` makes the digest of a folder that has none from its tables.
"""

from __future__ import annotations

from kwire.analysis.digests.of_answers import digest_of_answers, openings_of
from kwire.analysis.digests.of_rows import DIGESTED_COLUMNS, NO_TIMES, OF_SPAN, TIME_COLUMNS, RowDigest
from kwire.analysis.digests.tables import DIGESTS, EVERYTHING, PAGE, Digest, Limits, merge_digests
from kwire.analysis.digests.wanted import Wanted, wanted_of

__all__ = [
    "DIGESTED_COLUMNS", "DIGESTS", "EVERYTHING", "NO_TIMES", "OF_SPAN", "PAGE", "TIME_COLUMNS", "Digest", "Limits", "RowDigest", "Wanted",
    "digest_of_answers", "merge_digests", "openings_of", "wanted_of",
]  # fmt: skip
