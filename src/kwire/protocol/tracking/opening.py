"""First bytes of one direction, kept until they show the protocol."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from kwire.protocol.events import Direction
from kwire.protocol.tracking.foreign_protocols import Verdict, recognise, recognise_middle, recognise_server

__all__ = ["MAX_BYTES", "FirstFault", "Opening"]

# A PROXY v2 header may claim 64 KiB of options; no one sends more than a few hundred bytes.
MAX_BYTES: Final = 70_000


class FirstFault(NamedTuple):
    rule: str
    facts: dict[str, Any]
    offset: int
    packet: int
    time: int


class Opening:
    """First bytes of a direction; `skipped` counts the bytes of PROXY headers before the frames."""

    __slots__ = ("_chunks", "_data", "_direction", "_joined_late", "_max_frame", "proxied_address", "skipped")

    def __init__(self, direction: Direction, joined_late: bool, max_frame: int) -> None:
        self._direction = direction
        self._joined_late = joined_late
        self._max_frame = max_frame
        self._chunks: list[tuple[bytes, int, int]] = []
        self._data = b""
        self.skipped = 0
        self.proxied_address: str | None = None

    @property
    def has_bytes(self) -> bool:
        return bool(self._data)

    def take(self, data: bytes, t: int, packet: int) -> str | None:
        """Add bytes; return the protocol, `kafka` for possible Kafka, or None while it is undecided."""
        self._chunks.append((data, t, packet))
        self._data += data
        while True:
            verdict = self._recognise()
            if verdict.protocol != "proxy" or verdict.proxy is None:
                break
            self.skipped += verdict.proxy.size
            self._data = self._data[verdict.proxy.size :]
            if verdict.proxy.address is not None:
                self.proxied_address = verdict.proxy.address
        if verdict.protocol != "more":
            return verdict.protocol
        return None if len(self._data) < MAX_BYTES else "unknown"

    def _recognise(self) -> Verdict:
        if self._joined_late:
            return recognise_middle(self._data)
        if self._direction == "request":
            return recognise(self._data, self._max_frame)
        return recognise_server(self._data, self._max_frame)

    def give_up(self) -> list[tuple[bytes, int, int]]:
        chunks, skip = [], self.skipped
        for data, t, packet in self._chunks:
            if len(data) > skip:
                chunks.append((data[skip:], t, packet))
            skip = max(skip - len(data), 0)
        self._chunks = []
        self._data = b""
        return chunks

    def first_fault(self) -> FirstFault:
        holder, behind = self._chunks[0], 0
        for chunk in self._chunks:
            holder, behind = chunk, behind + len(chunk[0])
            if behind > self.skipped:
                break
        _, t, packet = holder
        length = int.from_bytes(self._data[:4], "big", signed=True)
        if length < 0:
            return FirstFault("frame_length_negative", {"length": length}, self.skipped, packet, t)
        return FirstFault("frame_length_too_large", {"length": length, "limit": self._max_frame}, self.skipped, packet, t)
