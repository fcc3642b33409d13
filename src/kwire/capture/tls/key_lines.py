"""Lines of NSS key logs in bytes: the pure twin of pyx/capture/key_lines.pyx.

    CLIENT_RANDOM <client random> <master secret>                       TLS 1.2
    PMS_CLIENT_RANDOM <client random> <premaster secret>                TLS 1.2
    RSA <first 8 bytes of the encrypted premaster> <premaster secret>   TLS 1.2
    RSA Session-ID:<session id> Master-Key:<master secret>              TLS 1.2
    CLIENT_TRAFFIC_SECRET_0 <client random> <secret>                    TLS 1.3, and six labels more

Lines may end in CR LF, stand twice, be comments or broken: what is not understood is passed over.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "LONGEST_LINE", "MOST_LINES", "NAME_BYTES", "KeyLine", "Stamp", "held_secrets", "index_lines", "known_lines", "lines_at", "lines_of",
    "parse_line", "places_of", "stamp_of",
]  # fmt: skip

KeyLine = tuple[str, bytes, bytes]
Stamp = tuple[int, int, int]

_LINE: Final = re.compile(
    rb"^[ \t]*([A-Za-z0-9_]{3,40})[ \t]+(?:[Ss]ession-[Ii][Dd]:)?([0-9A-Fa-f]{16,128})[ \t]+(?:[Mm]aster-[Kk]ey:)?"
    rb"([0-9A-Fa-f]{32,256})[ \t\r]*$",
    re.MULTILINE,
)
NAME_BYTES: Final = 8  # of a second field that an index knows
LONGEST_LINE: Final = 512  # a longer one is passed over
MOST_LINES: Final = 64  # that one client random may have: what a hostile log could repeat
_READ_TOGETHER: Final = 1 << 14
_OF_13: Final = frozenset(
    f"{side}{kind}_TRAFFIC_SECRET{end}" for side in ("CLIENT", "SERVER") for kind, end in (("_HANDSHAKE", ""), ("", "_0"))
)


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


def stamp_of(found: os.stat_result) -> Stamp:
    """What changes when a file is written."""
    return found.st_ino, found.st_size, found.st_mtime_ns


def places_of(
    name: int, recent: dict[int, list[int]], names: np.ndarray[Any, Any] | None, places: np.ndarray[Any, Any] | None
) -> list[int]:
    """Where the lines of a name begin, at most `MOST_LINES`.

    Args:
        name: the first 8 bytes of the second field, as a number.
        recent: places by name, of lines that are not sorted in yet.
        names, places: the sorted ones; None without any.
    """
    found: list[int] = []
    if names is not None and places is not None:
        at = int(names.searchsorted(names.dtype.type(name)))
        while at < len(names) and int(names[at]) == name and len(found) < MOST_LINES:
            found.append(int(places[at]))
            at += 1
    return (found + recent.get(name, []))[:MOST_LINES]


def lines_at(name: bytes, places: list[int], read: Callable[[int, int], bytes]) -> list[KeyLine]:
    """The lines of a name; those of one client random mostly stand together, and are read at once.

    Args:
        name: the whole second field.
        places: where lines begin, in order.
        read: gives so many bytes of the file from a place.
    """
    if not places:
        return []
    span = places[-1] - places[0]
    if 0 <= span <= _READ_TOGETHER:
        return lines_of(read(places[0], span + LONGEST_LINE), name, places)
    return [line for place in places for line in lines_of(read(place, LONGEST_LINE), name, [place])]


def known_lines(
    descriptor: int, stamp: Stamp | None, name: bytes, recent: dict[int, list[int]], names: np.ndarray[Any, Any] | None,
    places: np.ndarray[Any, Any] | None,
) -> tuple[list[KeyLine], bool] | None:  # fmt: skip
    """The lines of a name, and whether the log has nothing more to say of it.

    Args:
        descriptor: of the file, -1 before it was read.
        stamp: of the file when it was read to its end.
        name: the whole second field.
        recent, names, places: as `places_of` takes them.

    Returns:
        What the file had when it was last read: a line that has changed since then is left out. The second is True where these are the
        secrets of all records of TLS 1.3, or the one of TLS 1.2, and the file has not changed. None before the file was read; the
        native twin also gives None for lines that are far from each other.
    """
    if descriptor < 0:
        return None
    at = places_of(int.from_bytes(name[:NAME_BYTES], "big"), recent, names, places)
    found = lines_at(name, at, lambda place, size: os.pread(descriptor, size, place))
    return found, _has_all(found) and stamp_of(os.fstat(descriptor)) == stamp


def _has_all(lines: list[KeyLine]) -> bool:
    labels = {line[0] for line in lines}
    return "CLIENT_RANDOM" in labels or labels >= _OF_13


def held_secrets(
    text: bytearray, name: bytes, recent: dict[int, list[int]], names: np.ndarray[Any, Any] | None, places: np.ndarray[Any, Any] | None
) -> tuple[dict[str, bytes], bool]:
    """The secrets of a name by label, and whether these are those of all records of TLS 1.3 or the one of TLS 1.2.

    Args:
        text: the whole log; of a label that stands twice the last counts.
        name, recent, names, places: as `known_lines` takes them.
    """
    at = places_of(int.from_bytes(name[:NAME_BYTES], "big"), recent, names, places)
    found = [line for place in at for line in lines_of(bytes(text[place : place + LONGEST_LINE]), name, [place])]
    return {label: secret for label, _, secret in found}, _has_all(found)
