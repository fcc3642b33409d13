"""Arrow without pandas, where it is not needed.

The first array that Arrow makes of Python values has it look for pandas, to know its columns when it sees them. To import that costs more
than to read 20 MB of packets, and a process that is kwire's own never has such a column.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa

__all__ = ["leave_pandas_out", "pandas_hidden"]


class _NotInstalled(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


@contextmanager
def pandas_hidden() -> Iterator[None]:
    """Let nothing import pandas meanwhile that is not loaded already: it looks as if it was not installed."""
    if "pandas" in sys.modules:
        yield
        return
    finder = _NotInstalled()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def leave_pandas_out() -> None:
    """Keep Arrow from importing pandas by itself; for processes that run only kwire's code.

    Arrow does not take pandas' columns as arrays from then on. What is asked of pandas by name, such as `to_pandas`, works all the same.
    Does nothing where pandas is loaded already; call it before `pyarrow.dataset` or `pyarrow.acero` is imported, which make such arrays.
    """
    with pandas_hidden():
        pa.array([])
