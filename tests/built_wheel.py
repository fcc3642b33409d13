"""The sdist, and the compiled wheel that pip makes of it, as tests of builds and of what a newcomer does with them share them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["make_sdist", "make_wheel", "run"]

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
COMPILERS = Path("/usr/lib/ccache")
"""Debian's names of compilers that are ccache."""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KWIRE_")}
    return subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env={**clean, **environment}, capture_output=True, text=True, check=False
    )


def make_sdist(out: Path) -> Path:
    # from a copy: setuptools puts the sdist together in the source folder, where another worker may be doing the same
    shutil.copytree(ROOT, out / "source", ignore=shutil.ignore_patterns(".*", "build", "*.so", "*.egg-info", "__pycache__", "demo-report"))
    done = run("-m", "build", "--sdist", "--no-isolation", "--outdir", out, cwd=out / "source")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("kwire-*.tar.gz"))


def make_wheel(sdist: Path, out: Path) -> Path:
    done = run("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q", "-w", out, sdist, cwd=out, **quick_build())
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("kwire-*.whl"))


def quick_build() -> dict[str, str]:
    """Take what Cython and the compiler made of the same sources from their caches; without ccache, compile without optimising."""
    found = {"CYTHON_CACHE_DIR": str(CACHE / "cython")}
    if not COMPILERS.is_dir() or not (CACHE / "ccache").is_dir():  # tools/environment.sh
        return {**found, "CFLAGS": "-O0 -g0"}
    return {**found, "CCACHE_DIR": str(CACHE / "ccache"), "PATH": f"{COMPILERS}{os.pathsep}{os.environ['PATH']}"}
