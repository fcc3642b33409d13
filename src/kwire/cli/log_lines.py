"""Log lines of `kwire proxy`, as text or JSON."""

from __future__ import annotations

import logging
from datetime import datetime, timezone

from kwire.cli.terminal import printable
from kwire.json_encoding import encode_json

__all__ = ["JsonFormatter", "LineFormatter"]


class LineFormatter(logging.Formatter):
    """Formatter of a message as one line; control characters in text from the wire are escaped."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message)
        return super().formatMessage(record)


class JsonFormatter(logging.Formatter):
    """Formatter of a record as one line of JSON, with the `fields` of the record that are known."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        found = {"time": time, "level": record.levelname.lower(), "message": record.getMessage()}
        found |= {name: value for name, value in getattr(record, "fields", {}).items() if value not in (None, "")}
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        return encode_json(found)
