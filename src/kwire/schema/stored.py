"""Built-in catalog: a JSON file per message under `messages/`, parsed on first use; `index.json` lists kinds and api keys."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from kwire.errors import InputError, UnknownApi
from kwire.schema.definitions import parse_definition
from kwire.schema.header_versions import header_version_of
from kwire.schema.model import Catalog, MadeMessages, Message

__all__ = ["catalog", "header_version", "read_data"]


def read_data(name: str) -> Any:
    """Parse a JSON file of this package, in a folder or a zip."""
    try:
        data = pkgutil.get_data("kwire.schema", name)
    except OSError:
        data = None
    if data is None:
        raise InputError(f"The installation of kwire lacks its data file schema/{name}.")
    return json.loads(data)


class _StoredMessages(MadeMessages):
    def __init__(self, index: Mapping[str, Any]) -> None:
        super().__init__()
        self._index = index

    def _make(self, name: str) -> Message:
        return parse_definition(read_data(f"messages/{name}.json"), f"schema/messages/{name}.json")

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)


class StoredCatalog(Catalog):
    """Catalog included in kwire. `request` and `response` return the newer name of a renamed api."""

    def __init__(self) -> None:
        index: dict[str, list[Any]] = read_data("index.json")
        self.name = "kwire"
        self.messages = _StoredMessages(index)
        # AlterIsr (56) and ListClientMetricsResources (74) were renamed; the index has the newer name of a key behind the older one.
        self._names = {kind: {key: name for name, (its, key) in index.items() if its == kind} for kind in ("request", "response")}

    def _find(self, kind: str, api_key: int) -> Message | None:
        name = self._names[kind].get(api_key)
        return None if name is None else self.messages[name]

    def api_name(self, api_key: int) -> str | None:
        name = self._names["request"].get(api_key)
        return None if name is None else name.removesuffix("Request")

    @property
    def api_keys(self) -> list[int]:
        return sorted(self._names["request"])

    def __reduce__(self) -> tuple[Any, ...]:
        return catalog, ()


@cache
def catalog() -> Catalog:
    """Return the built-in catalog: every message of every Kafka release."""
    return StoredCatalog()


def header_version(kind: str, api_key: int, api_version: int, known: Catalog | None = None) -> int:
    """Return the header version of a request or response frame, for unreleased versions too (KIP-511).

    Arguments:
        kind: `"request"` or `"response"`.
        api_key: API key of the request.
        api_version: version of the body.
        known: catalog; the built-in one by default.

    Raises:
        UnknownApi: the catalog does not have the API key.
        ValueError: `kind` is neither.
    """
    if kind not in ("request", "response"):
        raise ValueError(f"only requests and responses have headers, not {kind!r}")
    known = catalog() if known is None else known
    message = known.request(api_key) if kind == "request" else known.response(api_key)
    if message is None:
        raise UnknownApi(f"unknown API key {api_key}", api_key=api_key, api_version=api_version)
    return header_version_of(message.header_versions, api_version)
