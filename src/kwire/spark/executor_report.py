"""Facts and faults of a session's executors, which need not have kwire."""

from __future__ import annotations

import ast
import inspect
import secrets
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kwire.errors import KwireError
from kwire.runs.local_processes import safe_path
from kwire.spark import executor_facts
from kwire.spark.task_running import context_of, reason_of_spark, slots_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["COLUMNS", "ExecutorReport", "PythonFacts", "doctor", "examine"]

# An executor that has registered but got no task is waited for, so many times.
_ROUNDS: Final = 3
_PAUSE_SECONDS: Final = 0.2
_PATIENCE_SECONDS: Final = 30
_WAITING: Final = (
    f"kwire: executors have not answered for {_PATIENCE_SECONDS} s, perhaps because other applications hold all slots; still waiting"
)
# What kwire's own metadata asks for.
_OLDEST_ARROW: Final = 18

COLUMNS: Final = ("host", "python", "kwire", "twin", "pyarrow", "numpy", "pandas", "msgspec", "system")
"""Columns of the table of executors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFacts:
    """Python of the driver or of an executor.

    Each executor has its own `folder`. `suffix` is the suffix of compiled modules that it can load, and `place` the folder of kwire. `why`
    is `asked`, `zip` or Python's message if kwire or its native backend cannot be loaded; None if kwire is not installed. The version of a
    missing package is None.
    """

    host: str
    folder: str
    python: str
    executable: str
    system: str
    suffix: str
    kwire: str | None
    twin: str | None
    place: str | None
    why: str | None
    pyarrow: str | None
    numpy: str | None
    pandas: str | None
    msgspec: str | None
    pyspark: str | None

    @property
    def release(self) -> tuple[str, ...]:
        """Minor version of Python, which must be the same on driver and executors."""
        return tuple(self.python.split(".")[:2])


@dataclass(frozen=True, slots=True, repr=False)
class ExecutorReport:
    """Facts of executors; `print` shows them as a table and sentences.

    Attributes:
        driver: this Python.
        executors: executors that answered.
        faults: reasons why kwire cannot run there, as sentences.
        warnings: reasons why it runs slowly or was not checked, as sentences.
    """

    driver: PythonFacts
    executors: tuple[PythonFacts, ...]
    faults: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True without faults and warnings."""
        return not self.faults and not self.warnings

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: the driver, then the executors, each with its name and `COLUMNS`."""
        named = [("driver", self.driver), *((f"executor {number}", each) for number, each in enumerate(self.executors, 1))]
        return [(name, *(getattr(each, column) or "-" for column in COLUMNS)) for name, each in named]

    def __str__(self) -> str:
        table = [("", *COLUMNS), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*lines, "", *(self.faults + self.warnings or ("All is well.",))])

    __repr__ = __str__  # what a notebook shows


def doctor(spark: SparkSession | SparkContext) -> ExecutorReport:
    """Run a task on each executor and report Python, kwire, its backend, versions of dependencies, and faults.

    Args:
        spark: a session, classic or Spark Connect, or a context.

    Raises:
        KwireError: the executors cannot run Python.
    """
    return examine(spark)


@contextmanager
def _patient() -> Iterator[None]:
    """Say on stderr, once, that executors are slow to answer; Spark says it in its log, which is mostly off."""
    timer = threading.Timer(_PATIENCE_SECONDS, lambda: print(_WAITING, file=sys.stderr))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@_patient()
def examine(spark: SparkSession | SparkContext, *, within: bool = False) -> ExecutorReport:
    """Report as `doctor` does; with `within`, import kwire in the processes that run tasks."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
    except ImportError:  # a client of Spark Connect alone
        Py4JJavaError = PySparkException

    context = context_of(spark)
    source = inspect.getsource(executor_facts)
    driver = PythonFacts(**executor_facts.facts())  # type: ignore[arg-type]
    told = ""
    found: dict[tuple[str, str], PythonFacts] = {}
    registered = None
    for _ in range(_ROUNDS):
        try:
            answers = _by_session(spark, source, within) if context is None else _by_context(context, source, within)
        except (PySparkException, Py4JJavaError) as error:
            told = reason_of_spark(error)
            answers = [] if context is None else _by_java(context, source)
            if not answers:
                raise KwireError(f"The executors cannot run Python functions of this driver: {told}") from error
        for each in answers:
            facts = PythonFacts(**ast.literal_eval(each))
            found[facts.host, facts.folder] = facts
        registered = None if context is None else _registered(context)
        if told or registered is None or len(found) >= registered:
            break
    executors = tuple(found[key] for key in sorted(found))
    faults, warnings = list(_faults(driver, executors)), list(_warnings(driver, executors))
    if told and not faults:
        faults = [f"The executors cannot run Python functions of this driver: {told}"]
    if registered is not None and len(executors) < registered:
        warnings.append(f"Only {len(executors)} of {registered} executors had room for a task; the others were not checked.")
    return ExecutorReport(driver, executors, tuple(faults), tuple(warnings))


@contextmanager
def _question(source: str, within: bool) -> Iterator[Callable[[int], str]]:
    """Yield the function that a task runs; it can be pickled while the context is open."""
    from pyspark import cloudpickle

    pickling: Any = cloudpickle  # without types
    look, pause, question = executor_facts.look, _PAUSE_SECONDS, secrets.token_hex(8)

    def ask(_number: int) -> str:  # inside a function, so that it travels by value
        return repr(look(source, within, pause, question))

    pickling.register_pickle_by_value(executor_facts)
    try:
        yield ask
    finally:
        pickling.unregister_pickle_by_value(executor_facts)


def _by_context(context: SparkContext, source: str, within: bool) -> list[str]:
    tasks = slots_of(context)
    with safe_path(context.environment), _question(source, within) as ask:
        return context.parallelize(range(tasks), tasks).map(ask).collect()


def _by_session(spark: Any, source: str, within: bool) -> list[str]:
    from pyspark.sql.functions import col, udf

    tasks = slots_of(spark)
    with _question(source, within) as ask:
        asked = udf(ask, "string", useArrow=False)(col("id"))
        return [row.facts for row in spark.range(0, tasks, 1, tasks).select(asked.alias("facts")).collect()]


def _by_java(context: SparkContext, source: str) -> list[str]:
    """Query the executors' Python in a separate program, because PySpark rejects workers of another Python release."""
    from py4j.protocol import Py4JError

    # any release of Python may be there, so what -P does from 3.11 on is done by hand, before the first import from the path
    head, future, rest = source.partition("from __future__ import annotations\n")
    program = f"{head}{future}import sys\nsys.path[:] = filter(None, sys.path)\n{rest}\nsys.stdin.read()\nprint(facts())"
    with suppress(Py4JError, AttributeError):  # no Python at all, or a Spark that lets nobody at its Java
        java: Any = context._jsc
        tasks = slots_of(context)
        asked = java.parallelize([str(each) for each in range(tasks)], tasks).pipe([context.pythonExec, "-c", program])
        return list(asked.collect())
    return []


def _registered(context: SparkContext) -> int | None:
    """Return Spark's number of executors, 1 for the driver alone; None if unknown."""
    from py4j.protocol import Py4JError

    with suppress(Py4JError, AttributeError):
        java: Any = context._jsc
        return max(1, int(java.sc().getExecutorMemoryStatus().size()) - 1)  # the driver is one of them
    return None


def _where(some: Sequence[PythonFacts], executors: Sequence[PythonFacts]) -> str:
    hosts = sorted({each.host for each in some})
    shown = ", ".join(hosts[:5]) + (f" and {len(hosts) - 5} more" if len(hosts) > 5 else "")
    if len(executors) == 1:
        return f"On the executor ({shown})"
    if len(executors) == len(some):
        return "On both executors" if len(some) == 2 else f"On all {len(executors)} executors"
    return f"On {len(some)} of {len(executors)} executors ({shown})"


def _grouped(executors: Iterable[PythonFacts], *names: str) -> Iterator[tuple[tuple[str | None, ...], list[PythonFacts]]]:
    groups: dict[tuple[str | None, ...], list[PythonFacts]] = {}
    for each in executors:
        groups.setdefault(tuple(getattr(each, name) for name in names), []).append(each)
    yield from groups.items()


def _faults(driver: PythonFacts, executors: Sequence[PythonFacts]) -> Iterator[str]:
    where = partial(_where, executors=executors)

    foreign = [each for each in executors if each.release != driver.release]
    for (python, executable), some in _grouped(foreign, "python", "executable"):
        yield (
            f"{where(some)} Python is {python} ({executable}), this driver's {driver.python}: PySpark needs the same minor version on "
            "both; set PYSPARK_PYTHON to a Python that all machines have."
        )
    if foreign:
        return  # none of the rest matters before that
    for package, least in (("pyarrow", f" (>={_OLDEST_ARROW})"), ("numpy", "")):
        if some := [each for each in executors if getattr(each, package) is None]:
            yield f"{where(some)} there is no {package}, which kwire needs: install {package}{least} for {some[0].executable} there."
    if old := [each for each in executors if each.pyarrow and int(each.pyarrow.split(".")[0]) < _OLDEST_ARROW]:
        yield f"{where(old)} pyarrow is {old[0].pyarrow}; kwire needs {_OLDEST_ARROW} or newer."
    for (why,), some in _grouped((each for each in executors if each.kwire is None), "why"):
        if why is None:
            yield f"{where(some)} kwire is missing: call kwire.spark.ship(spark) to install it (kwire analyze does so automatically)."
        else:
            yield f"{where(some)} kwire cannot be imported: {why.rstrip('.')}."
    for (version,), some in _grouped((each for each in executors if each.kwire not in (None, driver.kwire)), "kwire"):
        yield (
            f"{where(some)} kwire is {version} ({some[0].place}), this driver's {driver.kwire}: functions are sent by name, so both "
            "must have the same version; kwire.spark.ship(spark) installs the driver's there."
        )


def _warnings(driver: PythonFacts, executors: Sequence[PythonFacts]) -> Iterator[str]:
    for _, some in _grouped((each for each in executors if each.twin == "pure"), "why"):
        yield f"{_where(some, executors)} the pure Python backend of kwire runs, tens of times slower: {_reason(some[0])}."
    if driver.twin == "pure" and all(each.twin != "pure" for each in executors):
        yield f"This driver runs kwire's pure Python twin: {_reason(driver)}."


def _reason(one: PythonFacts) -> str:
    if one.why == "zip":
        return (
            f"it was imported from {one.place}, and Python loads no compiled module from a zip (--py-files, addPyFile); "
            "drop the zip and call kwire.spark.ship(spark)"
        )
    if one.why == "asked":
        return "KWIRE_PURE=1 asks for it"
    return f"no compiled modules for {one.suffix} on {one.system} are there ({(one.why or '').rstrip('.')})"
