"""The encode executor of the pure twin: message objects to bytes."""

from __future__ import annotations

from typing import Any

from kwire.codec.plan import Plan
from kwire.codec.write_walk import write_carefully

__all__ = ["Encoder"]


class Encoder:
    """Executes one plan.

    Arguments:
        plan: what to write; a whole one, without a projection.
        classes: of the structs of the plan's layouts, from `make_classes`.
    """

    __slots__ = ("classes", "plan")

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        self.plan = plan
        self.classes = classes

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
        return write_carefully(self.plan, self.classes, message, before)
