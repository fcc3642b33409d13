"""Writers: Python source generated from a plan, one function per struct, compiled when a message is first written.

A writer handles only usual values, as fast as Python can. For all others it raises one of `FALLBACK_ERRORS`, and a walk over the same
objects (`kwire.codec.write_walk`) writes them or reports the fault. For a struct of an int32, a nullable compact string and an array of
structs it is::

    def write_1(items, out):
        for t in items:
            if type(t) is not C1:
                raise NeedsFallback
            s = t.host
            if s is None:
                out(P2(t.node_id, 0))              # neighbours of fixed size and the length behind them in one call
            else:
                s = text(s)
                n = len(s) + 1
                if n < 128:
                    out(P2(t.node_id, n))
                else:
                    if n > 32768:
                        raise NeedsFallback
                    out(P3(t.node_id))
                    out(varint(n))
                out(s)
            ...
            if t.unknown_tagged_fields != ():
                put_tags(out, [], t.unknown_tagged_fields, K5)
            else:
                out(ZERO)

Each attribute is read once, and arrays are copied before they are counted, so the bytes are a valid message even if other threads or
`__index__` change the object meanwhile. All text in the source comes from this module, except for attribute names, which the schema's
loader restricts to letters and digits; other values are passed as numbered objects (`C1`, `P2`, `K5`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from kwire.codec._pure.source_text import SourceText, can_be_source, function_of
from kwire.codec.layout import Default, SlotLayout
from kwire.codec.plan import FIXED_SIZE, FORMATS, Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.codec.write_walk import holds_default, unknown_tags
from kwire.codec.written_values import LONGEST_TEXT, Refusal, bytes_of, flag_of, items_of, varint

__all__ = ["FALLBACK_ERRORS", "Writer", "make_writer", "writer_source"]

Out = Callable[[bytes], None]
Writer = Callable[[Any, Out], None]


class NeedsFallback(Exception):
    """Signal that the walk must write a value."""


FALLBACK_ERRORS: Final = (NeedsFallback, Refusal, struct.error, TypeError, AttributeError, ValueError, OverflowError)

_FORMATS: Final = FORMATS | {Op.BOOL: "B"}
_SHORT_ARRAYS: Final = 17  # arrays with fewer elements of fixed size have their packers ready


def _uuid(value: Any) -> Any:
    """Return a UUID of the usual type; `struct` would pad or truncate others."""
    if (type(value) is Uuid or type(value) is bytes) and len(value) == 16:
        return value
    raise NeedsFallback


def _put_tags(out: Out, sections: list[tuple[int, bytes]], unknown: Any, known: frozenset[int]) -> None:
    """Write a tagged section from known tags and `unknown_tagged_fields`."""
    sections += unknown_tags(unknown, known)
    sections.sort(key=lambda section: section[0])
    out(varint(len(sections)))
    for tag, payload in sections:
        out(varint(tag))
        out(varint(len(payload)))
        out(payload)


@cache
def _short_packers(form: str, letter: str) -> tuple[Any, ...]:
    return tuple(struct.Struct(form + letter * count).pack for count in range(_SHORT_ARRAYS))


class _Source(SourceText):
    """Source of one plan's writers."""

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        super().__init__({
            "NeedsFallback": NeedsFallback, "text": str.encode, "bytes_of": bytes_of, "items_of": items_of, "varint": varint, "uuid": _uuid,
            "flag": flag_of, "put_tags": _put_tags, "holds_default": holds_default, "classes": classes, "pack": struct.pack,
        })  # fmt: skip
        self.plan = plan
        self.classes = classes
        self._run: list[tuple[str, str]] = []  # neighbours of fixed size: the letter of `struct` and the expression
        self._wanted: dict[str, Callable[[], None]] = {}  # functions that are called, and what writes each
        self.root = self._call(0)
        written = 0
        while written < len(self._wanted):
            list(self._wanted.values())[written]()
            written += 1

    def _call(self, block: int) -> str:
        name = f"write_{block}"
        self._wanted.setdefault(name, lambda: self._function(name, block))
        return name

    # Structs

    def _function(self, name: str, index: int) -> None:
        block = self.plan.blocks[index]
        slots = self.plan.layouts[block.layout].slots
        with self.inside(f"def {name}(items, out):"), self.inside("for t in items:"):
            self._odd_if(f"type(t) is not {self.name('C', block.layout, self.classes[block.layout])}")
            for absent in block.absent:
                if not absent.tagged and not absent.ignorable:
                    self.line(f"v = t.{slots[absent.slot].attribute}")
                    self._odd_if(self._unless_default(slots[absent.slot]))
            for number in range(block.first, block.first + block.untagged):
                self._field(index, number)
            self._tags(index)

    def _unless_default(self, slot: SlotLayout) -> str:
        """Write the test that `v` is not its default, quick checks first."""
        exactly = f"holds_default(v, {self.name('S', slot, slot)}, classes)"
        return f"not ({self._is_plain('v', slot)} or {exactly})"

    def _is_plain(self, value: str, slot: SlotLayout) -> str:
        if slot.default == Default.LIST:
            return f"(type({value}) is list and not {value})"
        if slot.default == Default.STRUCT:
            name = f"plain_{slot.value}"
            self._wanted.setdefault(name, lambda: self._plain_function(name, slot.value))
            return f"{name}({value})"
        return f"{value} is {self.name('K', (type(slot.value), repr(slot.value)), slot.value)}"

    def _plain_function(self, name: str, layout: int) -> None:
        tests = [self._is_plain(f"v.{slot.attribute}", slot) for slot in self.plan.layouts[layout].slots]
        kind = self.name("C", layout, self.classes[layout])
        with self.inside(f"def {name}(v):"):
            self.line(f"return {' and '.join((f'type(v) is {kind}', *tests, 'v.unknown_tagged_fields == ()'))}")

    def _tags(self, index: int) -> None:
        block = self.plan.blocks[index]
        if not self.plan.flexible:
            self._flush()
            self._odd_if("t.unknown_tagged_fields != ()")
            return
        first = block.first + block.untagged
        tags = {self.plan.operation(number).tag for number in range(first, first + block.tagged)}
        known = frozenset(tags.union(block.refused_tags))
        self.line("u = t.unknown_tagged_fields")
        if block.tagged:
            self.line("sections = []")
        for number in range(first, first + block.tagged):
            operation = self.plan.operation(number)
            slot = self.plan.layouts[block.layout].slots[operation.slot]
            self.line(f"v = t.{slot.attribute}")
            with self.inside(f"if {self._unless_default(slot)}:"):
                self.line("parts = []")
                self.line(f"{self._tag_call(operation, number)}(v, parts.append)")
                self.line(f"sections.append(({operation.tag}, b''.join(parts)))")
        with self.inside(f"if {'sections or ' if block.tagged else ''}u != ():"):
            self._write_run()
            self.line(f"put_tags(out, {'sections' if block.tagged else '[]'}, u, {self.name('T', known, known)})")
        with self.inside("else:"):
            self._write_run(("B", "0"))
        self._run = []

    def _tag_call(self, operation: Operation, number: int) -> str:
        name = f"tag_{number}"
        self._wanted.setdefault(name, lambda: self._tag_function(name, operation))
        return name

    def _tag_function(self, name: str, operation: Operation) -> None:
        with self.inside(f"def {name}(v, out):"):
            self._value(operation, "v")
            self._flush()

    # Fields

    def _field(self, index: int, number: int) -> None:
        self._value(self.plan.operation(number), f"t.{self.plan.attribute(index, number)}")

    def _value(self, operation: Operation, source: str) -> None:
        code, compact = operation.code, bool(operation.flags & Flag.COMPACT)
        nullable = bool(operation.flags & Flag.NULLABLE)
        if code in FIXED_SIZE:
            self._run.append((_FORMATS[code], self._fixed(code, source)))
        elif code == Op.STRUCT:
            self._struct(operation, source, compact, nullable)
        else:
            letter = "B" if compact else "h" if code == Op.STRING else "i"
            self.line(f"v = {source}")
            if nullable:
                with self.inside("if v is None:"):
                    self._write_run((letter, "0" if compact else "-1"))
                with self.inside("else:"):
                    self._present(operation, letter, compact)
            else:
                self._present(operation, letter, compact)
            self._run = []

    @staticmethod
    def _fixed(code: int, source: str) -> str:
        return f"uuid({source})" if code == Op.UUID else f"flag({source})" if code == Op.BOOL else source

    def _present(self, operation: Operation, letter: str, compact: bool) -> None:
        """Write the value `v`, which has a length."""
        if operation.code == Op.ARRAY:
            self._array(operation, letter, compact)
        else:
            self._content(operation.code)
            self._length(letter, compact, operation.code == Op.STRING)
            self.line("out(v)")

    def _content(self, code: int) -> None:
        if code == Op.STRING:
            self.line("v = text(v)")
        else:
            with self.inside("if type(v) is not bytes:"):
                self.line("v = bytes_of(v)")

    def _length(self, letter: str, compact: bool, text: bool) -> None:
        if not compact:
            self._write_run((letter, "len(v)"))
            return
        self.line("n = len(v) + 1")
        with self.inside("if n < 128:"):
            self._write_run(("B", "n"))
        with self.inside("else:"):
            if text:
                self._odd_if(f"n > {LONGEST_TEXT + 1}")
            self._write_run()
            self.line("out(varint(n))")

    def _struct(self, operation: Operation, source: str, compact: bool, nullable: bool) -> None:
        call = f"{self._call(operation.block)}((v,), out)"
        self.line(f"v = {source}")
        if not nullable:
            self._flush()
            self.line(call)
            return
        with self.inside("if v is None:"):
            self._write_run(("B", "0" if compact else "255"))
        with self.inside("else:"):
            self._write_run(("B", "1"))
            self.line(call)
        self._run = []

    def _array(self, operation: Operation, letter: str, compact: bool) -> None:
        element = operation.element
        if element not in FIXED_SIZE:
            with self.inside("if type(v) is not tuple:"):
                self.line("v = items_of(v)")
            self._length(letter, compact, False)
            if element == Op.STRUCT:
                self.line(f"{self._call(operation.block)}(v, out)")
                return
            self._run = []
            with self.inside("for v in v:"):
                self._content(element)
                self._length("B" if compact else "h" if element == Op.STRING else "i", compact, element == Op.STRING)
                self.line("out(v)")
            return
        with self.inside("if type(v) is not tuple:"):
            self.line("v = items_of(v)")
        if element in (Op.UUID, Op.BOOL):
            self.line(f"v = [{self._fixed(element, 'e')} for e in v]")
        self.line("n = len(v)")
        with self.inside(f"if n < {_SHORT_ARRAYS}:"):
            form = ">" + "".join(each for each, _ in self._run) + letter
            packers = self.name("A", (form, element), _short_packers(form, _FORMATS[element]))
            values = ", ".join((*(expression for _, expression in self._run), "n + 1" if compact else "n"))
            self.line(f"out({packers}[n]({values}, *v))")
        with self.inside("else:"):
            self._write_run(*(() if compact else ((letter, "n"),)))
            if compact:
                self.line("out(varint(n + 1))")
            self.line(f'out(pack(">" + "{_FORMATS[element]}" * n, *v))')

    # Pieces

    def _odd_if(self, condition: str) -> None:
        with self.inside(f"if {condition}:"):
            self.line("raise NeedsFallback")

    def _flush(self) -> None:
        """Write the pending run of fixed-size fields and start another."""
        self._write_run()
        self._run = []

    def _write_run(self, *more: tuple[str, str]) -> None:
        """Write the pending run, and keep it for other branches."""
        run = [*self._run, *more]
        if len(run) == len(more) == 1 and run[0][0] == "B" and run[0][1].isdigit():
            self.line(f"out({self.constant(bytes([int(run[0][1])]))})")
        elif run:
            form = ">" + "".join(letter for letter, _ in run)
            self.line(f"out({self.name('P', form, struct.Struct(form).pack)}({', '.join(value for _, value in run)}))")


def writer_source(plan: Plan, classes: tuple[type, ...]) -> tuple[str, str, dict[str, Any]]:
    source = _Source(plan, classes)
    return str(source), source.root, source.names


def make_writer(plan: Plan, classes: tuple[type, ...]) -> Writer:
    """Compile the writer of a plan: `write((message,), out)` passes the parts to `out` or raises one of `FALLBACK_ERRORS`."""
    if not can_be_source(plan):
        return _leave_to_the_walk
    text, root, names = writer_source(plan, classes)
    return function_of(text, root, names, f"writers of {plan.message} v{plan.version}")


def _leave_to_the_walk(items: Any, out: Out) -> None:
    """Return a writer for attributes that source cannot spell, such as ``from``."""
    raise NeedsFallback
