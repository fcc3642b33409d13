"""Installation of kwire with its compiled modules on the executors of a session.

Python cannot load compiled modules from a zip, so `--py-files` and `addPyFile` give executors the pure backend. Spark unpacks archives into
a folder on the path of each executor's Python workers, under the name after ``#``. So an archive with the contents of the package, unpacked
as ``kwire``, works as the package.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import kwire
from kwire.errors import InputError, KwireError
from kwire.runs.local_processes import SAFE_PATH
from kwire.spark.executor_report import ExecutorReport, examine
from kwire.spark.task_running import context_of, is_local

if TYPE_CHECKING:
    if sys.version_info >= (3, 11):
        from importlib.resources.abc import Traversable
    else:
        from importlib.abc import Traversable

    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["ship", "ship_for_job", "write_archive"]

_PACKAGE: Final = "kwire"
_COMPILED: Final = (".so", ".pyd")
# Compiled modules are most of it: the strongest compression takes twice as long for a tenth less.
_LEVEL: Final = 1
# The archive is the same, to the byte, whenever it is made of the same files: the oldest time that a zip can hold.
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
# A new value makes Spark start new Python workers: those that run may have imported another kwire.
_VARIABLE: Final = "KWIRE_SHIPPED"


def ship(spark: SparkSession | SparkContext, wheel: str | None = None, *, require_native: bool = True) -> ExecutorReport:
    """Install this driver's kwire, with its compiled modules, on executors that lack it or have another version.

    It applies to the session's whole application (with Spark Connect, to the session), including executors that join later. Call it before
    you create functions and DataFrames that use kwire.

    Args:
        spark: a session, classic or Spark Connect, or a context.
        wheel: a wheel of kwire for the executors' Python and system, if they differ from the driver's; this installation of kwire
            otherwise.
        require_native: raise an error if the native modules do not load there; if False, the pure-Python backend runs and the report shows
            it.

    Returns:
        Facts of the executors afterwards.

    Raises:
        InputError: the wheel is not of this version of kwire, or neither it nor the driver's kwire has compiled modules for the executors.
        KwireError: the executors cannot run Python, or lack dependencies of kwire.
    """
    report = _shipped(spark, wheel, require_native)
    if report.faults:
        raise KwireError(" ".join(report.faults))
    return report


def ship_for_job(spark: SparkSession | SparkContext) -> list[str]:
    """Install kwire on the executors of a job, and return its faults as sentences."""
    if is_local(spark):
        return []
    report = _shipped(spark, None, require_native=False)
    if report.faults:
        raise KwireError(" ".join(report.faults))
    return list(report.warnings)


def _shipped(spark: SparkSession | SparkContext, wheel: str | None, require_native: bool) -> ExecutorReport:
    report = examine(spark)
    native = wheel is not None or kwire.backend == "native"
    wanted = [each for each in report.executors if each.kwire != kwire.__version__ or (native and each.twin != "native")]
    if is_local(spark) or not wanted or any(each.release != report.driver.release for each in report.executors):
        return report  # Spark sends nothing to a Python of another release
    if any(each.why == "zip" for each in wanted):
        if require_native:  # what --py-files gave stands before all else on the path
            raise InputError(" ".join(report.faults + report.warnings))
        return report
    archive, suffixes = _archive(wheel)
    misfits = [each for each in wanted if not suffixes & {each.suffix, ".abi3.so"}]
    if misfits and require_native:
        held = f"has modules for {', '.join(sorted(suffixes))}" if suffixes else "has no compiled modules"
        one = misfits[0]
        raise InputError(
            f"{wheel or 'the kwire of this driver'} {held}, and executor {one.host} wants {one.suffix} ({one.system}); "
            f"give the wheel for it, ship(spark, wheel='kwire-{kwire.__version__}-...whl'), or require_native=False for the slow pure twin"
        )
    if misfits and all(each.kwire == kwire.__version__ for each in report.executors):
        return report  # what is there is as good
    _add(spark, archive, any(each.kwire is not None for each in report.executors))
    report = examine(spark, within=True)
    if require_native and (pure := [each for each in report.executors if each.twin == "pure"]):
        raise KwireError(f"kwire was put on the executors, but its compiled modules do not load on {pure[0].host}: {pure[0].why}")
    return report


def _add(spark: Any, archive: Path, renew: bool) -> None:
    context = context_of(spark)
    name = f"{archive}#{_PACKAGE}"
    if context is None:
        spark.addArtifacts(name, archive=True)
        return
    context.addArchive(name)
    # Spark puts the folder of its files on the path of workers itself, so what was shipped is found without the folder they start in
    context.environment[SAFE_PATH] = "1"
    if renew:
        context.environment[_VARIABLE] = archive.stem


def write_archive(path: str, wheel: str | None = None) -> None:
    """Write the archive of `ship` into a file, for `--archives FILE#kwire` or `spark.archives`.

    Args:
        path: file name, ending in `.zip`.
        wheel: as for `ship`.

    Raises:
        InputError: the wheel is missing or not of this version of kwire, or the file cannot be written.
    """
    if not path.endswith(".zip"):
        raise InputError(f"{path} does not end in .zip, by which Spark knows how to unpack it.")
    data, _ = _packed(wheel)
    aside = Path(f"{path}.part")
    try:
        aside.write_bytes(data)
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink()
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error


def _packed(wheel: str | None) -> tuple[bytes, frozenset[str]]:
    """Return the archive, and the suffixes of its compiled modules."""
    suffixes = set()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in _files(wheel):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED, _LEVEL)
            if name.endswith(_COMPILED):
                suffixes.add(name[name.index(".") :])
    return data.getvalue(), frozenset(suffixes)


@cache
def _archive(wheel: str | None) -> tuple[Path, frozenset[str]]:
    """Write the archive into a folder that is kept until the process ends, because executors fetch it on demand."""
    data, suffixes = _packed(wheel)
    folder = Path(tempfile.mkdtemp(prefix="kwire-ship-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # Spark takes a name for one file only, for ever
    path = folder / f"kwire-{kwire.__version__}-{hashlib.sha256(data).hexdigest()[:12]}.zip"
    path.write_bytes(data)
    return path, suffixes


def _files(wheel: str | None) -> Iterator[tuple[str, bytes]]:
    yield from sorted(_of_package(resources.files(_PACKAGE), "")) if wheel is None else _of_wheel(wheel)


def _of_package(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            if each.name != "__pycache__":
                yield from _of_package(each, f"{prefix}{each.name}/")
        elif not each.name.endswith((".pyc", ".pyi")):
            yield f"{prefix}{each.name}", each.read_bytes()


def _of_wheel(wheel: str) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            metadata = f"{_PACKAGE}-{kwire.__version__}.dist-info/METADATA"
            if metadata not in archive.namelist():
                raise InputError(f"{wheel} is not a wheel of kwire {kwire.__version__}, which this driver runs.")
            for name in sorted(archive.namelist()):
                if name.startswith(f"{_PACKAGE}/") and not name.endswith(("/", ".pyi")):
                    yield name.removeprefix(f"{_PACKAGE}/"), archive.read(name)
    except zipfile.BadZipFile as error:
        raise InputError(f"{wheel} is not a wheel: {error}.") from error
    except FileNotFoundError as error:
        raise InputError(f"{wheel} does not exist.") from error
