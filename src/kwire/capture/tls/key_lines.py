"""Lines of NSS key logs.

    CLIENT_RANDOM <client random> <master secret>                       TLS 1.2
    PMS_CLIENT_RANDOM <client random> <premaster secret>                TLS 1.2
    RSA <first 8 bytes of the encrypted premaster> <premaster secret>   TLS 1.2
    RSA Session-ID:<session id> Master-Key:<master secret>              TLS 1.2
    CLIENT_TRAFFIC_SECRET_0 <client random> <secret>                    TLS 1.3, and six labels more

Lines may end in CR LF, be repeated, be comments or broken: what cannot be read is skipped.
"""

from __future__ import annotations

import re
from array import array
from binascii import unhexlify
from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["LONGEST_LINE", "MOST_LINES", "NAME_BYTES", "KeyLine", "has_all_secrets", "index_lines", "lines_at", "lines_of", "parse_line"]

KeyLine = tuple[str, bytes, bytes]

_LINE: Final = re.compile(
    rb"^[ \t]*([A-Za-z0-9_]{3,40})[ \t]+(?:[Ss]ession-[Ii][Dd]:)?([0-9A-Fa-f]{16,128})[ \t]+(?:[Mm]aster-[Kk]ey:)?"
    rb"([0-9A-Fa-f]{32,256})[ \t\r]*$",
    re.MULTILINE,
)
NAME_BYTES: Final = 8  # of a second field that an index has
LONGEST_LINE: Final = 512  # a longer one is skipped
MOST_LINES: Final = 64  # of one client random: a hostile log could repeat them
_READ_TOGETHER: Final = 1 << 14
_OF_13: Final = frozenset(
    f"{side}{kind}_TRAFFIC_SECRET{end}" for side in ("CLIENT", "SERVER") for kind, end in (("_HANDSHAKE", ""), ("", "_0"))
)


def parse_line(line: bytes) -> KeyLine | None:
    """Return label in capitals, second field and secret of a line; None for a comment or a broken line."""
    return _parts_of(_LINE.fullmatch(line.removesuffix(b"\n")))


def _parts_of(found: re.Match[bytes] | None) -> KeyLine | None:
    if found is None or found.end() - found.start() >= LONGEST_LINE:
        return None
    label, name, secret = found.groups()
    if len(name) & 1 or len(secret) & 1:
        return None
    kind = label.decode("ascii").upper()
    return "SESSION_ID" if kind == "RSA" and b":" in found[0] else kind, unhexlify(name), unhexlify(secret)


def index_lines(text: bytes, size: int, place: int, names: array[int], places: array[int]) -> None:
    """Append offsets of lines in the first `size` bytes, from `place` on, and the first 8 bytes of their second fields as numbers."""
    for found in _LINE.finditer(text, 0, size):
        if not (len(found[2]) & 1 or len(found[3]) & 1) and len(found[0]) < LONGEST_LINE:
            names.append(int(found[2][: 2 * NAME_BYTES], 16))
            places.append(place + found.start())


def lines_of(text: bytes, size: int, place: int) -> Iterator[tuple[int, KeyLine]]:
    """Yield the lines in the first `size` bytes, each with its offset from `place` on."""
    for found in _LINE.finditer(text, 0, size):
        line = _parts_of(found)
        if line is not None:
            yield place + found.start(), line


def lines_at(name: bytes, places: list[int], read: Callable[[int, int], bytes]) -> list[KeyLine]:
    """Return the lines at some offsets, in order, whose second field is `name`; close ones are read at once."""
    if not places:
        return []
    first, span = min(places), max(places) - min(places)
    text = read(first, span + LONGEST_LINE) if span <= _READ_TOGETHER else None
    found = (_LINE.match(read(place, LONGEST_LINE)) if text is None else _LINE.match(text, place - first) for place in places)
    return [line for line in map(_parts_of, found) if line is not None and line[1] == name]


def has_all_secrets(lines: list[KeyLine]) -> bool:
    """Tell whether lines have the secrets of all records of TLS 1.3, or the one of TLS 1.2."""
    labels = {line[0] for line in lines}
    return "CLIENT_RANDOM" in labels or labels >= _OF_13
