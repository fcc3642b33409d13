"""Hash of a file read by several tasks: SHA-256 over the SHA-256 of its blocks, so no task needs the whole file.

A range hashes the blocks that begin in it, up to the end of the last one, so the value does not depend on the division. It has the prefix
`BLOCK_HASH` and differs from the plain SHA-256 of the file:

    python3 -c 'import hashlib,sys; f=open(sys.argv[1],"rb"); print(hashlib.sha256(b"".join(
        hashlib.sha256(b).digest() for b in iter(lambda: f.read(4<<20), b""))).hexdigest())' FILE
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

__all__ = ["BLOCK_BYTES", "BLOCK_HASH", "BlockDigests", "block_hash", "block_hash_of"]

BLOCK_BYTES: Final = 4 << 20

BLOCK_HASH: Final = "sha256-4MiB:"
"""Prefix of a hash over blocks."""

_DIGEST_BYTES: Final = 32


class BlockDigests:
    """Digests of the blocks that begin in a range of a file, from its offset `start` on."""

    def __init__(self, start: int) -> None:
        self._skip = -start % BLOCK_BYTES
        self._block = hashlib.sha256()
        self._held = 0
        self._found = bytearray()

    def update(self, data: bytes) -> None:
        at = min(self._skip, len(data))
        self._skip -= at
        view = memoryview(data)
        while at < len(data):
            taken = view[at : at + BLOCK_BYTES - self._held]
            self._block.update(taken)
            self._held += len(taken)
            at += len(taken)
            if self._held == BLOCK_BYTES:
                self._close()

    def _close(self) -> None:
        self._found += self._block.digest()
        self._block, self._held = hashlib.sha256(), 0

    def finish(self, end: int, size: int, read_at: Callable[[int, int], bytes]) -> bytes:
        """Finish the last block and return the digests, 32 bytes each; call it after all bytes up to `end`."""
        if self._held:
            self.update(read_at(end, min(BLOCK_BYTES - self._held, size - end)))
        if self._held:
            self._close()
        return bytes(self._found)


def block_hash(digests: Iterable[bytes]) -> str:
    whole = hashlib.sha256()
    for each in digests:
        if len(each) % _DIGEST_BYTES:
            raise ValueError(f"{len(each)} bytes are not a multiple of {_DIGEST_BYTES}, the size of a digest")
        whole.update(each)
    return BLOCK_HASH + whole.hexdigest()


def block_hash_of(read: Callable[[int], bytes]) -> str:
    """Return the hash of a whole file."""
    digests = BlockDigests(0)
    while data := read(1 << 20):
        digests.update(data)
    return block_hash([digests.finish(0, 0, lambda _at, _size: b"")])
