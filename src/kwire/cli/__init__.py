"""The command line: `kwire` and its subcommands, one file each."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run `kwire` with the arguments of this process and return the exit status (`kwire.cli.exit_status`)."""
    try:
        from kwire.cli.entry import commands
    except ModuleNotFoundError as error:
        if error.name not in ("click", "cloup", "rich"):
            raise
        sys.stderr.write(f"kwire: the command line needs {error.name}; run: python -m pip install 'kwire[cli]'\n")
        return 1
    return commands.run()
