"""Facts of a Python on Spark's executors, and of the modules that it can import.

The source of this module is sent to executors, which may lack kwire and may run another Python release. So it uses only the standard
library, and is executed there, not imported.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import os
import platform
import socket
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

__all__ = ["facts", "look"]


# What a package does on import that is not there, has no version, lacks a library, or was built for another numpy: it is as good as none.
_UNUSABLE = (ImportError, AttributeError, OSError, RuntimeError, SystemError, TypeError, ValueError)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pass
    try:  # Spark's own Python comes without metadata
        return str(importlib.import_module(package).__version__)
    except _UNUSABLE:
        return None


def _why_pure(kwire: Any) -> str:
    """Return the reason why the compiled modules are not used: `asked`, `zip`, or Python's message."""
    if os.environ.get("KWIRE_PURE") == "1":
        return "asked"
    if not Path(kwire.__file__).parent.is_dir():
        return "zip"
    try:
        importlib.import_module("kwire.codec._native.objects")
    except ImportError as error:
        return str(error)
    return "some of them are missing"


def _of_kwire() -> dict[str, str | None]:
    found: dict[str, str | None] = {"kwire": None, "twin": None, "why": None, "place": None}
    try:
        import kwire

        found.update(kwire=kwire.__version__, twin=kwire.backend, place=str(Path(kwire.__file__).parent.absolute()))
        if kwire.backend == "pure":
            found["why"] = _why_pure(kwire)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what there is to tell
        found["why"] = str(error) if getattr(error, "name", None) != "kwire" else None
    return found


def facts() -> dict[str, str | None]:
    """Return facts of this Python; `why` is the fault of its kwire, or None if kwire is not installed."""
    return {
        "host": socket.gethostname(),
        "folder": str(Path.cwd()),
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": " ".join((platform.system(), platform.machine(), *filter(None, platform.libc_ver()))),
        "suffix": sysconfig.get_config_var("EXT_SUFFIX"),
        **_of_kwire(),
        **{package: _version(package) for package in ("pyarrow", "numpy", "pandas", "msgspec", "pyspark")},
    }


def look(source: str, within: bool, pause: float, question: str) -> dict[str, str | None]:
    """Return the facts, called inside a task.

    Without `within`, another process imports kwire, because Spark reuses workers, and a worker keeps the kwire that it imported. The
    `pause` lets other executors get tasks too; a worker starts only one process per `question`.
    """
    time.sleep(pause)
    if within or "kwire" in sys.modules or importlib.util.find_spec("kwire") is None:
        return facts()
    kept: tuple[str, dict[str, str | None]] | None = getattr(sys, "_kwire_facts", None)  # of this module each task has its own copy
    if kept is not None and kept[0] == question:
        return kept[1]
    # -c looks for modules in the folder that it is started in, but for PYTHONSAFEPATH
    environment = {**os.environ, "PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    text = f"{source}\nprint(facts())"
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{sys.executable} failed: {(done.stderr.strip().splitlines() or [f'status {done.returncode}'])[-1]}")
    found: dict[str, str | None] = ast.literal_eval(done.stdout.splitlines()[-1])
    vars(sys)["_kwire_facts"] = (question, found)
    return found
