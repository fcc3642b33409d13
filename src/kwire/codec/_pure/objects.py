"""Object and skip executors of the pure backend: readers generated from the plan; a walk finds faults and reads unusual bytes."""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.primitives import Break, Buffer, as_buffer, join_path
from kwire.codec._pure.readers import FALLBACK_ERRORS, Reader, make_reader
from kwire.codec._pure.structs import make_classes
from kwire.codec._pure.walk import Walk
from kwire.codec.memory_views import read_only
from kwire.codec.plan import Plan
from kwire.errors import Fault, raise_for, wire_error

__all__ = ["Decoder", "make_classes"]


class Decoder:
    """Decoder of one plan; `classes` are those of its layouts."""

    __slots__ = ("_readers", "classes", "plan")

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes
        self._readers: dict[tuple[bool, bool, bool], Reader] = {}  # made when first asked for

    def __reduce__(self) -> tuple[Any, ...]:
        return Decoder, (self.plan, self.classes)

    def _make(self, build: bool, of_bytes: bool, views: bool) -> Reader:
        read = self._readers[build, of_bytes, views] = make_reader(self.plan, self.classes, build, of_bytes, views)
        return read

    def _run(self, data: Any, offset: int, lenient: bool, build: bool, views: bool) -> tuple[Any, int, int]:
        """Return the message, its end and the end of the buffer."""
        of_bytes = type(data) is bytes and not views
        buffer = read_only(data) if views else data if of_bytes else as_buffer(data)
        end = len(buffer)
        if not 0 <= offset <= end:
            raise ValueError(f"offset {offset} is outside the buffer of {end} bytes")
        read = self._readers.get((build, of_bytes, views)) or self._make(build, of_bytes, views)
        try:
            made, pos = read(buffer, offset, end, 1)
        except FALLBACK_ERRORS:
            pass  # said by the walk
        else:
            if pos <= end:
                return made[0] if build else None, pos, end
        value, pos = self._walk(buffer, offset, lenient, build, views)
        return value, pos, end

    def _walk(self, buffer: Buffer, offset: int, lenient: bool, build: bool, views: bool) -> tuple[Any, int]:
        plan = self.plan
        walk = Walk(plan, self.classes, buffer, offset, "replace" if lenient else "strict", views=views)
        value = walk.new(0) if build else None
        try:
            walk.fill(value, 0)
        except Break as fault:
            error = wire_error(fault.code, fault.offset, join_path(fault.steps), plan.message, plan.api_key, plan.version)
        else:
            return value, walk.pos
        raise error

    def decode(self, data: Any, offset: int = 0, lenient: bool = False, memoryviews: bool = False) -> tuple[Any, int]:
        """Return the message at an offset, and its end; `lenient` replaces invalid UTF-8, as Java does."""
        value, pos, _ = self._run(data, offset, lenient, True, memoryviews)
        return value, pos

    def decode_whole(self, data: Any, offset: int = 0, lenient: bool = False, memoryviews: bool = False) -> Any:
        """Read one message that ends with the buffer, as `decode` does; raise `TrailingBytes` otherwise."""
        value, pos, end = self._run(data, offset, lenient, True, memoryviews)
        if pos != end:
            raise_for(Fault.TRAILING_BYTES, pos, "", self.plan.message, self.plan.api_key, self.plan.version)
        return value

    def skip(self, data: Any, offset: int = 0) -> int:
        """Return the end of a message, checked except for UTF-8."""
        return self._run(data, offset, False, False, False)[1]
