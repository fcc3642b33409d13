"""Optional guess of the protocol type of a group's bytes. KIP-559 rejects guessing as error-prone."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from kwire.protocol.groups.member_bytes import PROTOCOL_TYPES, read_group_assignment, read_group_metadata

__all__ = ["Guessed", "guess_protocol_type"]


class Guessed(NamedTuple):
    """Decoded message whose guessed protocol type may be wrong."""

    protocol_type: str
    message: Any


def guess_protocol_type(holds: Literal["metadata", "assignment"], data: Any) -> Guessed | None:
    """Return the protocol type and version that read a member's bytes to the end; None unless exactly one fits."""
    if not memoryview(data).nbytes:
        return None
    read = read_group_metadata if holds == "metadata" else read_group_assignment
    readings = [(name, read(name, data)) for name in PROTOCOL_TYPES]
    fits = [(name, each) for name, each in readings if each.violation is None and each.read_as == each.version]
    if len(fits) != 1:
        return None
    ((name, reading),) = fits
    return Guessed(name, reading.message)
