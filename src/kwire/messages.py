"""Message classes by name, made when first asked for: ``from kwire.messages import MetadataResponse``."""

from __future__ import annotations

from typing import Any

from kwire.codec.classes import message_class
from kwire.schema import catalog


def __getattr__(name: str) -> Any:
    if name not in catalog():
        raise AttributeError(f"Kafka has no message {name!r}")
    value = globals()[name] = message_class(name)
    return value


def __dir__() -> list[str]:
    return sorted(catalog())
