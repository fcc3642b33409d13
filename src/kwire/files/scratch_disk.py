"""Files in the temporary folder while a capture is read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from kwire.errors import KwireError

__all__ = ["scratch_disk"]


@contextmanager
def scratch_disk(*more: type[Exception]) -> Iterator[None]:
    """Convert errors of the temporary folder to one sentence.

    Args:
        more: further exception types with the same meaning as OSError.

    Raises:
        KwireError: the folder cannot be written. It is a fault of the machine, so Spark may retry the task on another executor.
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
