"""Lines of NSS key logs in bytes: the pure twin of pyx/capture/key_lines.pyx.

    CLIENT_RANDOM <client random> <master secret>                       TLS 1.2
    PMS_CLIENT_RANDOM <client random> <premaster secret>                TLS 1.2
    RSA <first 8 bytes of the encrypted premaster> <premaster secret>   TLS 1.2
    RSA Session-ID:<session id> Master-Key:<master secret>              TLS 1.2
    CLIENT_TRAFFIC_SECRET_0 <client random> <secret>                    TLS 1.3, and six labels more

Lines may end in CR LF, stand twice, be comments or broken: what is not understood is passed over.
"""

from __future__ import annotations

import re
from array import array
from typing import Final

__all__ = ["LONGEST_LINE", "NAME_BYTES", "KeyLine", "index_lines", "lines_of", "parse_line"]

KeyLine = tuple[str, bytes, bytes]

_LINE: Final = re.compile(
    rb"^[ \t]*([A-Za-z0-9_]{3,40})[ \t]+(?:[Ss]ession-[Ii][Dd]:)?([0-9A-Fa-f]{16,128})[ \t]+(?:[Mm]aster-[Kk]ey:)?"
    rb"([0-9A-Fa-f]{32,256})[ \t\r]*$",
    re.MULTILINE,
)
NAME_BYTES: Final = 8  # of a second field that an index knows
LONGEST_LINE: Final = 512  # a longer one is passed over


def parse_line(line: bytes) -> KeyLine | None:
    """Label in capitals, second field and secret of a line; None for a comment or what is no such line."""
    found = _LINE.fullmatch(line.removesuffix(b"\n"))
    return None if found is None else _read(found)


def _read(found: re.Match[bytes]) -> KeyLine | None:
    if len(found[2]) & 1 or len(found[3]) & 1 or len(found[0]) >= LONGEST_LINE:
        return None
    label = found[1].decode("ascii").upper()
    if label == "RSA" and b":" in found[0]:
        label = "SESSION_ID"
    return label, bytes.fromhex(found[2].decode("ascii")), bytes.fromhex(found[3].decode("ascii"))


def lines_of(text: bytes, name: bytes, places: list[int]) -> list[KeyLine]:
    """Those lines of a text whose second field is `name`.

    Args:
        text: a part of a log; a last line without its end counts.
        name: the whole second field.
        places: where lines begin, in the log; at the first of them the text begins.
    """
    found = []
    for place in places:
        at = place - places[0]
        line = parse_line(text[at : at + LONGEST_LINE].partition(b"\n")[0]) if at >= 0 else None
        if line is not None and line[1] == name:
            found.append(line)
    return found


def index_lines(text: bytes, size: int, place: int, names: array[int], places: array[int]) -> None:
    """Append where lines begin, and the first 8 bytes of their second fields.

    Args:
        text: begins where a line begins.
        size: how many bytes of it count.
        place: of the text's first byte.
        names, places: arrays of type `Q`.
    """
    for found in _LINE.finditer(text, 0, size):
        if not (len(found[2]) & 1 or len(found[3]) & 1) and len(found[0]) < LONGEST_LINE:
            names.append(int(found[2][: 2 * NAME_BYTES], 16))
            places.append(place + found.start())
