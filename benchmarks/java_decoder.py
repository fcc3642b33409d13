"""Kafka's own Java classes as a contender: a process that decodes the same bytes, warmed up, a round when it is asked for one."""

from __future__ import annotations

import importlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = Path(__file__).parent / "java" / "KafkaDecoding.java"
JARS = (("kafka-clients", "4.4.0"), ("org.slf4j:slf4j-api", "1.7.36"))

sys.path.insert(0, str(ROOT / "tools"))
kafka_jars = importlib.import_module("kafka_jars")  # what builds the catalog fetches the jars

HAS_JAVA = shutil.which("java") is not None and shutil.which("mvn") is not None


class JavaDecoder:
    """A Java process that decodes messages.

    Arguments:
        work: `metadata`, `headers` or `records`, see KafkaDecoding.java.
        messages: what it decodes.
        folder: where the messages are written for it.
        repeats: how often a round decodes all of them; so many that asking for it does not count.
    """

    def __init__(self, work: str, messages: list[bytes], folder: Path, repeats: int) -> None:
        data = folder / f"{work}.bin"
        data.write_bytes(b"".join(struct.pack(">i", len(message)) + message for message in messages))
        jars = kafka_jars.fetch(JARS, ROOT / ".cache" / "kafka-jars")
        path = ":".join(str(jar) for jar in jars.values())
        command = ["java", "-Xms256m", "-Xmx256m", "-cp", path, str(SOURCE), work, str(data), str(repeats)]
        said = folder / f"{work}.log"
        with said.open("w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        if self._answer() != "ready":
            raise RuntimeError(f"the Java process did not start: {said.read_text()[-2000:]}")

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def run(self) -> int:
        """One round; how many messages, headers or records it decoded."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self._answer())

    def close(self) -> None:
        self.process.communicate()
