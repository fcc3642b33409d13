"""Prints what AddressSanitizer and LeakSanitizer reported of kwire, and ends with status 1 if there is any.

usage: python tools/sanitizer_reports.py FOLDER

Each report is a file (`log_path` of ASAN_OPTIONS). Of leaks, those count whose memory one of kwire's modules allocated itself: what other
libraries keep for ever (pyo3 its types in cryptography) is not ours to mend. Whose an object of Python is cannot be seen, as the stack ends
in CPython, which is built without frame pointers; tests/failing_decodes.py counts those.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_LEAK = re.compile(r"^(?:Direct|Indirect) leak of ", re.MULTILINE)
_OURS = re.compile(r"^ +#1 .*/kwire/\w+/_native/|^ +#1 .*/pyx/\w+/\w+\.c", re.MULTILINE)


def findings(report: str) -> list[str]:
    """The errors and leaks of a report that are kwire's."""
    found = []
    for error in re.split(r"(?=^==\d+==ERROR: )", report, flags=re.MULTILINE):
        if "ERROR: LeakSanitizer: detected memory leaks" in error:
            found += [block.strip() for block in error.split("\n\n") if _LEAK.search(block) and _OURS.search(block)]
        elif "ERROR: " in error:
            found.append(error.strip())
    return found


def main(folder: str) -> int:
    """Print them all."""
    found = [f"{path.name}:\n{each}\n" for path in sorted(Path(folder).iterdir()) for each in findings(path.read_text(errors="replace"))]
    print(*found, sep="\n", end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
