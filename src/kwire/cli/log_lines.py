"""Lines of the log that `kwire proxy` writes."""

from __future__ import annotations

import logging

from kwire.cli.terminal import printable

__all__ = ["LineFormatter"]


class LineFormatter(logging.Formatter):
    """Formatter of a message as one line: names from the wire in it add no line and hide nothing."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message)
        return super().formatMessage(record)
