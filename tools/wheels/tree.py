"""The sources, and a copy of them without build products."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

__all__ = ["MISSING", "ROOT", "copy_of"]

ROOT: Final = Path(__file__).resolve().parents[2]
MISSING: Final = 3  # exit status when a Python was asked for and is not to be had


def copy_of(root: Path, to: Path) -> Path:
    """Copy the sources in git, or all of an unpacked sdist."""
    shutil.rmtree(to, ignore_errors=True)
    if not (root / ".git").exists():
        return Path(
            shutil.copytree(root, to, ignore=shutil.ignore_patterns("build", "dist", ".venv*", "*.so", "*.egg-info", "__pycache__"))
        )
    for name in subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)
    return to
