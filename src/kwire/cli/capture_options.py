"""Options for captures and their files, for the commands that read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import cloup

__all__ = ["group_files_option", "log_zone_option", "ports_option"]


def ports_option(help_text: str = "Broker port (repeatable; auto-detected by default).", **attributes: Any) -> Callable[[Any], Any]:
    return cloup.option("--port", "ports", type=click.IntRange(1, 65535), multiple=True, metavar="N", help=help_text, **attributes)


def group_files_option(
    help_text: str = "Rule that joins rotated files to groups, as in analyze.", **attributes: Any
) -> Callable[[Any], Any]:
    return cloup.option("--group-files", "series_rule", default="name", show_default=True, metavar="RULE", help=help_text, **attributes)


def log_zone_option() -> Callable[[Any], Any]:
    return cloup.option("--log-zone", metavar="ZONE", help="Time zone of request logs without one, such as Europe/Berlin [default: UTC].")
