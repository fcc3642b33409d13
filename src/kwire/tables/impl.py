"""The one place of this room that picks the twin, by the rules of `kwire.codec.impl`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Final

from kwire.capture.carry import SeriesCarry
from kwire.codec.impl import Twin, load_native

if TYPE_CHECKING:
    from kwire.tables._native.bulk import BulkCarry, LaneBatches
    from kwire.tables.conversation_sink import ConversationSink

__all__ = ["backend", "lane_batches", "series_streams"]


def _choose() -> tuple[Twin, ModuleType | None]:
    native = load_native("tables", "bulk", "bulk reader")
    return "pure" if native is None else "native", native


_chosen: Final = _choose()
backend: Final[Twin] = _chosen[0]


def series_streams(carry: SeriesCarry | None = None) -> SeriesCarry | BulkCarry:
    """Make what brings the packets of a series to their connections.

    Args:
        carry: what was left by an earlier process, of either twin; None at the beginning of a series.
    """
    found = SeriesCarry() if carry is None else carry
    return found if _chosen[1] is None else _chosen[1].BulkCarry(found)


def lane_batches(sink: ConversationSink) -> LaneBatches | None:
    """Make what keeps rows of requests and connections outside of Python; None in the pure twin, which builds them as all others.

    Args:
        sink: the owner.
    """
    return None if _chosen[1] is None else _chosen[1].LaneBatches(sink)
