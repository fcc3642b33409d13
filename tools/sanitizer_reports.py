"""Prints what AddressSanitizer and LeakSanitizer reported of kwire, and ends with status 1 if there is any.

usage: python tools/sanitizer_reports.py FOLDER

Each report is a file (`log_path` of ASAN_OPTIONS). Of leaks, those count whose memory one of kwire's modules allocated itself: what other
libraries keep for ever (pyo3 its types in cryptography) is not ours to mend. Whose an object of Python is cannot be seen, as the stack ends
in CPython, which is built without frame pointers; tests/failing_decodes.py counts those. Where LeakSanitizer gives up (it does so under a
debugger, and where it may not stop the threads), nothing is known of leaks: that counts too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_BEGINS = re.compile(r"(?=^==\d+==(?:ERROR: |LeakSanitizer has encountered a fatal error))", re.MULTILINE)
_LEAK = re.compile(r"^(?:Direct|Indirect) leak of ", re.MULTILINE)
_OURS = re.compile(r"^ +#1 .*/kwire/\w+/_native/|^ +#1 .*/pyx/\w+/\w+\.c", re.MULTILINE)


def findings(report: str) -> list[str]:
    """Return the errors and leaks of kwire in a report, and failures of LeakSanitizer itself."""
    found = []
    for error in _BEGINS.split(report):
        if "ERROR: LeakSanitizer: detected memory leaks" in error:
            found += [block.strip() for block in error.split("\n\n") if _LEAK.search(block) and _OURS.search(block)]
        elif "LeakSanitizer has encountered a fatal error" in error:
            found.append(f"The tool itself failed: what this process leaks is not known.\n{error.strip()}")
        elif "ERROR: " in error:
            found.append(error.strip())
    return found


def main(folder: str) -> int:
    found = [f"{path.name}:\n{each}\n" for path in sorted(Path(folder).iterdir()) for each in findings(path.read_text(errors="replace"))]
    print(*found, sep="\n", end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
