"""The examples of the documentation, run as a reader would type them."""

from __future__ import annotations

import json
import operator
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kwire
from kwire.tables import SCHEMAS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "\n>>> " in path.read_text("utf-8"))


def examples(page: Path) -> str:
    """The Python blocks of a page; every one is an example."""
    text = page.read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == text.count("```python")
    assert all(">>> " in block for block in blocks)
    return "\n".join(blocks)


@pytest.mark.parametrize("page", [path for path in PAGES if not path.name.startswith("from-")], ids=lambda path: path.stem)
@pytest.mark.parametrize("twin", ["native", pytest.param("pure", marks=pytest.mark.whole)])
def test_examples_of_a_page(twin, page, tmp_path):
    check(twin, page, tmp_path)


def test_the_page_of_the_codec_has_every_function_and_an_example_of_each():
    text = (ROOT / "docs" / "reference" / "codec.md").read_text("utf-8")
    table = {name for row in text.splitlines() if row.startswith("| `") for name in re.findall(r"`([\w.]+)\(", row.split(" | ")[0])}
    shown = examples(ROOT / "docs" / "reference" / "codec.md")
    for name in table - {"messages.NAME"}:
        assert callable(operator.attrgetter(name)(kwire)), name
        assert f"kwire.{name}(" in shown, name
    assert {name for name in kwire.__all__ if name[0].islower() and callable(getattr(kwire, name))} <= table


def check(twin: str, page: Path, folder: Path) -> None:
    written = folder / "examples.txt"
    written.write_text(f">>> import kwire; kwire.backend\n'{twin}'\n\n{examples(page)}", "utf-8")
    environment = {**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0"}
    command = [sys.executable, "-m", "doctest", "-o", "ELLIPSIS", str(written)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", [pytest.param(0, marks=pytest.mark.matrix), 1])
def test_python_blocks_of_readme_are_complete(number):
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    done = subprocess.run([sys.executable, "-c", blocks[number]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("client_id" if number == 0 else "MetadataRequest(topics=None") in done.stdout


def test_the_notebook_names_clients_that_break(tmp_path, monkeypatch):
    cells = [
        each for each in json.loads((ROOT / "examples" / "who_breaks.ipynb").read_text("utf-8"))["cells"] if each["cell_type"] == "code"
    ]
    shutil.copy(ROOT / "examples" / "three-brokers.pcap.gz", tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert names["broken"]


def test_queries_of_the_tables_run(tmp_path, monkeypatch, capsys):
    """Those of polars, which is not installed for tests, name columns that are there."""
    blocks = re.findall(r"^```py\n(.*?)^```$", (ROOT / "docs" / "how-to" / "query-tables.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    analyze = ["analyze", str(ROOT / "examples" / "upgrade-fleet.pcap.gz"), "--out", "report/", "--engine", "local", "--no-report", "-q"]
    subprocess.run([sys.executable, "-m", "kwire", *analyze], capture_output=True, check=True)
    shown = {"duckdb": [], "pandas": [], "pyarrow": [], "polars": []}
    for block in blocks:
        tool = re.match(r"(?:import|from) (\w+)", block)[1]
        if tool == "polars":
            table = re.search(r"report/(\w+)/", block)[1]
            named = re.findall(r'(?:col|select|group_by|explode|sort)\(((?:"\w+"(?:, )?)+)', block)
            columns = {name for names in named for name in re.findall(r'"(\w+)"', names)} - {"rebalances"}
            assert len(columns) > 2
            assert columns <= set(SCHEMAS[table].names)
            shown[tool].append(table)
        elif tool != "pyspark":
            exec(block, {})
            shown[tool].append(capsys.readouterr().out)
    assert {tool: len(texts) for tool, texts in shown.items()} == {"duckdb": 3, "pandas": 2, "pyarrow": 1, "polars": 2}
    assert "pricing-svc" in shown["duckdb"][0]
    assert "librdkafka" in shown["pandas"][0]


def test_pages_are_titled_as_the_navigation_names_them():
    named = re.findall(r"- ([^:]+): ([a-z0-9/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    titles = {page: (ROOT / "docs" / page).read_text("utf-8").split("\n", 1)[0].removeprefix("# ") for _, page in named}
    assert {page: name for name, page in named} == titles


def test_the_navigation_of_the_site_names_every_page_once():
    linked = re.findall(r"[:-] ([a-z0-9/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert sorted(linked) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    text = page.read_text("utf-8")
    for target, _, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(#([^)\s]*))?\)", text):
        found = page.parent / target if target else page
        assert found.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)$", found.read_text("utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}, heading


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_files_that_a_page_for_engineers_names_exist(page):
    named = set(
        re.findall(r"(?<![\w/.])((?:src|pyx|tests|tools|docs|[a-z]+)/[\w/]+\.(?:pyx|pxd|py|md|toml))\b", (ROOT / page).read_text("utf-8"))
    )
    assert len(named) > 15
    missing = [
        name for name in named if name != "pyx/PACKAGE/NAME.pyx" and not any((ROOT / at / name).exists() for at in ("", "src/kwire"))
    ]
    assert missing == []
