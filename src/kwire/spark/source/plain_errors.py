"""Errors without kwire's stack, because Spark shows the Python stack first and the message last."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from kwire.errors import KwireError

__all__ = ["plain_errors"]


def plain_errors(method: Callable[..., Any]) -> Callable[..., Any]:
    """Remove kwire's stack from its errors; for methods that Spark calls, not for generators."""

    @wraps(method)
    def told(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except KwireError as error:
            raise error.with_traceback(None) from None

    return told
