"""Compile pyx/PACKAGE/NAME.pyx to kwire.PACKAGE._native.NAME; everything else is in pyproject.toml."""

import hashlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CCompilerError, ExecError, PlatformError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CACHED = "CYTHON_CACHE_DIR" in os.environ
if CACHED:
    # What Cython makes of sources that have not changed is taken from this folder: half of the time of a build.
    from Cython.Compiler.Options import default_options

    default_options["cache"] = True

PURE = os.environ.get("KWIRE_PURE") == "1" or sys.implementation.name != "cpython"
WAY_OUT = "set KWIRE_PURE=1 to install kwire without compiled modules (slower, same results)"
SOURCES = sorted(path.as_posix() for path in Path("pyx").rglob("*") if path.suffix in (".pxd", ".pxi", ".pyx"))


def build_id() -> str:
    """Return the version and a hash of all Cython sources, equal in all modules of one build (pyx/build_id.pxd)."""
    version = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    digest = hashlib.sha256()
    for source in SOURCES:
        text = Path(source).read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{source} {len(text)}\n".encode() + text)
    return f"{version}+{digest.hexdigest()[:12]}"


def flags() -> dict[str, list[str]]:
    """Drop symbols for debuggers, two thirds of a wheel. The build of tools/asan.sh keeps them for its reports."""
    if sys.platform == "win32" or "-fsanitize" in os.environ.get("CFLAGS", ""):
        return {}
    return {"extra_compile_args": ["-g0"], "extra_link_args": ["-Wl,-s"] if sys.platform == "linux" else []}


def extension(source: Path) -> Extension:
    # any source changes the id of the build, so that all modules are made again
    name = f"kwire.{source.parent.name}._native.{source.stem}"
    found = Extension(name, [str(source)], depends=SOURCES, define_macros=[("KWIRE_BUILD_ID", f'"{build_id()}"')], **flags())
    # what that asks of the sources is in pyx/wire/free_threading.pxd and pyx/wire/turns.pxd
    found.cython_directives = {"language_level": 3, "freethreading_compatible": True}
    return found


class Build(build_ext):
    """Report in one sentence what is missing and how to build without it."""

    def run(self) -> None:
        header = Path(sysconfig.get_paths()["include"]) / "Python.h"
        if self.extensions and not header.exists():
            sys.exit(f"kwire: Python.h is missing (install your system's python3-dev package), or {WAY_OUT}")
        if CACHED:
            # the C files have the same names in every build: ccache looks for an object by the name of its source too
            self.build_temp = "build/temp"
            shutil.rmtree(self.build_temp, ignore_errors=True)
        self.parallel = self.parallel or os.cpu_count()
        try:
            super().run()
        except (CCompilerError, ExecError, PlatformError, OSError) as error:
            sys.exit(f"kwire: the C compiler is missing or failed ({error}); install one, or {WAY_OUT}")

    def build_extensions(self) -> None:
        """Translate in several processes, then compile in parallel; by default each module waits for the one before."""
        from Cython.Build import cythonize

        compiler = getattr(self.compiler, "compiler_so", None)  # on Windows, setuptools looks for one itself
        if compiler and not shutil.which(compiler[0]):
            raise ExecError(f"{compiler[0]} is not there")  # before Cython takes a minute
        directives = self.extensions[0].cython_directives
        translators = self.parallel if sys.platform == "linux" else 0
        made = cythonize(
            self.extensions, nthreads=translators, include_path=["pyx"], compiler_directives=directives, build_dir=self.build_temp,
            quiet=self.verbose == 0,
        )  # fmt: skip
        for each, translated in zip(self.extensions, made, strict=True):
            each.sources = translated.sources
        super().build_extensions()


def sources() -> list[Path]:
    """List the modules; the proxy's need epoll, so other systems use asyncio alone."""
    found = sorted(Path("pyx").glob("*/*.pyx"))
    return found if sys.platform == "linux" else [path for path in found if path.parent.name != "proxy"]


setup(ext_modules=[] if PURE else [extension(path) for path in sources()], cmdclass={"build_ext": Build})
