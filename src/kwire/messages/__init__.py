"""Message classes by name, made on first use: ``from kwire.messages import MetadataResponse``.

The stubs for type checkers (``__init__.pyi``, ``_types/``) are made by ``tools/build_stubs.py``.
"""

from __future__ import annotations

from typing import Any

from kwire.codec.classes import message_class, unknown_message
from kwire.codec.impl import backend, load_twin
from kwire.schema import catalog


def __getattr__(name: str) -> Any:
    if name == "MessageObject":
        value = load_twin("codec", "structs", backend).MessageObject
    elif name in catalog():
        value = message_class(name)
    else:
        raise AttributeError(_nested_in(name) or unknown_message(name, catalog()), name=name)
    globals()[name] = value
    return value


def _nested_in(name: str) -> str | None:
    """Return where the class of an array's elements is, for an error text."""
    if not name[:1].isupper():
        return None
    owner = next((message for message in catalog() if hasattr(message_class(message), name)), None)
    return owner and f"{name} is part of {owner}: use messages.{owner}.{name}"


def __dir__() -> list[str]:
    return sorted((*catalog(), "MessageObject"))
