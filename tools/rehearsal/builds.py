"""Builds of Kafka clients: fetched into a folder and started.

A client is called with BOOTSTRAP CLIENT_ID TOPIC GROUP COUNT SECONDS. Its last line of output is JSON: records that were `produced` and
`consumed`, and the `error` that it ended with, empty for none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["BUILDS", "Build", "NotToBeHad", "command", "have"]

CLIENTS = Path(__file__).with_name("clients")
_MAKING = threading.Lock()


class Build(NamedTuple):
    """One version of a library; `needs` is a version of Python, or the version of Kafka that the client is configured for."""

    library: str
    version: str
    needs: str = ""

    def __str__(self) -> str:
        configured = f" ({self.needs})" if self.library == "sarama" else ""
        return f"{self.library} {self.version}{configured}"


class NotToBeHad(Exception):
    """Error of a missing registry or tool; the text names it."""


_JAVA = (
    "0.8.2.2", "0.9.0.0", "0.9.0.1", "0.10.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.3.1", "2.4.1", "2.8.2", "3.9.2", "4.1.2",
    "4.3.1", "4.4.0",
)  # fmt: skip
_PYTHON = {
    # the last Python that has a wheel or runs the source
    "kafka-python": {"1.3.5": "3.6", "1.4.7": "3.7", "2.0.2": "3.8", "3.0.12": "3.11"},
    "pykafka": {"2.8.0": "3.7"},
    "aiokafka": {"0.5.2": "3.7", "0.7.2": "3.8", "0.14.0": "3.11"},
    "confluent-kafka": {
        "0.11.6": "3.6", "1.0.1": "3.7", "1.4.2": "3.8", "1.6.1": "3.9", "1.9.2": "3.10", "2.0.2": "3.11", "2.5.3": "3.11",
        "2.16.1": "3.11",
    },
}  # fmt: skip
_WITH = {"aiokafka-0.7.2": ["kafka-python==2.0.2"]}  # it needs one that old, and says only from which on
BUILDS = [
    *(Build("kafka-clients", version) for version in _JAVA),
    Build("kafka-streams", "4.3.1"),
    Build("kafka-console", "3.9.2"),
    *(Build(library, version, python) for library, versions in _PYTHON.items() for version, python in versions.items()),
    *(Build("kcat", "1.7.1"),),
    *(Build("sarama", *each) for each in (
        ("1.23.1", "0.10.2.0"), ("1.27.2", "2.0.0"), ("1.38.1", "1.0.0"), ("1.50.3", "3.6.0"), ("1.61.1", "3.6.0"),
    )),
    Build("kafka-go", "0.2.0"),
    Build("kafka-go", "0.4.51"),
    Build("franz-go", "1.22.2"),
    Build("kafkajs", "1.4.0"),
    Build("kafkajs", "2.2.4"),
    Build("no-kafka", "3.4.4"),
    Build("@platformatic/kafka", "1.35.0"),
    Build("rskafka", "0.6.0"),
]  # fmt: skip
"""Those that the captures of this project's tests are of, and some between them."""

_POM = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId>'
    "<artifactId>client</artifactId><version>1</version><dependencies>{dependencies}</dependencies></project>"
)
_DEPENDENCY = "<dependency><groupId>org.apache.kafka</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
_ARTIFACTS = {"kafka-clients": ["kafka-clients"], "kafka-streams": ["kafka-streams"], "kafka-console": ["kafka-tools", "kafka_2.13"]}
_SOURCES = {"kafka-clients": "JavaClient", "kafka-streams": "StreamsClient"}
_GO = {"sarama": "sarama.go", "kafka-go": "kafka_go.go", "franz-go": "franz.go"}
_NODE = ("kafkajs", "no-kafka", "@platformatic/kafka")


def _folder(build: Build, cache: Path) -> Path:
    return cache / f"{build.library.strip('@').replace('/', '-')}-{build.version}"


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotToBeHad(f"{command[0]} is not installed") from error
    if done.returncode:
        raise NotToBeHad((done.stderr or done.stdout).strip()[-400:])


def python(version: str) -> str:
    """Return a Python of a minor version: on the PATH, or of pyenv. Raises NotToBeHad: there is none."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is not None and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0:
        return found
    if shutil.which("pyenv"):
        versions = Path(subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()) / "versions"
        for folder in sorted(versions.glob(f"{version}.*")):
            return str(folder / "bin" / "python")
    raise NotToBeHad(f"Python {version} is not installed")


def have(build: Build, cache: Path, sources: Path = CLIENTS) -> Path:
    """Fetch a build once and return its folder; `sources` has programs to compile with a library. Raises NotToBeHad: it cannot be made
    here."""
    folder = _folder(build, cache)
    if folder.exists():
        return folder
    if build.library == "kcat":
        if shutil.which("kcat") is None:
            raise NotToBeHad("kcat is not installed (Debian: apt-get install kcat)")
        return cache
    with _MAKING:  # tests ask in several threads at once
        if not folder.exists():
            making = folder.with_name(folder.name + ".part")
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir(parents=True)
            _maker(build)(build, making, sources)
            making.rename(folder)
    return folder


def _maker(build: Build) -> Callable[[Build, Path, Path], None]:
    if build.library in _ARTIFACTS:
        return _make_java
    if build.library in _PYTHON:
        return _make_python
    if build.library in _GO:
        return _make_go
    return _make_node if build.library in _NODE else _make_rust


def _make_java(build: Build, folder: Path, sources: Path) -> None:
    wanted = "".join(_DEPENDENCY.format(artifact=each, version=build.version) for each in _ARTIFACTS[build.library])
    (folder / "pom.xml").write_text(_POM.format(dependencies=wanted))
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={folder.resolve()}"]
    _run("mvn", "-q", "-B", "-f", folder / "pom.xml", *goal)
    if build.library in _SOURCES:
        source = sources / f"{_SOURCES[build.library]}.java"
        _run("javac", "--release", "11", "-nowarn", "-cp", f"{folder}/*", "-d", folder, source)


def _make_python(build: Build, folder: Path, sources: Path) -> None:
    packages = [f"{build.library}=={build.version}", *_WITH.get(f"{build.library}-{build.version}", ())]
    _run(python(build.needs), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", folder, *packages)


def _make_go(build: Build, folder: Path, sources: Path) -> None:
    text = (sources / _GO[build.library]).read_text()
    module = re.search(r'"(github\.com/[\w-]+/(?:sarama|kafka-go|franz-go))', text)
    assert module is not None
    path = module[1]
    if build.library == "sarama" and tuple(map(int, build.version.split("."))) < (1, 39):
        path = "github.com/Shopify/sarama"  # until it moved to IBM
    (folder / "main.go").write_text(text.replace(module[1], path))
    (folder / "go.mod").write_text(f"module client\n\ngo 1.21\n\nrequire {path} v{build.version}\n")
    _run("go", "mod", "tidy", cwd=folder)
    _run("go", "build", "-o", "client", ".", cwd=folder)


def _make_node(build: Build, folder: Path, sources: Path) -> None:
    (folder / "package.json").write_text('{"private": true}\n')
    _run("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", f"{build.library}@{build.version}", cwd=folder)


def _make_rust(build: Build, folder: Path, sources: Path) -> None:
    shutil.copytree(sources / build.library, folder, dirs_exist_ok=True)
    _run("cargo", "build", "-q", cwd=folder)


def command(build: Build, folder: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of a client, which runs in `folder`, and variables of its environment."""
    java = ["java", "-XX:TieredStopAtLevel=1", "-Xmx128m", "-cp", f"{folder}/*:{folder}"]
    if build.library in _SOURCES:
        return [*java, _SOURCES[build.library], *arguments], {}
    if build.library in ("kafka-console", "kcat"):
        return [sys.executable, str(CLIENTS / "command_client.py"), build.library, str(folder), *arguments], {}
    if build.library in _PYTHON:
        program = [python(build.needs), str(CLIENTS / "python_client.py"), build.library, *arguments]
        return program, {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    if build.library in _GO:
        return [str(folder / "client"), *arguments, *([build.needs] if build.library == "sarama" else [])], {}
    if build.library in _NODE:
        return ["node", str(CLIENTS / "node_client.js"), build.library, *arguments], {}
    return [str(folder / "target" / "debug" / "rskafka-client"), *arguments], {}
