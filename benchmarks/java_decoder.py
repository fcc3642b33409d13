"""Kafka's own Java classes as a contender, see decoder_process.py."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

from decoder_process import DecoderProcess

ROOT = Path(__file__).parent.parent
SOURCE = Path(__file__).parent / "java" / "KafkaDecoding.java"
JARS = (("kafka-clients", "4.4.0"), ("org.slf4j:slf4j-api", "1.7.36"))

sys.path.insert(0, str(ROOT / "tools"))
kafka_jars = importlib.import_module("kafka_jars")  # what builds the catalog fetches the jars

HAS_JAVA = shutil.which("java") is not None and shutil.which("mvn") is not None


def java_command() -> list[str]:
    """What starts the program, its jars fetched."""
    jars = kafka_jars.fetch(JARS, ROOT / ".cache" / "kafka-jars")
    path = ":".join(str(jar) for jar in jars.values())
    return ["java", "-Xms256m", "-Xmx256m", "-cp", path, str(SOURCE)]


class JavaDecoder(DecoderProcess):
    """A Java process that decodes messages; its arguments are those of `DecoderProcess` without the command."""

    def __init__(self, work: str, messages: list[bytes], folder: Path, repeats: int) -> None:
        super().__init__(java_command(), work, messages, folder, repeats)
