"""Exit statuses of `kwire`, for scripts; the help of each command names its own."""

from __future__ import annotations

from typing import Final

__all__ = ["CLIENTS_BREAK", "CLOSED_PIPE", "FAILED", "INCOMPLETE_INPUT", "INTERRUPTED", "THIN_EVIDENCE"]

FAILED: Final = 1
"""Nothing was written; standard error has the reason."""

INCOMPLETE_INPUT: Final = 3
"""The analysis was written although some inputs could not be read."""

THIN_EVIDENCE: Final = 4
"""The analysis was written, and the captures are too incomplete to trust it."""

CLIENTS_BREAK: Final = 5
"""The analysis was written, and a client has a verdict of ``--fail-on``; takes precedence over 3 and 4."""

INTERRUPTED: Final = 130
"""Ctrl-C."""

CLOSED_PIPE: Final = 141
"""The reader of standard output closed the pipe: 128 + SIGPIPE, as a shell reports it of other programs."""
