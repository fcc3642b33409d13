"""Choice of the backend.

`KWIRE_PURE=1` forces the pure backend, `KWIRE_REQUIRE_NATIVE=1` turns a missing extension into an ImportError; else the native backend is
used if it loads. It does not load from a zip (Spark's ``--py-files``) or in a second interpreter of a process; then a warning is given.

Native modules share compiled object layouts, so all modules in a process must come from one build; a module replaced on disk later is
rejected.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from types import ModuleType
from typing import Final, Literal
from zipimport import zipimporter

__all__ = ["MODULES", "Twin", "backend", "load_native", "load_twin"]

Twin = Literal["native", "pure"]

MODULES: Final = (  # of the codec's twins
    "structs", "objects", "headers", "frames", "records", "record_columns", "columns", "header_scan", "message_writer",
    "edits", "json_columns", "json_messages", "field_spans",
)  # fmt: skip

_NATIVE: Final = "._native."
# Native modules that are loaded and were compared, with their builds; empty where the compiler was given none.
_builds: Final[dict[str, str]] = {}
_said: Final[set[str]] = set()


def load_twin(room: str, name: str, twin: Twin) -> ModuleType:
    """Import one module of a backend, such as ``load_twin("codec", "objects", "native")``."""
    found = f"kwire.{room}._{twin}.{name}"
    module = importlib.import_module(found)
    if twin == "native" and found not in _builds:
        _compare_builds()
    return module


def load_native(room: str, name: str, what: str, others: tuple[str, ...] = ()) -> ModuleType | None:
    """Import a native module, or return None if the pure backend is used; `others` must exist, and load on first use."""
    if os.environ.get("KWIRE_PURE") == "1":
        return None
    try:
        native = load_twin(room, name, "native")
        _find(room, others)
        return native
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise ImportError(
                f"kwire's compiled {what} cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for it; "
                f"install a platform wheel or build with a C compiler ({error})"
            ) from error
        _say_unused(room, error)
        return None


def _find(room: str, names: tuple[str, ...]) -> None:
    """Raise an ImportError if one of these native modules is missing, as after an interrupted build."""
    for name in names:
        if importlib.util.find_spec(f"kwire.{room}._native.{name}") is None:
            raise ImportError(f"kwire.{room}._native.{name} is missing")


def _compare_builds() -> None:
    """Compare the builds of native modules loaded since the last call; raise an ImportError, also on later calls, if they differ."""
    loaded = [(name, module) for name, module in sys.modules.items() if name.startswith("kwire.") and _NATIVE in name]
    for name, module in loaded:
        build = getattr(module, "__build__", "")
        first, known = next((each for each in _builds.items() if each[1]), ("the package", sys.modules["kwire"].__version__))
        if build and build not in (known, f"{known}+{build.partition('+')[2]}"):
            raise ImportError(
                f"kwire's compiled modules come from different builds: {name} is of {build}, {first} of {known}; install kwire again, "
                "then restart the program"
            )
        _builds[name] = build


def _say_unused(room: str, error: ImportError) -> None:
    """Warn if a compiled module exists but does not load; the pure wheel has none."""
    from pathlib import Path

    loader = getattr(__spec__, "loader", None)
    package = importlib.util.find_spec(f"kwire.{room}._native")
    folders = () if package is None else package.submodule_search_locations or ()
    if _said:
        return
    if isinstance(loader, zipimporter):
        reason = f"kwire was imported from {loader.archive}; Python loads no compiled module from a zip"
        cure = ". On Spark, leave out --py-files and addPyFile and call kwire.spark.ship(spark)."
    elif any(path.suffix in (".so", ".pyd") for folder in map(Path, folders) if folder.is_dir() for path in folder.iterdir()):
        reason, cure = "kwire's compiled modules are installed but cannot be used", f": {error}"
    else:
        return
    _said.add(room)
    warnings.warn(f"{reason}, so the pure Python backend runs, tens of times slower{cure}", RuntimeWarning, stacklevel=3)


backend: Final[Twin] = "pure" if load_native("codec", "objects", "modules", (*MODULES, "descriptions")) is None else "native"
