"""Message classes and decoders of a catalog, which are cached."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from operator import index
from typing import Any, Final

from kwire.codec.catalog_classes import add_aliases, aliases_of, class_set, is_alike
from kwire.codec.class_descriptions import describe
from kwire.codec.impl import Twin, backend, load_twin
from kwire.codec.layout import layouts_of
from kwire.codec.plan import Plan, compile_plan
from kwire.errors import Fault, KwireError, wire_error
from kwire.schema import Catalog, Message, catalog

__all__ = ["MAX_PROJECTIONS", "CompiledCatalog", "compiled", "message_class", "unknown_message"]

MAX_PROJECTIONS: Final = 256  # callers make up projections at run time


class CompiledCatalog:
    """Classes, plans, decoders and encoders of a catalog.

    Classes of the built-in catalog are `kwire.messages.NAME`, so their objects pickle. Another catalog shares a class if its definition has
    the same attributes and defaults; otherwise it has its own (`kwire.codec.catalog_classes`).
    """

    def __init__(self, source: Catalog, twin: Twin = backend) -> None:
        self.catalog = source
        self.twin: Twin = twin
        self._objects = load_twin("codec", "objects", twin)
        self._classes: dict[str | type, tuple[type, ...]] = {}
        self._decoders: dict[tuple[str | type, int], Any] = {}
        self._projected: dict[tuple[str | type, int, tuple[str, ...]], Any] = {}
        self._encoders: dict[tuple[str, int], Any] = {}

    def message(self, name: str | type) -> Message:
        """Return the definition of a message, by name or class; raise a KwireError that lists similar names."""
        name = self._name(name)
        try:
            return self.catalog[name]
        except KeyError:
            raise KwireError(unknown_message(name, self.catalog)) from None

    def _name(self, name: Any) -> str:
        if isinstance(name, str):
            return name
        layout = getattr(name, "layout", None)
        if isinstance(name, type) and layout is not None and self.classes(layout.message)[0] is name:
            found: str = layout.message
            return found
        if isinstance(name, int) and (request := self.catalog.request(name)) is not None:
            response = self.catalog.response(name)
            names = " and ".join(repr(each.name) for each in (request, response) if each is not None)
            raise TypeError(f"a message is named by its name or its class; the messages of api {int(name)} are {names}")
        raise TypeError(f"a message is named by its name or its class, such as 'MetadataResponse', not by {name!r}")

    def classes(self, name: str | type) -> tuple[type, ...]:
        found = self._classes.get(name)
        if found is None:
            name = self._name(name)
            found = self._classes.setdefault(name, self._make_classes(name))
        return found

    def _make_classes(self, name: str) -> tuple[type, ...]:
        message = self.message(name)
        stored = catalog()
        if self.catalog is stored:
            made: tuple[type, ...] = self._objects.make_classes(layouts_of(message))
            add_aliases(made, aliases_of(message))
            describe(made, message)
            return made
        if self.twin == backend and name in stored and is_alike(message, stored[name]):
            return compiled().classes(name)
        made = class_set(layouts_of(message), aliases_of(message), self.twin).classes
        if "__signature__" not in vars(made[0]):  # catalogs whose definitions are alike share them
            describe(made, message)
        return made

    def plan(self, name: str | type, version: int, fields: Iterable[str] | None = None) -> Plan:
        """Return the plan of a message at a version, with a projection for `fields`."""
        if fields is None and (known := self._decoders.get((name, version))) is not None:
            whole: Plan = known.plan
            return whole
        message = self.message(name)
        try:
            index(version)
        except TypeError:
            raise TypeError(f"version is an integer such as {message.valid_versions.highest}, not {version!r}") from None
        if version not in message.valid_versions:
            reason = f"version {version} of {message.name} is not known, only {message.valid_versions}"
            raise wire_error(Fault.UNSUPPORTED_VERSION, 0, "", message.name, message.api_key, version, reason)
        return compile_plan(message, version, fields)

    def decoder(self, name: str | type, version: int, fields: Iterable[str] | None = None) -> Any:
        """Return the `Decoder` of a message at a version; arguments and errors as in `plan`."""
        if fields is None:
            found = self._decoders.get((name, version))
            if found is None:
                found = self._objects.Decoder(self.plan(name, version), self.classes(name))
                self._decoders[name, version] = found
            return found
        if isinstance(fields, str):
            raise TypeError(f"fields takes a sequence of paths, not the text {fields!r}")
        key = (name, version, tuple(fields))
        found = self._projected.get(key)
        if found is None:
            found = self._objects.Decoder(self.plan(name, version, key[2]), self.classes(name))
            if len(self._projected) >= MAX_PROJECTIONS:
                self._projected.pop(next(iter(self._projected)), None)
            self._projected[key] = found
        return found

    def encoder(self, name: str, version: int) -> Any:
        """Return the `Encoder` of a message at a version; errors as in `plan`."""
        found = self._encoders.get((name, version))
        if found is None:
            made = load_twin("codec", "message_writer", self.twin).Encoder(self.plan(name, version), self.classes(name))
            found = self._encoders.setdefault((name, version), made)
        return found


def unknown_message(name: str, known: Iterable[str]) -> str:
    """Return the error text for an unknown message name, with similar names."""
    import difflib  # for this sentence only

    near = difflib.get_close_matches(name, list(known), 3)
    return f"Kafka has no message {name!r}{'; did you mean ' + ' or '.join(near) + '?' if near else ''}"


@cache
def compiled() -> CompiledCatalog:
    """Return the built-in catalog, compiled for the chosen backend."""
    return CompiledCatalog(catalog())


def message_class(name: str) -> Any:
    """Return the class of a message of the built-in catalog; classes of nested structs are its attributes.

    Raises:
        KwireError: Kafka has no such message.
    """
    return compiled().classes(name)[0]
