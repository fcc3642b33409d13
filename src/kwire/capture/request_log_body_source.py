"""The short way from a body of a JSON request log to a message: source that is made for each struct, as its plan says.

It takes the fields that are asked for by their names of today and checks what it takes. Whatever is different (a field of another release,
a struct that is none) makes it ask the long way, `kwire.capture.request_log_bodies`, which knows them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, Final, Literal, NamedTuple

__all__ = ["WantedField", "reader_of"]

Kind = Literal["integer", "string", "boolean", "float", "bytes", "uuid", "structs", "struct"]
_MISSING: Final = object()


class WantedField(NamedTuple):
    """A field that is asked for.

    Attributes:
        json_name: in the body.
        attribute: of the message.
        kind: of the value, or of the elements where there are `many`.
        convert: makes the value of anything but null; of `structs` it makes one element.
        bounds: of an integer, the lowest and the first that is too high.
        absent: makes the value where the body leaves the field out, as it does with tagged fields at their default; None where it may not.
        beside: constants that the message has with it: attribute and value.
        inner: of `structs` and `struct`, gives the type that the short way reads.
        many: an array of what is no struct.
    """

    json_name: str
    attribute: str
    kind: Kind
    convert: Callable[[Any], Any]
    bounds: tuple[int, int] | None = None
    absent: Callable[[], Any] | None = None
    beside: tuple[tuple[str, Any], ...] = ()
    inner: Callable[[], Any] | None = None
    many: bool = False


def _lines_of(number: int, field: WantedField) -> Iterable[str]:
    value = f"v{number}"
    taken = f"body[{field.json_name!r}]" if field.absent is None else f"body.get({field.json_name!r}, missing)"
    yield f"{value} = {taken}"
    if field.absent is not None:
        yield f"if {value} is missing:"
        yield f"    {value} = a{number}()"
    converted = f"    {value} = None if {value} is None else c{number}({value})"
    checked = "elif" if field.absent is not None else "if"
    if field.many:
        yield f"{checked} {value} is not None:"
        yield f"    {value} = c{number}({value})"
    elif field.kind == "integer" and field.bounds is not None:  # never null
        yield f"{checked} {value}.__class__ is not int or not {field.bounds[0]} <= {value} < {field.bounds[1]}:"
        yield f"    {value} = c{number}({value})"
    elif field.kind == "string":
        yield f"{checked} {value}.__class__ is not str:"
        yield converted
    elif field.kind == "uuid":
        yield f"{checked} True:"
        yield f"    {value} = c{number}({value})"
    elif field.kind == "structs":
        yield f"{checked} {value}.__class__ is list:"
        yield f"    {value} = [c{number}(each) for each in {value}]"
        yield f"elif {value} is not None:"
        yield "    return long_way(body)"
    else:
        yield f"{checked} {value} is not None:"
        yield f"    {value} = c{number}({value})"


def reader_of(fields: Iterable[WantedField], long_way: Callable[[Any], SimpleNamespace]) -> Callable[[Any], SimpleNamespace]:
    """Make the function that reads a struct.

    Args:
        fields: those that are asked for.
        long_way: reads any body of the struct.
    """
    scope: dict[str, Any] = {"missing": _MISSING, "long_way": long_way, "SimpleNamespace": SimpleNamespace}
    lines: list[str] = []
    given: list[str] = []
    for number, field in enumerate(fields):
        lines += _lines_of(number, field)
        scope[f"c{number}"], scope[f"a{number}"] = field.convert, field.absent
        given.append(f"{field.attribute}=v{number}")
        for beside, (attribute, value) in enumerate(field.beside):
            scope[f"b{number}_{beside}"] = value
            given.append(f"{attribute}=b{number}_{beside}")
    body = "\n".join(f"        {line}" for line in [*lines, f"return SimpleNamespace({', '.join(given)})"])
    source = (
        "def read(body):\n"
        "    if body.__class__ is not dict:\n        return long_way(body)\n"
        f"    try:\n{body}\n    except KeyError:\n        return long_way(body)\n"
    )  # fmt: skip
    exec(compile(source, "<body of a request log>", "exec"), scope)  # names and numbers are those of the plan
    made: Callable[[Any], SimpleNamespace] = scope["read"]
    return made
