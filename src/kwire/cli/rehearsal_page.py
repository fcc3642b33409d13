"""Page of a rehearsal: `kwire analyze` of the proxy's traffic, while it runs and at its end."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kwire.cli.exit_status import CLIENTS_BREAK, INCOMPLETE_INPUT, THIN_EVIDENCE
from kwire.errors import InputError

if TYPE_CHECKING:
    from kwire.proxy.config import TapConfig

__all__ = ["RehearsalPage"]

log = logging.getLogger("kwire.proxy")

# Heads, topics and versions lie in front; of the records behind them nothing is needed.
_SNAPLEN: Final = 4096
_WRITTEN: Final = (0, CLIENTS_BREAK, INCOMPLETE_INPUT, THIN_EVIDENCE)


class RehearsalPage:
    """Page and its analysis, which runs in a separate process, so that connections do not wait for it."""

    def __init__(self, folder: str, release: str) -> None:
        self._captures, self._analysis = Path(folder, "captures"), Path(folder, "analysis")
        self._release = release
        try:
            self._captures.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}") from error

    def tap(self) -> TapConfig:
        from kwire.proxy.config import TapConfig

        return TapConfig(file=str(self._captures / "rehearsal.pcapng"), snaplen=_SNAPLEN)

    @property
    def path(self) -> Path:
        return self._analysis / "report.html"

    def command(self, ports: Sequence[int]) -> list[str]:
        made = [sys.executable, "-m", "kwire", "analyze", str(self._captures), "--out", str(self._analysis), "--engine", "local"]
        made += ["--to", self._release]
        for port in ports:
            made += ["--port", str(port)]
        return [*made, "--append"] if (self._analysis / "_SUCCESS").exists() else made

    async def keep_up(self, ports: Sequence[int], seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            running = await asyncio.create_subprocess_exec(
                *self.command(ports), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                _, said = await running.communicate()
            finally:
                if running.returncode is None:  # the proxy stops
                    running.kill()
                    await running.wait()
            if running.returncode not in _WRITTEN:
                log.error("the page was not made: %s", said.decode(errors="replace").strip())

    def finish(self, ports: Sequence[int]) -> None:
        done = subprocess.run(self.command(ports), capture_output=True, text=True, check=False)
        if done.returncode not in _WRITTEN:
            raise InputError(f"the page was not made: {done.stderr.strip()}")
