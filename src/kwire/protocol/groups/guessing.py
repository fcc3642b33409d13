"""A guess at what bytes of a group are whose type is unknown.

KIP-559 rejects guessing as error prone: only who asks for it gets it, and what is guessed is marked.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from kwire.protocol.groups.member_bytes import PROTOCOL_TYPES, read_group_assignment, read_group_metadata

__all__ = ["Guessed", "guess_protocol_type"]


class Guessed(NamedTuple):
    """A reading that may be wrong.

    Attributes:
        protocol_type: the type whose layout fits.
        message: what the bytes say if it is that.
    """

    protocol_type: str
    message: Any


def guess_protocol_type(holds: Literal["metadata", "assignment"], data: Any) -> Guessed | None:
    """Guess the protocol type of a member's bytes.

    Arguments:
        holds: what the bytes are.
        data: any contiguous buffer.

    Returns:
        The one type that fits the bytes to the last, in a version that is known; None where none does or more than one.
    """
    if not memoryview(data).nbytes:
        return None
    read = read_group_metadata if holds == "metadata" else read_group_assignment
    readings = [(name, read(name, data)) for name in PROTOCOL_TYPES]
    fits = [(name, each) for name, each in readings if each.violation is None and each.read_as == each.version]
    if len(fits) != 1:
        return None
    ((name, reading),) = fits
    return Guessed(name, reading.message)
