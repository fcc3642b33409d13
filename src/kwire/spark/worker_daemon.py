"""Starts the Python workers of a local session that kwire has to itself: it loads what tasks need, and the workers are its forks.

PySpark's own daemon loads nothing, so each worker would import everything again: 1.5 s a worker (benchmarks/costs.md).
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
_LOADED: Final = ("pyarrow.acero", "pyarrow.parquet", "pyspark.worker", "kwire.spark.read_running", "kwire.tables.row_callbacks")


@contextmanager
def _output_to_stderr() -> Iterator[None]:
    """Redirect output of imported modules: Spark reads the daemon's address from standard output."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def main() -> None:
    """Load, and fork a worker whenever Spark asks for one."""
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
