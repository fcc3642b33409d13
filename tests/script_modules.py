"""Scripts as modules, for tests of what lies outside the package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["module_of"]


def module_of(path: Path) -> ModuleType:
    """Run a script that does nothing when it is imported, and give its module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look up the module of their class
    spec.loader.exec_module(made)
    return made
