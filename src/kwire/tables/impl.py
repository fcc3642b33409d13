"""Choice of this package's backend, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from kwire.capture import impl as capture_impl
from kwire.codec.impl import Twin, load_native

if TYPE_CHECKING:
    from kwire.tables._native.bulk import RowBatches
    from kwire.tables.row_sink import RowSink

__all__ = ["backend", "row_batches"]


def _choose() -> tuple[Twin, ModuleType | None]:
    native = None if capture_impl.backend == "pure" else load_native("tables", "bulk", "bulk reader")
    return "pure" if native is None else "native", native


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]


def row_batches(sink: RowSink) -> RowBatches | None:
    """Return the native sink of streams, with the rows of requests and connections of `sink`; None for the pure backend."""
    return None if _chosen[1] is None else _chosen[1].RowBatches(sink)
