"""Joining of lines split by a container runtime: CRI tags parts `P` and `F`; in Docker's json-file the last part ends with a line break.

Parts of stdout and stderr may be interleaved, so pending parts are kept per stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from kwire.capture.request_logs.entry import UnreadableLine
from kwire.capture.request_logs.json_form import MARK

__all__ = ["JoinedLine", "LineParts"]

_MOST_CHARACTERS: Final = 64 << 20
_PART_COST: Final = 64  # what it takes to hold a part, in characters
# time, stream, tags of which the first says whether the line is whole
_CRI: Final = re.compile(r"\d\S* (stdout|stderr) ([FP])(?::\S*)? ")
_DOCKER: Final = re.compile(r'\{"log":"(.*)","stream":"(stdout|stderr)"')
_BREAK: Final = re.compile(r"(?<!\\)(?:\\\\)*\\n$")


class JoinedLine(NamedTuple):
    """Consecutive parts of a line, with the file and line of the first."""

    file: int
    line: int
    texts: list[str]
    size: int = 0  # of the texts, with the memory for each part

    @property
    def text(self) -> str:
        return "".join(self.texts)


class LineParts:
    """Joiner of parts; `waiting` has incomplete lines by stream."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: dict[str, JoinedLine] = {}

    def take(self, file: int, line: str, number: int, is_torn: Callable[[str], bool]) -> list[JoinedLine]:
        """Add a line; return the completed lines: this one, a joined one, or none.

        Some log shippers remove the line break at the end of Docker's lines, so a first part is recognized by its torn entry.
        """
        docker = _DOCKER.match(line)
        part = docker or _CRI.match(line)
        if part is None:
            return [JoinedLine(file, number, [line])]
        stream, is_last = (docker[2], _BREAK.search(docker[1]) is not None) if docker else (part[1], part[2] == "F")
        found = self.waiting.pop(stream, None)
        given = []
        if docker and found is not None and MARK in line:  # the one before was torn, and no more of it comes
            given.append(found)
            found = None
        if found is None and (is_last or (docker and not is_torn(line))):
            return [*given, JoinedLine(file, number, [line])]
        stop = docker.end(1) if docker and not is_last else len(line)
        text = line[0 if found is None else docker.start(1) if docker else part.end() : stop]
        found = found or JoinedLine(file, number, [])
        found.texts.append(text)
        found = found._replace(size=found.size + len(text) + _PART_COST)
        if found.size > _MOST_CHARACTERS:
            raise UnreadableLine(f"its parts are longer than {_MOST_CHARACTERS >> 20} MB")
        if is_last:
            return [*given, found]
        self.waiting[stream] = found
        return given
