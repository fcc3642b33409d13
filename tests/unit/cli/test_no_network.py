"""An analysis opens no network connection: Python's audit events stand at the door of each process, its children too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "examples" / "three-brokers.pcap.gz"
# Unix sockets are how processes of one machine talk, as multiprocessing does.
GUARD = """\
import os, socket, sys

def guard(event, arguments):
    if event.startswith("socket."):
        family = arguments[1] if event == "socket.__new__" else None
        if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr") or family in (socket.AF_INET, socket.AF_INET6):
            with open(os.environ["ASKED"], "a") as out:
                print(event, arguments[1:], file=out)
            raise PermissionError(f"no network in this test: {event}")

sys.addaudithook(guard)
with open(os.environ["GUARDED"], "a") as out:
    print(os.getpid(), file=out)
"""


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, str]:
    """The environment of processes that may not reach a network; what they ask for lands in a file."""
    (tmp_path / "sitecustomize.py").write_text(GUARD)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "ASKED": str(tmp_path / "asked.txt"), "GUARDED": str(tmp_path / "guarded.txt")}


def test_the_guard_sees_a_socket(guarded: dict[str, str]) -> None:
    for code in ("import socket; socket.socket()", "import socket; socket.getaddrinfo('localhost', 9092)"):
        done = subprocess.run([sys.executable, "-c", code], env=guarded, capture_output=True, text=True, check=False)
        assert "PermissionError: no network in this test" in done.stderr
    assert len(Path(guarded["ASKED"]).read_text().splitlines()) == 2


@pytest.mark.parametrize("command", [["analyze", SAMPLE, "--out", "report", "--engine", "local"], ["inspect", SAMPLE], ["catalog", "list"]])
def test_a_command_reaches_no_network(command: list[object], guarded: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kwire", *map(str, command)],
        cwd=tmp_path,
        env=guarded,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert Path(guarded["GUARDED"]).read_text().split()
    assert not Path(guarded["ASKED"]).exists(), Path(guarded["ASKED"]).read_text()
    if command[0] == "analyze":
        page = (tmp_path / "report" / "report.html").read_text("utf-8")
        assert "default-src 'none'" in page  # nor does the page load anything
