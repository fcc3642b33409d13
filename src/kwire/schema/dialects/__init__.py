"""Dialects: proposed protocol changes that are not in a Kafka release, as overlays (`kwire.schema.overlays`).

A dialect is a folder: `dialect.json` lists what it extends, replaces and adds, and whether every request gets a new version; definitions
have Kafka's shape, with `aliases` of fields for other names in the proposal.

* ``kip-1313``: request header 3 with the client instance id, OffsetDelete v1, GetTelemetrySubscriptions v1 and PushTelemetry v1, and a new
  version of every other request but SaslHandshake.
* ``kip-35-draft``: BrokerMetadata of the draft that became ApiVersions.
* ``kip-714-draft``: PushTelemetry of the draft instead of the released one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from kwire.errors import InputError
from kwire.schema.definitions import parse_definition, read_definition
from kwire.schema.model import Catalog, Message
from kwire.schema.overlays import Bump, OverlaidCatalog, Overlay
from kwire.schema.stored import catalog

__all__ = ["DIALECTS", "MANIFEST", "dialect", "read_overlay"]

DIALECTS: Final = ("kip-1313", "kip-35-draft", "kip-714-draft")
MANIFEST: Final = "dialect.json"
_HIGHEST_KEY: Final = 32767

ReadText = Callable[[str], str]


def _stored(name: str) -> ReadText:
    def read(file: str) -> str:
        data = pkgutil.get_data("kwire.schema.dialects", f"{name}/{file}")
        if data is None:
            raise InputError(f"The installation of kwire lacks its data file schema/dialects/{name}/{file}.")
        return data.decode("utf-8")

    return read


def _in_folder(folder: Path) -> ReadText:
    def read(file: str) -> str:
        try:
            return (folder / file).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{folder / file} is not UTF-8 text.") from error
        except OSError as error:
            raise InputError(f"Cannot read {folder / file}: {error.strerror or error}.") from error

    return read


def _overlay(name: str, read: ReadText) -> Overlay:
    source = f"{name}/{MANIFEST}"
    manifest = read_definition(read(MANIFEST), source)
    try:
        parts: dict[str, dict[str, Message]] = {}
        for part in ("extends", "replaces", "adds"):
            parts[part] = {}
            for message in manifest.get(part, ()):
                file = f"{name}/{message}.json"
                parsed = parse_definition(read_definition(read(f"{message}.json"), file), file)
                if parsed.name != message:
                    raise InputError(f"{file} defines {parsed.name}, not {message}.")
                parts[part][message] = parsed
        given: Mapping[str, Any] | None = manifest.get("newVersion")
        bump = None if given is None else Bump(int(given["requestHeader"]), dict(given.get("except", {})))
        return Overlay(str(manifest["name"]), **parts, bump=bump)
    except KeyError as error:
        raise InputError(f"{source} is not a dialect: {error.args[0]!r} is missing.") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{source} is not a dialect: {error}.") from error


@cache
def _stored_overlay(name: str) -> Overlay:
    return _overlay(name, _stored(name))


def read_overlay(name: str | Path) -> Overlay:
    """Return the overlay of a dialect, given one of `DIALECTS` or a folder with a `dialect.json`."""
    if name in DIALECTS:
        return _stored_overlay(str(name))
    folder = Path(name)
    if (folder / MANIFEST).is_file():
        return _overlay(str(folder), _in_folder(folder))
    raise InputError(f"kwire has no dialect {str(name)!r}; there are {', '.join(DIALECTS)}, and folders with a {MANIFEST}.")


def dialect(*names: str | Path, base: Catalog | None = None, api_keys: Mapping[str, int] | None = None) -> Catalog:
    """Return a catalog with dialects applied: ``dialect("kip-1313")``.

    Several are applied in order: in ``dialect("kip-35-draft", "kip-1313")`` BrokerMetadata has a new version too.

    Arguments:
        names: of `DIALECTS`, or folders with a `dialect.json`.
        base: catalog below; the built-in one by default.
        api_keys: other keys for APIs of the dialects: ``{"BrokerMetadata": 20007}``.

    Raises:
        InputError: unknown dialect, two dialects define the same message, or a key is taken.
    """
    if not names:
        raise InputError(f"Name a dialect; there are {', '.join(DIALECTS)}.")
    overlays = [read_overlay(name) for name in names]
    for one, other in combinations(overlays, 2):
        both = sorted(one.messages.keys() & other.messages.keys())
        if both:
            raise InputError(f"{one.name} and {other.name} both define {both[0]}, so they cannot be combined.")
    keys = dict(api_keys or {})
    brought = {name.removesuffix("Request") for each in overlays for name in (*each.replaces, *each.adds)}
    for name, key in keys.items():
        if name not in brought:
            raise InputError(
                f"No api {name!r} comes with {' and '.join(each.name for each in overlays)}, so it can have no key of its own."
            )
        if not 0 <= key <= _HIGHEST_KEY:
            raise InputError(f"The api key {key} of {name} is outside 0 to {_HIGHEST_KEY}.")
    found = catalog() if base is None else base
    for overlay in overlays:
        found = OverlaidCatalog(found, overlay.with_api_keys(keys))
    return found
