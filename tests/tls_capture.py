"""The encrypted capture of real brokers as its pcapng blocks, to be cut, damaged and given its key log inside."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

DATA = Path(__file__).parent / "captures" / "data"
KEY_LOG = DATA / "tls-keys.log"
PACKET = b"\6\0\0\0"  # how an Enhanced Packet Block begins


def blocks() -> list[bytes]:
    data, at, found = gzip.decompress((DATA / "tls.pcapng.gz").read_bytes()), 0, []
    while at < len(data):
        size = struct.unpack("<I", data[at + 4 : at + 8])[0]
        found.append(data[at : at + size])
        at += size
    return found


def with_keys(found: list[bytes]) -> bytes:
    """A file of blocks with the key log inside: a Decryption Secrets Block (pcapng, 4.7) behind the section header."""
    text = KEY_LOG.read_bytes()
    padded = text + bytes(-len(text) % 4)
    size = 20 + len(padded)
    # type 10, length, "TLSK", length of the secrets, the secrets, length
    return found[0] + struct.pack("<IIII", 10, size, 0x544C534B, len(text)) + padded + struct.pack("<I", size) + b"".join(found[1:])
