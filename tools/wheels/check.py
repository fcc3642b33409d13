"""Rules for every wheel: size, symbols, libraries, paths, and the platform of its tag."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

from elftools.elf.elffile import ELFFile
from targets import Platform

__all__ = ["check_wheel"]

_MOST_BYTES: Final = 4_000_000
_MACHINES: Final = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
_LIBRARIES: Final = {"libc.so.6", "libm.so.6", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "libpthread.so.0"}
_FOLDERS: Final = re.compile(rb"/(?:home|root|tmp|work|build|Users)/[\w./-]*")


def check_wheel(path: Path, platform: Platform) -> None:
    """Check a wheel. Raises ValueError: it breaks a rule, which the text names."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes, more than {_MOST_BYTES:,}")
    with zipfile.ZipFile(path) as archive:
        modules = {name: archive.read(name) for name in archive.namelist() if name.endswith(".so")}
    if not modules:
        raise ValueError(f"{path.name} has no compiled module")
    for name, data in modules.items():
        elf = ELFFile(io.BytesIO(data))
        if elf["e_machine"] != _MACHINES[platform.machine]:
            raise ValueError(f"{name} is for {elf['e_machine']}")
        left = [section.name for section in elf.iter_sections() if section.name == ".symtab" or section.name.startswith(".debug")]
        if left:
            raise ValueError(f"{name} is not stripped: it has {', '.join(left)}")
        dynamic = elf.get_section_by_name(".dynamic")
        needed = {tag.needed for tag in dynamic.iter_tags() if tag.entry.d_tag == "DT_NEEDED"}
        strange = needed - _LIBRARIES - {platform.libc}
        if strange or any(tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH") for tag in dynamic.iter_tags()):
            raise ValueError(f"{name} needs {', '.join(sorted(strange)) or 'a path of its own'}")
        if found := _FOLDERS.search(data):
            raise ValueError(f"{name} holds a path of the machine that built it: {found[0].decode()}")
    # the symbols and their versions are auditwheel's
    done = subprocess.run([sys.executable, "-m", "auditwheel", "show", path], capture_output=True, text=True, check=False)
    said = " ".join(done.stdout.split())
    if done.returncode or not any(f'"{each}"' in said for each in platform.tag.split(".")):
        raise ValueError(f"auditwheel does not find {platform.tag} in {path.name}: {said or done.stderr}")
