"""Daemon for the Python workers of a local session used only by kwire: it imports the tasks' modules once and forks the workers.

PySpark's own daemon imports nothing, so each worker would import everything again: 1.5 s per worker (benchmarks/costs.md).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from kwire.tables.pandas_left_out import leave_pandas_out

__all__ = ["main"]

# What a task imports on its way, and what runs it.
_LOADED: Final = ("pyarrow.acero", "pyarrow.parquet", "pyspark.worker", "kwire.runs.read_running", "kwire.tables.row_callbacks")


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Redirect output of imported modules, because Spark reads the daemon's address from standard output."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def main() -> None:
    """Import modules, then fork a worker whenever Spark requests one."""
    from pyspark.daemon import manager

    gc.disable()
    leave_pandas_out()
    with _output_to_stderr():
        for module in _LOADED:
            import_module(module)
    gc.freeze()  # a collection in a worker would copy the pages of all that it looks at
    gc.enable()
    manager()


if __name__ == "__main__":
    main()
