#!/usr/bin/env python3
"""Write the type stubs of all message classes, and of the functions that take their names: `python tools/build_stubs.py`.

Message classes are made at run time, so type checkers learn of them from `src/kwire/messages/__init__.pyi`, which re-exports one file an
api, or a topic of records, from `messages/_types/`: small enough to be read where an editor jumps to. Checkers make the constructors of the
attributes, as they do for dataclasses (PEP 681). `codec/by_name.pyi` gives functions such as `kwire.decode` one overload a message.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from kwire.codec.class_descriptions import held_type, wire_versions
from kwire.codec.layout import Default, SlotLayout, layouts_of
from kwire.schema import Catalog, Message, Struct, catalog, error_names, snake_name
from kwire.schema.wire_enums import api_key_names

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "kwire"
KEY_NAMES = {key: name for name, key in reversed(api_key_names().items())}  # of a renamed api the newer name
WIDTH = 140  # of pyproject.toml; the stubs look as `ruff format` would leave them

HEADING = "# Made from the catalog by tools/build_stubs.py; a change here is lost.\n"


def home(message: Message) -> str:
    """Return the module of `messages/_types` that holds a message: one for a request and its response, one for the records of a topic."""
    if message.kind in ("request", "response"):
        return snake_name(message.name.removesuffix(message.kind.capitalize()))
    if message.topic == "__consumer_offsets":  # too many for one file
        kinds = ("ConsumerGroup", "ShareGroup", "StreamsGroup")
        return f"{snake_name(next((kind for kind in kinds if message.name.startswith(kind)), 'ClassicGroup'))}_records"
    if message.topic is not None:
        return f"{message.topic.strip('_')}_records"
    return "headers" if message.kind == "header" else "data"


def default_text(slot: SlotLayout) -> str:
    """Return the default for a stub; ``...`` for uuids and values that are made for each object."""
    if slot.default != Default.CONSTANT or slot.type == "uuid":
        return "..."
    return json.dumps(slot.value) if isinstance(slot.value, str) else repr(slot.value).replace("'", '"')


def signature(head: str, parameters: list[str], result: str) -> list[str]:
    """Format a function as `ruff format` does: on one line if it fits."""
    listed = ", ".join(parameters)
    short = f"{head}({listed}) -> {result}: ..."
    if len(short) <= WIDTH:
        return [short]
    middle = [f"    {listed}"] if len(listed) + 4 <= WIDTH else [f"    {each}," for each in parameters]
    return [f"{head}(", *middle, f") -> {result}: ..."]


def class_lines(message: Message, struct: Struct, slots: tuple[SlotLayout, ...], indent: str) -> list[str]:
    """Return one line an attribute of a struct, which is a keyword of the constructor as well."""
    lines = []
    names = {slot.attribute for slot in slots}
    for field, slot in zip(struct.fields, slots, strict=True):
        comment = wire_versions(message, field)
        held = f"{held_type(message, field, slot)} = {default_text(slot)}"
        lines.append(f"{indent}{slot.attribute}: {held}" + (f"  # {comment}" if comment else ""))
        for name, release in ((snake_name(name), release) for name, release in field.former_names):
            if name not in names:
                names.add(name)
                lines.append(f"{indent}{name}: {held}  # {slot.attribute} after Kafka {release}")
    return lines or [f"{indent}..."]


def message_lines(message: Message) -> list[str]:
    """Return the class of a message with those of its nested structs."""
    slots = {layout.name: layout.slots for layout in layouts_of(message)}
    top, *nested = message.structs.values()
    key = "" if message.api_key is None else f" {message.api_key}"
    lines = [f"class {top.name}(MessageObject):  # {message.kind}{key}, versions {message.valid_versions}"]
    held = {slot.attribute for slot in slots[top.name]}
    if message.api_key is not None and "api_key" not in held:
        lines.append(f"    api_key: ClassVar[Literal[ApiKey.{KEY_NAMES[message.api_key]}]]")
    if "valid_versions" not in held:
        lines.append("    valid_versions: ClassVar[Versions]")
    for each in nested:
        lines += [f"    class {each.name}(MessageObject):", *class_lines(message, each, slots[each.name], "        "), ""]
    return lines + class_lines(message, top, slots[top.name], "    ")


def module_text(messages: list[Message]) -> str:
    bodies = ["\n".join(message_lines(message)) for message in messages]
    text = "\n\n".join(bodies)
    imports = []
    if names := [name for name in ("ClassVar", "Literal") if f"{name}[" in text]:
        imports += [f"from typing import {', '.join(names)}", ""]
    if "Uuid" in text:
        imports.append("from kwire.codec.uuids import Uuid")
    imports.append("from kwire.messages._types.message_object import MessageObject")
    if "Versions]" in text:
        imports.append("from kwire.schema.model import Versions")
    if "ApiKey." in text:
        imports.append("from kwire.schema.wire_enums import ApiKey")
    return "\n".join((HEADING + "\n".join(imports), "", text, ""))


def export(module: str, name: str) -> str:
    """Return an import that re-exports a name."""
    line = f"from {module} import {name} as {name}"
    return line if len(line) <= WIDTH else f"from {module} import (\n    {name} as {name},\n)"


MESSAGE_OBJECT = """\
from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import Self, dataclass_transform

from kwire.codec.layout import StructLayout

@dataclass_transform(eq_default=False, kw_only_default=True)
class _Keywords: ...  # the fields of what is decorated do not count, those of classes below it do

class MessageObject(_Keywords):
    layout: ClassVar[StructLayout]
    slot_names: ClassVar[tuple[str, ...]]
    classes: ClassVar[tuple[type[MessageObject], ...]]
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()
    __match_args__: ClassVar[tuple[str, ...]]
    __hash__: ClassVar[None]  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __replace__(self, /, **changes: Any) -> Self: ...
    def __rich_repr__(self) -> Iterator[tuple[str, Any]]: ...
"""


BY_NAME = """\
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from typing_extensions import Buffer

from kwire import messages
from kwire.codec.classes import CompiledCatalog
from kwire.codec.frames import Response
from kwire.schema.wire_enums import ApiKey

_Paths: TypeAlias = Sequence[str] | None
_Yes: TypeAlias = Literal[True]
"""
# The parameters behind the name, of calls whose result has the class of the message, and of all others: lenient ones, whose result may be
# an Opaque, and those with memory views, where the classes say bytes.
NAMED = {
    "decode": (
        ["data: Buffer", "version: int", "*", "fields: _Paths = None", "strict: _Yes = True"],
        ["data: Buffer", "version: int", "*", "fields: _Paths = None", "strict: bool = True", "memoryviews: bool = False"],
    ),
    "from_json": (
        ["obj: Any", "version: int", "*", "source: None = None"],
        ["obj: Any", "version: int", "*", "source: CompiledCatalog | None = None"],
    ),
}


RESPONSE = ["api_version: int", "*", "fields: _Paths = None"]


def overloads(function: str, names: list[str]) -> list[str]:
    """Return one overload a message, and one for names that a type checker does not know."""
    exact, others = NAMED[function]
    lines = []
    for name in names:
        lines += [
            "@overload",
            *signature(f"def {function}", [f'name: Literal["{name}"] | type[messages.{name}]', *exact], f"messages.{name}"),
        ]
    return [*lines, "@overload", *signature(f"def {function}", ["name: str | type", *others], "Any")]


def enum_lines(name: str, members: dict[str, int]) -> list[str]:
    return [f"class {name}(IntEnum):", *(f"    {member} = {value}" for member, value in members.items())]


def responses(source: Catalog) -> list[str]:
    """Return `decode_response` with the class of the body by the api key, for strict reads of whole bodies as bytes."""
    lines = []
    for key in source.api_keys:
        response = source.response(key)
        if response is not None:
            parameters = ["frame: Buffer", f"api_key: Literal[{key}, ApiKey.{KEY_NAMES[key]}]", *RESPONSE, "strict: _Yes = True"]
            lines += ["@overload", *signature("def decode_response", parameters, f"Response[messages.{response.name}]")]
    parameters = ["frame: Buffer", "api_key: int", *RESPONSE, "strict: bool = True", "memoryviews: bool = False"]
    return [*lines, "@overload", *signature("def decode_response", parameters, "Response[Any]")]


def build(source: Catalog) -> dict[str, str]:
    """Return the stubs by their path below the package."""
    homes: dict[str, list[Message]] = defaultdict(list)
    for name in sorted(source):
        homes[home(source[name])].append(source[name])
    files = {f"messages/_types/{module}.pyi": module_text(messages) for module, messages in homes.items()}
    files["messages/_types/__init__.pyi"] = HEADING
    files["messages/_types/message_object.pyi"] = HEADING + MESSAGE_OBJECT
    shown = [("message_object", ["MessageObject"]), *((module, [each.name for each in homes[module]]) for module in homes)]
    exports = []
    for module, names in sorted(shown):
        exports += [export(f"kwire.messages._types.{module}", name) for name in names]
    files["messages/__init__.pyi"] = HEADING + "\n".join((*exports, ""))
    functions = ["\n".join(overloads(function, sorted(source))) for function in NAMED]
    files["codec/by_name.pyi"] = HEADING + "\n".join((BY_NAME, *functions, "\n".join(responses(source)), ""))
    enums = [*enum_lines("ApiKey", api_key_names()), "", *enum_lines("ErrorCode", {name: code for code, name in error_names().items()})]
    names = "def api_key_names() -> dict[str, int]: ..."
    files["schema/wire_enums.pyi"] = HEADING + "\n".join(("from enum import IntEnum", "", names, "", *enums, ""))
    return files


def stale(folder: Path) -> list[str]:
    """Return the stubs below a package that are missing, superfluous or out of date."""
    wanted = build(catalog())
    there = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in (folder / "messages").rglob("*.pyi")}
    there |= {name: (folder / name).read_text("utf-8") for name in wanted if name not in there and (folder / name).exists()}
    return sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))


def write(folder: Path) -> None:
    """Write stale stubs, remove superfluous ones."""
    wanted = build(catalog())
    for name in stale(folder):
        path = folder / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name], "utf-8")
        else:
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a stub is stale")
    options = parser.parse_args()
    names = stale(PACKAGE)
    if options.check:
        sys.exit(f"stale: {', '.join(names)}; run python tools/build_stubs.py" if names else 0)
    write(PACKAGE)
    print(f"{len(names)} of {len(build(catalog()))} stubs written")


if __name__ == "__main__":
    main()
