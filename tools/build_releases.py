"""Builds `schema/releases.json` and `schema/error_codes.json` by asking Kafka's own classes, through `oracle/ReleaseFacts.java`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafka_jars import RELEASES, fetch, newest_patches
from kwire.schema.release_table import release_key

ORACLES = Path(__file__).parent / "oracle"
# ApiKeys logs through slf4j and, in 2.6 and 2.7, refers to Jackson.
BESIDE = [
    ("org.slf4j:slf4j-api", "1.7.36"),
    ("com.fasterxml.jackson.core:jackson-databind", "2.10.5"),
    ("com.fasterxml.jackson.core:jackson-core", "2.10.5"),
    ("com.fasterxml.jackson.core:jackson-annotations", "2.10.5"),
]
FIRST_WITH_API_VERSIONS = "0.10.0.0"

# Before 0.10 no class lists what a broker accepts. Read from the broker's jars (kafka_2.10): kafka.server.KafkaApis.handle has the api
# keys, the companion objects of kafka.api.*Request have the newest version (CurrentVersion, all older ones are read as well), and from
# 0.9 on kafka.common.protocol.Protocol has the group apis. 0.8.2 names JoinGroup and Heartbeat but does not handle them.
BEFORE_API_VERSIONS: dict[str, dict[int, tuple[int, int]]] = {
    "0.8.0": dict.fromkeys(range(8), (0, 0)),
    "0.8.1": dict.fromkeys(range(10), (0, 0)),
    "0.8.2.0": {**dict.fromkeys(range(11), (0, 0)), 8: (0, 1), 9: (0, 1)},
    "0.9.0.0": {**dict.fromkeys(range(17), (0, 0)), 0: (0, 1), 1: (0, 1), 6: (0, 1), 7: (0, 1), 8: (0, 2), 9: (0, 1)},
}

Row = dict[str, Any]


def ask(releases: Iterable[str], cache: Path, *what: str, oracle: str = "ReleaseFacts.java") -> list[Any]:
    """Run an oracle over the kafka-clients jars of these releases and return its lines."""
    beside = fetch(BESIDE, cache)
    jars = fetch([("kafka-clients", release) for release in releases], cache)
    java = shutil.which("java")
    if java is None:
        sys.exit("Java 11 or newer is needed to ask Kafka's classes and is not on the PATH.")
    path = ":".join(str(jar) for jar in beside.values())
    done = subprocess.run(
        [java, "-cp", path, str(ORACLES / oracle), *what, *map(str, jars.values())], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"The oracle failed:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows_by_release(cache: Path) -> dict[str, dict[int, Row]]:
    """Return the facts of each release about each api, in the form of the data file."""
    rows: dict[str, dict[int, Row]] = {}
    early: dict[int, Row] = {}
    asked = [release for release in RELEASES if release_key(release) >= release_key(FIRST_WITH_API_VERSIONS)]
    for release in RELEASES:
        if release in BEFORE_API_VERSIONS:
            early = {
                key: {"accepts": {"zk_broker": _text(versions)}, "advertises": {}} for key, versions in BEFORE_API_VERSIONS[release].items()
            }
        rows[release] = {} if release in asked else early
    for fact in ask(asked, cache, "apis"):
        row = _row(fact)
        if row is not None:
            rows[fact["release"]][fact["api_key"]] = row
    return rows


def _text(versions: Iterable[int]) -> str:
    low, high = versions
    return str(low) if low == high else f"{low}-{high}"


def _row(fact: dict[str, Any]) -> Row | None:
    """Drop redundant facts of the oracle: advertised as accepted, the same with unstable versions switched on."""
    row: Row = {}
    plain = {what: {listener: _text(range_) for listener, range_ in fact[what].items()} for what in fact if isinstance(fact[what], dict)}
    if not any(plain.values()):
        return None
    row["accepts"] = plain["accepts"]
    for what, same_as in (("advertises", "accepts"), ("accepts_with_unstable", "accepts"), ("advertises_with_unstable", "advertises")):
        if plain[what] != plain[same_as]:
            row[what] = plain[what]
    if fact["deprecated"] is not None:
        row["deprecated"] = _text(fact["deprecated"])
    return row


def spans(rows: dict[str, dict[int, Row]]) -> dict[int, list[Row]]:
    """Return, by api key, the facts from a release on (`since`) until the next entry; a removed api has an entry without ranges."""
    found: dict[int, list[Row]] = {}
    for release in sorted(rows, key=release_key):
        for key in sorted(set(found) | set(rows[release])):
            row = rows[release].get(key, {})
            entries = found.setdefault(key, [])
            last = {name: value for name, value in entries[-1].items() if name != "since"} if entries else {}
            if row != last:
                entries.append({"since": release, **row})
    return dict(sorted(found.items()))


def write_releases(cache: Path, folder: Path) -> int:
    """Write `releases.json` and return the number of spans."""
    found = spans(rows_by_release(cache))
    lines = [f'{{"releases": {json.dumps(RELEASES)},', '"apis": {']
    lines.append(",\n".join(f'"{key}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in each) + "]" for key, each in found.items()))
    lines.append("}}\n")
    (folder / "releases.json").write_text("\n".join(lines), "utf-8")
    return sum(map(len, found.values()))


def write_error_codes(cache: Path, folder: Path) -> int:
    """Write `error_codes.json`, every code of any release with its newest name, and return their number."""
    names: dict[int, str] = {}
    asked = [release for release in newest_patches() if release_key(release) >= release_key(FIRST_WITH_API_VERSIONS)]
    for code, name in ask(asked, cache, "errors"):
        names.setdefault(code, name)
    rows = ",\n".join(f' "{code}": "{names[code]}"' for code in sorted(names))
    (folder / "error_codes.json").write_text(f"{{\n{rows}\n}}\n", "utf-8")
    return len(names)
