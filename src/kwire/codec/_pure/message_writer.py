"""The encode executor of the pure twin: message objects to bytes.

It is a writer generated from the plan, and takes what is usual. All else is written by a walk, or refused with the place.
"""

from __future__ import annotations

from typing import Any

from kwire.codec._pure.writers import ODD, Writer, make_writer
from kwire.codec.plan import Plan
from kwire.codec.write_walk import joined, write_carefully

__all__ = ["Encoder"]


class Encoder:
    """Executes one plan.

    Arguments:
        plan: what to write; a whole one, without a projection.
        classes: of the structs of the plan's layouts, from `make_classes`.
    """

    __slots__ = ("_write", "classes", "plan")

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes
        self._write: Writer | None = None  # made when first asked for

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoder, (self.plan, self.classes)

    def encode(self, message: Any, before: bytes = b"") -> bytes:
        """Write one message.

        Arguments:
            message: an object of the first class.
            before: bytes that come first, such as a header.

        Raises:
            EncodeError: Kafka does not let a message of this version carry a value; says which value and why.
        """
        write = self._write
        if write is None:
            write = self._write = make_writer(self.plan, self.classes)
        parts = [before]
        try:
            write((message,), parts.append)
            return joined(parts)
        except ODD:
            pass  # said by the walk
        return write_carefully(self.plan, self.classes, message, before)
