"""What people read is written in the field's words: the entry pages, `--help`, and every text of the command line, the report and the job.

The list holds phrases that were found there and rewritten. Texts of the protocol's rules, and pages of `docs/` beyond the entry pages, are
not held yet.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands

ROOT = Path(__file__).resolve().parents[2]
BANNED = re.compile(
    r"\b(?:(?:go|goes|gone|going) on with|(?:is|are) told|tells|whoever|nobody|rests on|goes by|for who|by who|anew|short way|hand-over|"
    r"hammers|known how|known by|named itself|recognised|never came about|what became of|wears out|in sight|their sight|"
    r"no TOML|is no (?:TOML|JSON|capture file|network))\b",
    re.IGNORECASE,
)
PAGES = ["README.md", "docs/index.md", "docs/how-to/capturing.md", "docs/reference/commands.md"]
SHOWN = sorted(path for room in ("cli", "report", "spark") for path in (ROOT / "src" / "kwire" / room).rglob("*.py"))


def found_in(text: str) -> list[str]:
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in BANNED.finditer(text)]


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    assert found_in((ROOT / page).read_text("utf-8")) == []


def walk(command: click.Command, path: list[str]) -> Iterator[list[str]]:
    yield path
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from walk(below, [*path, name])


@pytest.mark.parametrize("path", list(walk(commands, [])), ids=" ".join)
def test_help(path: list[str]) -> None:
    assert found_in(" ".join(CliRunner().invoke(commands, [*path, "--help"]).stdout.split())) == []


def texts(tree: ast.Module) -> Iterator[str]:
    """String constants that are not docstrings."""
    documents = {id(each.value) for node in ast.walk(tree) if hasattr(node, "body") and isinstance(node.body, list)
                 for each in node.body if isinstance(each, ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(ROOT / "src" / "kwire")))
def test_texts_of_the_code(path: Path) -> None:
    assert [found for text in texts(ast.parse(path.read_text("utf-8"))) for found in found_in(text)] == []


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "kwire" / "report" / "templates").glob("*.j2")), ids=lambda path: path.name)
def test_templates(path: Path) -> None:
    assert found_in(path.read_text("utf-8")) == []
