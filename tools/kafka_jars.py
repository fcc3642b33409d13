"""The published jars of Kafka's releases, fetched with Maven into a cache folder."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from kwire.schema.release_table import release_key

# Every release with broker jars on Maven Central, oldest first, one line a minor release. A new release is added at the end.
RELEASES = Path(__file__).with_name("kafka_releases.txt").read_text("utf-8").split()

# Jars with message definitions: the first and the last release that has them there (None: the newest), and the internal topic whose
# records each defines; the broker's own jar had those of two topics before they moved to coordinator jars.
DEFINITION_JARS: dict[str, tuple[str, str | None, str | None]] = {
    "kafka-clients": ("2.2.0", None, None),
    "kafka_2.13": ("2.8.0", "3.8.1", "__consumer_offsets"),
    "kafka-raft": ("2.7.0", None, None),
    "kafka-metadata": ("2.8.0", None, "__cluster_metadata"),
    "kafka-storage": ("3.0.0", None, "__remote_log_metadata"),
    "kafka-group-coordinator": ("3.5.0", None, "__consumer_offsets"),
    "kafka-transaction-coordinator": ("3.9.0", None, "__transaction_state"),
    "kafka-share-coordinator": ("4.0.0", None, "__share_group_state"),
}

GROUP = "org.apache.kafka"

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  {body}
</project>
"""
_COPIED = """<build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <configuration><outputDirectory>{folder}</outputDirectory><overWriteReleases>false</overWriteReleases><artifactItems>{items}
    </artifactItems></configuration></plugin></plugins></build>"""

# What a broker needs beside its own dependencies to log: 4.0 went from log4j 1 (by reload4j) to log4j 2.
_LOGGING = {
    False: [("org.slf4j", "slf4j-reload4j", "1.7.36")],
    True: [("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.3"), ("org.apache.logging.log4j", "log4j-1.2-api", "2.25.3")],
}
# Dependencies that a release names and that nobody published.
_UNPUBLISHED = {"4.4.0": [(GROUP, "kafka-tools-api", "4.3.1")]}


def minor_of(release: str) -> str:
    """Return the minor release: `3.9` for `3.9.2`; before 1.0 it has three numbers, `0.10.2` for `0.10.2.1`."""
    return ".".join(release.split(".")[: 3 if release.startswith("0.") else 2])


def newest_patches() -> list[str]:
    """Return the newest patch release of each minor release, newest first."""
    return sorted({minor_of(release): release for release in RELEASES}.values(), key=release_key, reverse=True)


def _maven(purpose: str, aside: str, body: str, *goal: str) -> str:
    """Run Maven on a project in a folder, and return the end of its output."""
    maven = shutil.which("mvn")
    if maven is None:
        sys.exit(f"Maven (mvn) is needed to {purpose} and is not on the PATH.")
    pom = Path(aside) / "pom.xml"
    pom.write_text(_POM.format(body=body), "utf-8")
    done = subprocess.run([maven, "-q", "-B", "-f", str(pom), *goal], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"Maven could not {purpose}:\n{done.stdout[-2000:]}")
    return done.stdout[-2000:]


def fetch(jars: Iterable[tuple[str, str]], cache: Path) -> dict[tuple[str, str], Path]:
    """Fetch missing jars into a folder with one call of Maven: `("kafka-clients", "4.4.0")`, `("org.slf4j:slf4j-api", "1.7.36")`."""
    cache.mkdir(parents=True, exist_ok=True)
    wanted = {(artifact, version): cache / f"{artifact.rpartition(':')[2]}-{version}.jar" for artifact, version in jars}
    missing = [pair for pair, path in wanted.items() if not path.exists()]
    if missing:
        items = "".join(
            f"\n<artifactItem><groupId>{escape(artifact.rpartition(':')[0] or GROUP)}</groupId>"
            f"<artifactId>{escape(artifact.rpartition(':')[2])}</artifactId><version>{escape(version)}</version></artifactItem>"
            for artifact, version in missing
        )
        # Fetched aside and moved: whoever reads the cache at the same time sees a whole jar or none.
        with tempfile.TemporaryDirectory(dir=cache) as aside:
            body = _COPIED.format(folder=escape(str(Path(aside).resolve())), items=items)
            said = _maven("fetch Kafka's jars", aside, body, "dependency:copy")
            absent = [wanted[pair].name for pair in missing if not (Path(aside) / wanted[pair].name).exists()]
            if absent:
                there = sorted(each.name for each in Path(aside).iterdir())
                sys.exit(f"Maven ended well without {', '.join(absent)}; it left {', '.join(there) or 'nothing'}:\n{said}")
            for pair in missing:
                (Path(aside) / wanted[pair].name).replace(wanted[pair])
    return wanted


def _dependencies(wanted: Iterable[tuple[str, str, str]]) -> str:
    each = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
    return f"<dependencies>{''.join(each.format(*map(escape, names)) for names in wanted)}</dependencies>"


def fetch_with_dependencies(
    name: str, wanted: Iterable[tuple[str, str, str]], cache: Path, pinned: Iterable[tuple[str, str, str]] = ()
) -> Path:
    """Fetch (group, artifact, version) triples with all dependencies into a new folder of the cache; `pinned` overrides versions."""
    folder = cache / name
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as aside:  # and moved, as above
        libs = Path(aside).resolve() / "libs"
        body = f"<dependencyManagement>{_dependencies(pinned)}</dependencyManagement>{_dependencies(wanted)}"
        goal = ("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libs}")
        _maven(f"fetch the jars of {name}", aside, body, *goal)
        try:
            libs.replace(folder)
        except OSError:
            if not folder.exists():  # another process may have made it meanwhile
                raise
    return folder


def fetch_broker(release: str, cache: Path) -> Path:
    """Fetch all jars that a broker of a release (2.8 or later) runs on into a new folder of the cache."""
    wanted = [(GROUP, "kafka_2.13", release), *_LOGGING[release_key(release) >= (4,)]]
    return fetch_with_dependencies(f"broker-{release}", wanted, cache, _UNPUBLISHED.get(release, ()))


def fetch_old_broker(release: str, cache: Path) -> Path:
    """Fetch all jars that a broker of a release before 2.8 and its ZooKeeper run on, on Java 17, into a new folder of the cache."""
    scala = "2.12" if release_key(release) >= (2,) else "2.11"
    wanted = [(GROUP, f"kafka_{scala}", release), ("org.slf4j", "slf4j-log4j12", "1.7.25"), ("javax.xml.bind", "jaxb-api", "2.3.1")]
    # later ones of 3.4 read host names in a way that Java 14 broke (ZOOKEEPER-3779)
    return fetch_with_dependencies(f"broker-{release}", wanted, cache, [("org.apache.zookeeper", "zookeeper", "3.4.10")])


def newest_published(cache: Path) -> str:
    """Return the newest release of kafka-clients that Maven finds, even one that `kafka_releases.txt` does not have yet."""
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as aside:
        listed = Path(aside).resolve() / "dependencies.txt"
        # -U: what Maven remembers of yesterday is not asked
        goal = ("-U", "dependency:list", "-DexcludeTransitive=true", f"-DoutputFile={listed}")
        said = _maven("tell Kafka's newest release", aside, _dependencies([(GROUP, "kafka-clients", f"[{RELEASES[-1]},)")]), *goal)
        found = re.search(rf"{re.escape(GROUP)}:kafka-clients:jar:([0-9.]+):", listed.read_text("utf-8")) if listed.exists() else None
    if found is None:
        sys.exit(f"Maven could not tell Kafka's newest release:\n{said}")
    return found[1]


def definition_jars(releases: Iterable[str]) -> list[tuple[str, str]]:
    """Return the jars of these releases that hold message definitions."""
    return [
        (artifact, release)
        for release in releases
        for artifact, (since, until, _) in DEFINITION_JARS.items()
        if release_key(since) <= release_key(release) <= release_key(until or release)
    ]
