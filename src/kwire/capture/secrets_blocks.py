"""Decryption Secrets Blocks of pcapng: key logs inside a capture (pcapng, 4.7)."""

from __future__ import annotations

from typing import Any, Final

from kwire.capture.files.source import CHUNK_BYTES, open_capture
from kwire.errors import InputError

__all__ = ["SecretsBlock", "secrets_of"]

_STREAM: Final = "standard input"


class SecretsBlock:
    """Key log of one block, hidden in `repr`; a stored state has only its position in the file, empty for a stream."""

    __slots__ = ("_text", "at", "location", "size")

    def __init__(self, location: str, at: int, size: int, text: bytes | None = None) -> None:
        self.location = "" if location == _STREAM else location
        self.at, self.size = at, size
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return SecretsBlock, (self.location, self.at, self.size)

    def __repr__(self) -> str:
        return f"SecretsBlock({self.location!r}, {self.at}, {self.size})"

    @property
    def place(self) -> tuple[str, int]:
        return self.location, self.at

    def text(self) -> bytes:
        """Return the key log, reading it again from the file if restored; raise InputError if the file has changed."""
        if self._text is not None:
            return self._text
        if not self.location:
            raise InputError("the secrets of a streamed capture are no longer available; pass them with --tls-keys")
        with open_capture(self.location, hashed=False) as source:
            rest = self.at
            while rest and (passed := source.read(min(rest, CHUNK_BYTES))):
                rest -= len(passed)
            found = b""
            while len(found) < self.size and (more := source.read(self.size - len(found))):
                found += more
        if len(found) < self.size:
            raise InputError(f"{self.location} no longer has the secrets that were read from it")
        return found


def secrets_of(location: str, position: int, data: bytes, ranges: list[tuple[int, int]]) -> list[SecretsBlock]:
    """Return the blocks of a chunk at a position of the decompressed file; ranges are offset in the chunk and size."""
    return [SecretsBlock(location, position + at, size, bytes(data[at : at + size])) for at, size in ranges]
