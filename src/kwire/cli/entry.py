"""The group of commands and the handling of their errors: one clear sentence on stderr and a status, never a traceback."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click
import cloup
from click.exceptions import NoArgsIsHelpError

from kwire import __version__
from kwire.cli.analyze import analyze
from kwire.cli.broker import broker
from kwire.cli.capture import capture
from kwire.cli.catalog import catalog
from kwire.cli.completion import completion
from kwire.cli.decode import decode
from kwire.cli.demo import demo
from kwire.cli.diff import diff
from kwire.cli.doctor import doctor
from kwire.cli.exit_status import CLOSED_PIPE, FAILED, INTERRUPTED
from kwire.cli.inspect import inspect
from kwire.cli.merge import merge
from kwire.cli.old_names import OLD_COMMANDS, new_name
from kwire.cli.plan import plan
from kwire.cli.proxy import proxy
from kwire.cli.report import report
from kwire.cli.shared_options import add_shared_options
from kwire.cli.terminal import begin_output, printable
from kwire.cli.trim import trim
from kwire.cli.watch import watch
from kwire.errors import KwireError

__all__ = ["INTERRUPTED", "Commands", "commands"]

_EXTRA_OF: Final = {
    "pyarrow": "arrow", "pyspark": "spark", "py4j": "spark", "click": "cli", "rich": "cli", "jinja2": "report", "markupsafe": "report",
}  # fmt: skip

_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "token_normalize_func": new_name}


def _sentence(text: str) -> str:
    """Return one line that ends as a sentence; text from the wire or a file name in it cannot move the cursor."""
    line = printable(" ".join(text.split()))
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _of_system(error: OSError) -> str:
    if not error.strerror:
        return str(error) or type(error).__name__
    return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror


class Commands(cloup.Group):
    """A command group that prints errors as one sentence and exits with a status, in tests too."""

    def run(self, arguments: Sequence[str] | None = None) -> int:
        begin_output()
        try:
            status = super().main(args=arguments, prog_name="kwire", standalone_mode=False)
            sys.stdout.flush()
        except NoArgsIsHelpError as error:  # asked for nothing: show what there is to ask for
            click.echo(error.ctx.get_help() if error.ctx is not None else "")
            return 0
        except click.ClickException as error:
            shown = io.StringIO()
            error.show(shown)
            click.echo("\n".join(map(printable, shown.getvalue().rstrip("\n").split("\n"))), err=True)
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            return INTERRUPTED
        except SystemExit as exiting:
            # click exits with 1 for one reason outside of its standalone mode: the reader closed the pipe; SIGTERM exits with 143
            return CLOSED_PIPE if exiting.code == FAILED else int(exiting.code or 0)
        except BrokenPipeError:
            # the reader, such as `head`, has had enough; the interpreter would complain once more when it flushes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return CLOSED_PIPE
        except KwireError as error:
            said = str(error)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in _EXTRA_OF:
                raise
            said = f"{package} is not installed; run: python -m pip install 'kwire[{_EXTRA_OF[package]}]'"
        except OSError as error:
            said = _of_system(error)
        except MemoryError:
            said = "There is not enough memory"
        else:
            return status if isinstance(status, int) else 0
        click.echo(f"kwire: {_sentence(said)}", err=True)
        return FAILED

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        return super().resolve_command(ctx, [*OLD_COMMANDS.get(args[0], args[:1]), *args[1:]])

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        # Most of what a command makes stays until its end, modules and rows: to go through it for rubbish time and again is for nothing.
        gc.set_threshold(100_000, 20, 20)
        sys.exit(self.run(args))


@cloup.group(cls=Commands, context_settings=_SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name="kwire")
def commands() -> None:
    """Find out which Kafka clients break before you upgrade the brokers, from packet captures or request logs.

    \b
    Examples:
      kwire demo
      sudo tcpdump -i any -U -w - 'tcp port 9092' | kwire inspect -
      kwire analyze kafka-*.pcap --out report/ --open
      kwire capture --host broker-1 --duration 1d --out week/ --open

    Completion in the shell: eval "$(kwire completion bash)" in ~/.bashrc.
    """


for _task, _commands in {
    "Report": (demo, plan, analyze, merge, report, diff),
    "Capture": (capture, inspect, watch, trim),
    "Protocol": (catalog, decode),
    "Brokers": (proxy, broker),
    "Setup": (doctor, completion),
}.items():
    commands.section(_task, *_commands)
add_shared_options(commands)
