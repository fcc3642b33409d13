#!/usr/bin/env python3
"""Run builds of Kafka clients behind a rehearsal and against the release itself, and compare how they end.

    python tools/rehearsal/rehearse.py FOLDER [--brokers 3.9.2] [--release 4.3.1] [--only TEXT]... [--out FILE]

Each build sends records, reads them in a group and commits, four times: against a broker of today (--brokers), behind `kwire proxy
--rehearse RELEASE --count` and `--break` in front of it, and against a real broker of the release. Topics are made first. A build ends the
same when as many records were produced, consumed and committed, and when both ended with an error or neither did. `--count` is right when
it names exactly the builds that end otherwise on the release than on the broker of today.

Needs Maven and Java; and for the builds: Pythons from 3.6 on (pyenv), Go, npm, Rust, kcat, and the package registries. FOLDER keeps jars
and builds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "src")]

from builds import BUILDS, Build, NotToBeHad, command, have  # noqa: E402
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition  # noqa: E402
from confluent_kafka.admin import AdminClient, NewTopic  # noqa: E402

from kafka_broker import free_ports, start_broker  # noqa: E402
from kwire.schema import releases  # noqa: E402

COUNT = 20
SECONDS = 15


class End(NamedTuple):
    """Result of a client: records, committed offset of the group at the broker (None without one), and error, empty for none."""

    produced: int
    consumed: int
    committed: int | None
    error: str

    def same(self, other: End) -> bool:
        """Return whether both ended the same way. Error texts may differ: they name ports, or which of two requests failed first."""
        return self[:3] == other[:3] and bool(self.error) == bool(other.error)

    def __str__(self) -> str:
        committed = "nothing" if self.committed is None else str(self.committed)
        return f"{self.produced} / {self.consumed} / {committed}" + (f", {self.error}" if self.error else "")


class Node(Protocol):
    """A broker, or another server with its address or a target's name as the `release` to rehearse."""

    @property
    def address(self) -> str: ...
    @property
    def release(self) -> str: ...


class Row(NamedTuple):
    """One build: its ends on today's broker, behind `--count` and `--break` and on the release, and requests that `--count` names."""

    build: Build
    today: End
    counted: End
    broken: End
    real: End
    named: list[str]

    @property
    def breaks(self) -> bool:
        """Whether it ends otherwise on the release."""
        return not self.real.same(self.today)

    @property
    def faults(self) -> list[str]:
        """Errors of the rehearsal."""
        found = []
        if self.today[:2] != (COUNT, COUNT) and self.build.version != "0.8.2.2":  # which has no consumer
            found.append("it does not work on the brokers of today")
        if not self.broken.same(self.real):
            found.append("--break ends otherwise than the release")
        if not self.counted.same(self.today):
            found.append("--count changes how it ends")
        if bool(self.named) != self.breaks:
            found.append("--count names it, though it works" if self.named else "--count does not name it")
        return found


@contextmanager
def proxy(broker: str, release: str, mode: str) -> Iterator[tuple[str, list[str]]]:
    """Run `kwire proxy --rehearse`; yield its address, and the lines of its result once it has ended."""
    address = f"127.0.0.1:{free_ports(1)[0]}"
    options = ["--listen", address, "--broker", broker, "--rehearse", release, f"--{mode}"]
    program = [sys.executable, "-m", "kwire", "proxy", *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path[:3])}
    with tempfile.TemporaryFile("w+") as log:
        running = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        said: list[str] = []
        try:
            until = time.monotonic() + 20
            while not _listens(address):
                if running.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    raise SystemExit(f"the proxy did not start:\n{log.read()}")
                time.sleep(0.1)
            yield address, said
        finally:
            running.send_signal(signal.SIGTERM)
            text, _ = running.communicate(timeout=60)
            said += text.splitlines()


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


def play(build: Build, folder: Path, bootstrap: str, broker: str, name: str) -> End:
    """Run one client to its end, connected to `bootstrap`; `broker` is asked for the offset that its group `name` committed."""
    admin = AdminClient({"bootstrap.servers": broker, "enable.metrics.push": False})
    for made in admin.create_topics([NewTopic(name, 1, 1)]).values():
        made.result()
    program, more = command(build, folder, bootstrap, build_id(build), name, name, str(COUNT), str(SECONDS))
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | more
    running = subprocess.Popen(program, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        text, said = running.communicate(timeout=SECONDS * 4)
    except subprocess.TimeoutExpired:
        running.kill()
        text, said = running.communicate()
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if not lines:
        raise SystemExit(f"{build} said nothing: {said[-1500:]}")
    found = json.loads(lines[-1])
    committed = _committed(admin, name)
    admin.delete_topics([name])
    return End(found["produced"], found["consumed"], committed, found["error"])


def build_id(build: Build) -> str:
    """Return the client id of a build."""
    return re.sub(r"[^\w.-]", "-", f"{build.library}-{build.version}").strip("-")


def _committed(admin: AdminClient, name: str) -> int | None:
    asked = ConsumerGroupTopicPartitions(name, [TopicPartition(name, 0)])
    try:
        (found,) = admin.list_consumer_group_offsets([asked])[name].result().topic_partitions
    except KafkaException:
        return None
    return None if found.offset < 0 else found.offset


def rehearse(builds: Sequence[Build], cache: Path, older: Node, newer: Node) -> tuple[list[Row], dict[str, str]]:
    """Run builds against a broker of today and one of the rehearsed release; return a row for each, and reasons for missing builds."""
    rows: list[Row] = []
    missing: dict[str, str] = {}
    run = f"{int(time.time()):x}"
    with proxy(older.address, newer.release, "break") as (breaking, _):
        for number, build in enumerate(builds):
            try:
                lies = have(build, cache).resolve()
            except NotToBeHad as error:
                missing[str(build)] = str(error)
                continue
            name = f"rehearsal-{run}-{number}"
            ends = [play(build, lies, older.address, older.address, f"{name}-today")]
            with proxy(older.address, newer.release, "count") as (counting, said):
                ends.append(play(build, lies, counting, older.address, f"{name}-count"))
            ends.append(play(build, lies, breaking, older.address, f"{name}-break"))
            ends.append(play(build, lies, newer.address, newer.address, f"{name}-real"))
            # `  CLIENT_ID (LIBRARY, ADDRESS): Produce v2, 20 times`
            named = sorted({match[1] for line in said if (match := re.fullmatch(r"  .*\): (.*), [0-9,]+ times", line))})
            rows.append(Row(build, *ends, named))
            print(f"{build}: {' | '.join(map(str, ends))} | {', '.join(named)} {rows[-1].faults or ''}", file=sys.stderr, flush=True)
    return rows, missing


def table(rows: Sequence[Row]) -> str:
    lines = ["| Build | Today's brokers | Behind `--break` | The release | `--count` names |", "|---|---|---|---|---|"]
    for row in rows:
        named = ", ".join(row.named) or "-"
        lines.append(f"| {row.build} | {row.today} | {row.broken} | {row.real} | {named} |")
    return "\n".join(line.replace("|  |", "| - |") for line in lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--brokers", default="3.9.2")
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--only", action="append", default=[], help="builds whose name has this text")
    parser.add_argument("--out", type=Path, help="the table as Markdown")
    given = parser.parse_args()
    wanted = [build for build in BUILDS if not given.only or any(text in str(build) for text in given.only)]
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        brokers = []
        for release in (given.brokers, releases().resolve(given.release).name):
            folder = Path(scratch, release)
            folder.mkdir()
            brokers.append(start_broker(release, folder, given.folder / "kafka-jars"))
            stack.callback(brokers[-1].stop)
        rows, missing = rehearse(wanted, given.folder / "builds", *brokers)
    text = table(rows)
    wrong = [f"{row.build}: {fault}" for row in rows for fault in row.faults]
    for build, why in missing.items():
        text += f"\nNot to be had here: {build}: {why}\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text)
    breaking = sum(row.breaks for row in rows)
    print(f"{len(rows)} of {len(wanted)} builds: {breaking} break; the rehearsal was wrong {len(wrong)} times", *wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
