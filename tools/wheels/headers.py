"""The C headers of each Python: of an interpreter on this machine, else of Debian's packages.

Headers are the same on all Linux machines except `pyconfig.h`; there, the processors differ in a few macros that `made_for` sets, and the
free-threaded build in one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from debian import Debian
from targets import Platform, Python

__all__ = ["SUITES", "NoHeaders", "headers_of", "interpreter_of", "made_for"]

# Debian releases by the Python they have; none has 3.10 or 3.12 any more.
SUITES: Final = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
# Macros of x86-64 alone, and of aarch64 alone, in pyconfig.h of Debian's packages of 3.11 and 3.14 for both.
_OF_X86: Final = ("HAVE_GCC_ASM_FOR_X64", "HAVE_GCC_ASM_FOR_X87", "_Py_HACL_CAN_COMPILE_VEC128", "_Py_HACL_CAN_COMPILE_VEC256")
_OF_ARM: Final = ("HAVE_USABLE_WCHAR_T",)


class NoHeaders(Exception):
    """Error of a Python without headers."""


def interpreter_of(python: Python, built: Path | None = None) -> str:
    """Return a command that runs a Python, maybe the one `built` by `free_python.py`. Raises FileNotFoundError: it is not on this
    machine."""
    program = "import sys, sysconfig; print('%d.%d' % sys.version_info[:2] + 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')))"
    for command in (*_interpreters(python.name), *([str(built)] if built is not None and built.exists() else [])):
        said = subprocess.run([command, "-I", "-c", program], capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.strip() == python.name:
            return command
    raise FileNotFoundError(f"there is no Python {python.name} on this machine")


def _interpreters(release: str) -> list[str]:
    """Return commands that may be this Python: on the PATH, of uv, of pyenv."""
    found = [shutil.which(f"python{release}")]
    if shutil.which("uv"):
        # uv downloads it where its source can be reached
        said = subprocess.run(["uv", "python", "find", "--managed-python", release], capture_output=True, text=True, check=False)
        found.append(said.stdout.strip() or None)
    found += [str(each / "bin" / "python3") for each in sorted(Path.home().glob(f".pyenv/versions/{release}.*"))]
    return [each for each in found if each]


def _of_interpreter(command: str, release: str) -> tuple[Path, Path, str] | None:
    """Return folder of headers, file pyconfig.h and version; None for another Python or one without headers."""
    program = (
        "import platform, sysconfig\n"
        "print(sysconfig.get_paths()['include'], sysconfig.get_config_h_filename(), platform.python_version(), sep='\\n')"
    )
    said = subprocess.run([command, "-I", "-c", program], capture_output=True, text=True, check=False)
    if said.returncode:
        return None
    include, config, version = said.stdout.splitlines()
    if not version.startswith(f"{release}.") or not Path(include, "Python.h").exists() or not Path(config).exists():
        return None
    return Path(include), Path(config), version


def headers_of(python: Python, cache: Path) -> tuple[Path, Path, str]:
    """Return the folder of `Python.h`, the file `pyconfig.h`, and their origin with its version. Raises NoHeaders: neither an interpreter
    of this machine nor Debian has them."""
    for command in _interpreters(python.release):
        found = _of_interpreter(command, python.release)
        if found is not None:
            return found[0], found[1], f"CPython {found[2]}"
    suite = SUITES.get(python.release)
    if suite is None:
        raise NoHeaders(f"no interpreter of Python {python.release} on this machine, and Debian has none")
    root = cache / f"debian-{python.release}"
    try:
        version = Debian(cache / "apt", suite, "amd64").unpack(root, f"libpython{python.release}-dev")
    except OSError as error:
        raise NoHeaders(f"no interpreter of Python {python.release} on this machine, and {error}") from error
    config = next(root.glob(f"usr/include/*/python{python.release}/pyconfig.h"))
    return root / "usr" / "include" / f"python{python.release}", config, f"Debian {version}"


def made_for(config: str, python: Python, platform: Platform) -> str:
    """Adapt `pyconfig.h` to another processor or the other build of the same Python."""
    names = dict.fromkeys(_OF_X86, platform.machine == "x86_64") | dict.fromkeys(_OF_ARM, platform.machine == "aarch64")
    names["Py_GIL_DISABLED"] = python.is_free_threaded
    for name, value in names.items():
        config = re.sub(
            rf"^#define {name}\b.*$|^/\* #undef {name} \*/$",
            f"#define {name} 1" if value else f"/* #undef {name} */",
            config,
            flags=re.MULTILINE,
        )
    if python.is_free_threaded and not re.search(r"^#define Py_GIL_DISABLED 1$", config, re.MULTILINE):
        raise NoHeaders(f"pyconfig.h of Python {python.release} has no Py_GIL_DISABLED")
    return config
