"""`kwire proxy` as a process of its own, whose memory and log lines tests look at."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SECONDS = 30


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class RunningProxy:
    """One listener, at `port`; `more`: top-level lines of the configuration, `listener`: lines of its table, `listen`: a free port, which
    it then advertises, `via`: a command that starts it, with `files` open."""

    def __init__(
        self,
        folder: Path,
        broker: int,
        more: str = "",
        listener: str = "",
        listen: int = 0,
        *,
        via: Sequence[str] = (),
        files: Sequence[int] = (),
    ) -> None:
        self.config, self._log = folder / "proxy.toml", folder / "log"
        advertised = f'advertised = "127.0.0.1:{listen}"\n' if listen else ""
        self._broker, self._listen, self._listener = broker, listen, advertised + listener
        self.configure(more)
        with self._log.open("wb") as log:
            command = [*via, sys.executable, "-m", "kwire", "proxy", str(self.config)]
            self.process = subprocess.Popen(command, stderr=log, stdout=log, pass_fds=files)
        try:
            until(lambda: "listening on port" in self.log(), "the proxy did not start")
        except AssertionError:
            self.stop()  # else the next test would be blamed for it
            raise
        self.port = int(re.findall(r"listening on port (\d+) for", self.log())[0])

    def configure(self, more: str) -> None:
        listener = f'[[listeners]]\nlisten = "127.0.0.1:{self._listen}"\nbroker = "127.0.0.1:{self._broker}"\nnode_id = 1\n{self._listener}'
        self.config.write_text(more + "\n" + listener)

    def log(self) -> str:
        return self._log.read_text()

    def logged(self, text: str, times: int = 1) -> None:
        """Wait until a text was logged so many times; a line may stand for more of its kind."""

        def count() -> int:
            lines = [line for line in self.log().splitlines() if text in line]
            return len(lines) + sum(int(found[1]) for line in lines if (found := re.search(r"\(and (\d+) more\)$", line)))

        until(lambda: count() >= times, f"{text!r} was logged {count()} times:\n{self.log()[-2000:]}")

    def most_memory(self) -> int:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        assert found is not None
        return int(found[1]) << 10

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def stop(self) -> None:
        assert self.process.poll() is None, f"the proxy has ended by itself, with {self.process.returncode}:\n{self.log()[-2000:]}"
        self.process.terminate()
        try:
            self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
