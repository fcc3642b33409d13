"""`kwire completion`: the completion of a shell, and values that it completes."""

from __future__ import annotations

import click
import cloup

__all__ = ["complete_api", "complete_catalog", "complete_columns", "complete_release", "completion"]


@cloup.command(short_help="Print the completion script of a shell.")
@cloup.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL: commands, options, Kafka versions, APIs, catalogs, tables and columns.

    \b
    Examples:
      eval "$(kwire completion bash)"
      kwire completion zsh > ~/.zfunc/_kwire
      kwire completion fish > ~/.config/fish/completions/kwire.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(click.get_current_context().find_root().command, {}, "kwire", "_KWIRE_COMPLETE").source())


def _begin_with(text: str, names: list[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(text.lower())]


def complete_release(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    from kwire.schema import releases

    known = list(releases())
    return _begin_with(text, [*dict.fromkeys(each.minor for each in known), *(each.name for each in known)])


def complete_catalog(context: click.Context, option: click.Parameter, text: str) -> list[str]:
    from kwire.schema.dialects import DIALECTS

    return [*complete_release(context, option, text), *_begin_with(text, list(DIALECTS))]


def complete_api(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    from kwire.schema.listing import list_apis

    return _begin_with(text, [row.name for row in list_apis(None, None)])


def complete_columns(context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    """Complete the last of names with commas, from the table of an earlier `--table`."""
    from kwire.tables import SCHEMAS

    before, comma, last = text.rpartition(",")
    return [before + comma + name for name in _begin_with(last, SCHEMAS[context.params.get("table") or "requests"].names)]
