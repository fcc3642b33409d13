"""What request logs can and cannot say, for the facts of an analysis: their sight ends elsewhere than that of captures."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kwire.report.amounts import plural

__all__ = ["DEPRECATED_ONLY", "LOGS", "LogSentences", "log_sentences"]

DEPRECATED_ONLY: Final = "request_log_deprecated"
LOGS: Final = ("request_log", DEPRECATED_ONLY)

LogSentences = list[tuple[bool, str, str]]  # whether it limits what can be concluded, what it is about, the sentences


def log_sentences(captures: pa.Table) -> LogSentences:
    """Say what limits the request logs among the inputs.

    Args:
        captures: columns `source`, `start` and `requests` of the table.
    """
    source = captures["source"]
    logs = captures.filter(pc.is_in(source, value_set=pa.array(LOGS)))
    if not logs.num_rows:
        return []
    files = plural(logs.num_rows, "file")
    said: LogSentences = [
        (
            False,
            "Request logs",
            f"{files} of request logs: requests that a broker refused or never answered, SASL exchanges and sizes are not in them, nor "
            "when a connection ends.",
        )
    ]
    deprecated = logs.filter(pc.equal(logs["source"], pa.scalar(DEPRECATED_ONLY)))
    if deprecated.num_rows:
        which = f"{plural(deprecated.num_rows, 'file')} of request logs {'holds' if deprecated.num_rows == 1 else 'hold'}"
        said.append(
            (
                True,
                "Deprecated only",
                f"{which} requests of deprecated versions alone, as the request logger writes them at level INFO. Clients that were seen "
                "nowhere else have no totals and are not cleared; who is not listed may still be there.",
            )
        )
    untimed = logs.filter(pc.and_(pc.is_null(logs["start"]), pc.greater(logs["requests"], pa.scalar(0))))
    if untimed.num_rows:
        lacks = "has" if untimed.num_rows == 1 else "have"
        said.append((False, "Times", f"{plural(untimed.num_rows, 'file')} of request logs {lacks} no times, only durations."))
    if logs.num_rows < captures.num_rows:
        both = "Captures and request logs were read together: a request that is in both counts twice."
        said.append((False, "Both", both))
    return said
