"""Source that is run as code: only the pure codec generates any, in one place; everything else of the package is closures."""

from __future__ import annotations

import ast
from pathlib import Path

import kwire

PACKAGE = Path(kwire.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
ONLY_PLACE = PACKAGE / "codec" / "_pure" / "source_text.py"


def runs_source(path: Path) -> list[str]:
    """The calls of `exec` and `eval` in a file, also those in programs that it holds as text."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval"):
            found.append(f"{node.lineno}: {node.func.id}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ("exec(" in node.value or "eval(" in node.value):
            found.append(f"{node.lineno}: in a text")
    return found


def test_no_module_runs_source() -> None:
    found = {str(path.relative_to(PACKAGE)): runs_source(path) for path in FILES if path != ONLY_PLACE}
    assert {path: places for path, places in found.items() if places} == {}


def test_generated_source_is_run_in_one_place() -> None:
    assert len(FILES) > 300
    assert len(runs_source(ONLY_PLACE)) == 1
