"""What waits on disk while a capture is read lies in the temporary folder; a sentence where that has no room left."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from kwire.errors import KwireError

__all__ = ["scratch_disk"]


@contextmanager
def scratch_disk(*more: type[Exception]) -> Iterator[None]:
    """Write to the temporary folder inside.

    Args:
        more: errors beside OSError that mean the same.

    Raises:
        KwireError: it cannot be written. This is a fault of the machine, not of a file: Spark may try the task on another executor.
    """
    folder = tempfile.gettempdir()  # chosen while there is room: Python takes another where nothing can be written
    kinds: tuple[type[Exception], ...] = (OSError, *more)
    try:
        yield
    except kinds as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise KwireError(
            f"the temporary folder {folder} cannot be written: {reason}; TMPDIR names another, on a disk with more room"
        ) from error
