"""Loading of a catalog at run time, from a folder of message definitions or from a jar of a Kafka release.

`kafka-clients` and its like carry their definitions under `common/message/`.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kwire.errors import InputError
from kwire.schema.catalog_checks import doubts, is_former_name, refuse_derived_headers, refuse_missing_headers, refuse_shared_keys
from kwire.schema.definitions import parse_definition, read_definition
from kwire.schema.model import Catalog, Message

__all__ = ["load"]

HeaderVersions = Literal["derived", "required"]


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every JSON text of a folder or jar, with a name for errors; if a jar has `common/message/`, only from there."""
    try:
        if path.is_dir():
            for file in sorted(path.rglob("*.json")):
                yield str(file), file.read_text("utf-8")
            return
        with zipfile.ZipFile(path) as jar:
            names = sorted(name for name in jar.namelist() if name.endswith(".json"))
            for name in [name for name in names if "common/message/" in name] or names:
                yield f"{path}!{name}", jar.read(name).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} holds a definition that is not UTF-8 text.") from error
    except zipfile.BadZipFile as error:
        raise InputError(f"{path} is neither a folder of message definitions nor a jar.") from error
    except OSError as error:
        raise InputError(f"Cannot read message definitions from {path}: {error.strerror or error}.") from error


def load(path: str | Path, name: str | None = None, *, from_zero: bool = True, header_versions: HeaderVersions = "derived") -> Catalog:
    """Load a catalog from a folder of message definitions or from a jar that holds some.

    A `UserWarning` reports mistakes that Kafka tolerates (`kwire.schema.catalog_checks.doubts`).

    Arguments:
        path: the folder (read with its subfolders) or the jar.
        name: the catalog's name; by default the last part of the path.
        from_zero: apply Kafka's rule that `headerVersions` start at version 0; if False, the rule in KIP-1313's text.
        header_versions: treatment of definitions without header versions: `derived`, as in all releases so far, or `required`.

    Raises:
        InputError: the path does not exist, is not a jar, has no definition, or has one that Kafka would reject.
    """
    path = Path(path)
    messages: dict[str, Message] = {}
    declared: list[Message] = []
    for source, text in _texts(path):
        definition = read_definition(text, source)
        if not isinstance(definition, dict) or "type" not in definition or "validVersions" not in definition:
            continue
        message = parse_definition(definition, source, from_zero=from_zero)
        if "headerVersions" in definition:
            declared.append(message)
        elif header_versions == "required":
            refuse_derived_headers(message)
        if message.name in messages:
            raise InputError(f"{source} defines {message.name} a second time.")
        messages[message.name] = message
    if not messages:
        raise InputError(f"{path} holds no message definitions.")
    # the last one of an api key is found by it
    in_order = dict(sorted(messages.items(), key=lambda each: not is_former_name(each[1])))
    found = Catalog(name or (path.name if path.is_dir() else path.stem), in_order)
    refuse_shared_keys(found)
    refuse_missing_headers(found, declared)
    for doubt in doubts(found):
        warnings.warn(f"{path}: {doubt}", UserWarning, stacklevel=2)
    return found
