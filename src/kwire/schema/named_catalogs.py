"""Catalogs by name: a release (`4.1`), a dialect (`kip-1313`), a folder of definitions, a jar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from kwire.errors import InputError
from kwire.schema.dialects import DIALECTS, MANIFEST, dialect
from kwire.schema.loader import load
from kwire.schema.model import Catalog, MadeMessages, Message, Versions
from kwire.schema.release_table import Release, releases
from kwire.schema.stored import catalog

__all__ = ["ReleaseCatalog", "named_catalog", "release_catalog"]

_RELEASE: Final = re.compile(r"[0-9]+(\.[0-9]+)*")


class _Accepted(MadeMessages):
    def __init__(self, release: Release) -> None:
        super().__init__()
        self._known = catalog()
        self._apis: dict[str, Versions] = {}
        for key in release.api_keys:
            accepted, name = release.accepts_anywhere(key), self._known.api_name(key)
            if accepted is not None and name is not None:
                self._apis[f"{name}Request"] = self._apis[f"{name}Response"] = accepted
        self._others = [name for name in self._known if not name.endswith(("Request", "Response"))]

    def _make(self, name: str) -> Message:
        found = self._known[name]
        if name in self._apis:
            return replace(found, valid_versions=self._apis[name])
        return replace(found, valid_versions=self._headers()) if name == "RequestHeader" else found

    def _headers(self) -> Versions:
        """Return the request headers of the accepted versions: 4.0 does not use version 0."""
        used = {
            header
            for name, accepted in self._apis.items()
            if name.endswith("Request")
            for versions, header in self._known[name].header_versions
            if versions.lowest <= accepted.highest and versions.highest >= accepted.lowest
        }
        return Versions(min(used), max(used))

    def __contains__(self, name: object) -> bool:
        return name in self._apis or name in self._others

    def __iter__(self) -> Iterator[str]:
        yield from self._apis
        yield from self._others


class ReleaseCatalog(Catalog):
    """Catalog with the apis and stable versions that some kind of node of a release accepts.

    Messages without api (records, consumer protocol) have all versions, as no release lists those it writes.
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        self.name = release.name
        self.messages = _Accepted(release)

    def _find(self, kind: str, api_key: int) -> Message | None:
        return self.messages.get(f"{catalog().api_name(api_key)}{kind.title()}")

    def api_name(self, api_key: int) -> str | None:
        return None if self.request(api_key) is None else catalog().api_name(api_key)

    @property
    def api_keys(self) -> list[int]:
        return [key for key in self.release.api_keys if self.request(key) is not None]

    def __reduce__(self) -> tuple[type[ReleaseCatalog], tuple[Release]]:
        return ReleaseCatalog, (self.release,)


def release_catalog(name: str) -> ReleaseCatalog:
    """Return the catalog of a release.

    Arguments:
        name: `3.9.2`, or `3.9` for its newest patch.

    Raises:
        InputError: no such release.
    """
    return ReleaseCatalog(releases().resolve(name))


def named_catalog(text: str, dialects: tuple[str, ...] = ()) -> Catalog:
    """Return the catalog that a user names.

    Arguments:
        text: a release, a dialect, a folder of message definitions or with a dialect, or a jar; `./4.1` for a folder named like a release.
        dialects: dialects to apply.

    Raises:
        InputError: none of these, or a dialect does not fit.
    """
    path = Path(text)
    if _RELEASE.fullmatch(text):
        found: Catalog = release_catalog(text)
    elif text in DIALECTS or (path / MANIFEST).is_file():
        found = dialect(text)
    elif path.exists():
        found = load(path)
    else:
        raise InputError(
            f"unknown catalog {text!r}: expected a Kafka release (3.9, 4.0.2), a dialect ({', '.join(DIALECTS)}), a folder or a jar."
        )
    return dialect(*dialects, base=found) if dialects else found
