"""Base of the configuration's tables, and types of its values."""

from __future__ import annotations

from typing import Annotated, Final

try:
    import msgspec
    from msgspec import Meta
except ImportError as error:
    raise ModuleNotFoundError("the proxy's configuration needs the package msgspec: pip install 'kwire[proxy]'", name="msgspec") from error

__all__ = ["MOST_SECONDS", "ConfigTable", "Count", "Meta", "Seconds", "msgspec"]

MOST_SECONDS: Final = 86_400
Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0, le=MOST_SECONDS)]


class ConfigTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table of the configuration; unknown keys are errors."""
