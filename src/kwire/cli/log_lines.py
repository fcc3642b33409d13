"""Log lines of `kwire proxy`."""

from __future__ import annotations

import logging

from kwire.cli.terminal import printable

__all__ = ["LineFormatter"]


class LineFormatter(logging.Formatter):
    """Formatter of a message as one line; control characters in text from the wire are escaped."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message)
        return super().formatMessage(record)
