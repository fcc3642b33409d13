"""Where the instructions of kwire's objects go: one table by library. Needs valgrind, and no quiet machine.

Callgrind writes what it counted whenever the program calls `tzset`, which nothing else does: before and behind the messages of each case.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from frames import Corpus
from kwire.codec.classes import CompiledCatalog
from kwire.schema import catalog

MESSAGES = 20
CASES = ("FetchRequest", "FetchResponse", "FetchResponse, views", "MetadataResponse", "ProduceRequest", "ProduceRequest, views")
# The lines of the table, and what the path of a library contains that belongs there. All else is CPython: its library or its program.
PARTS = {"kwire: reading, filling objects": "/objects.", "kwire: freeing objects": "/structs.", "libc: malloc, free, memcpy": "/libc."}
CPYTHON = "CPython: making and freeing ints, texts, lists, bytes, views"


def calls() -> list[Callable[[], Any]]:
    """One for each case, which decodes a message of those that `race.py` has."""
    compiled, corpus = CompiledCatalog(catalog(), "native"), Corpus()

    def call(name: str, version: int, message: bytes, memoryviews: bool = False) -> Callable[[], Any]:
        decode = compiled.decoder(name, version).decode_whole
        return lambda: decode(message, 0, False, memoryviews)

    response, produced = corpus.fetch_response(), corpus.produce_request(1, 10_000)
    return [
        call("FetchRequest", 12, corpus.fetch_request()),
        call("FetchResponse", 12, response),
        call("FetchResponse", 12, response, True),
        call("MetadataResponse", 12, corpus.metadata_response()),
        call("ProduceRequest", 9, produced),
        call("ProduceRequest", 9, produced, True),
    ]


def decode_all() -> None:
    """What runs below callgrind."""
    for call in calls():
        for _ in range(3):
            call()
        time.tzset()
        for _ in range(MESSAGES):
            call()
        time.tzset()


def by_part(counted: Path, names: dict[str, str]) -> Counter[str]:
    """Instructions by line of the table, of one of callgrind's files; `names` has the libraries that the files before abbreviated."""
    found: Counter[str] = Counter()
    title, inclusive = CPYTHON, False
    for line in counted.read_text().splitlines():
        if named := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
            library = names.setdefault(named[2], named[3] or "")
            if not named[1]:  # else of what is called
                title = next((title for title, part in PARTS.items() if part in library), CPYTHON)
        elif line.startswith("calls="):
            inclusive = True  # the next line has all that the call cost
        elif cost := re.match(r"[-+*\d]\S* (\d+)$", line):
            found[title] += 0 if inclusive else int(cost[1])
            inclusive = False
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--below-callgrind", action="store_true", help=argparse.SUPPRESS)
    if parser.parse_args().below_callgrind:
        decode_all()
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counted"
        tool = ["valgrind", "--tool=callgrind", "--dump-before=tzset", f"--callgrind-out-file={out}", "-q"]
        subprocess.run([*tool, sys.executable, __file__, "--below-callgrind"], check=True)
        names: dict[str, str] = {}
        files = [by_part(Path(f"{out}.{number}"), names) for number in range(1, 2 * len(CASES) + 1)]
    columns = files[1::2]
    print(f"| Instructions of one message | {' | '.join(CASES)} |\n|---{'|---:' * len(CASES)}|")
    for title in (*PARTS, CPYTHON):
        print(f"| {title} | {' | '.join(f'{column[title] / MESSAGES:,.0f}' for column in columns)} |")
    print(f"| all | {' | '.join(f'{sum(column.values()) / MESSAGES:,.0f}' for column in columns)} |")


if __name__ == "__main__":
    main()
