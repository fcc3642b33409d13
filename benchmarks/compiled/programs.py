"""The compiled programs: how each is built from its registry, and under which versions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from java_decoder import JARS, java_command  # noqa: E402 - found in the folder above, which the line above allows

BUILT = HERE.parent.parent / "build" / "compiled"


class Unbuilt(Exception):
    """A peer that cannot be built here."""


def said(command: list[str], folder: Path = HERE) -> str:
    """What a command prints.

    Raises:
        Unbuilt: The program is not there, or it failed.
    """
    if shutil.which(command[0]) is None:
        raise Unbuilt(f"{command[0]} is not on this machine")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Unbuilt(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout or done.stderr


def java() -> tuple[str, list[str]]:
    version = re.search(r'"(.*?)"', said(["java", "-version"]))
    if shutil.which("mvn") is None:
        raise Unbuilt("mvn is not on this machine")
    try:
        command = java_command()
    except (OSError, subprocess.CalledProcessError, SystemExit) as error:
        raise Unbuilt(f"its jars could not be fetched: {error}") from error
    return f"Java: kafka-clients {JARS[0][1]}, OpenJDK {version[1] if version else 'of unknown version'}", command


def go() -> tuple[str, list[str]]:
    folder, program = HERE / "go", BUILT / "go" / "kafka-decoding"
    said(["go", "build", "-o", str(program), "."], folder)
    kmsg = said(["go", "list", "-m", "-f", "{{.Version}}", "github.com/twmb/franz-go/pkg/kmsg"], folder).strip()
    return f"Go: kmsg {kmsg}, {said(['go', 'version']).split()[2]}", [str(program)]


def rust() -> tuple[str, list[str]]:
    folder, target = HERE / "rust", BUILT / "rust"
    said(["cargo", "build", "--release", "--locked", "--target-dir", str(target)], folder)
    crate = said(["cargo", "pkgid", "kafka-protocol"], folder).strip().rpartition("@")[2]
    compiler = " ".join(said(["rustc", "--version"]).split()[:2])
    return f"Rust: kafka-protocol {crate}, {compiler}", [str(target / "release" / "kafka-decoding")]


# what each gives: its name with versions, and the command that starts it
BUILDS: dict[str, Callable[[], tuple[str, list[str]]]] = {"Java": java, "Go": go, "Rust": rust}
