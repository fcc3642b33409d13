"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from kwire.capture import impl as capture_impl
from kwire.codec.impl import Twin, load_native, load_twin

if TYPE_CHECKING:
    from kwire.tables._native.bulk import RowBatches
    from kwire.tables._native.request_logs import LoggedRows
    from kwire.tables.row_sink import RowSink, Tracked

__all__ = ["backend", "logged_rows", "restored_stream", "row_batches"]


def _choose() -> tuple[Twin, ModuleType | None]:
    native = None if capture_impl.backend == "pure" else load_native("tables", "bulk", "bulk reader", ("request_logs",))
    return "pure" if native is None else "native", native


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]


def restored_stream(tracked: Tracked) -> Tracked:
    """Give what hangs on a connection, as the pure twin has it: what a `TrackedStream` of the native twin pickles to."""
    return tracked


def row_batches(sink: RowSink) -> RowBatches | None:
    """Make what takes streams and keeps rows of requests and connections outside of Python; None in the pure twin.

    Args:
        sink: the owner.
    """
    return None if _chosen[1] is None else _chosen[1].RowBatches(sink)


def logged_rows(sink: RowSink) -> LoggedRows | None:
    """Make what reads entries of request logs and keeps their rows outside of Python; None in the pure twin.

    Args:
        sink: the owner.
    """
    made: LoggedRows | None = None if _chosen[1] is None else load_twin("tables", "request_logs", "native").LoggedRows(sink)
    return made
