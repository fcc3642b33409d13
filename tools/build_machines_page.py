#!/usr/bin/env python3
"""Write docs/explanation/machines.md, the state machines of `kwire.protocol` as diagrams: `python tools/build_machines_page.py [--check]`.

Every `Transitions` that a module of `kwire.protocol` makes is drawn, with what its states and events are where the enumerations say so.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kwire.protocol
from kwire.protocol.transitions import Transitions

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "machines.md"

HEADING = """# State machines

The rules of the protocol live in machines without sockets, threads or a clock of their own: bytes and a time go in, bytes to send
and events come out. Which moves a machine may make is a table (`kwire.protocol.transitions`), and these are the tables; what is not
drawn is refused with `ForbiddenMove`, and a test walks every state with every event. Made by `tools/build_machines_page.py`; a change
here is lost.
"""


def machines() -> Iterator[tuple[str, Transitions[Any, Any]]]:
    """Each table with the module that makes it."""
    for module in sorted(each.name for each in pkgutil.walk_packages(kwire.protocol.__path__, "kwire.protocol.")):
        for value in vars(importlib.import_module(module)).values():
            # tables are imported by other modules too; their enumerations are where they are
            if isinstance(value, Transitions) and value.states.__module__ == module:
                yield module, value


def page() -> str:
    """The text of the page."""
    parts = [HEADING]
    for module, table in machines():
        moves = len(list(table))
        what = (table.states.__doc__ or "").split("\n")[0]
        parts += [
            f"## {table.name[0].upper()}{table.name[1:]}",
            "",
            f"`{module}`, {len(table.states)} states, {len(table.events)} events, {moves} moves. {what}",
            "",
            f"```mermaid\n{table.diagram()}```",
            "",
        ]
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text)
        return 0
    return 0 if PAGE.exists() and PAGE.read_text() == text else 1


if __name__ == "__main__":
    sys.exit(main())
