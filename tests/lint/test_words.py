"""What people read is written in the field's words: README, every page of `docs/`, `--help`, docstrings of the public API, and every text
of the command line, the report, the job, the analysis, the tables and the protocol's rules.

The list holds phrases that were found there and rewritten, and old names of things that the glossary renames.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands

ROOT = Path(__file__).resolve().parents[2]
BANNED = re.compile(
    r"\b(?:(?:go|goes|gone|going) on with|(?:is|are) told|tells|whoever|nobody|rests on|goes by|for who|by who|anew|short way|hand-over|"
    r"hammers|known how|known by|named itself|never came about|what became of|wears out|in sight|their sight|came to nothing|"
    r"no TOML|(?:is|are) no (?:TOML|UTF-8|JSON|capture file|network)|belongs? to nothing|near it are|stand in between|begun again|"
    r"held (?:against|together)|of whom|for that matter|in the place of|one a line|(?:bytes|frame|request|row)s? a line)\b",
    re.IGNORECASE,
)
# The house style of vale, which reads the pages; here it holds for help, docstrings and texts of the code too.
RULES = sorted(path for path in (ROOT / ".vale" / "House").glob("*.yml") if path.stem != "Headings")
HOUSE = re.compile(
    "|".join(token for path in RULES for token in re.findall(r"^  - '(.*)'$", path.read_text("utf-8"), re.MULTILINE)), re.IGNORECASE
)
# Names that the glossary replaces, in prose: "API" in capitals, a backend, a boundary; and units without "per".
OLD_NAMES = re.compile(r"\bapis?\b(?! = )|\b(?:pure|native|compiled|both|either|two) (?:Python )?twins?\b|\bborders\b|\bstrangers\b")
PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
ROWS = ("findings.py",)  # texts of rows, which do not change
SHOWN = sorted(path for path in (ROOT / "src" / "kwire").rglob("*.py") if path.name not in ROWS)
PUBLIC = ("kwire", "kwire.spark", "kwire.protocol")


def found_in(text: str) -> list[str]:
    return [text[max(0, found.start() - 40) : found.end() + 20] for rules in (BANNED, HOUSE) for found in rules.finditer(text)]


def prose_of(text: str) -> str:
    """Markdown without code, and without the targets of its links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`x`", text))


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    prose = " ".join(prose_of((ROOT / page).read_text("utf-8")).split())
    assert found_in(prose) == []
    assert [prose[max(0, found.start() - 40) : found.end() + 20] for found in OLD_NAMES.finditer(prose)] == []


def public_texts(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Names and docstrings that `docs/reference/python.md` shows of a package."""
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            yield name, inspect.getdoc(value) or ""
            for below, member in vars(value).items() if inspect.isclass(value) else ():
                if not below.startswith("_") and (inspect.isroutine(member) or isinstance(member, property)):
                    yield f"{name}.{below}", inspect.getdoc(member) or ""


@pytest.mark.parametrize("package", PUBLIC)
def test_docstrings_of_the_public_api(package: str) -> None:
    texts = {name: " ".join(prose_of(text).split()) for name, text in public_texts(importlib.import_module(package))}
    assert texts
    assert {name: found for name, text in texts.items() if (found := found_in(text) + OLD_NAMES.findall(text))} == {}


def test_lines_of_pages_are_short() -> None:
    """120 characters; tables, code and links stay on one line. Two pages are wrapped wider."""
    long = []
    for page in PAGES[1:]:
        if page in ("docs/internals/requirements.md", "docs/how-to/encrypted-clusters.md"):
            continue
        text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        long += [(page, line[:60]) for line in text.splitlines() if len(line) > 122 and not line.startswith("|") and "](" not in line]
    assert long == []


def walk(command: click.Command, path: list[str]) -> Iterator[list[str]]:
    yield path
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from walk(below, [*path, name])


@pytest.mark.parametrize("path", list(walk(commands, [])), ids=" ".join)
def test_help(path: list[str]) -> None:
    assert found_in(" ".join(CliRunner().invoke(commands, [*path, "--help"]).stdout.split())) == []


def test_rules_match_what_they_replace() -> None:
    assert len(RULES) == 10
    for bad in ("an object is wanted, not int", "X is no catalog", "reserve so many bytes", "there is to be", "it is right: 2 listeners"):
        assert HOUSE.search(bad), bad


def texts(tree: ast.Module) -> Iterator[str]:
    """String constants that are not docstrings."""
    documents = {id(each.value) for node in ast.walk(tree) if hasattr(node, "body") and isinstance(node.body, list)
                 for each in node.body if isinstance(each, ast.Expr)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value


def test_texts_of_the_code() -> None:
    found = {path: [each for text in texts(ast.parse(path.read_text("utf-8"))) for each in found_in(text)] for path in SHOWN}
    assert {str(path.relative_to(ROOT)): words for path, words in found.items() if words} == {}


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "kwire" / "report" / "templates").glob("*.j2")), ids=lambda path: path.name)
def test_templates(path: Path) -> None:
    assert found_in(path.read_text("utf-8")) == []


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    """Also those of private names and of Cython, which the pages of the API leave out."""
    clause = re.compile(r'"""(?:What|Where|Whether|Why|How|If|When|That|Which|Who) .*')
    native = sorted((ROOT / "pyx").rglob("*.p[yx][xdi]"))
    assert native
    assert [(path.name, found) for path in (*SHOWN, *native) for found in clause.findall(path.read_text("utf-8"))] == []
