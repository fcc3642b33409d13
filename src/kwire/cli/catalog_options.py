"""Options that name another catalog than the built-in one: ``--catalog`` and ``--dialect``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click
import cloup

from kwire.cli.completion import complete_catalog

if TYPE_CHECKING:
    from kwire.codec import Codec
    from kwire.schema import Catalog

__all__ = ["catalog_options", "chosen_catalog", "chosen_codec", "doubts_told"]

Command = TypeVar("Command", bound=Callable[..., Any])


def catalog_options(command: Command) -> Command:
    """Add both options; the command gets the parameters `catalog_name` and `dialects`."""
    return cloup.option_group(
        "Messages",
        cloup.option(
            "--catalog", "catalog_name", metavar="C", shell_complete=complete_catalog,
            help="The messages of C: a release, a jar or folder of Kafka's definitions, a dialect.",
        ),
        cloup.option(
            "--dialect", "dialects", multiple=True, metavar="D", shell_complete=complete_catalog,
            help="Add a proposal to them: kip-1313, kip-35-draft, kip-714-draft.",
        ),
    )(command)  # fmt: skip


@contextmanager
def doubts_told() -> Iterator[None]:
    """Print warnings about a loaded catalog to stderr, as sentences."""
    from kwire.cli.terminal import printable

    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        yield
    for doubt in doubts:
        click.echo(f"kwire: {printable(str(doubt.message))}", err=True)


def chosen_catalog(catalog_name: str | None, dialects: tuple[str, ...]) -> Catalog | None:
    from kwire.schema import dialect, named_catalog

    if catalog_name is None:
        return dialect(*dialects) if dialects else None
    with doubts_told():
        return named_catalog(catalog_name, dialects)


def chosen_codec(catalog_name: str | None, dialects: tuple[str, ...]) -> Codec:
    from kwire.codec import Codec
    from kwire.schema import catalog

    return Codec(chosen_catalog(catalog_name, dialects) or catalog())
