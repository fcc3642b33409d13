"""Places of chosen fields in the bytes of a message, found by a walk over the readable part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kwire.codec._pure.field_spans import Span
from kwire.codec.classes import CompiledCatalog
from kwire.codec.impl import load_twin
from kwire.codec.plan import Op, Plan, compile_plan
from kwire.codec.splice_plan import Marking, mark
from kwire.errors import Fault

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["UNKNOWN_TAG", "FieldWalker", "Span", "SpanReading", "marking_of"]

UNKNOWN_TAG: Final = "unknown_tagged_fields"
"""Path of tagged fields that no version defines: this step only."""

Path = tuple[str, ...]


class SpanReading(NamedTuple):
    """Result of a walk: fields in order, the fault, and the end of the readable part, including a faulty length or marker."""

    end: int
    fault: Fault | None
    spans: list[Span]


def _texts(plan: Plan, block: int = 0, path: Path = ()) -> Iterator[Path]:
    found = plan.blocks[block]
    for number in range(found.first, found.first + found.untagged + found.tagged):
        operation = plan.operation(number)
        here = (*path, plan.attribute(block, number))
        if operation.block >= 0:
            yield from _texts(plan, operation.block, here)
        elif (operation.element or operation.code) in (Op.STRING, Op.BYTES):
            yield here


def marking_of(source: CompiledCatalog, name: str, version: int, wanted: Callable[[Path], bool]) -> tuple[Marking, tuple[Path, ...]]:
    """Return the plan with the fields of a `FieldWalker` as singles, and the path of each single."""
    paths = tuple(path for path in _texts(source.plan(name, version)) if wanted(path))
    singles = tuple(map(".".join, paths))
    return mark(compile_plan(source.message(name), version, singles), singles, ()), paths


class FieldWalker:
    """Walker over messages of one plan; `wanted` selects string and bytes fields by their paths."""

    def __init__(self, source: CompiledCatalog, name: str, version: int, wanted: Callable[[Path], bool]) -> None:
        marking, paths = marking_of(source, name, version, wanted)
        self._spans = load_twin("codec", "field_spans", source.twin).FieldSpans(marking, paths, (UNKNOWN_TAG,))

    def walk(self, data: Buffer, offset: int, *, whole: bool = True) -> SpanReading:
        """Find the selected fields; never raise for invalid bytes. Unless `whole`, the end of the message was cut off."""
        return SpanReading(*self._spans.find(data, offset, whole))
