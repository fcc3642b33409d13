"""Splices of the pure twin: new values for the places that a walk has found, and a copy with what has changed.

A new value takes the place of the old one; the length before it is written only when it changes, so is the size of each tagged field around
it. All other bytes are copied: tags of no version, lengths in more bytes than they need, a null that is not -1.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from kwire.codec._pure.primitives import Buffer, as_buffer, join_path
from kwire.codec._pure.span_walk import MarkedPlan, Place, SpanWalk, walk_over
from kwire.codec.plan import Op
from kwire.codec.splice_plan import ANY, Choice, Constant, Marking
from kwire.codec.splice_values import MOST_BYTES, content_of, head_of, varint
from kwire.codec.uuids import Uuid
from kwire.errors import EncodeError, Fault, WireError, wire_error

__all__ = ["Splicer"]

_FORMATS: Final[dict[int, str]] = {
    Op.BOOL: ">?", Op.INT8: ">b", Op.INT16: ">h", Op.UINT16: ">H", Op.INT32: ">i", Op.UINT32: ">I", Op.INT64: ">q", Op.FLOAT64: ">d",
}  # fmt: skip

RuleChange = Callable[..., tuple[Any, ...] | None]


def misplaced(
    marking: Marking, data: Any, offset: int, begin: int, error: EncodeError | WireError, strict: bool
) -> EncodeError | WireError:
    """An error about the value that begins at a place, with the path of the place.

    Arguments:
        offset: where the message begins in `data`.
        begin: where the value begins; the walk has found it.
        error: of the value alone. A `WireError` is about bytes inside it.
        strict: as in `Splicer.splice`.
    """
    plan = marking.plan
    for _, places in walk_over(MarkedPlan(marking), as_buffer(data), offset, strict).found:
        for place in places:
            if place is not None and place.begin == begin:
                path = join_path([*reversed(place.steps)])
                if isinstance(error, WireError):
                    inside = f"{path}.{error.path}" if error.path else path
                    at = place.content + error.offset
                    return wire_error(error.code, at, inside, plan.message, plan.api_key, plan.version, error.reason)
                inside = f"{path}.{error.path}" if error.path else path
                return EncodeError(error.reason, path=inside, message=plan.message, api_version=plan.version)
    raise AssertionError(f"no value begins at {begin}")


def no_place(marking: Marking, path: str) -> EncodeError:
    """The error for a path of one place that the bytes do not have."""
    reason = "the bytes have no such place, and a splice adds none"
    return EncodeError(reason, path=path, message=marking.plan.message, api_version=marking.plan.version)


def too_large(marking: Marking, size: int) -> WireError:
    """The error for bytes that no frame can hold."""
    plan = marking.plan
    reason = f"{size} bytes are more than a frame can hold, {MOST_BYTES}"
    return wire_error(Fault.LIMIT_EXCEEDED, 0, "", plan.message, plan.api_key, plan.version, reason)


def too_long(marking: Marking, size: int) -> EncodeError:
    """The error for a message that is longer than a length can say."""
    reason = f"the message would have {size} bytes, {MOST_BYTES} is the most"
    return EncodeError(reason, message=marking.plan.message, api_version=marking.plan.version)


class Splicer:
    """Splices messages of one plan.

    Arguments:
        marking: the plan and what is looked for.
    """

    __slots__ = ("_marked", "marking")

    def __init__(self, marking: Marking) -> None:
        self.marking = marking
        self._marked = MarkedPlan(marking)

    def __reduce__(self) -> tuple[Any, ...]:
        return Splicer, (self.marking,)

    def splice(
        self,
        data: Any,
        begin: int,
        offset: int,
        singles: tuple[tuple[Choice, ...], ...],
        rules: tuple[RuleChange, ...],
        strict: bool = True,
    ) -> bytes:
        """Rewrite a message.

        Arguments:
            data: any contiguous buffer.
            begin: from where bytes are copied; what is before the message is not looked at.
            offset: where the message begins.
            singles: for each single what to do; no place has two choices. Functions get the old value and give the new one.
            rules: for each rule a function of what it reads and writes, in this order, which gives a tuple of what it writes, or None for
                no change. It is not called where not all that it writes is there; what it reads and is not there is None.
            strict: the message ends where the buffer ends; else what follows it is copied.

        Returns:
            The bytes; `data` itself where it is `bytes`, and all of it is given, and nothing changes.

        Raises:
            WireError: the bytes break a rule, as decoding with a projection on what is looked for says it.
            EncodeError: a new value is not of the field's type, or a place is missing that must be there.
            BufferError: `data` is not contiguous.
            ValueError: `begin` or `offset` are outside `data`.
        """
        buffer = as_buffer(data)
        if not 0 <= begin <= offset <= len(buffer):
            raise ValueError(f"begin {begin} or offset {offset} is outside the buffer of {len(buffer)} bytes")
        if len(buffer) > MOST_BYTES:
            raise too_large(self.marking, len(buffer))
        if len(singles) != len(self.marking.singles) or len(rules) != len(self.marking.rules):
            raise ValueError("singles and rules are not those of the marking")
        walk = walk_over(self._marked, buffer, offset, strict)
        change = _Change(self.marking, buffer, offset, walk, strict)
        change.collect(singles, rules)
        if not change.edits:
            return data if type(data) is bytes and begin == 0 else bytes(buffer[begin:])
        return change.copy(begin)


class _Change:
    """What becomes of the places of a walk."""

    def __init__(self, marking: Marking, data: Buffer, offset: int, walk: SpanWalk, strict: bool) -> None:
        self.marking = marking
        self.data = data
        self.offset = offset
        self.walk = walk
        self.strict = strict
        self.edits: list[tuple[int, int, bytes]] = []
        self.delta = 0

    def collect(self, singles: tuple[tuple[Choice, ...], ...], rules: tuple[RuleChange, ...]) -> None:
        met: set[str] = set()
        work: list[tuple[int, tuple[Place | None, ...], Any]] = []
        for number, places in self.walk.found:
            if number >= 0:
                if all(place is not None for place in places[len(self.marking.rules[number].reads) :]):
                    work.append((number, places, rules[number]))
                continue
            place = places[0]
            assert place is not None
            choice = _chosen(singles[place.leaf.single], place.steps)
            if choice is not None:
                met.add(choice.path)
                work.append((number, places, choice))
        for choices in singles:
            for choice in choices:
                if choice.path and choice.path not in met:
                    raise no_place(self.marking, choice.path)
        for number, places, action in work:
            if number < 0:
                assert places[0] is not None
                self.single(places[0], action.action, action.null)
            else:
                self.rule(number, places, action)

    def single(self, place: Place, action: Any, null: bool) -> None:
        if isinstance(action, Constant):
            self.put(place, action.content)
            return
        old = value_at(self.data, place)
        try:
            if type(action) is dict:
                if old not in action:
                    return
                new = action[old]
            else:
                new = action(old)
            if new is old:
                return
            content = content_of(place.leaf.code, place.leaf.nullable and null, new)
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.marking, self.data, self.offset, place.begin, error, self.strict)
        else:
            self.put(place, content)
            return
        raise wrong

    def rule(self, number: int, places: tuple[Place | None, ...], change: RuleChange) -> None:
        values = [None if place is None else value_at(self.data, place) for place in places]
        written = places[len(self.marking.rules[number].reads) :]
        last = written[0]
        assert last is not None
        try:
            made = change(*values)
            if made is None:
                return
            if len(made) != len(written):
                raise ValueError(f"a rule gave {len(made)} values for {len(written)}")
            for place, old, new in zip(written, values[-len(written) :], made, strict=True):
                assert place is not None
                last = place
                if new is not old:
                    self.put(place, content_of(place.leaf.code, place.leaf.nullable, new))
            return
        except (EncodeError, WireError) as error:
            wrong = misplaced(self.marking, self.data, self.offset, last.begin, error, self.strict)
        raise wrong

    def put(self, place: Place, content: bytes | None) -> None:
        """Write content at a place, None for null; nothing where it is there already."""
        old = None if place.null else self.data[place.content : place.stop]
        if content == old:
            return
        if content is not None and old is not None and len(content) == len(old):
            self.edits.append((place.content, place.stop, content))
            return
        new = head_of(place.leaf.code, place.leaf.compact, -1 if content is None else len(content)) + (content or b"")
        self.edits.append((place.begin, place.stop, new))
        grown = len(new) - (place.stop - place.begin)
        if place.section < 0:
            self.delta += grown
        else:
            self.walk.sections[place.section].delta += grown

    def copy(self, begin: int) -> bytes:
        for section in reversed(self.walk.sections):  # those inside a tagged field come behind it
            grown = section.delta
            if grown:
                head = varint(section.size + grown)
                self.edits.append((section.begin, section.stop, head))
                grown += len(head) - (section.stop - section.begin)
            if section.parent < 0:
                self.delta += grown
            else:
                self.walk.sections[section.parent].delta += grown
        size = len(self.data) - begin + self.delta
        if size > MOST_BYTES:
            raise too_long(self.marking, size)
        self.edits.sort()
        parts: list[Any] = []
        at = begin
        for start, stop, content in self.edits:
            parts += (self.data[at:start], content)
            at = stop
        parts.append(self.data[at:])
        return b"".join(parts)


def value_at(data: Buffer, place: Place) -> Any:
    """The value at a place."""
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


def _chosen(choices: tuple[Choice, ...], steps: tuple[str | int, ...]) -> Choice | None:
    """What is to be done at a place."""
    indexes = [step for step in steps if isinstance(step, int)]
    for choice in choices:
        if choice.pattern is None or all(want in (ANY, index) for want, index in zip(choice.pattern, indexes, strict=True)):
            return choice
    return None
