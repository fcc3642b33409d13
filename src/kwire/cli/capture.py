"""`kwire capture`: tcpdump or dumpcap here, or on brokers over ssh, and then the analysis."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click
import cloup

from kwire.cli.analyze import analyze
from kwire.cli.capture_options import ports_option
from kwire.cli.capture_point import CapturePoint
from kwire.cli.exit_status import INCOMPLETE_INPUT
from kwire.cli.progress import progress_bar
from kwire.cli.report_options import open_option, with_fail_on
from kwire.cli.target_option import owners_option, targets_of, targets_option
from kwire.cli.terminal import warn
from kwire.errors import InputError

__all__ = ["capture"]

_FILES: Final = 20
"""Minimum of files of a ring: a full ring replaces its oldest file, so that this part of it is missing."""

_FILE_MEGABYTES: Final = 1000
"""Maximum of a file; dumpcap takes 2 GiB at most."""

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS: Final = 0.2
_FULL_BYTES: Final = 1 << 20

_SSH: Final = ("ssh", "-nT", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15")
_HOST: Final = re.compile(r"(\w[\w.-]*@)?[\w\[][\w.:\]-]*", re.ASCII)
_INTERFACE: Final = re.compile(r"\w[\w.:+-]*", re.ASCII)  # dumpcap reads - and TCP@HOST too, and connects to the latter


class _Amount(click.ParamType[int]):
    def __init__(self, name: str, units: dict[str, int], least: int, expected: str) -> None:
        self.name, self._units, self._least, self._expected = name, units, least, expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(rf"([0-9]{{1,6}})({'|'.join(self._units)})", str(value))
        amount = int(found[1]) * self._units[found[2]] if found else 0
        if amount < self._least:
            self.fail(f"invalid {value!r}; expected {self._expected}.", param, ctx)
        return amount


_DURATION: Final = _Amount("DURATION", {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}, 1, "a time such as 90s, 15m, 8h, 2d or 1w")
_MEGABYTES: Final = _Amount("SIZE", {"MB": 1, "GB": 1000, "TB": 1_000_000}, _FILES, f"a size of {_FILES}MB or more, such as 500MB or 10GB")


class _Name(click.ParamType[str]):
    def __init__(self, name: str, pattern: re.Pattern[str]) -> None:
        self.name, self._pattern = name, pattern

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not self._pattern.fullmatch(value):
            self.fail(f"invalid {self.name} {value!r}.", param, ctx)
        return str(value)


@cloup.command(short_help="Capture packets of brokers, here or over ssh, and analyze them.", show_constraints=False)
@cloup.option_group(
    "Capture",
    cloup.option(
        "--host", "hosts", type=_Name("host", _HOST), multiple=True, metavar="HOST",
        help="Capture on HOST (or USER@HOST) by ssh instead of here (repeatable).",
    ),
    ports_option("Broker port (repeatable).", default=(9092,), show_default=True),
    cloup.option(
        "--interface", type=_Name("interface", _INTERFACE), default="any", show_default=True, metavar="NAME", help="Network interface."
    ),
    cloup.option("--snaplen", type=click.IntRange(0), default=256, show_default=True, metavar="N",
                 help="Bytes of each packet to keep: 256 for all request headers, 0 for whole packets."),
    cloup.option("--tool", type=click.Choice(["tcpdump", "dumpcap"]), help="Program that captures [default: tcpdump if it is installed]."),
    cloup.option("--sudo/--no-sudo", default=True, show_default=True, help="With --host: run it there by sudo, without a password."),
)  # fmt: skip
@cloup.option_group(
    "Limits",
    cloup.option("--duration", type=_DURATION, help="Stop after this time, such as 15m, 8h or 1d [default: at Ctrl-C]."),
    cloup.option(
        "--limit", type=_MEGABYTES, default="10GB", show_default=True,
        help="Disk space for the captures of one host; a full ring of files replaces the oldest.",
    ),
)  # fmt: skip
@cloup.option_group(
    "Output",
    cloup.option("--out", required=True, metavar="DIR", help="New folder for the captures (DIR/captures) and the analysis (DIR/report)."),
    cloup.option("--no-analyze", is_flag=True, help="Write the captures only."),
    cloup.option("--dry-run", is_flag=True, help="Print the commands and run none."),
    open_option(),
)
@cloup.option_group(
    "Verdicts",
    targets_option("Kafka version to judge, as in analyze (repeatable)."),
    owners_option("Teams of clients, as in analyze."),
    with_fail_on(),
)  # fmt: skip
@click.pass_context
def capture(
    context: click.Context, hosts: tuple[str, ...], ports: tuple[int, ...], interface: str, snaplen: int, tool: str | None, sudo: bool,
    duration: int | None, limit: int, out: str, no_analyze: bool, dry_run: bool, open_it: bool, targets: tuple[str, ...],
    owners: str | None, fail_on: str | None,
) -> int:  # fmt: skip
    """Capture the packets of brokers with tcpdump or dumpcap until Ctrl-C or --duration, and then analyze them into DIR/report.

    Without --host the capture is of this machine and needs root or CAP_NET_RAW. With --host, ssh streams the packets from each host to
    this machine: nothing is written or installed there, and ssh must connect without a password. The captures in DIR/captures stay; they
    hold --limit bytes per host at most.

    \b
    Examples:
      sudo kwire capture --duration 1d --out week/
      kwire capture --host broker-1 --host broker-2 --duration 8h --out week/
      kwire capture --host root@broker-1 --no-sudo --port 9092 --port 9093 --out now/ --open
      kwire capture --host broker-1 --duration 1d --out week/ --dry-run

    Exit status: that of kwire analyze; 3 also if the capture of a host ended early.
    """
    folder, analysis = Path(out, "captures"), str(Path(out, "report"))
    hosts = tuple(dict.fromkeys(hosts))
    here = tool if tool and not hosts else next((name for name in ("tcpdump", "dumpcap") if shutil.which(name)), "tcpdump")
    there = tool or ("tcpdump" if hosts else here)
    points = []
    for host in hosts or ("",):
        point = CapturePoint(host, folder / (host or "local"), there, interface)
        ring = _ring(here, point.folder, limit)
        words = _capture(there, interface, snaplen, ports, _STREAM[there] if host else ring)
        if host:
            words = [*_SSH, host, shlex.join(["sudo", "-n", *words] if sudo else words)]
            point.reader = ["tcpdump", "-r", "-", *ring] if here == "tcpdump" else ["dumpcap", "-q", "-i", "-", *ring]
        point.command = words
        points.append(point)
    options = [word for port in ports for word in ("--port", str(port))]
    options += [word for release in targets for word in ("--to", release)] + (["--owners", owners] if owners else [])
    then = ["kwire", "analyze", str(folder), "--out", analysis, *options]
    if dry_run:
        for line in _pasted(points, duration, then if not no_analyze else []):
            click.echo(line)
        return 0
    if "://" in out:
        raise InputError("captures are written to a disk, and --out is a URI; copy them there afterwards")
    if Path(out).exists() and any(Path(out).iterdir()):
        raise InputError(f"{out} is not empty; choose another folder with --out")
    for program in [here, "ssh"] if hosts else [here]:
        if not shutil.which(program):
            raise InputError(f"{program if tool or program == 'ssh' else 'tcpdump or dumpcap'} is not installed here; install it first")
    if not no_analyze:
        from kwire.analysis.answers import Options
        from kwire.analysis.owners import NO_OWNERS, read_owners

        Options(
            target_releases=targets_of(targets, None), owners=read_owners(owners) if owners else NO_OWNERS
        ).check()  # not only after a day
    is_whole = _run(points, folder, duration, limit)
    if no_analyze:
        click.echo(f"Captures: {folder}; analyze them: {shlex.join(then)}")
        status = 0
    else:
        status = context.invoke(
            analyze, captures=(str(folder),), out=analysis, ports=ports, targets=targets, owners=owners, fail_on=fail_on, open_it=open_it
        )
    return status or (0 if is_whole else INCOMPLETE_INPUT)


_STREAM: Final = {"tcpdump": ["-U", "-w", "-"], "dumpcap": ["-P", "-w", "-"]}


def _capture(tool: str, interface: str, snaplen: int, ports: Sequence[int], target: list[str]) -> list[str]:
    """Return the command with 64 MiB of kernel buffer, so that bursts lose no packets."""
    packets = " or ".join(f"tcp port {port}" for port in ports)
    if tool == "tcpdump":
        return ["tcpdump", "-i", interface, "-s", str(snaplen), "-B", "65536", *target, packets]
    return ["dumpcap", "-q", "-i", interface, "-s", str(snaplen), "-B", "64", "-f", packets, *target]


def _ring(tool: str, folder: Path, limit: int) -> list[str]:
    """Return the options of a ring of files with `limit` megabytes."""
    size = min(limit // _FILES, _FILE_MEGABYTES)
    if tool == "dumpcap":
        return ["-w", str(folder / "kafka.pcapng"), "-b", f"filesize:{size * 1000}", "-b", f"files:{limit // size}"]
    # tcpdump would give up root before it opens the second file
    user = ["-Z", "root"] if os.geteuid() == 0 else []
    return [*user, "-w", str(folder / "kafka.pcap"), "-C", str(size), "-W", str(limit // size)]


def _pasted(points: Sequence[CapturePoint], duration: int | None, then: Sequence[str]) -> list[str]:
    """Return lines for a shell that do the same."""
    ends = f"timeout -s INT {duration} " if duration else ""
    several = " &" if len(points) > 1 else ""
    lines = [shlex.join(["mkdir", "-p", *(str(point.folder) for point in points)])]
    lines += [ends + " | ".join(map(shlex.join, filter(None, (point.command, point.reader)))) + several for point in points]
    return lines + ["wait"] * bool(several) + [shlex.join(then)] * bool(then)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Handle signals that end the capture when the body is done."""
    held: list[int] = []
    before = {number: signal.signal(number, lambda number, _frame: held.append(number)) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in held:
            signal.raise_signal(each)


def _run(points: Sequence[CapturePoint], folder: Path, duration: int | None, limit: int) -> bool:
    """Capture until the end; return whether no point ended early."""
    from kwire.report.amounts import bytes_of, length_of_time

    folder.parent.mkdir(parents=True, exist_ok=True)
    needed, free = len(points) * limit * 10**6, shutil.disk_usage(folder.parent).free
    if needed > free:
        raise InputError(
            f"{folder.parent} has {bytes_of(free)} free, and the captures take up to {bytes_of(needed)}: choose --limit or another disk"
        )
    folder.mkdir(mode=0o700)  # a capture has topics, client ids and addresses
    until = float("inf") if duration is None else time.monotonic() + duration
    ended: list[CapturePoint] = []
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        for number in _ENDING[1:]:  # which would leave the programs running
            before = signal.signal(number, lambda number, _frame: sys.exit(128 + number))
            stack.callback(signal.signal, number, before)
        with _signals_held():  # one that came between a program's start and its entry here would leave it running
            for point in points:
                stack.push(point)
                point.start()
        names = ", ".join(point.host or "this machine" for point in points)
        how_long = "" if duration is None else f" for {length_of_time(timedelta(seconds=duration))}"
        room = f"{bytes_of(limit * 10**6)}{' per host' if len(points) > 1 else ''}"
        warn(f"capturing on {names}{how_long} into {folder}, at most {room}; Ctrl-C stops it")
        with progress_bar("Capturing") as show:
            while time.monotonic() < until and len(ended) < len(points):
                for point in points:
                    if point not in ended and point.has_ended():
                        reason = point.reason()
                        if not point.size():  # it never began
                            shutil.rmtree(folder)
                            raise InputError(reason)
                        warn(f"{reason}; what it captured is kept")
                        ended.append(point)
                if shutil.disk_usage(folder).free < _FULL_BYTES:
                    warn(f"the disk of {folder} is full; the capture ends early")
                    return False
                show(f"Captured {bytes_of(sum(point.size() for point in points))}", 0, 0)
                time.sleep(_POLL_SECONDS)
    for point in points:
        if point.size() > limit * 10**6 * (_FILES - 1) // _FILES:
            warn(f"the captures of {point.host or 'this machine'} reached --limit, so the oldest packets may be gone")
    return not ended
