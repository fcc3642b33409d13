"""Cython's C, compiled for each Python and platform by one pinned compiler: `zig cc` of the ziglang wheel is clang with the libraries and
headers of both C libraries for every processor, so that all machines compile the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headers import headers_of, made_for
from targets import Platform, Python

__all__ = ["Module", "build_modules", "generate"]

# CPython's own, without symbols for debuggers (they are two thirds of a wheel), paths and build ids; without tables for unwinding (5 % of a
# module), for no C++ exception passes through ours.
_FLAGS: Final = (
    "-O3", "-g0", "-fPIC", "-DNDEBUG", "-fwrapv", "-fno-strict-aliasing", "-fno-sanitize=undefined", "-Wno-everything",
    "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
)  # fmt: skip
_LINKED: Final = ("-shared", "-s", "-Wl,--build-id=none")
# Behind the object and the stand-in for musl: none of zig's libraries but what the compiler itself calls.
_WITHOUT_LIBC: Final = ("-Wl,--no-as-needed", "-Wl,--gc-sections", "-nostdlib", "-lcompiler_rt")


@dataclass(frozen=True, slots=True)
class Module:
    """An extension module: its name, its C below the source folder, and macros for the compiler."""

    name: str
    source: str
    macros: tuple[tuple[str, str], ...]


def generate(source: Path, jobs: int) -> list[Module]:
    """Run Cython, `jobs` at once, over the extensions that setup.py declares; the C is in `build/c` of the source folder."""
    program = (
        "import setuptools\n"
        "from distutils.core import run_setup\n"
        "from Cython.Build import cythonize\n"
        "found = run_setup('setup.py', stop_after='init').ext_modules\n"
        "directives = found[0].cython_directives\n"
        f"made = cythonize(found, nthreads={jobs}, include_path=['pyx'], build_dir='build/c', compiler_directives=directives, quiet=True)\n"
        "for each in made: print(each.name, each.sources[0], *(f'{n}={v}' for n, v in each.define_macros), sep='\\t')\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "KWIRE_PURE"}
    done = subprocess.run([sys.executable, "-c", program], cwd=source, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"Cython failed:\n{done.stdout}{done.stderr}")
    modules = []
    for line in done.stdout.splitlines():
        if "\t" in line:
            name, file, *macros = line.split("\t")
            modules.append(Module(name, file, tuple((key, value) for key, _, value in (each.partition("=") for each in macros))))
    return modules


def build_modules(
    modules: list[Module], source: Path, python: Python, platform: Platform, work: Path, jobs: int
) -> tuple[dict[str, bytes], str]:
    """Compile and link all modules; return them by path in the wheel, and the origin of Python's headers. Raises NoHeaders: there are
    none."""
    include, config, origin = headers_of(python, work / "cache")
    headers = work / "headers" / f"{python.name}-{platform.zig}"
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(include, headers)
    (headers / "pyconfig.h").write_text(made_for(config.read_text(), python, platform))
    out = work / "modules" / f"{python.name}-{platform.zig}"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    cache = {"ZIG_GLOBAL_CACHE_DIR": str(work / "zig"), "ZIG_LOCAL_CACHE_DIR": str(work / "zig")}

    def zig(what: str, *arguments: str | Path) -> None:
        command = [sys.executable, "-m", "ziglang", "cc", "-target", platform.zig, *map(str, arguments)]
        done = subprocess.run(command, cwd=source, env={**os.environ, **cache}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(f"{what} for {python.name} on {platform.zig}:\n{done.stderr[-4000:]}")

    musl = None
    if platform.libc:
        # By this name Alpine's Python has musl, and auditwheel knows it; zig would have a module ask for `libc.so`.
        empty, musl = out / "empty.c", out / "libc.so"
        empty.touch()
        zig("musl", "-shared", "-nostdlib", "-s", "-Wl,--build-id=none", f"-Wl,-soname,{platform.libc}", empty, "-o", musl)

    def build(module: Module) -> tuple[str, bytes]:
        target = out / f"{module.name}.so"
        compiled = (*_FLAGS, *(f"-D{name}={value}" for name, value in module.macros), f"-I{headers}", module.source)
        if musl is None:
            zig(module.name, *compiled, *_LINKED, "-o", target)
        else:
            zig(module.name, *compiled, "-c", "-o", target.with_suffix(".o"))
            zig(module.name, *_LINKED, target.with_suffix(".o"), musl, *_WITHOUT_LIBC, "-o", target)
        return module.name.replace(".", "/") + platform.suffix(python), target.read_bytes()

    with ThreadPoolExecutor(jobs) as pool:
        return dict(pool.map(build, modules)), origin
