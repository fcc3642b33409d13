"""Errors as a user of Spark should meet them: Spark shows where in Python an error was raised, and the sentence that helps comes last."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from kwire.errors import KwireError

__all__ = ["plain_errors"]


def plain_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Leave out of what kwire raises on purpose where in kwire that was.

    Arguments:
        method: what Spark calls; no generator.
    """

    @wraps(method)
    def told(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except KwireError as error:
            raise error.with_traceback(None) from None

    return told
