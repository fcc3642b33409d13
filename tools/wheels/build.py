"""Build the sdist, the pure wheel and the Linux wheels into `dist`. The same commit gives the same bytes on any x86-64 Linux machine.

usage: python tools/wheels/build.py [--out dist] [--pythons 3.11,3.14t] [--platforms x86_64,musl-aarch64] [--jobs 2]

`make wheels` runs it in an environment of `requirements/build.txt`. `dist/wheels.json` lists files, hashes, sizes and build tools. A Python
without headers is named, and makes the exit status 3.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from archives import Wheel, read_wheel, rewrite_sdist
from check import check_wheel
from compile import build_modules, generate
from headers import NoHeaders
from targets import PLATFORMS, PYTHONS, Python
from tree import MISSING, ROOT, copy_of


def epoch_of(root: Path) -> int:
    """Return the date of the release: SOURCE_DATE_EPOCH, else of the commit, else of the sdist that was unpacked."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    if (root / ".git").exists():
        return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, check=True, capture_output=True, text=True).stdout)
    return int((root / "PKG-INFO").stat().st_mtime)


def packaged(what: str, source: Path, out: Path, epoch: int, **environment: str) -> Path:
    """Run setuptools as every front end does, with the build dependencies of this environment."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "build", f"--{what}", "--no-isolation", "--outdir", str(out), str(source)]
    settings = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), **environment}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return next(each for each in out.iterdir() if each.suffix in (".gz", ".whl"))


def entry(path: Path, **facts: str) -> dict[str, Any]:
    """Return a line of wheels.json."""
    print(f"{path.name}  {path.stat().st_size / 1e6:.2f} MB", flush=True)
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "bytes": path.stat().st_size, **facts}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Build the sdist and all Linux wheels.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--pythons", default=",".join(each.name for each in PYTHONS))
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels")
    return parser.parse_args()


def main() -> int:
    asked = parsed()
    epoch, work, out = epoch_of(ROOT), asked.work.resolve(), asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("kwire-*.whl"), *out.glob("kwire-*.tar.gz"), *out.glob("wheels.json")]:
        old.unlink()
    sdist = rewrite_sdist(packaged("sdist", copy_of(ROOT, work / "tree"), work / "sdist", epoch), out, epoch)
    files = [entry(sdist)]
    # all else is built from what is published
    shutil.rmtree(work / "source", ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python 3.11.2 has none
        archive.extractall(work / "source")
    source = next((work / "source").iterdir())
    pure = read_wheel(packaged("wheel", source, work / "pure", epoch, KWIRE_PURE="1"))
    stem = pure.info.removesuffix(".dist-info")
    files.append(entry(pure.write(out / f"{stem}-py3-none-any.whl", epoch)))
    modules, missing = generate(source, asked.jobs), []
    for name in asked.pythons.split(","):
        python = Python(name)
        for platform in (PLATFORMS[each] for each in asked.platforms.split(",")):
            try:
                built, origin = build_modules(modules, source, python, platform, work, asked.jobs)
            except NoHeaders as error:
                missing.append(f"{name}: {error}")
                break
            wheel: Wheel = pure.tagged(python.tag, platform.tag, built)
            check = partial(check_wheel, platform=platform)
            path = wheel.write(out / f"{stem}-{python.tag}-{platform.tag}.whl", epoch, check)
            files.append(entry(path, headers=origin))
    tools = {each: version(each) for each in ("setuptools", "cython", "ziglang")}
    (out / "wheels.json").write_text(json.dumps({"epoch": epoch, "tools": tools, "files": files, "missing": missing}, indent=1) + "\n")
    for each in missing:
        print(f"kwire: not built, {each}", file=sys.stderr)
    return MISSING if missing else 0


if __name__ == "__main__":
    sys.exit(main())
