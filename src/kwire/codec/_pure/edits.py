"""Edits of the pure twin: what the actions of a plan make of the places that a walk has found, as pieces of the frame and new bytes.

An element that is dropped goes with all that would change in it; the count of its array and the sizes of tagged fields around follow.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from kwire.codec._pure.primitives import Buffer, as_buffer
from kwire.codec._pure.span_walk import ArraySpan, MarkedPlan, Place, SpanWalk, walk_over
from kwire.codec._pure.splices import misplaced, too_large, too_long, value_at
from kwire.codec.edit_actions import DROPPED
from kwire.codec.edit_plan import EditPlan
from kwire.codec.splice_values import MOST_BYTES, content_of, head_of, varint
from kwire.errors import EncodeError, WireError

__all__ = ["EditProgram"]

LEAST_VIEW: Final = 512  # bytes; shorter stretches of the frame are copied, because a piece costs more than they do
_COUNT: Final = struct.Struct(">i")

Change = tuple[int, int, bytes]  # what lies between two offsets becomes these bytes


class EditProgram:
    """An edit of one kind of frame.

    Arguments:
        plan: what to do.
        header: the decoder of the header of a frame.
    """

    __slots__ = ("_marked", "_plan", "_skip", "capsule")

    def __init__(self, plan: EditPlan, header: Any) -> None:
        self._plan = plan
        self._skip = header.skip
        self._marked = MarkedPlan(plan.marking)
        self.capsule = None  # the native twin's program

    def pieces(self, frame: Any, id_at: int, correlation_id: bytes | None, framed: bool) -> list[bytes | memoryview]:
        """The edited frame; see `kwire.codec.edits.Edit.pieces`.

        Arguments:
            id_at: where the correlation id lies.

        Raises:
            WireError, EncodeError: as there.
        """
        data = as_buffer(frame)
        if len(data) > MOST_BYTES:
            raise too_large(self._plan.marking, len(data))
        offset = self._skip(data)
        changes = _Changes(self._plan, data, offset, walk_over(self._marked, data, offset, False)).made()
        if correlation_id is not None:
            changes.insert(0, (id_at, id_at + 4, correlation_id))
        size = len(data) + sum(len(content) - (stop - start) for start, stop, content in changes)
        if size > MOST_BYTES:
            raise too_long(self._plan.marking, size)
        return _joined(data, changes, size.to_bytes(4, "big") if framed else b"")


class _Changes:
    """What becomes of the places of a walk."""

    def __init__(self, plan: EditPlan, data: Buffer, offset: int, walk: SpanWalk) -> None:
        self.plan = plan
        self.data = data
        self.offset = offset
        self.walk = walk
        self.found: list[tuple[Place, bytes | None]] = []

    def made(self) -> list[Change]:
        """All changes, in the order of the frame."""
        for number, places in self.walk.found:
            if number < 0:
                first = places[0]
                assert first is not None
                self.act(self.plan.singles[first.leaf.single], places, places)
                continue
            written = places[len(self.plan.marking.rules[number].reads) :]
            if all(place is not None for place in written):
                self.act(self.plan.rules[number], places, written)
        self._spread()
        changes = [self._change(place, content) for place, content in self.found if not self._is_gone(place.element)]
        changes += self._arrays()
        changes += self._sections()
        changes.sort()
        return changes

    def act(self, action: Any, places: tuple[Place | None, ...], written: tuple[Place | None, ...]) -> None:
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
            for place, old, new in zip(written, values[-len(written) :], made, strict=True):
                assert place is not None
                last = place
                if new is not old and new != old:
                    self.found.append((place, content_of(place.leaf.code, place.leaf.nullable, new)))
            return
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.plan.marking, self.data, self.offset, last.begin, error, False)
        raise wrong

    def _spread(self) -> None:
        """What lies in a dropped element is dropped too; arrays count what is left."""
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
