"""Packages whose names come from their modules when they are first used, so that importing a package costs next to nothing (PEP 562).

Type checkers read the imports that a package makes under ``TYPE_CHECKING``, and are not shown its `__getattr__`: a name that is not there
is an error to them too.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in kwire/__init__.py

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_getattr"]


def lazy_getattr(namespace: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`.

    Arguments:
        namespace: the package's ``globals()``; what was found is kept there.
        homes: the module that has each name; a module that is called like the name is the value itself.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        import importlib  # not before a name is asked for

        module = importlib.import_module(home)
        value = module if home.endswith(f".{name}") else getattr(module, name)
        namespace[name] = value
        return value

    return find
