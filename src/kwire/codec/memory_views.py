"""Memory views in messages (``memoryviews=True``); pickles and deep copies hold bytes instead."""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.primitives import as_buffer

__all__ = ["owned", "read_only", "shown"]


def read_only(data: object) -> memoryview:
    """View any contiguous buffer as read-only bytes."""
    view = memoryview(as_buffer(data))
    return view if view.readonly else view.toreadonly()


def owned(value: Any) -> Any:
    """Return a value with bytes in place of memory views."""
    if type(value) is memoryview:
        return value.tobytes()
    if type(value) is tuple and value and type(value[0]) is memoryview:  # an array of bytes
        return tuple(map(owned, value))
    return value


def shown(value: Any) -> str:
    """Return the `repr` of a value, with the bytes of memory views."""
    if type(value) is memoryview:
        try:
            return f"memoryview({value.tobytes()!r})"
        except ValueError:  # released
            pass
    return repr(value)
