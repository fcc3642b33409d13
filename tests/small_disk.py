"""A program that runs with a small disk of its own: a tmpfs in a mount namespace, which is gone when the program ends."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["mounting", "run_with_disk"]


def mounting(place: Path, size: str, *command: str) -> list[str]:
    """The command that runs another one, for which `place` is an empty disk of that size.

    It asks for no right of the user but that to make namespaces. A container whose runtime refuses `unshare` cannot run these tests.
    """
    place.mkdir(exist_ok=True)
    script = f"mount -t tmpfs -o size={size} tmpfs {shlex.quote(str(place))} && exec {shlex.join(command)}"
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", script]


def run_with_disk(place: Path, size: str, program: Sequence[str], left: str = ".", **environment: str) -> tuple[int, str, list[str]]:
    """Run a Python program with a small disk at `place`; return its status, its stderr and the files left in `left` of the disk."""
    tried = subprocess.run(mounting(place, size, "true"), capture_output=True, text=True, check=False)
    assert tried.returncode == 0, f"needed: `unshare --map-root-user --mount` and a tmpfs in it, which this system refuses: {tried.stderr}"
    script = f'{shlex.join([sys.executable, *program])}; status=$?; cd {shlex.quote(str(place))}; find {left} -type f; exit "$status"'
    done = subprocess.run(
        mounting(place, size, "sh", "-c", script),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stderr, done.stdout.splitlines()
