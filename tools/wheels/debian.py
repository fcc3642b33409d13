"""Files of Debian packages, for any release and processor, without installing them: apt with folders of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

__all__ = ["Debian"]

_KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Debian:
    """Packages of one release for one processor; apt checks Debian's signatures as always. Raises FileNotFoundError: apt, dpkg or Debian's
    keys are not on this machine."""

    def __init__(self, folder: Path, suite: str, architecture: str) -> None:
        missing = [each for each in ("apt-get", "dpkg-deb") if shutil.which(each) is None]
        if missing or not Path(_KEYS).exists():
            raise FileNotFoundError(f"Debian's packages need {', '.join([*missing, _KEYS])}")
        self.folder = folder.resolve() / f"{suite}-{architecture}"
        for name in ("lists/partial", "archives/partial", "state", "etc"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "state" / "status").touch()
        # A mirror may be older than its lists say they are good for: the signatures hold, and the versions land in wheels.json.
        options = f"signed-by={_KEYS} check-valid-until=no"
        (self.folder / "etc" / "sources.list").write_text(
            f"deb [arch={architecture} {options}] http://deb.debian.org/debian {suite} main\n"
            f"deb-src [{options}] http://deb.debian.org/debian {suite} main\n"
        )
        config = self.folder / "apt.conf"
        config.write_text(
            f'Dir::Etc "{self.folder}/etc";\nDir::State "{self.folder}/state";\nDir::State::lists "{self.folder}/lists";\n'
            f'Dir::State::status "{self.folder}/state/status";\nDir::Cache "{self.folder}";\n'
            f'APT::Architecture "{architecture}";\nAPT::Architectures {{"{architecture}";}};\n'
            'Acquire::Languages "none";\nAPT::Sandbox::User "root";\nAPT::Install-Recommends "false";\n'
        )
        self._environment = {**os.environ, "APT_CONFIG": str(config)}
        self._is_listed = False

    def _apt(self, *arguments: str) -> None:
        done = subprocess.run(
            ["apt-get", "-q", *arguments], cwd=self.folder / "archives", env=self._environment, capture_output=True, text=True
        )
        if done.returncode:
            raise OSError(f"apt-get {' '.join(arguments)}: {done.stderr.strip().splitlines()[-1]}")

    def _list(self) -> None:
        if not self._is_listed:
            self._apt("update")
            self._is_listed = True

    def source(self, package: str) -> Path:
        """Return the archive of a package's source as its authors released it, without Debian's changes. Raises OSError: the mirror does
        not have it."""
        self._list()
        archives = self.folder / "archives"
        for old in archives.glob(f"{package}_*.orig.tar.*"):
            old.unlink()
        self._apt("source", "--download-only", "--only-source", package)
        return next(each for each in archives.glob(f"{package}_*.orig.tar.*") if each.suffix != ".asc")

    def unpack(self, to: Path, *packages: str, dependencies: bool = False) -> str:
        """Unpack packages below a folder, with all their dependencies if asked, and return the version of the first. Raises OSError: a
        package is missing."""
        self._list()
        archives = self.folder / "archives"
        for old in archives.glob("*.deb"):
            old.unlink()
        if dependencies:
            self._apt("install", "--download-only", "--yes", *packages)
        else:
            self._apt("download", *packages)
        to.mkdir(parents=True, exist_ok=True)
        for archive in sorted(archives.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", archive, to], check=True)
        asked = next(archives.glob(f"{packages[0]}_*.deb"))
        return subprocess.run(["dpkg-deb", "-f", asked, "Version"], check=True, capture_output=True, text=True).stdout.strip()
