"""Base of the configuration's tables."""

from __future__ import annotations

try:
    import msgspec
except ImportError as error:
    raise ModuleNotFoundError("the proxy's configuration needs the package msgspec: pip install 'kwire[proxy]'", name="msgspec") from error

__all__ = ["ConfigTable", "msgspec"]


class ConfigTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Table of the configuration; unknown keys are errors."""
