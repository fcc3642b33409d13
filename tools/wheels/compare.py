"""Compare the release in two folders byte for byte: `make wheels` and a download.

usage: python tools/wheels/compare.py dist downloaded

Only files that both have are compared; the exit status is 1 if one differs, and if there is nothing to compare.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def hashes(folder: Path) -> dict[str, str]:
    """Return SHA-256 of the wheels and sdists of a folder, by name."""
    files = [each for each in folder.iterdir() if each.name.endswith((".whl", ".tar.gz"))]
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


def main(first: str, second: str) -> int:
    ours, theirs = hashes(Path(first)), hashes(Path(second))
    both = sorted(ours.keys() & theirs.keys())
    different = [name for name in both if ours[name] != theirs[name]]
    for name in both:
        print("DIFFERENT" if name in different else "same     ", name, ours[name])
    for name in sorted(ours.keys() ^ theirs.keys()):
        print("in one   ", name)
    return 1 if different or not both else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
