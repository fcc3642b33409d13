"""A contender in another language: a process that decodes the same bytes, warmed up, a round when it is asked for one."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path


class DecoderProcess:
    """A process that decodes messages; compiled/README.md says what it reads and answers.

    Arguments:
        command: what starts it; the work, the file and the repeats are put behind it.
        work: what it does with the messages, such as `metadata` or `headers`.
        messages: what it decodes.
        folder: where the messages are written for it.
        repeats: how often a round decodes all of them; so many that asking for it does not count.

    Attributes:
        first: what it counted in its first pass over the messages: partitions of bodies, correlation ids of requests.

    Raises:
        RuntimeError: It ended before it was ready.
    """

    def __init__(self, command: list[str], work: str, messages: list[bytes], folder: Path, repeats: int) -> None:
        data = folder / f"{work}.bin"
        data.write_bytes(b"".join(struct.pack(">i", len(message)) + message for message in messages))
        said = folder / f"{work}.log"
        with said.open("a") as log:
            self.process = subprocess.Popen(
                [*command, work, str(data), str(repeats)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        ready = self._answer()
        if ready[:1] != ["ready"]:
            self.close()
            raise RuntimeError(f"{command[0]} did not start: {said.read_text()[-2000:]}")
        self.first = int(ready[1])

    def _answer(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def _round(self) -> list[str]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self._answer()

    def run(self) -> int:
        """One round; how many messages, headers or records it decoded."""
        return int(self._round()[0])

    def nanoseconds(self) -> float:
        """One round; what a message took by the process's own clock."""
        return float(self._round()[1])

    def close(self) -> None:
        self.process.communicate()
