"""Prevention of pandas imports by Arrow.

When Arrow first makes an array of Python values, it imports pandas, to recognize pandas columns. That takes longer than reading 20 MB of
packets, and kwire's processes have no such columns.
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
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(name=fullname)


@contextmanager
def pandas_hidden() -> Iterator[None]:
    """Hide pandas from imports, unless it is loaded."""
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
    """Prevent Arrow from importing pandas; for processes that run only kwire's code.

    After that, Arrow does not accept pandas columns as arrays. Explicit uses of pandas, such as `to_pandas`, still work. Does nothing if
    pandas is loaded; call it before `pyarrow.dataset` or `pyarrow.acero` is imported, which make such arrays.
    """
    with pandas_hidden():
        pa.array([])
