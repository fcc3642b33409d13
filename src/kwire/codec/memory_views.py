"""Memory views in messages: values of type bytes and records that were left where they were, in the frame (``memoryviews=True``).

A view keeps the whole frame alive, and no other process can read it. So a message that is pickled, or copied deeply, holds bytes in their
place: that is also how a part of a large frame is kept alone.
"""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.primitives import as_buffer

__all__ = ["owned", "read_only", "shown"]


def read_only(data: object) -> memoryview:
    """View any contiguous buffer as bytes that cannot be written through the view.

    Raises:
        BufferError: the buffer is not contiguous.
        TypeError: `data` is no buffer.
    """
    view = memoryview(as_buffer(data))
    return view if view.readonly else view.toreadonly()


def owned(value: Any) -> Any:
    """A value of a message that refers to no frame: bytes in place of a view."""
    if type(value) is memoryview:
        return value.tobytes()
    if type(value) is tuple and value and type(value[0]) is memoryview:  # an array of bytes
        return tuple(map(owned, value))
    return value


def shown(value: Any) -> str:
    """The `repr` of a value of a message; of a view its bytes, which its own `repr` leaves out."""
    if type(value) is memoryview:
        try:
            return f"memoryview({value.tobytes()!r})"
        except ValueError:  # released
            pass
    return repr(value)
