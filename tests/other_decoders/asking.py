"""Other readers of Kafka's bytes as processes that live on: Kafka's Java classes, kio and kafka-python.

A peer has a process of its own. What it does to itself on hostile bytes (kio 0.6.5 aborts) is an outcome, and the next question starts
it again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from quick_spark import OPTIONS

__all__ = ["Outcome", "Peer", "Question", "java_peer", "peers", "python_peer"]

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parents[1]
SECONDS: Final = 50  # for one answer, less than the fuzzer's own limit; starting counts
PYTHON_MEMORY: Final = 4 << 30  # of a peer's addresses, so that a reader that believes a count of the wire fails on every machine alike

RELEASE: Final = "4.4.0"
OLDER_RELEASE: Final = "3.9.2"  # the last that has the versions that 4.0 removed
SLF4J: Final = ("org.slf4j:slf4j-api", "1.7.36")
JARS: Final = (
    ("kafka-clients", RELEASE), SLF4J, ("at.yawk.lz4:lz4-java", "1.11.2"), ("org.xerial.snappy:snappy-java", "1.1.10.7"),
    ("com.github.luben:zstd-jni", "1.5.7-17"),
)  # fmt: skip


class Question(NamedTuple):
    """Bytes to read.

    Attributes:
        kind: `message` by name and version; `request`, a whole frame; `response`, the name is its api key; `records`, version 1 where
            checksums count.
        name: of the message, the api key of a response, else empty.
        version: of the message or response.
        data: the bytes.
    """

    kind: str
    name: str
    version: int
    data: bytes


class Outcome(NamedTuple):
    """What one reader made of the bytes.

    Attributes:
        refused: why they were refused; empty where they were read.
        left: how many bytes were left over; -1 where the peer does not say.
        value: what was read as plain values; None where the peer does not give them.
        written: what was read, written again; None where it was refused or not tried.
        unwritten: why it cannot be written again; empty where it can.
    """

    refused: str = ""
    left: int = 0
    value: Any = None
    written: bytes | None = None
    unwritten: str = ""


class Peer:
    """A process that is asked; `name` is that of its differences.

    Arguments:
        name: of the peer.
        command: what starts it.
        read: the outcome of an answer's bytes, None where the peer has no opinion.
        written: a question as the peer takes it.
        memory: the most addresses that its process may have, in bytes; None for as many as there are.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[], list[str]],
        read: Callable[[bytes], Outcome | None],
        written: Callable[[Question], bytes],
        memory: int | None = None,
    ) -> None:
        self.name, self._command, self._read, self._written, self._memory = name, command, read, written, memory
        self._process: subprocess.Popen[bytes] | None = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            memory = self._memory
            command = self._command()
            if memory is not None and (limit := shutil.which("prlimit")):
                command = [limit, f"--as={memory}", *command]
            # AddressSanitizer (make asan) reserves more addresses than that, and a peer has no code that was built for it.
            surroundings = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=surroundings
            )
        return self._process

    def _take(self, process: subprocess.Popen[bytes], size: int) -> bytes:
        assert process.stdout is not None
        taken = b""
        while len(taken) < size:
            if not select.select([process.stdout], [], [], SECONDS)[0]:
                raise TimeoutError
            piece = process.stdout.read(size - len(taken))
            if not piece:
                raise EOFError
            taken += piece
        return taken

    def send(self, question: Question) -> None:
        asked = self._written(question)
        process = self._started()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # seen by `receive`
            process.stdin.write(struct.pack(">I", len(asked)) + asked)

    def receive(self) -> Outcome | None:
        """What the peer makes of the bytes; None where it has no such message or version."""
        process = self._started()
        try:
            size = struct.unpack(">I", self._take(process, 4))[0]
            return self._read(self._take(process, size))
        except TimeoutError:
            self.close()
            return Outcome(f"it gave no answer in {SECONDS} seconds")
        except EOFError:
            self.close()
            return Outcome(f"its process ended with status {process.returncode}")

    def ask(self, question: Question) -> Outcome | None:
        self.send(question)
        return self.receive()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


LETTERS: Final = {"message": b"m", "request": b"q", "response": b"p", "records": b"r"}


def _for_java(question: Question) -> bytes:
    name = question.name.encode()
    return LETTERS[question.kind] + struct.pack(">hh", question.version, len(name)) + name + question.data


def _from_java(answer: bytes) -> Outcome | None:
    letter, rest = answer[:1], answer[1:]
    if letter == b"n":
        return None
    if letter == b"x":
        return Outcome(rest.decode())
    left, how = struct.unpack(">ic", rest[:5])
    if how == b"t":
        return Outcome(left=left, unwritten=rest[5:].decode())
    return Outcome(left=left, written=rest[5:]) if how == b"w" else Outcome(left=left, value=rest[5:].decode())


def _java_command() -> list[str]:
    sys.path.insert(0, str(ROOT / "tools"))
    import kafka_jars

    older = ("kafka-clients", OLDER_RELEASE)
    jars = kafka_jars.fetch((*JARS, older), ROOT / ".cache" / "kafka-jars")
    newest = ":".join(str(jars[each]) for each in JARS)
    return ["java", *OPTIONS, "-Xmx512m", "-Xshare:auto", "-cp", newest, str(FOLDER / "KafkaReading.java"), f"{jars[older]}:{jars[SLF4J]}"]


def java_peer() -> Peer:
    """Kafka's own classes; Maven fetches their jars once."""
    return Peer("java", _java_command, _from_java, _for_java)


def python_peer(name: str, module: str) -> Peer:
    """A library of Python, by the module beside this one that asks it."""
    command = [sys.executable, str(FOLDER / f"{module}.py")]
    return Peer(name, lambda: command, _from_python, lambda question: pickle.dumps(tuple(question)), PYTHON_MEMORY)


def _from_python(answer: bytes) -> Outcome | None:
    found = pickle.loads(answer)
    return None if found is None else Outcome(*found)


def peers(java: bool) -> list[Peer]:
    """The peers that this machine has; Kafka's classes need `java` and, to fetch them, Maven."""
    found = []
    if find_spec("kio"):
        found.append(python_peer("kio", "kio_reading"))
    if find_spec("kafka"):
        found.append(python_peer("kafka-python", "kafka_python_reading"))
    if java and shutil.which("java") and shutil.which("mvn"):
        found.append(java_peer())
    return found
