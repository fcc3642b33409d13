"""Options of every command: short and full help, amount of output, color, and defaults from a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import date, time
from pathlib import Path
from typing import Any, Final

import click
import cloup

from kwire.cli.old_names import new_name
from kwire.cli.terminal import use_color, use_volume

__all__ = ["RARE", "add_shared_options"]

RARE: Final = frozenset((
    "--no-tls-keys", "--unverified", "--ssl-principal-mapping-rules", "--region", "--endpoint", "--partition-by", "--keep-prefix",
))  # fmt: skip
"""Options that `--help` leaves out and `--help-all` shows."""

_FILE: Final = "KWIRE_CONFIG"


def add_shared_options(command: click.Command) -> None:
    """Add the options to a command and the commands below it."""
    has_rare = any(RARE.intersection(param.opts) for param in command.params)
    options = [
        cloup.option("-q", "--quiet", **_eager(lambda: use_volume(-1)), help="Print results and errors only: no progress, no warnings."),
        cloup.option("-v", "--verbose", **_eager(lambda: use_volume(1)), help="Say more about the run, such as the engine."),
        cloup.option(
            "--color", type=click.Choice(["auto", "always", "never"]), expose_value=False, is_eager=True,
            callback=lambda _context, _option, choice: use_color(choice) if choice else None,
            help="Colors [default: auto, on a terminal without NO_COLOR].",
        ),
        cloup.option(
            "--config", "defaults_file", metavar="FILE", envvar=_FILE, expose_value=False, is_eager=True, callback=_take_defaults,
            help=f"Defaults for options: TOML with a table for each command, such as [analyze] [env: {_FILE}].",
        ),
    ]  # fmt: skip
    if isinstance(command, click.Group):
        for each in command.commands.values():
            add_shared_options(each)
    else:
        options += [
            cloup.option(
                "--help-all", **_eager(_help(everything=True)), hidden=not has_rare, help="Show all options, rare ones too."
            ),
            cloup.option("-h", "--help", **_eager(_help(everything=False)), help="Show this message."),
        ]  # fmt: skip

    def holder() -> None: ...

    for add in options:
        add(holder)
    added = holder.__click_params__  # type: ignore[attr-defined]  # as click's own decorators keep them
    command.params += added
    if isinstance(command, cloup.Command):
        command.ungrouped_options = [*command.ungrouped_options, *added]


def _eager(act: Callable[[], None]) -> dict[str, Any]:
    """Return settings of a flag that is processed before other options."""

    def callback(context: click.Context, _option: click.Parameter, asked: bool) -> None:
        if asked and not context.resilient_parsing:
            act()

    return {"is_flag": True, "expose_value": False, "is_eager": True, "callback": callback}


def _help(*, everything: bool) -> Callable[[], None]:
    def show() -> None:
        context = click.get_current_context()
        with nullcontext() if everything else _without_rare(context.command):
            click.echo(context.get_help())
        context.exit()

    return show


@contextmanager
def _without_rare(command: click.Command) -> Iterator[None]:
    rare = [param for param in command.params if isinstance(param, click.Option) and not param.hidden and RARE.intersection(param.opts)]
    groups = [
        group for group in getattr(command, "option_groups", ()) if all(option in rare or option.hidden for option in group.options)
    ]  # fmt: skip
    hidden: list[Any] = [*rare, *(group for group in groups if not group.hidden)]
    for each in hidden:
        each.hidden = True
    try:
        yield
    finally:
        for each in hidden:
            each.hidden = False


def _take_defaults(context: click.Context, _option: click.Parameter, file: str | None) -> None:
    """Read the file into the context; the command line takes precedence."""
    if file is None or context.resilient_parsing:
        return
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        tables = tomllib.loads(Path(file).read_text("utf-8"))
    except OSError as error:
        raise click.UsageError(f"--config {file}: {error.strerror or error}.") from error
    except ValueError as error:
        raise click.UsageError(f"--config {file} is not valid TOML: {error}.") from error
    found: Any = _defaults_of(context.find_root().command, tables, file, "")
    names = []
    while context.parent is not None:
        names.append(context.info_name)
        context = context.parent
    for name in reversed(names):
        found = found.get(name, {})
    click.get_current_context().default_map = found


def _defaults_of(command: click.Command, table: Mapping[str, Any], file: str, where: str) -> dict[str, Any]:
    """Return the table with parameters' names. All tables are checked, so a misspelled option is an error for every command."""
    options = {
        name.removeprefix("--"): param
        for param in command.params
        if isinstance(param, click.Option) and param.expose_value
        for name in param.opts
        if name.startswith("--")
    }
    below = command.commands if isinstance(command, click.Group) else {}
    found: dict[str, Any] = {}
    for given, value in table.items():
        key = given if given in options or given in below else new_name(given)
        if key in below and isinstance(value, dict):
            found[key] = _defaults_of(below[key], value, file, f"{where} {key}".strip())
        elif key in options and not isinstance(value, dict):
            option = options[key]
            if isinstance(value, list) != option.multiple:
                value = [value] if option.multiple else _refuse(f"{file}: {key} of [{where}] takes one value, not a list")
            if option.is_flag and not isinstance(value, bool):
                _refuse(f"{file}: {key} of [{where}] is true or false, not {value!r}")
            if isinstance(option.flag_value, str):
                value = option.flag_value if value else None
            if value is not None:
                found[str(option.name)] = value.isoformat() if isinstance(value, (date, time)) else value
        else:
            known = sorted([*options, *below])
            place = f"[{where}] has no option {key!r}" if where else f"there is no command {key!r}"
            _refuse(f"{file}: {place}; choose from {', '.join(known)}")
    return found


def _refuse(sentence: str) -> Any:
    raise click.UsageError(f"{sentence}.")
