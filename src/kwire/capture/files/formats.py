"""Detection of capture files by their first bytes.

pcap: a 24-byte header whose magic number gives byte order and time unit (a1b2c3d4 microseconds, a1b23c4d nanoseconds, a1b2cd34 microseconds
with eight more bytes a record, as Kuznetzov's patched libpcap wrote). pcapng: a section header block, 0a0d0d0a. Compressed files begin with
the magic number of gzip (1f8b), of zstd (28b52ffd) or of a zstd frame without content (50 to 5f, 2a4d18); file names are not used.
"""

from __future__ import annotations

import struct
from typing import Final, Literal

from kwire.capture.packet_columns import PCAP, PCAPNG, FileState, Interface

__all__ = ["PCAP_HEADER_BYTES", "ZSTD_MAGIC", "compression_of", "cut_header", "identify", "is_skippable_frame"]

PCAP_HEADER_BYTES: Final = 24

ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"

_SECTION_HEADER: Final = b"\n\r\r\n"
_SECTION_BYTES: Final = 28  # with no option and no section length: the shortest that there is
# magic number -> (if_tsresol of the clock, bytes of a record header)
_PCAP_MAGIC: Final = {0xA1B2C3D4: (6, 16), 0xA1B23C4D: (9, 16), 0xA1B2CD34: (6, 24)}


def compression_of(head: bytes) -> Literal["gzip", "zstd"] | None:
    if head[:2] == b"\x1f\x8b":
        return "gzip"
    if head[:4] == ZSTD_MAGIC or is_skippable_frame(head):
        return "zstd"
    return None


def is_skippable_frame(head: bytes) -> bool:
    """Return whether a zstd frame without content begins here (RFC 8878, 3.1.2); `pzstd` writes one before each frame of data."""
    return len(head) >= 4 and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def cut_header(head: bytes) -> str:
    """Describe a file that consists of a truncated header: ``truncated pcap header (20 of 24 bytes)``; return an empty text for others."""
    if len(head) < 4:
        return ""
    if head[:4] == _SECTION_HEADER and len(head) < _SECTION_BYTES:
        return f"truncated pcapng header ({len(head)} of {_SECTION_BYTES} bytes)"
    if len(head) < PCAP_HEADER_BYTES and any(struct.unpack_from(f"{order}I", head)[0] in _PCAP_MAGIC for order in "<>"):
        return f"truncated pcap header ({len(head)} of {PCAP_HEADER_BYTES} bytes)"
    return ""


def identify(head: bytes) -> tuple[FileState, int] | None:
    """Return the initial state of the scan and the offset of the first record, from a file's first 24 bytes; None if it is not a
    capture."""
    if head[:4] == _SECTION_HEADER:
        return (FileState(PCAPNG), 0) if len(head) >= 12 and head[8:12] in (b"\x1a\x2b\x3c\x4d", b"\x4d\x3c\x2b\x1a") else None
    if len(head) < PCAP_HEADER_BYTES:
        return None
    for order, big_endian in (("<", False), (">", True)):
        magic, _version, _zone, _accuracy, snaplen, link = struct.unpack_from(f"{order}IIiIII", head)
        if magic in _PCAP_MAGIC:
            resolution, record_header = _PCAP_MAGIC[magic]
            # the upper 16 bits of the link field say whether frames end with a checksum
            interface = Interface(link & 0xFFFF, snaplen, resolution)
            return FileState(PCAP, big_endian, record_header, [interface], snaplen=snaplen), PCAP_HEADER_BYTES
    return None
