"""Run cython-lint on the modules of pyx/ with their included parts in place: names that only a part uses are used.

python tools/lint_cython.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PYX = Path(__file__).resolve().parents[1] / "pyx"
INCLUDE = re.compile(r'include "(.+)"$')


def expanded(file: Path) -> list[tuple[str, str]]:
    """Return the lines of a file with the lines of its parts, each with the path and number that it comes from."""
    lines = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found is None:
            lines.append((line, f"{file.relative_to(PYX.parent)}:{number}"))
        else:
            part = next(path for path in (PYX / found[1], file.parent / found[1]) if path.exists())
            lines += expanded(part)
    return lines


def main() -> None:
    sources = {path.relative_to(PYX).as_posix(): expanded(path) for ending in ("pyx", "pxd") for path in sorted(PYX.rglob(f"*.{ending}"))}
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder).resolve()
        for name, lines in sources.items():
            target = at / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(f"{line}\n" for line, _ in lines), "utf-8")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # it runs others of its environment
        done = subprocess.run(
            [shutil.which("cython-lint", path=path) or "cython-lint", "--max-line-length", "140", "."],
            cwd=at, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path},
        )  # fmt: skip
    for fault in done.stdout.splitlines():
        name, line, rest = fault.split(":", 2)
        print(f"{sources[Path(name).resolve().relative_to(at).as_posix()][int(line) - 1][1]}:{rest}")
    sys.exit(done.stderr or done.returncode)


if __name__ == "__main__":
    main()
