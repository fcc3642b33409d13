"""Earlier names of options and commands: they keep working, and help does not show them."""

from __future__ import annotations

from typing import Final

__all__ = ["OLD_COMMANDS", "new_name"]

_OPTIONS: Final = {"broker-release": "from", "key": "redact-key", "series": "group-files", "target-release": "to"}

OLD_COMMANDS: Final = {"telemetry": ["broker", "telemetry"]}


def new_name(name: str) -> str:
    """Return the present name of an option, given without dashes: click asks it for each option (`token_normalize_func`)."""
    return _OPTIONS.get(name, name)
