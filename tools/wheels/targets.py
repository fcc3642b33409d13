"""Wheels of a release: Pythons, platforms, and their tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["PLATFORMS", "PYTHONS", "Platform", "Python"]


@dataclass(frozen=True, slots=True)
class Python:
    """A CPython with a wheel of its own; `name` is `3.11`, or `3.14t` for the free-threaded build."""

    name: str

    @property
    def release(self) -> str:
        """Release without the `t` of a free-threaded build."""
        return self.name.removesuffix("t")

    @property
    def is_free_threaded(self) -> bool:
        """Whether this build has no global interpreter lock."""
        return self.name.endswith("t")

    @property
    def tag(self) -> str:
        """Python tag and ABI tag of a wheel (PEP 425)."""
        digits = self.release.replace(".", "")
        return f"cp{digits}-cp{digits}{'t' if self.is_free_threaded else ''}"

    @property
    def soabi(self) -> str:
        """Suffix in the names of extension modules."""
        return f"cpython-{self.release.replace('.', '')}{'t' if self.is_free_threaded else ''}"


@dataclass(frozen=True, slots=True)
class Platform:
    """A processor and a C library."""

    tag: str  # platform tag of the wheel
    machine: str  # as `uname -m` prints it
    zig: str  # target of `zig cc`; with a version of glibc, no newer symbol is linked
    libc: str = ""  # name of the C library if it is not zig's

    def suffix(self, python: Python) -> str:
        """Return the suffix of an extension module: `.cpython-311-x86_64-linux-gnu.so`."""
        # CPython 3.10 takes musl for glibc here
        library = "musl" if "musl" in self.zig and python.release != "3.10" else "gnu"
        return f".{python.soabi}-{self.machine}-linux-{library}.so"


# glibc 2.17 is of RHEL 7, Amazon Linux 2 has 2.26, RHEL 8 and its clones 2.28. musl 1.2 is of Alpine 3.13 and later.
PLATFORMS: Final = {
    "x86_64": Platform("manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64", "x86_64-linux-gnu.2.17"),
    "aarch64": Platform("manylinux_2_17_aarch64.manylinux2014_aarch64", "aarch64", "aarch64-linux-gnu.2.17"),
    "musl-x86_64": Platform("musllinux_1_2_x86_64", "x86_64", "x86_64-linux-musl", "libc.musl-x86_64.so.1"),
    "musl-aarch64": Platform("musllinux_1_2_aarch64", "aarch64", "aarch64-linux-musl", "libc.musl-aarch64.so.1"),
}
# 3.13t can be asked for, and is not published: free threading was an experiment there. Its source is had where that of 3.14 is not.
PYTHONS: Final = tuple(Python(name) for name in ("3.10", "3.11", "3.12", "3.13", "3.14", "3.14t"))
