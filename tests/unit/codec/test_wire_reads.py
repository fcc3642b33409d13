"""Native code puts varints and big-endian numbers of a message together in one place: the cursor."""

from __future__ import annotations

import re
from pathlib import Path

PYX = Path(__file__).parents[3] / "pyx"
CURSOR = PYX / "wire" / "cursor.pxd"
# Rooms whose bytes are Kafka's; packets have headers of their own. The checksum mixes bytes into words, least first, and reads no number.
OTHERS = (CURSOR, PYX / "wire" / "checksum.pxd")
FILES = sorted(path for room in ("wire", "codec", "protocol", "tables") for path in (PYX / room).glob("*.p*") if path not in OTHERS)
VARINT = re.compile(r"&\s*0x7F\s*\)\s*<<")
BIG_ENDIAN = re.compile(r"\[0\]\s*<<\s*24\b")


def places(path: Path) -> list[int]:
    text = path.read_text("utf-8")
    return [text[: match.start()].count("\n") + 1 for pattern in (VARINT, BIG_ENDIAN) for match in pattern.finditer(text)]


def test_numbers_are_read_through_the_cursor() -> None:
    found = {str(path.relative_to(PYX)): places(path) for path in FILES}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_cursor_is_where_they_are_read() -> None:
    assert len(FILES) > 50
    text = CURSOR.read_text("utf-8")
    assert VARINT.search(text)
    assert BIG_ENDIAN.search(text)
