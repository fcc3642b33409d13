"""Readers: Python source generated from a plan, one function per struct, compiled when a message is first read.

A reader handles only usual, well-formed bytes, as fast as Python can. For all others it raises one of `FALLBACK_ERRORS`, and a walk over
the same bytes (`kwire.codec._pure.walk`) reads them or reports the fault. So its source has no error codes, offsets or paths. For a struct
of an int32, a nullable compact string and an array of structs it is::

    def read_1(data, pos, end, count):
        made = []
        for _ in range(count):
            t = new(C1)
            made.append(t)
            t.unknown_tagged_fields = ()
            t.node_id, n = U2(data, pos)            # neighbours of fixed size and the length behind them in one call
            pos += 5
            if n > 1:
                if n > 127:
                    n, pos = long_varint(data, pos - 1, end)
                t.host = data[pos:(pos := pos + n - 1)].decode()
            elif n:
                t.host = ""
            else:
                t.host = None
            ...
            n = data[pos]
            pos += 1
            if n:
                pos = tags_read_1(t, data, pos - 1, end)
        return made, pos

Reading single bytes and unpacking beyond the end raise errors, but slices do not. So the caller must check whether the returned position is
beyond the end, and counts are checked against the remaining bytes before each loop.

All text in the source comes from this module, except for attribute names, which the schema's loader restricts to letters and digits; other
values are passed as numbered objects (`C1`, `U2`, `K3`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from kwire.codec._pure.primitives import MAX_LENGTH, Break, Buffer, read_length, read_varint
from kwire.codec._pure.source_text import SourceText, can_be_source, function_of
from kwire.codec._pure.structs import default_maker
from kwire.codec.layout import Default
from kwire.codec.plan import FIXED_SIZE, FORMATS, Flag, Op, Operation, Plan
from kwire.codec.uuids import Uuid
from kwire.codec.written_values import LONGEST_TEXT
from kwire.errors import Fault

__all__ = ["FALLBACK_ERRORS", "Reader", "make_reader", "reader_source"]

FALLBACK_ERRORS: Final = (Break, IndexError, struct.error, UnicodeDecodeError)

_SHORT_ARRAYS: Final = 17  # arrays with fewer elements of fixed size have their unpackers ready


def long_varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """Read a compact length (plus one, as on the wire) of two or more bytes; raise `Break` for an overlong one."""
    length, pos = read_length(data, at, end, 0)
    if length < 127:
        raise Break(Fault.BAD_VARINT, at)
    return length + 1, pos


def long_text(data: Buffer, at: int, end: int) -> tuple[int, int]:
    length, pos = long_varint(data, at, end)
    if length - 1 > LONGEST_TEXT:
        raise Break(Fault.BAD_LENGTH, at)
    return length, pos


def unknown_tags(data: Buffer, pos: int, end: int) -> tuple[tuple[tuple[int, bytes], ...], int]:
    """Read the tagged section of a struct without defined tags."""
    number, pos = read_varint(data, pos, end)
    found = []
    for _ in range(number):
        tag, pos = read_varint(data, pos, end)
        size, pos = read_varint(data, pos, end)
        stop = pos + size
        if size > MAX_LENGTH or stop > end:
            raise Break(Fault.BAD_LENGTH, pos)
        found.append((tag, bytes(data[pos:stop])))
        pos = stop
    return tuple(found), pos


@cache
def _short_unpackers(letter: str) -> tuple[Any, ...]:
    return tuple(struct.Struct(f">{count}{letter}").unpack_from for count in range(_SHORT_ARRAYS))


class _Source(SourceText):
    """Source of one plan's readers; arguments as in `make_reader`."""

    def __init__(self, plan: Plan, classes: tuple[type, ...], build: bool, of_bytes: bool, views: bool) -> None:
        super().__init__({
            "new": object.__new__, "Break": Break, "bad_length": Fault.BAD_LENGTH, "Uuid": Uuid, "long_varint": long_varint,
            "long_text": long_text,
            "read_varint": read_varint, "unknown_tags": unknown_tags, "unpack_from": struct.unpack_from,
        })  # fmt: skip
        self.plan = plan
        self.classes = classes
        self._run: list[tuple[str, str | None]] = []  # neighbours of fixed size: the letter of `struct`, and what gets the value
        self._wanted: dict[str, tuple[int, bool]] = {}  # functions that are called, each with its block and whether it makes objects
        slice_of = "data[pos:(pos := pos + {})]"
        self._text = slice_of + ".decode()" if of_bytes else f'str({slice_of}, "utf-8")'
        self._bytes = slice_of if of_bytes or views else f"bytes({slice_of})"
        self._no_bytes = "data[pos:pos]" if views else 'b""'
        self.root = self._call(0, build)
        written = 0
        while written < len(self._wanted):
            name, (block, builds) = list(self._wanted.items())[written]
            self._function(name, block, builds)
            written += 1

    def _call(self, block: int, build: bool) -> str:
        name = f"{'read' if build else 'skip'}_{block}"
        self._wanted[name] = block, build
        return name

    # Structs

    def _function(self, name: str, index: int, build: bool) -> None:
        block = self.plan.blocks[index]
        with self.inside(f"def {name}(data, pos, end, count):"):
            if build:
                self.line("made = []")
            with self.inside("for _ in range(count):"):
                if build:
                    self.line(f"t = new({self.name('C', block.layout, self.classes[block.layout])})")
                    self.line("made.append(t)")
                    self._defaults(index)
                for number in range(block.first, block.first + block.untagged):
                    self._field(index, number, build)
                if self.plan.flexible:
                    self._length("B")
                    with self.inside("if n:"):
                        if block.tagged or block.refused_tags:
                            self.line(f"pos = tags_{name}({'t' if build else 'None'}, data, pos - 1, end)")
                        else:
                            self.line(f"{'t.unknown_tagged_fields' if build else '_'}, pos = unknown_tags(data, pos - 1, end)")
                elif block.untagged:
                    self._flush()
                else:
                    self.line("pass")
            self.line("return made, pos" if build else "return None, pos")
        if block.tagged or (self.plan.flexible and block.refused_tags):
            self._tags_function(f"tags_{name}", index, build)

    def _defaults(self, index: int) -> None:
        """Write defaults, including those of tagged fields, because most are absent."""
        block = self.plan.blocks[index]
        slots = self.plan.layouts[block.layout].slots
        constants: list[tuple[str, Any]] = []
        for absent in block.absent:
            target = f"t.{slots[absent.slot].attribute}"
            if absent.default == Default.CONSTANT:
                constants.append((target, absent.value))
            elif absent.default == Default.LIST:
                self.line(f"{target} = []")
            else:
                self._default_struct(target, absent.value)
        self._constants("t", constants)

    def _default_struct(self, target: str, layout: int) -> None:
        slots = self.plan.layouts[layout].slots
        if any(slot.default != Default.CONSTANT for slot in slots):
            self.line(f"{target} = {self.name('M', layout, default_maker(self.classes[layout]))}()")
        else:
            self.line(f"{target} = d = new({self.name('C', layout, self.classes[layout])})")
            self._constants("d", [(f"d.{slot.attribute}", slot.value) for slot in slots])

    def _constants(self, owner: str, constants: list[tuple[str, Any]]) -> None:
        chains: dict[str, list[str]] = {"()": [f"{owner}.unknown_tagged_fields"]}
        for target, value in constants:
            chains.setdefault(self.constant(value), []).append(target)
        for value, targets in chains.items():
            self.line(f"{' = '.join(targets)} = {value}")

    def _tags_function(self, name: str, index: int, build: bool) -> None:
        block = self.plan.blocks[index]
        with self.inside(f"def {name}(t, data, pos, end):"):
            self.line("number, pos = read_varint(data, pos, end)")
            self.line("unknown = []")
            with self.inside("for _ in range(number):"):
                self.line("tag, pos = read_varint(data, pos, end)")
                self.line("size, pos = read_varint(data, pos, end)")
                self.line("stop = pos + size")
                self._odd_if(f"size > {MAX_LENGTH} or stop > end")
                for at in range(block.first + block.untagged, block.first + block.untagged + block.tagged):
                    with self.inside(f"if tag == {self.plan.operation(at).tag}:"):
                        self._field(index, at, build)
                        self._flush()
                        self._odd_if("pos != stop")
                        self.line("continue")
                if block.refused_tags:
                    self._odd_if(f"tag in {block.refused_tags}")
                if build:
                    self.line("unknown.append((tag, bytes(data[pos:stop])))")
                self.line("pos = stop")
            if build:
                self.line("t.unknown_tagged_fields = tuple(unknown)")
            self.line("return pos")

    # Fields

    def _field(self, index: int, number: int, build: bool) -> None:
        operation, name = self.plan.operation(number), self.plan.attribute(index, number)
        build = build and not operation.flags & Flag.SKIP
        target = f"t.{name}" if build else None
        code, compact = operation.code, bool(operation.flags & Flag.COMPACT)
        null = (f"{target} = None" if build else "") if operation.flags & Flag.NULLABLE else None
        if code in FIXED_SIZE:
            self._run.append((FORMATS[code], target))
        elif code == Op.ARRAY:
            self._length("B" if compact else "i")
            self._by_length(compact, lambda: self._array(operation, compact, target), self._empty_array(operation, target), null)
        elif code == Op.STRUCT:
            self._struct(operation, compact, target, null)
        else:
            self._lengthed(code, compact, None if target is None else f"{target} = {{}}", null)

    @staticmethod
    def _empty_array(operation: Operation, target: str | None) -> str:
        return "" if target is None else f"{target} = []" if operation.element == Op.STRUCT else f"{target} = ()"

    def _lengthed(self, code: int, compact: bool, assign: str | None, null: str | None) -> None:
        string = code == Op.STRING
        self._length("B" if compact else "h" if string else "i")
        length = "n - 1" if compact else "n"
        if assign is None:
            self._by_length(compact, lambda: self.line(f"pos += {length}"), "", null, string)
        else:
            value = (self._text if string else self._bytes).format(length)
            empty = assign.format('""' if string else self._no_bytes)
            self._by_length(compact, lambda: self.line(assign.format(value)), empty, null, string)

    def _struct(self, operation: Operation, compact: bool, target: str | None, null: str | None) -> None:
        function = self._call(operation.block, target is not None)
        call = f"{'_' if target is None else f'({target},)'}, pos = {function}(data, pos, end, 1)"
        if null is None:
            self._flush()
            self.line(call)
            return
        # The marker of a tagged struct is a varint, 0 for null; that of others is a byte, negative for null.
        self._length("B" if compact else "b")
        if compact:
            with self.inside("if n > 127:"):
                self.line("n, pos = long_varint(data, pos - 1, end)")
        with self.inside("if n:" if compact else "if n >= 0:"):
            self.line(call)
        if null:
            with self.inside("else:"):
                self.line(null)

    def _array(self, operation: Operation, compact: bool, target: str | None) -> None:
        if compact:
            self.line("n -= 1")
        element = operation.element
        if element not in FIXED_SIZE or element == Op.UUID:  # what unpacks at once fails at once
            self._odd_if(f"n * {operation.minimum} > end - pos")
        if element == Op.STRUCT:
            self.line(f"{target or '_'}, pos = {self._call(operation.block, target is not None)}(data, pos, end, n)")
        elif element not in FIXED_SIZE:
            if target is not None:
                self.line("items = []")
            with self.inside("for _ in range(n):"):
                self._lengthed(element, compact, None if target is None else "items.append({})", None)
            if target is not None:
                self.line(f"{target} = tuple(items)")
        else:
            if target is not None and element == Op.UUID:
                self.line(f"{target} = tuple([Uuid(data[at : at + 16]) for at in range(pos, pos + n * 16, 16)])")
            elif target is not None:
                letter = FORMATS[element]
                short = self.name("A", letter, _short_unpackers(letter))
                self.line(f'{target} = {short}[n](data, pos) if n < {_SHORT_ARRAYS} else unpack_from(f">{{n}}{letter}", data, pos)')
            self.line(f"pos += n * {FIXED_SIZE[element]}")

    # Pieces

    def _odd_if(self, condition: str) -> None:
        with self.inside(f"if {condition}:"):
            self.line("raise Break(bad_length, pos)")

    def _by_length(self, compact: bool, present: Callable[[], None], empty: str, null: str | None, string: bool = False) -> None:
        """Write the branches on length `n`; `empty` and `null` are the lines of those cases (None: fall back)."""
        with self.inside("if n > 1:" if compact else "if n > 0:"):
            if compact:
                with self.inside("if n > 127:"):
                    self.line(f"n, pos = {'long_text' if string else 'long_varint'}(data, pos - 1, end)")
            present()
        null = "raise Break(bad_length, pos)" if null is None else null
        if compact:  # 0 is null, 1 is empty
            branches = (("elif n:", empty), ("else:", null)) if empty else (("elif not n:", null),)
        else:  # all below 0 is null
            branches = (("elif n:", null), ("else:", empty)) if null else (("elif not n:", empty),)
        for head, line in branches:
            if line:
                with self.inside(head):
                    self.line(line)

    def _length(self, letter: str) -> None:
        """Read `n` and the pending run in one call."""
        self._run.append((letter, "n"))
        self._flush()

    def _flush(self) -> None:
        """Read the pending run of fixed-size fields."""
        run, self._run = self._run, []
        size = struct.calcsize(">" + "".join(letter for letter, _ in run))
        targets = [(letter, target) for letter, target in run if target is not None]
        if targets == [("B", "n")] and run[-1] == targets[0]:
            self.line(f"n = data[pos + {size - 1}]" if size > 1 else "n = data[pos]")
        elif targets:
            form = ">" + "".join(letter if target else f"{struct.calcsize('>' + letter)}x" for letter, target in run)
            # A UUID waits in a name of its own until it has its class.
            names = [f"u{index}" if letter == "16s" else str(target) for index, (letter, target) in enumerate(targets)]
            unpack = self.name("U", form, struct.Struct(form).unpack_from)
            self.line(f"{', '.join(names)}{',' * (len(names) == 1)} = {unpack}(data, pos)")
            for name, (letter, target) in zip(names, targets, strict=True):
                if letter == "16s":
                    self.line(f"{target} = Uuid({name})")
        if size:
            self.line(f"pos += {size}")


Reader = Callable[[Buffer, int, int, int], tuple[Any, int]]


def reader_source(
    plan: Plan, classes: tuple[type, ...], build: bool, of_bytes: bool, views: bool = False
) -> tuple[str, str, dict[str, Any]]:
    source = _Source(plan, classes, build, of_bytes, views)
    return str(source), source.root, source.names


def make_reader(plan: Plan, classes: tuple[type, ...], build: bool, of_bytes: bool, views: bool = False) -> Reader:
    """Compile the reader of a plan: `read(data, pos, end, 1)` gives a list of one message, None without `build`, and its end.

    The returned end is beyond `end` if bytes are missing. The data is `bytes` or a memory view; with `views`, values are views too.
    """
    if not can_be_source(plan):
        return _leave_to_the_walk
    text, root, names = reader_source(plan, classes, build, of_bytes, views)
    return function_of(text, root, names, f"readers of {plan.message} v{plan.version}")


def _leave_to_the_walk(data: Buffer, pos: int, end: int, count: int) -> tuple[Any, int]:
    """Return a reader for attributes that source cannot spell, such as ``from``."""
    raise Break(Fault.BAD_LENGTH, pos)
