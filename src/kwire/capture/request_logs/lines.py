"""Lines of a request log: entries, lines of other loggers, and broken lines.

An entry is recognized by its content, in any layout: ``Completed request:`` in the line, or a JSON object with a `requestHeader`.
The text before it gives time and level. Other lines (start-up messages, stack traces) are counted and skipped.
"""

from __future__ import annotations

import re
from datetime import timezone, tzinfo
from typing import Final

from kwire.capture.request_logs.entry import LogEntry, UnreadableLine
from kwire.capture.request_logs.json_form import MARK, entry_of_object, is_entry, parse_json, wrapped_text
from kwire.capture.request_logs.text_form import is_unfinished, read_text_entry
from kwire.capture.request_logs.times import find_stamp

__all__ = ["goes_on", "is_log_head", "read_line", "starts_entry"]

_HEADER_KEY: Final = '"requestHeader"'
_LEVEL: Final = re.compile(r"\b(TRACE|DEBUG|INFO|WARN|ERROR)\b")
# What texts hold little of: a file with many of these in its first bytes is something else, whatever words are in it.
_NO_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 4096
_FEW: Final = 0.02


def is_log_head(head: bytes) -> bool:
    """Tell whether the first bytes of a decompressed file are text with an entry of a request log, possibly after other lines."""
    if MARK.encode() not in head and _HEADER_KEY.encode() not in head:
        return False
    looked_at = head.lstrip(b"\0")[:_LOOKED_AT]  # logrotate's copytruncate leaves zeros where the log was before
    return len(_NO_TEXT.findall(looked_at)) <= len(looked_at) * _FEW


def starts_entry(line: str) -> bool:
    """Tell whether a line looks like an entry, even if its beginning or end is missing."""
    return MARK in line or _HEADER_KEY in line or (line.lstrip().startswith('{"') and not line.rstrip().endswith("}"))


def goes_on(line: str) -> bool:
    """Tell whether a text entry continues in the next line, because a client id or an error message contains a line break."""
    _, mark, text = line.partition(MARK)
    return bool(mark) and not text.lstrip().startswith('{"') and is_unfinished(text)


def read_line(line: str, number: int, zone: tzinfo = timezone.utc) -> LogEntry | None:
    """Read a line without its line break; return None for a line of another logger. Raises UnreadableLine: the line looks like an entry but
    cannot be read."""
    if line.lstrip().startswith("{"):
        return _read_json_line(line, number, zone)
    prefix, mark, text = line.partition(MARK)
    if not mark:
        if _HEADER_KEY in line and '{"' in line:  # a layout of its own around the bare object
            at = line.index('{"')
            value = parse_json(line, at)
            return _stamped(entry_of_object(value, number, zone), line[:at], zone) if is_entry(value) else None
        return None
    return _stamped(_read_marked(text, number, zone), prefix, zone)


def _read_json_line(line: str, number: int, zone: tzinfo) -> LogEntry | None:
    try:
        value = parse_json(line, len(line) - len(line.lstrip()))
    except UnreadableLine:
        if starts_entry(line):
            raise
        return None
    if is_entry(value):
        return entry_of_object(value, number, zone)
    wrapped = wrapped_text(value, zone)
    if wrapped is None:
        return None
    message, instant, level = wrapped
    prefix, _, text = message.partition(MARK)
    entry = _stamped(_read_marked(text, number, zone), prefix, zone)
    return entry._replace(level=entry.level or level, logged_us=entry.logged_us if instant is None else instant)


def _read_marked(text: str, number: int, zone: tzinfo) -> LogEntry:
    bare = text.lstrip()
    if not bare.startswith('{"'):
        return read_text_entry(text, number)
    value = parse_json(bare)
    if not is_entry(value):
        raise UnreadableLine("its JSON has no requestHeader")
    return entry_of_object(value, number, zone)


def _stamped(entry: LogEntry, prefix: str, zone: tzinfo) -> LogEntry:
    level = _LEVEL.search(prefix)
    return entry._replace(logged_us=find_stamp(prefix, zone), level=None if level is None else level[1])
