"""Work for dedicated workers: those of a Spark that kwire started for its own tasks.

Local ones are forks of `kwire.spark.worker_daemon`. On a cluster, PySpark's daemon starts them before kwire is loaded.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kwire.tables.pandas_left_out import leave_pandas_out

__all__ = ["LoneWork"]

Item = TypeVar("Item")


class LoneWork(Generic[Item]):
    """Function for an item, called in a worker that disables pandas before it imports the function's modules."""

    def __init__(self, work: Callable[[Item], bytes]) -> None:
        self._work = work

    def __call__(self, item: Item) -> bytes:
        return self._work(item)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function as bytes, which are unpickled once the worker is ready."""
        from pyspark import cloudpickle

        return _arrived, (cloudpickle.dumps(self._work),)  # type: ignore[no-untyped-call]


def _arrived(work: bytes) -> LoneWork[Any]:
    leave_pandas_out()
    return LoneWork(pickle.loads(work))  # noqa: S301 - of kwire's own task
