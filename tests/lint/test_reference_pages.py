"""docs/reference/python.md and options.md have every public name and option, as docstrings and commands say."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from kwire.cli.entry import commands

ROOT = Path(__file__).resolve().parents[2]
PYTHON = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8").replace("\\_", "_")
OPTIONS = (ROOT / "docs" / "reference" / "options.md").read_text("utf-8")
FENCE = re.compile(r"^```\w*\n.*?^```$", re.DOTALL | re.MULTILINE)
ENTRIES = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PYTHON, re.DOTALL | re.MULTILINE))
PACKAGES = ("kwire", "kwire.records", "kwire.spark", "kwire.protocol", "kwire.tables", "kwire.schema")


@pytest.mark.parametrize("tool", ["build_reference_pages.py", "build_proxy_reference.py"])
def test_the_pages_are_up_to_date(tool: str) -> None:
    made = subprocess.run([sys.executable, ROOT / "tools" / tool, "--check"], check=False)
    assert made.returncode == 0, f"run `python tools/{tool}`"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_with_parameters_and_an_example(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        value, full = getattr(module, name), f"{package}.{name}"
        if isinstance(value, ModuleType):
            assert f"- `{full}`: " in PYTHON
            continue
        entry = ENTRIES[full]
        if inspect.isroutine(value) or hasattr(value, "cache_info"):
            assert f"```text\n{name}(" in entry
            assert "\n```py" in entry, f"{full} has no example"
            listed = set(re.findall(r"`(\w+)`(?=[,:])", "\n".join(line for line in entry.splitlines() if line.startswith("- "))))
            assert set(inspect.signature(value).parameters) <= listed, full


def visible(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for below, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from visible(each, f"{name} {below}")


def test_every_option_is_there_and_nothing_is_in_italics() -> None:
    sections = dict(re.findall(r"^## (kwire[^\n]*)\n(.*?)(?=^## |\Z)", OPTIONS, re.DOTALL | re.MULTILINE))
    found = dict(visible(commands, "kwire"))
    assert sections.keys() == found.keys()
    shared = {"--quiet", "--verbose", "--color", "--config", "--help", "--help-all"}
    for name, command in found.items():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden and not shared.intersection(param.opts):
                assert any(row.startswith("| `") and param.opts[-1] in row.split("` |")[0] for row in sections[name].splitlines()), (
                    param.opts
                )
        assert ("\b\n" in inspect.cleandoc(command.help or "")) == ("```sh\n" in sections[name])
    assert not re.search(r"(?<!\\)\*", re.sub(r"`[^`\n]*`", "", FENCE.sub("", OPTIONS)))
