#!/usr/bin/env python3
"""Write docs/reference/proxy.md and proxy.schema.json, the keys of a proxy's TOML: `python tools/build_proxy_reference.py [--check]`."""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from generated_page import write_or_check
from kwire.proxy.config import ProxyConfig

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "reference"
Schema = dict[str, Any]

PAGE: Final = """# Configuration of the proxy

[Put a proxy in front of brokers](../how-to/proxy.md) explains these keys of `kwire proxy CONFIG`.
Editors complete and check them with [proxy.schema.json](proxy.schema.json): for Taplo and Even Better TOML, write
`#:schema https://raw.githubusercontent.com/kwire/kwire/main/docs/reference/proxy.schema.json` into the first line of
the file. `kwire proxy CONFIG --check` checks the whole file. `tools/build_proxy_reference.py` generates this page.
"""


def parts(shape: Schema) -> tuple[Schema, str]:
    """Return the schema of a value without null, and the name of its table; empty for a plain value."""
    shape = next((each for each in shape.get("anyOf", ()) if each != {"type": "null"}), shape)
    shape = shape.get("allOf", [shape])[0]
    inner = shape.get("items") or shape.get("additionalProperties") or shape
    return shape, inner.get("$ref", "").rpartition("/")[2]


def type_of(shape: Schema) -> str:
    shape, table = parts(shape)
    if "enum" in shape:
        return ", ".join(f'`"{each}"`' for each in shape["enum"])
    if shape["type"] == "array":
        return "list of tables" if table else "list of strings"
    limits = {"minimum": "at least", "exclusiveMinimum": "over", "maximum": "at most", "exclusiveMaximum": "below"}
    return ", ".join([shape["type"], *(f"{word} {shape[key]:,}" for key, word in limits.items() if key in shape)])


def row(key: str, shape: Schema, required: list[str]) -> str:
    default = shape.get("default")
    text = "required" if key in required else "" if default is None else f"`{json.dumps(default)}`"
    return f"| `{key}` | {type_of(shape)} | {text} | {shape.get('description', '')} |"


def tables(name: str, path: str, all_tables: dict[str, Schema]) -> Iterator[tuple[str, str]]:
    """Yield each table's path in TOML and its name, with those inside it."""
    yield path, name
    for key, shape in all_tables[name]["properties"].items():
        plain, inner = parts(shape)
        if not inner or key == "brokers":  # an inline table
            continue
        place = f"{path}.{key}".strip(".")
        if plain.get("type") == "object":
            place += ".NAME"
        yield from tables(inner, place, all_tables)


def page(schema: Schema) -> str:
    shapes = schema["$defs"]
    paths: dict[str, list[str]] = {}
    for path, name in tables("ProxyConfig", "", shapes):
        paths.setdefault(name, []).append(path)
    paths["SniBroker"] = ["sni_listeners.brokers"]
    arrays = {key for key, shape in shapes["ProxyConfig"]["properties"].items() if shape.get("type") == "array"} | {"sni_listeners.brokers"}
    found = [PAGE]
    for name, places in paths.items():
        shape = shapes[name]
        titles = [f"`[[{each}]]`" if each in arrays else f"`[{each}]`" for each in places]
        about = "\n\n".join(textwrap.fill(each, 118) for each in shape["description"].split("\n\n"))
        found.append(f"\n## {', '.join(titles) if places != [''] else 'Top of the file'}\n\n{about}\n")
        found.append("\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n")
        for key, value in shape["properties"].items():
            _, inner = parts(value)
            if not inner or inner == "SniBroker":
                found.append(row(key, value, shape.get("required", [])) + "\n")
    return "".join(found)


def main() -> int:
    """Write both files, or check them."""
    schema = msgspec.json.schema(ProxyConfig)
    for shape in schema["$defs"].values():  # versions of msgspec differ in the indentation of docstrings and the order of types
        if "description" in shape:
            shape["description"] = inspect.cleandoc(shape["description"])
        for value in shape.get("properties", {}).values():
            value.get("anyOf", []).sort(key={"type": "null"}.__eq__)
    text = json.dumps(
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Configuration of kwire proxy"} | schema, indent=1
    )
    done = [write_or_check(FOLDER / "proxy.schema.json", text + "\n", __doc__), write_or_check(FOLDER / "proxy.md", page(schema), __doc__)]
    return max(done)


if __name__ == "__main__":
    sys.exit(main())
