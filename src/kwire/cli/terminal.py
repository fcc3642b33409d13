"""Output shared by all commands: safe text, JSON lines, and times in a readable form."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import click

from kwire.escaped_text import printable
from kwire.json_encoding import encode_json

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "INSTANT", "begin_output", "cell_text", "console", "held_for_display", "json_line", "no_width", "printable", "use_color", "use_volume",
    "volume", "warn",
]  # fmt: skip

_PIPE_WIDTH: Final = 4000
"""Width of a file or a pipe; lines are not folded."""


_LONGEST: Final = 160
"""Maximum number of characters per cell; JSON has all."""


_volume = 0
_color = "auto"
_display: Console | None = None  # which other writers would tear


def volume() -> int:
    """Return -1 with `--quiet`, 1 with `--verbose`, else 0."""
    return _volume


def use_volume(volume: int) -> None:
    global _volume
    _volume = volume


def use_color(choice: str) -> None:
    """Set the color mode to `auto`, `always` or `never`."""
    global _color
    if choice != _color:
        console.cache_clear()
    _color = choice


def begin_output() -> None:
    """Reset the options of an earlier command in this process."""
    use_volume(0)
    use_color("auto")


@contextmanager
def held_for_display(shown: Console) -> Iterator[None]:
    """Print warnings above a live display."""
    global _display
    _display = shown
    try:
        yield
    finally:
        _display = None


@lru_cache(maxsize=2)
def console(*, stderr: bool = False) -> Console:
    """Return the terminal with rich's markup disabled, because text from the wire may look like markup."""
    from rich.console import Console

    stream: Any = sys.stderr if stderr else sys.stdout
    if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show is no reason to end
    system: Any = {"auto": "auto", "always": "256", "never": None}[_color]
    no_color = {"auto": None, "always": False, "never": True}[_color]
    found = Console(stderr=stderr, markup=False, highlight=False, emoji=False, color_system=system, no_color=no_color)
    if not found.is_terminal:
        found.width = _PIPE_WIDTH
    return found


def no_width() -> None:
    console().width = _PIPE_WIDTH


def warn(sentence: str) -> None:
    """Print a sentence on stderr, as one line, unless `--quiet`; text from the wire or a file name in it cannot move the cursor."""
    if _volume < 0:
        return
    line = printable(" ".join(sentence.split()))
    text = f"kwire: {line if line.endswith(('.', '!', '?')) else f'{line}.'}"
    if _display is None:
        click.echo(text, err=True)
    else:
        _display.print(text, soft_wrap=True)


def cell_text(value: object) -> str:
    """Return a value for a cell: text from the wire escaped and shortened, times in UTC to the millisecond."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell_text, value))
    text = str(value)
    if len(text) > _LONGEST:  # Kafka lets a client id have 32,767 characters
        text = f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return printable(text)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_line(value: object) -> str:
    """Return one line of JSON in plain ASCII, so that nothing in it can act on a terminal; times in ISO 8601, UTC."""
    return encode_json(value, default=_plain)


_AGO: Final = re.compile(r"-(?P<count>[0-9]{1,6}(?:\.[0-9]{1,3})?)(?P<unit>[smhd])")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class _Instant(click.ParamType[datetime]):
    """Time argument, in UTC unless it has an offset: ISO 8601, a time of today, or ``-10m`` for ten minutes ago."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        now = datetime.now(timezone.utc)
        try:
            if ago := _AGO.fullmatch(value):
                return now - timedelta(seconds=float(ago["count"]) * _UNITS[ago["unit"]])
            # Python 3.10 does not read Z
            found = datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
        except (ValueError, OverflowError):
            try:
                found = datetime.combine(now.date(), time.fromisoformat(value))
            except ValueError:
                self.fail(f"{value!r} is not a time; write 2026-09-30T12:00:00 (UTC), 12:00:00 (today) or -10m (s, m, h, d).", param, ctx)
        return found.replace(tzinfo=timezone.utc) if found.tzinfo is None else found


INSTANT: Final = _Instant()
