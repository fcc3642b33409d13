"""The one place that picks the twin.

`KWIRE_PURE=1` forces the pure twin, `KWIRE_REQUIRE_NATIVE=1` turns a missing extension into an ImportError; else the native twin is taken
where it can be loaded. It cannot from a zip, as Spark's ``--py-files`` puts on the path: then the pure twin warns of itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from types import ModuleType
from typing import Final, Literal
from zipimport import zipimporter

__all__ = ["MODULES", "Twin", "backend", "load_twin"]

Twin = Literal["native", "pure"]

# Of the codec's twins.
MODULES: Final = (  # of the codec's twins
    "structs", "objects", "headers", "frames", "records", "record_columns", "columns", "header_scan", "message_writer", "splices",
)  # fmt: skip


def load_twin(room: str, name: str, twin: Twin) -> ModuleType:
    """Import one module of one twin, such as ``load_twin("codec", "objects", "native")``.

    Raises:
        ImportError: the native extension is not there.
    """
    return importlib.import_module(f"kwire.{room}._{twin}.{name}")


def _choose() -> Twin:
    if os.environ.get("KWIRE_PURE") == "1":
        return "pure"
    try:
        load_twin("codec", "objects", "native")
        # The others are loaded by who needs them, but they must be there: half a twin, as a half-finished build leaves it, is none.
        for name in MODULES:
            if importlib.util.find_spec(f"kwire.codec._native.{name}") is None:
                raise ImportError(f"kwire.codec._native.{name} is missing")
    except ImportError as error:
        if os.environ.get("KWIRE_REQUIRE_NATIVE") == "1":
            raise ImportError(
                "kwire's compiled modules cannot be loaded although KWIRE_REQUIRE_NATIVE=1 asks for them; "
                f"install a platform wheel or build with a C compiler ({error})"
            ) from error
        loader = getattr(__spec__, "loader", None)
        if isinstance(loader, zipimporter):
            warnings.warn(
                f"kwire was imported from {loader.archive}; Python loads no compiled module from a zip, so its pure Python twin "
                "runs, which is tens of times slower. On Spark, leave out --py-files and addPyFile and call kwire.spark.ship(spark).",
                RuntimeWarning,
                stacklevel=2,
            )
        return "pure"
    return "native"


backend: Final[Twin] = _choose()
