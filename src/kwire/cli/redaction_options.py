"""Options of a redaction, for all commands that have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click
import cloup

if TYPE_CHECKING:
    from kwire.analysis.redaction import Redaction

__all__ = ["redaction_of", "with_address_redaction", "with_redaction"]


_OF_TABLES: Final = "Replace addresses, hosts, principals, client ids, topics, groups and file names by keyed pseudonyms."
_OF_CAPTURES: Final = "Replace addresses in headers and hosts in messages by keyed pseudonyms; topics and clients keep their names."


def with_redaction(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--redact`, `--redact-key` and `--keep-prefix` to a command that writes tables."""
    return _with_options(command, _OF_TABLES)


def with_address_redaction(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--redact`, `--redact-key` and `--keep-prefix` to a command that writes captures."""
    return _with_options(command, _OF_CAPTURES)


def _with_options(command: Callable[..., Any], what: str) -> Callable[..., Any]:
    return cloup.option_group(
        "Privacy",
        cloup.option(
            "--redact",
            is_flag=True,
            help=what,
        ),
        cloup.option(
            "--redact-key", "key_file", metavar="FILE", help="Key of --redact, at least 16 bytes: equal keys give equal pseudonyms."
        ),
        cloup.option(
            "--keep-prefix", type=click.IntRange(0, 32), metavar="BITS", help="Bits of IPv4 addresses to keep; of IPv6 twice as many."
        ),
    )(command)


def redaction_of(redact: bool, key_file: str | None, keep_prefix: int | None) -> Redaction | None:
    if not redact:
        if key_file is not None or keep_prefix is not None:
            raise click.UsageError("--redact-key and --keep-prefix go with --redact.")
        return None
    if key_file is None:
        raise click.UsageError("--redact needs a key, so that pseudonyms cannot be guessed: --redact-key FILE.")
    from kwire.analysis.redaction import Redaction, read_key

    return Redaction(read_key(key_file), keep_prefix)
