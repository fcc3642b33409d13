#!/usr/bin/env python3
"""Write docs/reference/python.md and options.md from docstrings and commands: `python tools/build_reference_pages.py [--check]`.

Examples of functions whose docstring has none are in `reference_examples.txt`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

os.environ["KWIRE_PURE"] = "1"  # its functions have annotations

import click

from generated_page import write_or_check
from kwire.cli.entry import commands

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "docs" / "reference"
EXAMPLES: Final = dict(
    re.findall(r"^== (\S+)\n(.*?)(?=\n+^== |\s*\Z)", (Path(__file__).parent / "reference_examples.txt").read_text(), re.M | re.S)
)
SECTION: Final = re.compile(r"^(Arguments|Args|Attributes|Fields, with their types on the wire|Returns|Raises|Example):$")

PACKAGES: Final = {
    "kwire": "Messages, frames and connections.",
    "kwire.records": "Record batches.",
    "kwire.spark": "Spark columns and jobs. Importing it needs `kwire[spark]`.",
    "kwire.protocol": "Connections as events; no sockets, no threads, no clock.",
    "kwire.tables": "Rows of captures as Arrow batches, without Spark.",
    "kwire.schema": "Catalogs of messages, and releases of Kafka.",
}
VALUES: Final = {
    "kwire.__version__": "Version of kwire.",
    "kwire.backend": "`native` or `pure`: the backend that runs.",
    "kwire.records.MAX_DECOMPRESSED": "Default of `max_decompressed`, in bytes.",
    "kwire.records.MEMORY_MULTIPLE": "Bytes that records take at most per unpacked byte.",
    "kwire.records.UNPACKED_BYTES": "Default of `max_unpacked`, in bytes, for small buffers.",
    "kwire.records.UNPACKED_MULTIPLE": "Default of `max_unpacked` per byte of larger buffers.",
    "kwire.protocol.Direction": "`request` or `response`.",
    "kwire.protocol.Event": "Union of the classes of events.",
    "kwire.schema.DIALECTS": "Names of the dialects that come with kwire.",
    "kwire.schema.Kind": "Kind of a message, such as `request`.",
    "kwire.schema.NO_VERSIONS": "The empty range of versions.",
    "kwire.schema.SCALARS": "Types of fields that are no structs.",
    "kwire.tables.ROW_TABLES": "Names of the tables with a row per packet file, connection, request and so on.",
    "kwire.tables.SCHEMAS": "Arrow schema of each table, by name.",
}
SPARK: Final = """
The examples use a session and a table of frames:

```py
import kwire.spark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

kwire.spark.ensure_java()
spark = SparkSession.builder.getOrCreate()
frames = spark.createDataFrame([(bytes.fromhex("001200000000002a000161"),)], "frame BINARY")
```
"""

PYTHON: Final = """# Python API

This page lists the public names of kwire with signature, parameters and an example of each function. Import each name
from the package it is listed under. [The codec in one page](codec.md) is an overview. `tools/build_reference_pages.py`
generates this page.
"""
OPTIONS: Final = """# Options of each command

This page lists the options of every command, as `kwire COMMAND --help-all` shows them. Every command also has `-q`,
`-v`, `--color`, `--config` and `--help` ([commands](commands.md#options-of-all-commands)).
`tools/build_reference_pages.py` generates this page.
"""
SHARED: Final = frozenset(("--quiet", "--verbose", "--color", "--config", "--help-all", "--help"))


def annotation(value: Any) -> str:
    return value if isinstance(value, str) else inspect.formatannotation(value)


def parameter(each: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
    text = f"{stars}{each.name}"
    if each.annotation is not each.empty:
        text += f": {annotation(each.annotation)}"
    if each.default is not each.empty:
        default = "..." if each.default == "pure" or re.search(r" at 0x|<", repr(each.default)) else repr(each.default)
        text += f" = {default}" if ":" in text else f"={default}"
    return text


def signature(name: str, value: Any, width: int = 100) -> str | None:
    try:
        given = inspect.signature(value)
    except ValueError:
        return None
    taken = [each for each in given.parameters.values() if each.name != "self"]
    parts, kinds = [], [each.kind for each in taken]
    for index, each in enumerate(taken):
        if each.kind is each.KEYWORD_ONLY and not {each.KEYWORD_ONLY, each.VAR_POSITIONAL}.intersection(kinds[:index]):
            parts.append("*")
        parts.append(parameter(each))
        if each.kind is each.POSITIONAL_ONLY and kinds[index + 1 : index + 2] != [each.POSITIONAL_ONLY]:
            parts.append("/")
    end = "" if isinstance(value, type) or given.return_annotation is given.empty else f" -> {annotation(given.return_annotation)}"
    line = f"{name}({', '.join(parts)}){end}"
    return line if len(line) <= width else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){end}"


def wrap(line: str) -> list[str]:
    """Return a line of prose in lines of a page; a list's item stays one."""
    inner = "  " if line.startswith(("- ", "  ")) else ""
    return textwrap.wrap(
        line,
        120,
        initial_indent=inner if line.startswith("  ") else "",
        subsequent_indent=inner,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [line]


def described(doc: str) -> Iterator[str]:
    """Yield a docstring as Markdown: sections become lists, the example a block."""
    section, lines = "", doc.splitlines()
    for index, line in enumerate(lines):
        found = SECTION.match(line)
        if found:
            section = found[1]
            yield from ("", f"{'Parameters' if section.startswith('Arg') else section}:" if section != "Example" else "Example:", "")
            yield from ["```python"] if section == "Example" else []
        elif line and not line.startswith(" ") and section:
            yield from ["```"] if section == "Example" else []
            section = ""
            yield from ("", line)
        elif section == "Example":
            yield line.removeprefix("    ")
        elif section and (item := re.fullmatch(r"    (?! )(\*{0,2}[\w., ]+?): (.*)", line)) and section != "Returns":
            yield f"- {', '.join(f'`{each}`' for each in item[1].split(', '))}: {item[2]}"
        elif section and line:
            yield f"  {line.strip()}" if section != "Returns" else line.strip()
        else:
            yield line
        if section == "Example" and index == len(lines) - 1:
            yield "```"


def wrapped(lines: Iterator[str]) -> Iterator[str]:
    in_block = False
    for line in lines:
        in_block ^= line.startswith("```")
        yield from [line] if in_block else wrap(line)


def entry(name: str, value: Any) -> Iterator[str]:
    """Yield the section of one public name."""
    yield from (f"### {name.replace('__', chr(92) + '_' + chr(92) + '_')}", "")
    if name in VALUES:
        yield from (VALUES[name], "")
        return
    doc = inspect.getdoc(value)
    if not doc:
        raise ValueError(f"{name} has no docstring")
    shown = None if isinstance(value, type) and issubclass(value, (Exception, Enum)) else signature(name.rpartition(".")[2], value)
    if shown is not None:
        yield from ("```text", shown, "```", "")
    yield from wrapped(described(doc))
    if isinstance(value, type) and value.__module__.startswith("kwire.protocol.tracking"):
        yield from ("", "Methods:", "")
        for method, member in vars(value).items():
            if not method.startswith("_") and inspect.isfunction(member) and member.__doc__:
                yield from wrap(f"- `{signature(method, member, 200)}`: {member.__doc__.splitlines()[0]}")
    if name in EXAMPLES:
        block = EXAMPLES[name]
        yield from ("", "Example:", "", "```python" if ">>>" in block else "```py", block, "```")
    yield ""


def kind_of(value: Any) -> int:
    """Return the place on the page: functions, classes, values, errors."""
    if isinstance(value, type):
        return 3 if issubclass(value, Exception) else 1
    return 0 if inspect.isroutine(value) or hasattr(value, "cache_info") else 2


def python_page() -> str:
    parts = [PYTHON]
    for package, what in PACKAGES.items():
        module = importlib.import_module(package)
        public = {name: getattr(module, name) for name in module.__all__}
        inner = {name: value for name, value in public.items() if isinstance(value, ModuleType)}
        parts += [f"## {package}", "", what, *([SPARK] if package == "kwire.spark" else [""])]
        if inner:
            lines = [f"- `{package}.{name}`: {(value.__doc__ or '').splitlines()[0]}" for name, value in inner.items()]
            parts += ["Packages in it:", "", *wrapped(iter(lines)), ""]
        for name in sorted(public.keys() - inner, key=lambda name: (kind_of(public[name]), name)):
            parts += entry(f"{package}.{name}", public[name])
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).rstrip() + "\n"


def cell(text: str) -> str:
    """Return a text of a command as Markdown, with its options as code."""
    escaped = re.sub(r"([*<|])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*[a-z])", r"`\1`", escaped)


def help_text(text: str) -> Iterator[str]:
    """Yield a command's help as Markdown; what click keeps as it is becomes a block."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b\n"):
            title, *lines = paragraph[2:].splitlines()
            yield from (title, "", "```sh", *(line.removeprefix("  ") for line in lines), "```", "")
        else:
            yield from (*wrap(cell(paragraph)), "")


def options_of(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    yield from (f"## {name}", "", *help_text(command.help or command.short_help or ""))
    yield from ("```text", f"{name} {' '.join(command.collect_usage_pieces(context))}", "```", "")
    groups = {option: group.title for group in getattr(command, "option_groups", ()) for option in group.options}
    rows = []
    for param in command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) and not SHARED.intersection(param.opts) else None
        if record is not None:
            rows.append(f"| `{record[0].replace('|', chr(92) + '|')}` | {cell(record[1])} | {groups.get(param, '')} |")
    if rows:
        grouped = any(not row.endswith(" |  |") for row in rows)
        yield from (f"| Option | What it does |{' Group |' if grouped else ''}", f"|---|---|{'---|' if grouped else ''}")
        yield from (row if grouped else row.removesuffix("  |") for row in rows)
        yield ""
    for below, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from options_of(each, f"{name} {below}")


def options_page() -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join([OPTIONS, *options_of(commands, "kwire")])).rstrip() + "\n"


if __name__ == "__main__":
    made = [write_or_check(FOLDER / "python.md", python_page(), __doc__), write_or_check(FOLDER / "options.md", options_page(), __doc__)]
    sys.exit(max(made))
