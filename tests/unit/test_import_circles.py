"""No module of the package imports itself, not even through imports inside of functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import kwire

KNOWN = {("kwire.capture.impl", "kwire.capture.tls.connection")}
ROOT = Path(kwire.__file__).parent


def _imports(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield imports that run; those for type checkers do not."""
    for each in statements:
        if isinstance(each, ast.Import | ast.ImportFrom):
            yield each
        typing = isinstance(each, ast.If) and isinstance(each.test, ast.Name) and each.test.id == "TYPE_CHECKING"
        for part in ("orelse",) if typing else ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _imports(getattr(each, part, []))


def _modules() -> dict[str, Path]:
    files = {file: ("kwire", *file.relative_to(ROOT).with_suffix("").parts) for file in ROOT.rglob("*.py")}
    return {".".join(parts[:-1] if parts[-1] == "__init__" else parts): file for file, parts in files.items()}


def _imported(file: Path, known: dict[str, Path]) -> set[str]:
    found = set()
    for each in _imports(ast.parse(file.read_text("utf-8")).body):
        if isinstance(each, ast.Import):
            found |= {alias.name for alias in each.names}
        else:
            names = {f"{each.module}.{alias.name}" for alias in each.names}
            found |= {name if name in known else str(each.module) for name in names}
    return found & known.keys()


def test_imports_inside_of_functions_count() -> None:
    body = ast.parse(
        "if TYPE_CHECKING:\n    import a\ndef f():\n    try:\n        import b\n    except ImportError:\n        import c"
    ).body
    assert [each.names[0].name for each in _imports(body)] == ["b", "c"]


def test_package_has_no_import_circles() -> None:
    known = _modules()
    edges = {name: _imported(file, known) - {below for above, below in KNOWN if above == name} for name, file in known.items()}
    assert {"kwire.codec.impl", "kwire.schema"} <= edges["kwire.codec.classes"]
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
