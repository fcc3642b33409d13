"""Python blocks of the documentation can be pasted: in the order of their page they are complete programs.

Blocks marked ``py`` need what a unit test does not have, such as Spark or a bucket. Here each is parsed, and every name has to be
a builtin or bound by the page before. `tests/integration/test_docs_spark.py` runs those of Spark, `test_object_stores.py` those of buckets.
Code of a page that names an example file is in that file, which the integration tests run; only the first block, which opens the session,
differs.
"""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```py\b[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if FENCE.search(page.read_text("utf-8")))
EXAMPLES = {
    "how-to/data-source.md": "read_captures.py",
    "how-to/streaming.md": "follow_captures.py",
    "how-to/spark-functions.md": "spark_functions.py",
    "how-to/executors.md": "executors.py",
}


def blocks_of(page: Path) -> list[str]:
    return FENCE.findall(page.read_text("utf-8"))


def unbound(code: str) -> set[str]:
    """Names that the code reads and nothing before binds, in the order of its statements."""
    bound, missing = set(dir(builtins)), set()
    for statement in ast.parse(code).body:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        # a comprehension or `with ... as` binds within its own statement
        local = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        local |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                local |= {(each.asname or each.name).partition(".")[0] for each in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                local.add(node.name)
        within = local if not isinstance(statement, ast.Assign) or _comprehends(statement) else set()
        missing |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - bound - within
        bound |= local
    return missing


def _comprehends(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.comprehension | ast.Lambda) for node in ast.walk(statement))


def statements(code: str) -> set[str]:
    return {ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_are_complete_in_their_order(page: Path) -> None:
    blocks = blocks_of(page)
    assert len(blocks) == len(re.findall(r"^\s*```py\b", page.read_text("utf-8"), re.MULTILINE)), "a block is indented"
    for block in blocks:
        ast.parse(block)
    assert unbound("\n".join(blocks)) == set()


@pytest.mark.parametrize(("page", "example"), EXAMPLES.items())
def test_code_of_a_page_is_in_the_example_that_it_names(page: str, example: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert f"examples/{example})" in text
    session, *blocks = blocks_of(ROOT / "docs" / page)
    assert "SparkSession.builder" in session
    in_example = statements((ROOT / "examples" / example).read_text("utf-8"))
    assert blocks
    for block in blocks:
        assert statements(block) <= in_example


@pytest.mark.parametrize(
    ("code", "missing"), [("a = b", {"b"}), ("import a.b\na.b.c()", set()), ("a = a + 1", {"a"}), ("[c for c in x]", {"x"})]
)
def test_what_counts_as_missing(code: str, missing: set[str]) -> None:
    assert unbound(code) == missing
