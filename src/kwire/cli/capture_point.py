"""A capture that runs: the program, what writes its output to files, and why it ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

__all__ = ["CapturePoint"]

_STOP_SECONDS: Final = 20.0

_CAUSES: Final = (
    (r"password is required|terminal is required", "sudo on {where} asks for a password: allow {tool} without one (NOPASSWD in sudoers), "
     "or connect as root with --no-sudo"),
    (r"sudo: (?:command )?not found", "{where} has no sudo: connect as root with --no-sudo"),
    (r"not found", "{where} has no {tool}: install it there, or choose the other program with --tool"),
    (r"permission|not permitted", "{tool} may not capture on {where}: {root}"),
    (r"No such device|no device named", "{where} has no interface {interface}: {tool} -D lists them, and any stands for all"),
    (r"space left", "the disk of {folder} is full: free some space, or choose --limit"),
)  # fmt: skip
"""Expressions for messages of sudo, shells, tcpdump and dumpcap, and the sentences for people."""


@dataclass(eq=False)
class CapturePoint:
    """Capture on one machine, which runs as long as the context lasts.

    Attributes:
        host: argument of ssh, empty for this machine.
        folder: folder of its files.
        tool: program that captures.
        interface: its interface.
        command: whole command that captures.
        reader: command that writes the output of `command` to files; empty if that one does.
    """

    host: str
    folder: Path
    tool: str
    interface: str
    command: list[str] = field(default_factory=list)
    reader: list[str] = field(default_factory=list)
    _running: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = field(default_factory=list)

    def __enter__(self) -> CapturePoint:
        return self

    def start(self) -> None:
        """Start the programs; `__exit__` ends those that were started."""
        self.folder.mkdir()
        if not self.reader:
            self._start(self.command)
            return
        stream = self._start(self.command, stdout=subprocess.PIPE).stdout
        assert stream is not None
        with stream:  # the reader alone holds it from now on, so that a reader that ends ends the capture
            # Ctrl-C in a terminal is not for the reader, which reads to the end
            self._start(self.reader, stdin=stream, start_new_session=True)

    def _start(self, command: list[str], **streams: Any) -> subprocess.Popen[bytes]:
        errors = TemporaryFile()  # noqa: SIM115 - __exit__ closes it
        settings: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **streams}
        environment = {**os.environ, "LC_ALL": "C"}  # whose messages _CAUSES has
        started = subprocess.Popen(command, stderr=errors, env=environment, **settings)
        self._running.append((started, errors))
        return started

    def __exit__(self, *_: object) -> None:
        """End the capture; its reader writes the rest."""
        try:
            if self._running and self._running[0][0].poll() is None:
                self._running[0][0].send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                for started, _errors in self._running:
                    started.wait(_STOP_SECONDS)
        finally:
            for started, errors in self._running:
                started.kill()
                started.wait()
                errors.close()

    def has_ended(self) -> bool:
        return self._running[-1][0].poll() is not None  # a reader ends with its program

    def size(self) -> int:
        return sum(file.stat().st_size for file in self.folder.iterdir())

    def reason(self) -> str:
        """Return why the capture ended, and what to do."""
        program, errors = self._running[0]
        with suppress(subprocess.TimeoutExpired):
            program.wait(1)
        if program.returncode in (None, -signal.SIGPIPE):
            _, errors = self._running[-1]
        errors.seek(0)
        lines = [line for line in errors.read().decode("utf-8", "replace").splitlines() if line.strip() and not line.startswith("(")]
        last = lines[-1] if lines else f"status {program.returncode}"
        where = self.host or "this machine"
        if self.host and program.returncode == 255 and self.size():
            return f"the connection to {where} broke ({last})"
        if self.host and program.returncode == 255:
            return f"ssh cannot connect to {where} ({last}); it must do so without a password: ssh -o BatchMode=yes {where} true"
        root = (
            "leave out --no-sudo, or connect as root" if self.host
            else f"run kwire as root, as in: sudo {Path(sys.argv[0]).absolute()} capture"
        )  # fmt: skip
        for pattern, sentence in _CAUSES:
            if re.search(pattern, "\n".join(lines)):
                return sentence.format(where=where, tool=self.tool, interface=self.interface, folder=self.folder, root=root)
        return f"{self.tool} on {where} ended: {last}"
