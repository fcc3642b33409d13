"""Edits of the pure backend: actions on the places found by a walk, returned as pieces of the frame and new bytes."""

from __future__ import annotations

import struct
from typing import Any, Final

from kwire.codec._pure.primitives import Buffer, as_buffer, join_path
from kwire.codec._pure.span_walk import ArraySpan, MarkedPlan, Place, SpanWalk, walk_over
from kwire.codec.edit_actions import DROPPED, EditAction, SetValue
from kwire.codec.plan import Op
from kwire.codec.splice_plan import ANY, EditPlan, Marking
from kwire.codec.splice_values import MOST_BYTES, content_of, head_of, varint
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, Fault, WireError, wire_error

__all__ = ["EditProgram"]

LEAST_VIEW: Final = 512  # bytes; shorter stretches of the frame are copied, because a piece costs more than they do
_COUNT: Final = struct.Struct(">i")
_FORMATS: Final[dict[int, str]] = {
    Op.BOOL: ">?", Op.INT8: ">b", Op.INT16: ">h", Op.UINT16: ">H", Op.INT32: ">i", Op.UINT32: ">I", Op.INT64: ">q", Op.FLOAT64: ">d",
}  # fmt: skip

Change = tuple[int, int, bytes]  # what lies between two offsets becomes these bytes


def misplaced(
    marking: Marking, data: Any, offset: int, begin: int, error: EncodeError | WireError, strict: bool
) -> EncodeError | WireError:
    """Add the path of the place at `begin` to an error about its value; a `WireError` concerns bytes inside it."""
    plan = marking.plan
    for _, places in walk_over(MarkedPlan(marking), as_buffer(data), offset, strict).found:
        for place in places:
            if place is not None and place.begin == begin:
                path = join_path([*reversed(place.steps)])
                inside = f"{path}.{error.path}" if error.path else path
                if isinstance(error, WireError):
                    at = place.content + error.offset
                    return wire_error(error.code, at, inside, plan.message, plan.api_key, plan.version, error.reason)
                return EncodeError(error.reason, path=inside, message=plan.message, api_version=plan.version)
    raise AssertionError(f"no value begins at {begin}")


class EditProgram:
    """Edit of one kind of frame; `header` decodes the frame's header, None for a program that only splices."""

    __slots__ = ("_header", "_marked", "_plan", "capsule")

    def __init__(self, plan: EditPlan, header: Any = None) -> None:
        self._plan = plan
        self._header = header
        self._marked = MarkedPlan(plan.marking)
        self.capsule = None  # the native backend's program

    def pieces(self, frame: Any, id_at: int, correlation_id: bytes | None, framed: bool) -> list[bytes | memoryview]:
        """Edit a frame whose correlation id is at `id_at`; see `kwire.codec.edits.Edit.pieces`."""
        data = self._buffer(frame)
        changes, size = self._changes(data, self._header.skip(data), self._plan.singles, self._plan.rules, False)
        if correlation_id is not None:
            changes.insert(0, (id_at, id_at + 4, correlation_id))
        return _joined(data, changes, size.to_bytes(4, "big") if framed else b"")

    def splice(self, data: Any, offset: int, singles: tuple[EditAction, ...], rules: tuple[EditAction, ...], strict: bool = True) -> bytes:
        """Rewrite a message with the caller's actions, and copy the bytes before it.

        `singles` has an action for each choice of the plan's patterns or, without patterns, for each single of the marking. Returns `data`
        itself if it is `bytes` and nothing changes.
        """
        buffer = self._buffer(data)
        changes, _ = self._changes(buffer, offset, singles, rules, strict)
        if not changes:
            return data if type(data) is bytes else bytes(buffer)
        return b"".join(_joined(buffer, changes, b""))

    def _buffer(self, data: Any) -> Buffer:
        buffer, plan = as_buffer(data), self._plan.marking.plan
        if len(buffer) > MOST_BYTES:
            reason = f"{len(buffer)} bytes are more than a frame can hold, {MOST_BYTES}"
            raise wire_error(Fault.LIMIT_EXCEEDED, 0, "", plan.message, plan.api_key, plan.version, reason)
        return buffer

    def _changes(
        self, data: Buffer, offset: int, singles: tuple[EditAction, ...], rules: tuple[EditAction, ...], strict: bool
    ) -> tuple[list[Change], int]:
        """Return all changes in the order of the bytes, and the new size."""
        plan = self._plan.marking.plan
        changes = _Changes(self._plan, data, offset, walk_over(self._marked, data, offset, strict), strict).made(singles, rules)
        size = len(data) + sum(len(content) - (stop - start) for start, stop, content in changes)
        if size > MOST_BYTES:
            reason = f"the message would have {size} bytes, {MOST_BYTES} is the most"
            raise EncodeError(reason, message=plan.message, api_version=plan.version)
        return changes, size


class _Changes:
    def __init__(self, plan: EditPlan, data: Buffer, offset: int, walk: SpanWalk, strict: bool) -> None:
        self.plan = plan
        self.data = data
        self.offset = offset
        self.walk = walk
        self.strict = strict
        self.found: list[tuple[Place, bytes | None]] = []

    def made(self, singles: tuple[EditAction, ...], rules: tuple[EditAction, ...]) -> list[Change]:
        work: list[tuple[EditAction, tuple[Place | None, ...], tuple[Place | None, ...]]] = []
        met = set()
        for number, places in self.walk.found:
            if number >= 0:
                written = places[len(self.plan.marking.rules[number].reads) :]
                if None not in written:
                    work.append((rules[number], places, written))
            elif (choice := self._choice(places[0])) >= 0:
                met.add(choice)
                work.append((singles[choice], places, places))
        for choice, action in enumerate(singles):
            if isinstance(action, SetValue) and action.path and choice not in met:
                reason, plan = "no such element in the bytes; a splice cannot add one", self.plan.marking.plan
                raise EncodeError(reason, path=action.path, message=plan.message, api_version=plan.version)
        for each in work:
            self.act(*each)
        self._spread()
        changes = [self._change(place, content) for place, content in self.found if not self._is_gone(place.element)]
        changes += self._arrays()
        changes += self._sections()
        changes.sort()
        return changes

    def _choice(self, place: Place | None) -> int:
        """Find the choice for the place of a single; -1 if there is none."""
        assert place is not None
        single, patterns = place.leaf.single, self.plan.patterns
        if not patterns:
            return single
        indexes = [step for step in place.steps if isinstance(step, int)]
        for number, pattern in enumerate(patterns[single]):
            if pattern is None or all(want in (ANY, index) for want, index in zip(pattern, indexes, strict=True)):
                return sum(map(len, patterns[:single])) + number
        return -1

    def act(self, action: EditAction, places: tuple[Place | None, ...], written: tuple[Place | None, ...]) -> None:
        values = [None if place is None else value_at(self.data, place) for place in places]
        last = written[0]
        assert last is not None
        try:
            made = action(*values)
            if made is None:
                return
            if made is DROPPED:
                if last.element < 0:
                    raise EncodeError("a name of somebody else is here, and no element is around it that could be dropped")
                self.walk.elements[last.element].is_dropped = True
                return
            assert isinstance(made, tuple)
            for place, old, new in zip(written, values[-len(written) :], made, strict=True):
                assert place is not None
                last = place
                if new is not old:
                    content = content_of(place.leaf.code, place.leaf.nullable, new)
                    if content != (None if place.null else self.data[place.content : place.stop]):
                        self.found.append((place, content))
            return
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.plan.marking, self.data, self.offset, last.begin, error, self.strict)
        raise wrong

    def _spread(self) -> None:
        """Drop changes inside dropped elements, and reduce the counts of their arrays."""
        for element in self.walk.elements:  # those around come before
            if self._is_gone(element.array.element):
                element.is_dropped = True
            element.array.dropped += element.is_dropped

    def _is_gone(self, element: int) -> bool:
        return element >= 0 and self.walk.elements[element].is_dropped

    def _change(self, place: Place, content: bytes | None) -> Change:
        if content is not None and not place.null and len(content) == place.stop - place.content:
            return place.content, place.stop, content
        new = head_of(place.leaf.code, place.leaf.compact, -1 if content is None else len(content)) + (content or b"")
        return self._grown(place.section, place.begin, place.stop, new)

    def _grown(self, section: int, start: int, stop: int, content: bytes) -> Change:
        if section >= 0:
            self.walk.sections[section].delta += len(content) - (stop - start)
        return start, stop, content

    def _arrays(self) -> list[Change]:
        changes: list[Change] = []
        arrays: dict[int, ArraySpan] = {}
        for element in self.walk.elements:
            array = element.array
            if element.is_dropped and not self._is_gone(array.element):
                changes.append(self._grown(array.section, element.begin, element.stop, b""))
                arrays[array.begin] = array
        for array in arrays.values():
            left = array.count - array.dropped
            count = varint(left + 1) if array.compact else _COUNT.pack(left)
            changes.append(self._grown(array.section, array.begin, array.stop, count))
        return changes

    def _sections(self) -> list[Change]:
        changes: list[Change] = []
        for section in reversed(self.walk.sections):  # those inside a tagged field come behind it
            if section.delta:
                size = varint(section.size + section.delta)
                changes.append((section.begin, section.stop, size))
                if section.parent >= 0:
                    self.walk.sections[section.parent].delta += section.delta + len(size) - (section.stop - section.begin)
        return changes


def _joined(data: Buffer, changes: list[Change], head: bytes) -> list[bytes | memoryview]:
    pieces: list[bytes | memoryview] = []
    made = bytearray(head)
    at = 0
    view = memoryview(data)
    for start, stop, content in (*changes, (len(data), len(data), b"")):
        if start - at < LEAST_VIEW:
            made += view[at:start]
        else:
            if made:
                pieces.append(bytes(made))
                made.clear()
            pieces.append(view[at:start])
        made += content
        at = stop
    if made:
        pieces.append(bytes(made))
    return pieces


def value_at(data: Buffer, place: Place) -> Any:
    if place.null:
        return None
    code = place.leaf.code
    if code == Op.STRING:
        return str(data[place.content : place.stop], "utf-8")
    if code == Op.BYTES:
        return bytes(data[place.content : place.stop])
    if code == Op.UUID:
        return Uuid(data[place.content : place.stop])
    return struct.unpack_from(_FORMATS[code], data, place.content)[0]
