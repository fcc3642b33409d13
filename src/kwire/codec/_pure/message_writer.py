"""Encoder of the pure backend: a writer generated from the plan; a walk handles unusual values and errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from kwire.codec._pure.writers import FALLBACK_ERRORS, Writer, make_writer
from kwire.codec.plan import Plan
from kwire.codec.write_walk import joined, write_carefully

__all__ = ["Encoder", "MessageWriter"]


class Encoder:
    """Encoder of one plan, which must be whole (no projection)."""

    __slots__ = ("_write", "classes", "plan")

    def __init__(self, plan: Plan, classes: tuple[type, ...]) -> None:
        if plan.fields is not None:
            raise ValueError(f"a part of {plan.message} cannot be written")
        self.plan = plan
        self.classes = classes
        self._write: Writer | None = None  # made when first asked for

    def __reduce__(self) -> tuple[Any, ...]:
        return Encoder, (self.plan, self.classes)

    def encode(self, message: Any, before: bytes = b"") -> bytes:
        """Write one message after the bytes `before`, such as a header."""
        write = self._write
        if write is None:
            write = self._write = make_writer(self.plan, self.classes)
        parts = [before]
        try:
            write((message,), parts.append)
            return joined(parts)
        except FALLBACK_ERRORS:
            pass  # said by the walk
        return write_carefully(self.plan, self.classes, message, before)


_HEADS: Final = {4: struct.Struct(">i").pack, 5: struct.Struct(">ix").pack}  # headers of responses by size


class MessageWriter:
    """Writer of learned messages and frames; the `careful_*` functions write all others."""

    __slots__ = ("_bodies", "_careful_message", "_careful_request", "_careful_response", "_header", "_requests", "_responses")

    def __init__(
        self,
        header: type,
        careful_message: Callable[..., bytes],
        careful_request: Callable[..., bytes],
        careful_response: Callable[..., bytes],
    ) -> None:
        self._header = header
        self._careful_message = careful_message
        self._careful_request = careful_request
        self._careful_response = careful_response
        self._bodies: dict[tuple[type, int], Encoder] = {}
        self._requests: dict[tuple[type, int, int], Encoder] = {}
        self._responses: dict[tuple[type, int, int], Callable[[int], bytes]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        owner: Any = self._careful_message
        return attrgetter("_writer"), (owner.__self__,)

    def learn(self, kind: type, version: int, encoder: Encoder) -> None:
        self._bodies[kind, version] = encoder

    def learn_request(self, kind: type, version: int, api_key: int, header: Encoder) -> None:
        self._requests[kind, version, api_key] = header

    def learn_response(self, kind: type, version: int, api_key: int, head_size: int) -> None:
        """Add a writer of responses whose header is a correlation id, alone (4 bytes) or with an empty tagged section (5)."""
        self._responses[kind, version, api_key] = _HEADS[head_size]

    def encode(self, message: Any, version: int) -> bytes:
        encoder = self._bodies.get((type(message), version))
        return self._careful_message(message, version) if encoder is None else encoder.encode(message)

    def encode_request(self, header: Any, body: Any) -> bytes:
        if type(header) is self._header:
            key, version = getattr(header, "api_key", None), getattr(header, "api_version", None)
            if type(key) is int and type(version) is int and (encoder := self._requests.get((type(body), version, key))) is not None:
                return self._bodies[type(body), version].encode(body, encoder.encode(header))
        return self._careful_request(header, body)

    def encode_response(self, correlation_id: Any, body: Any, api_key: int, api_version: int) -> bytes:
        if type(correlation_id) is int and -0x80000000 <= correlation_id <= 0x7FFFFFFF:
            head = self._responses.get((type(body), api_version, api_key))
            if head is not None:
                return self._bodies[type(body), api_version].encode(body, head(correlation_id))
        return self._careful_response(correlation_id, body, api_key, api_version)
