"""The published jars of Kafka's releases: which there are, and fetching them with Maven into a cache folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

# Every release with broker jars on Maven Central, oldest first. A new release is added at the end.
RELEASES = [
    "0.8.0",
    "0.8.1",
    "0.8.1.1",
    "0.8.2.0",
    "0.8.2.1",
    "0.8.2.2",
    "0.9.0.0",
    "0.9.0.1",
    "0.10.0.0",
    "0.10.0.1",
    "0.10.1.0",
    "0.10.1.1",
    "0.10.2.0",
    "0.10.2.1",
    "0.10.2.2",
    "0.11.0.0",
    "0.11.0.1",
    "0.11.0.2",
    "0.11.0.3",
    "1.0.0",
    "1.0.1",
    "1.0.2",
    "1.1.0",
    "1.1.1",
    "2.0.0",
    "2.0.1",
    "2.1.0",
    "2.1.1",
    "2.2.0",
    "2.2.1",
    "2.2.2",
    "2.3.0",
    "2.3.1",
    "2.4.0",
    "2.4.1",
    "2.5.0",
    "2.5.1",
    "2.6.0",
    "2.6.1",
    "2.6.2",
    "2.6.3",
    "2.7.0",
    "2.7.1",
    "2.7.2",
    "2.8.0",
    "2.8.1",
    "2.8.2",
    "3.0.0",
    "3.0.1",
    "3.0.2",
    "3.1.0",
    "3.1.1",
    "3.1.2",
    "3.2.0",
    "3.2.1",
    "3.2.2",
    "3.2.3",
    "3.3.0",
    "3.3.1",
    "3.3.2",
    "3.4.0",
    "3.4.1",
    "3.5.0",
    "3.5.1",
    "3.5.2",
    "3.6.0",
    "3.6.1",
    "3.6.2",
    "3.7.0",
    "3.7.1",
    "3.7.2",
    "3.8.0",
    "3.8.1",
    "3.9.0",
    "3.9.1",
    "3.9.2",
    "4.0.0",
    "4.0.1",
    "4.0.2",
    "4.1.0",
    "4.1.1",
    "4.1.2",
    "4.2.0",
    "4.2.1",
    "4.2.2",
    "4.3.0",
    "4.3.1",
    "4.4.0",
]

# Jars with message definitions, the first release that has them so, and the internal topic whose records each defines.
DEFINITION_JARS = {
    "kafka-clients": ("2.3.0", None),
    "kafka-raft": ("2.7.0", None),
    "kafka-metadata": ("2.8.0", "__cluster_metadata"),
    "kafka-storage": ("2.8.0", "__remote_log_metadata"),
    "kafka-group-coordinator": ("3.5.0", "__consumer_offsets"),
    "kafka-transaction-coordinator": ("3.8.0", "__transaction_state"),
    "kafka-share-coordinator": ("4.0.0", "__share_group_state"),
}

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <build><plugins><plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
    <configuration><outputDirectory>{folder}</outputDirectory><overWriteReleases>false</overWriteReleases><artifactItems>{items}
    </artifactItems></configuration></plugin></plugins></build>
</project>
"""


def release_key(release: str) -> tuple[int, ...]:
    """What releases are sorted by."""
    return tuple(int(part) for part in release.split("."))


def newest_patches() -> list[str]:
    """The newest patch release of each minor release, newest first; before 1.0 a minor release has three numbers less the last."""
    newest: dict[tuple[int, ...], str] = {}
    for release in RELEASES:
        key = release_key(release)
        newest[key[:3] if key[0] == 0 and key[1] > 8 else key[:2]] = release
    return sorted(newest.values(), key=release_key, reverse=True)


def fetch(jars: Iterable[tuple[str, str]], cache: Path) -> dict[tuple[str, str], Path]:
    """Have jars of group org.apache.kafka in a folder; Maven is called once for those that are missing.

    Arguments:
        jars: (artifact, version) pairs, such as `("kafka-clients", "4.4.0")`.
        cache: the folder; it is made when it is not there.
    """
    cache.mkdir(parents=True, exist_ok=True)
    wanted = {(artifact, version): cache / f"{artifact}-{version}.jar" for artifact, version in jars}
    missing = [pair for pair, path in wanted.items() if not path.exists()]
    if missing:
        maven = shutil.which("mvn")
        if maven is None:
            sys.exit("Maven (mvn) is needed to fetch Kafka's jars and is not on the PATH.")
        items = "".join(
            f"\n      <artifactItem><groupId>org.apache.kafka</groupId><artifactId>{escape(a)}</artifactId><version>{escape(v)}</version></artifactItem>"
            for a, v in missing
        )
        pom = cache / "jars.pom.xml"
        pom.write_text(_POM.format(folder=escape(str(cache.resolve())), items=items))
        done = subprocess.run([maven, "-q", "-B", "-f", str(pom), "dependency:copy"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"Maven could not fetch the jars:\n{done.stdout[-2000:]}")
    return wanted


def definition_jars(releases: Iterable[str]) -> list[tuple[str, str]]:
    """The jars of these releases that hold message definitions."""
    return [
        (artifact, release)
        for release in releases
        for artifact, (since, _) in DEFINITION_JARS.items()
        if release_key(release) >= release_key(since)
    ]
