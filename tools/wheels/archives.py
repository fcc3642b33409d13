"""Archives whose bytes depend on their contents alone: sorted names, one date, no owners."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import stat
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["Wheel", "read_wheel", "rewrite_sdist"]

_LEVEL = 9


def rewrite_sdist(made: Path, to: Path, epoch: int) -> Path:
    """Rewrite a `.tar.gz` with sorted names, one date, and neither owners nor unusual modes."""
    target = to / made.name
    plain = io.BytesIO()
    with tarfile.open(made) as old, tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as new:
        for member in sorted((each for each in old if each.isfile()), key=lambda each: each.name):
            content = old.extractfile(member)
            assert content is not None
            info = tarfile.TarInfo(member.name)
            info.size, info.mtime, info.mode = member.size, epoch, 0o755 if member.mode & stat.S_IXUSR else 0o644
            new.addfile(info, content)
    with target.open("wb") as out, gzip.GzipFile("", "wb", _LEVEL, out, mtime=epoch) as packed:
        packed.write(plain.getvalue())
    return target


class Wheel:
    """The files of a wheel; `RECORD` is made when it is written."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = dict(files)
        self.info = next(name for name in files if name.endswith(".dist-info/WHEEL")).rpartition("/")[0]

    def tagged(self, python: str, platform: str, more: dict[str, bytes]) -> Wheel:
        """Return the same package with compiled modules, for one Python and platform."""
        head = [
            line
            for line in self.files[f"{self.info}/WHEEL"].decode().splitlines()
            if line and not line.startswith(("Tag:", "Root-Is-Purelib:"))
        ]
        tags = [f"Tag: {python}-{each}" for each in platform.split(".")]
        text = "\n".join([*head, "Root-Is-Purelib: false", *tags]) + "\n"
        return Wheel({**self.files, **more, f"{self.info}/WHEEL": text.encode()})

    def write(self, path: Path, epoch: int, check: Callable[[Path], None] = lambda made: None) -> Path:
        """Write the wheel, with one date and the hash of each file in RECORD; it appears whole, and once `check` has not raised."""
        record = f"{self.info}/RECORD"
        files = {name: data for name, data in self.files.items() if name != record}
        # what describes the package comes last, as PEP 427 asks
        names = sorted(files, key=lambda name: (name.startswith(f"{self.info}/"), name))
        lines = [f"{name},sha256={_digest(files[name])},{len(files[name])}" for name in names]
        files[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
        moment = time.gmtime(max(epoch, 315532800))[:6]  # a zip knows no time before 1980
        with tempfile.TemporaryDirectory(prefix=".kwire-", dir=path.parent) as folder:
            made = Path(folder, path.name)
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
                for name in [*names, record]:
                    entry = zipfile.ZipInfo(name, moment)
                    entry.create_system, entry.external_attr = 3, (stat.S_IFREG | (0o755 if name.endswith(".so") else 0o644)) << 16
                    entry.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(entry, files[name], compresslevel=_LEVEL)
            check(made)
            return made.replace(path)


def read_wheel(path: Path) -> Wheel:
    """Read the files of a wheel that another tool built."""
    with zipfile.ZipFile(path) as archive:
        return Wheel({name: archive.read(name) for name in archive.namelist() if not name.endswith("/")})


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
