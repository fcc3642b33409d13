"""The command line: `kwire` and its subcommands, one file each."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Run `kwire` with the arguments of this process.

    Returns:
        The exit status: 0 when all went well, 1 for a fault that is told in one sentence, 2 for arguments that make no sense, 3 when an
        analysis was written although some of its inputs could not be read, 130 after Ctrl-C.
    """
    try:
        from kwire.cli.entry import commands
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.stderr.write(f"kwire: the command line needs {error.name}; run: python -m pip install 'kwire[all]'\n")
        return 1
    return commands.run()
