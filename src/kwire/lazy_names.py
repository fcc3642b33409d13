"""Lazy imports: names of a package are imported from their modules on first use (PEP 562).

Type checkers read the imports under ``TYPE_CHECKING`` and do not see `__getattr__`, so unknown names are errors to them too.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in kwire/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_getattr"]

_EXTRAS = {"numpy": "arrow", "pyarrow": "arrow", "pyspark": "spark"}


def lazy_getattr(namespace: dict[str, Any], homes: Mapping[str, str] | None = None, **modules: str) -> Callable[[str], Any]:
    """Make a package's `__getattr__`, and its `__dir__`.

    Arguments:
        namespace: the package's ``globals()``, in which found names are cached.
        homes: module of each name; a module with the name itself is the value.
        modules: names of each of the package's own modules, between spaces.
    """
    package = namespace["__name__"]
    all_homes = {**(homes or {}), **{name: f"{package}.{module}" for module, names in modules.items() for name in names.split()}}

    def find(name: str) -> Any:
        home = all_homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import importlib  # not before a name is asked for

        try:
            module = importlib.import_module(home)
        except ModuleNotFoundError as error:
            extra = _EXTRAS.get(error.name or "")
            if extra is None:
                raise
            text = f"{package}.{name} needs {error.name}: run pip install 'kwire[{extra}]'"
            raise ModuleNotFoundError(text, name=error.name) from error
        value = module if home.endswith(f".{name}") else getattr(module, name)
        namespace[name] = value
        return value

    namespace["__dir__"] = lambda: sorted({*namespace["__all__"], *all_homes})
    return find
