"""The other end of a peer that is a library of Python: questions come on standard input, answers go to standard output, both pickled."""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Unknown", "answer_all"]


class Unknown(Exception):
    """The library has no such message, version or kind."""


def answer_all(read: Callable[[str, str, int, bytes], tuple[Any, int]]) -> None:
    """Answer until the input ends; `read` makes the plain value and the number of bytes left over."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not an answer
    while head := source.read(4):
        found: Any
        try:
            value, left = read(*pickle.loads(source.read(struct.unpack(">I", head)[0])))
            found = ("", left, value)
        except Unknown:
            found = None
        except RecursionError as error:
            found = (f"RecursionError: {error}",)
        except Exception as error:  # noqa: BLE001 - whatever it raises is its refusal
            found = (f"{type(error).__name__}: {error}",)
        answer = pickle.dumps(found)
        sink.write(struct.pack(">I", len(answer)) + answer)
        sink.flush()
