"""Where chosen fields of a message lie in its bytes: one walk by the plan, nothing built, as far as the bytes can be read.

The walk reads as the decoders do (negative lengths are null, text is not looked at), so what it steps over is what they step over. It
lists the strings and bytes that were asked for and every tagged field that no version defines. Where it meets a fault it stops, and says
up to which byte the message was understood, the length or marker that is at fault included.
"""

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
"""The path of a tagged field that no version defines has this step alone."""

Path = tuple[str, ...]


class SpanReading(NamedTuple):
    """How far the walk came, and what it found.

    Attributes:
        end: up to where the message was understood.
        fault: what stopped the walk, None when the message was whole.
        spans: the fields in the order of the bytes, without nulls.
    """

    end: int
    fault: Fault | None
    spans: list[Span]


def _texts(plan: Plan, block: int = 0, path: Path = ()) -> Iterator[Path]:
    """Paths of the strings and bytes."""
    found = plan.blocks[block]
    for number in range(found.first, found.first + found.untagged + found.tagged):
        operation = plan.operation(number)
        here = (*path, plan.attribute(block, number))
        if operation.block >= 0:
            yield from _texts(plan, operation.block, here)
        elif (operation.element or operation.code) in (Op.STRING, Op.BYTES):
            yield here


def marking_of(source: CompiledCatalog, name: str, version: int, wanted: Callable[[Path], bool]) -> tuple[Marking, tuple[Path, ...]]:
    """What a walk looks for in messages of one version: the plan with the fields as singles, and the path of each single.

    Arguments and errors are those of `FieldWalker`.
    """
    paths = tuple(path for path in _texts(source.plan(name, version)) if wanted(path))
    singles = tuple(map(".".join, paths))
    return mark(compile_plan(source.message(name), version, singles), singles, ()), paths


class FieldWalker:
    """Walks messages of one plan.

    Arguments:
        source: the compiled catalog, whose twin walks.
        name, version: of the message.
        wanted: says of the path of a string or bytes field whether it is to be found.

    Raises:
        KwireError: no such message.
        UnsupportedVersion: the message has no such version.
    """

    def __init__(self, source: CompiledCatalog, name: str, version: int, wanted: Callable[[Path], bool]) -> None:
        marking, paths = marking_of(source, name, version, wanted)
        self._spans = load_twin("codec", "field_spans", source.twin).FieldSpans(marking, paths, (UNKNOWN_TAG,))

    def walk(self, data: Buffer, offset: int, *, whole: bool = True) -> SpanReading:
        """Find the fields that are wanted; never raises for what the bytes are.

        Arguments:
            data: the bytes; any contiguous buffer.
            offset: where the message begins.
            whole: the bytes end where the message does; else its end was cut off.
        """
        return SpanReading(*self._spans.find(data, offset, whole))
