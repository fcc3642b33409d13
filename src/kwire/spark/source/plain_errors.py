"""Errors as a user of Spark should see them: Spark shows the Python stack of an error first, and its text last."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from kwire.errors import KwireError

__all__ = ["plain_errors"]


def plain_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Remove kwire's own stack from its errors; for methods that Spark calls, not generators."""

    @wraps(method)
    def told(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except KwireError as error:
            raise error.with_traceback(None) from None

    return told
