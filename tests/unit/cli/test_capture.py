"""`kwire capture`: its commands, its ends and its sentences. Arguments as in the manuals of tcpdump, dumpcap and ssh.

`ssh`, `sudo` and `tcpdump` are stand-ins on the PATH, but for one test with dumpcap on the loopback of a network of its own.
"""

from __future__ import annotations

import gzip
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from kwire.cli.capture_point import CapturePoint
from kwire.cli.entry import commands

SEED = Path(__file__).parents[2] / "captures" / "data" / "seed.pcap.gz"
SSH = "ssh -nT -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15"
STAND_INS = {
    # options, host, command
    "ssh": """for last; do :; done; echo "$*" >> "$CALLS"
case "$*" in *lost*) echo "ssh: connect to host lost port 22: Connection refused" >&2; exit 255;; esac
case "$*" in *breaks*) cat "$SEED"; echo "Connection to breaks closed by remote host." >&2; exit 255;; esac
eval "exec $last"
""",
    "sudo": 'shift; exec "$@"',
    "tcpdump": """echo "tcpdump $*" >> "$CALLS"
read=; write=; each=; while [ $# -gt 0 ]; do case $1 in -r) read=1;; -w) write=$2;; -i) each=$2;; esac; shift; done
trap 'exit 0' INT
if [ "$read" ]; then
    head="$CALLS.$$"; dd bs=1 count=24 of="$head" 2> /dev/null
    [ -s "$head" ] || { echo "tcpdump: truncated dump file; tried to read 4 file header bytes, only got 0" >&2; exit 1; }
    exec cat "$head" - > "${write}00"
fi
[ "$each" = any ] || { echo "tcpdump: $each: No such device exists" >&2; exit 1; }
[ "$write" = - ] && cat "$SEED" || cp "$SEED" "${write}00"
[ -z "$DIES" ] || { echo "tcpdump: pcap_loop: The interface disappeared" >&2; exit 1; }
while :; do sleep 0.05; done""",
}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-ins; returns the file with the commands that ran."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in STAND_INS.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    seed = tmp_path / "seed.pcap"
    seed.write_bytes(gzip.decompress(SEED.read_bytes()))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("SEED", str(seed))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("DIES", "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["/opt/kwire/bin/kwire"])
    monkeypatch.chdir(tmp_path)
    return tmp_path / "calls"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["capture", "--out", "out", *arguments])


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        pytest.param(
            [],
            [
                "mkdir -p out/captures/local",
                "tcpdump -i any -s 256 -B 65536 -w out/captures/local/kafka.pcap -C 500 -W 20 'tcp port 9092'",
                "kwire analyze out/captures --out out/report --port 9092",
            ],
            id="here",
        ),
        pytest.param(
            [
                "--tool",
                "dumpcap",
                "--interface",
                "eth0.7",
                "--snaplen",
                "0",
                "--limit",
                "50GB",
                "--duration",
                "2h",
                "--port",
                "9092",
                "--port",
                "9093",
                "--no-analyze",
            ],
            [
                "mkdir -p out/captures/local",
                "timeout -s INT 7200 dumpcap -q -i eth0.7 -s 0 -B 64 -f 'tcp port 9092 or tcp port 9093' "
                "-w out/captures/local/kafka.pcapng -b filesize:1000000 -b files:50",
            ],
            id="dumpcap",
        ),
        pytest.param(
            [
                "--host",
                "broker-1",
                "--host",
                "me@10.0.0.7",
                "--duration",
                "90s",
                "--limit",
                "20MB",
                "--to",
                "4.0",
                "--owners",
                "o.csv",
            ],
            [
                "mkdir -p out/captures/broker-1 out/captures/me@10.0.0.7",
                *(
                    f"timeout -s INT 90 {SSH} {host} "
                    + shlex.quote("sudo -n tcpdump -i any -s 256 -B 65536 -U -w - 'tcp port 9092'")
                    + f" | tcpdump -r - -w out/captures/{host}/kafka.pcap -C 1 -W 20 &"
                    for host in ("broker-1", "me@10.0.0.7")
                ),
                "wait",
                "kwire analyze out/captures --out out/report --port 9092 --to 4.0 --owners o.csv",
            ],
            id="hosts",
        ),
    ],
)
def test_commands_to_paste(machine: Path, arguments: list[str], lines: list[str]) -> None:
    result = run("--dry-run", *arguments)
    assert (result.exit_code, result.stdout.splitlines()) == (0, lines)
    assert not machine.exists()
    assert not Path("out").exists()


def test_tcpdump_keeps_root_for_the_files_of_a_ring(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With -C it would open the second file as another user: `-Z root` in the manual."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert " -Z root -w out/captures/local/kafka.pcap " in run("--dry-run").stdout
    assert "-Z" not in run("--dry-run", "--tool", "dumpcap").stdout


def requests(out: Path, folder: str = "out/report") -> list[tuple[object, ...]]:
    rows = pq.read_table(out / folder / "requests").sort_by([("correlation_id", "ascending")])
    return [tuple(row.values()) for row in rows.select(["api_name", "api_version", "correlation_id", "client_id"]).to_pylist()]


def test_a_capture_here_is_analysed(machine: Path, tmp_path: Path) -> None:
    """Its files are for the user alone, and stay."""
    assert CliRunner().invoke(commands, ["analyze", str(SEED), "--out", "direct"]).exit_code == 0
    result = run("--duration", "1s", "--port", "20192")
    assert result.exit_code == 0, result.stderr
    assert machine.read_text().splitlines() == [
        "tcpdump -i any -s 256 -B 65536 -w out/captures/local/kafka.pcap -C 500 -W 20 tcp port 20192"
    ]
    assert result.stderr.startswith("kwire: capturing on this machine for 1 s into out/captures, at most 10.0 GB; Ctrl-C stops it.\n")
    assert "Report: out/report/report.html" in result.stdout
    assert requests(tmp_path) == requests(tmp_path, "direct")
    assert [path.name for path in Path("out/captures/local").iterdir()] == ["kafka.pcap00"]
    assert stat.S_IMODE(Path("out/captures").stat().st_mode) == 0o700


def test_captures_over_ssh(machine: Path, tmp_path: Path) -> None:
    """What each host's tcpdump writes comes through ssh into its own folder; the shell there gets the filter as one word."""
    result = run("--duration", "1s", "--host", "broker-1", "--host", "me@broker-2", "--host", "broker-1", "--limit", "20MB", "--no-analyze")
    assert result.exit_code == 0, result.stderr
    assert (
        result.stderr == "kwire: capturing on broker-1, me@broker-2 for 1 s into out/captures, at most 20.0 MB per host; Ctrl-C stops it.\n"
    )
    assert result.stdout == "Captures: out/captures; analyze them: kwire analyze out/captures --out out/report --port 9092\n"
    for host in ("broker-1", "me@broker-2"):
        assert Path(f"out/captures/{host}/kafka.pcap00").read_bytes() == (tmp_path / "seed.pcap").read_bytes()
    assert not Path("out/report").exists()
    remote = "sudo -n tcpdump -i any -s 256 -B 65536 -U -w - 'tcp port 9092'"
    assert sorted(machine.read_text().splitlines()) == sorted(
        line
        for host in ("broker-1", "me@broker-2")
        for line in (
            f"{SSH.removeprefix('ssh ')} {host} {remote}",
            "tcpdump -i any -s 256 -B 65536 -U -w - tcp port 9092",
            f"tcpdump -r - -w out/captures/{host}/kafka.pcap -C 1 -W 20",
        )
    )


def test_a_host_that_cannot_be_reached_ends_the_capture(machine: Path) -> None:
    """Not after a day; and the next try finds no files of this one."""
    result = run("--host", "broker-1", "--host", "lost")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:] == [
        "kwire: ssh cannot connect to lost (ssh: connect to host lost port 22: Connection refused); it must do so without a password: "
        "ssh -o BatchMode=yes lost true."
    ]
    assert list(Path("out").iterdir()) == []


def test_a_capture_that_ends_early_is_kept(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIES", "1")
    result = run("--port", "20192")
    assert result.exit_code == 3
    assert "tcpdump on this machine ended: tcpdump: pcap_loop: The interface disappeared; what it captured is kept.\n" in result.stderr
    assert "Report: out/report/report.html" in result.stdout


def test_a_connection_that_breaks_leaves_the_other_hosts(machine: Path, tmp_path: Path) -> None:
    result = run("--host", "breaks", "--host", "broker-1", "--duration", "2s", "--no-analyze")
    assert result.exit_code == 3
    assert result.stderr.splitlines()[1:] == [
        "kwire: the connection to breaks broke (Connection to breaks closed by remote host.); what it captured is kept."
    ]
    for host in ("breaks", "broker-1"):
        assert Path(f"out/captures/{host}/kafka.pcap00").read_bytes() == (tmp_path / "seed.pcap").read_bytes()


def test_a_disk_that_fills_up_ends_the_capture(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tcpdump goes on with a full disk, and loses packets without a word; others fill the disk too."""
    usage = namedtuple("usage", "total used free")
    free = iter((usage(0, 0, 10**11), usage(0, 0, 0)))
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: next(free))
    result = run("--no-analyze")
    assert result.exit_code == 3
    assert result.stderr.splitlines()[1:] == ["kwire: the disk of out/captures is full; the capture ends early."]


def test_a_full_ring_is_said(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CapturePoint, "size", lambda _self: 19_000_001)
    assert "reached --limit" not in run("--duration", "1s", "--limit", "21MB", "--no-analyze").stderr
    shutil.rmtree("out")
    result = run("--duration", "1s", "--limit", "20MB", "--no-analyze")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[1:] == ["kwire: the captures of this machine reached --limit, so the oldest packets may be gone."]


ROOT_HINT = "run kwire as root, as in: sudo /opt/kwire/bin/kwire capture"


@pytest.mark.parametrize(
    ("said", "status", "arguments", "sentence"),
    [  # as tcpdump 4.99, dumpcap 4.0, sudo 1.9, bash and dash write
        ("tcpdump: eth0: You don't have permission to perform this capture on that device\n(socket: Operation not permitted)", 1, [],
         f"tcpdump may not capture on this machine: {ROOT_HINT}"),
        ("tcpdump: any: You don't have permission to perform this capture on that device", 1, ["--host", "b", "--no-sudo"],
         "tcpdump may not capture on b: leave out --no-sudo, or connect as root"),
        ("tcpdump: eth9: No such device exists\n(No such device exists)", 1, ["--interface", "eth9"],
         "this machine has no interface eth9: tcpdump -D lists them, and any stands for all"),
        ("sudo: a password is required", 1, ["--host", "b"],
         "sudo on b asks for a password: allow tcpdump without one (NOPASSWD in sudoers), or connect as root with --no-sudo"),
        ("bash: line 1: sudo: command not found", 127, ["--host", "b"], "b has no sudo: connect as root with --no-sudo"),
        ("sudo: tcpdump: command not found", 1, ["--host", "b"],
         "b has no tcpdump: install it there, or choose the other program with --tool"),
        ("sh: 1: tcpdump: not found", 127, ["--host", "b", "--no-sudo"],
         "b has no tcpdump: install it there, or choose the other program with --tool"),
        ("me@b: Permission denied (publickey).", 255, ["--host", "me@b"],
         "ssh cannot connect to me@b (me@b: Permission denied (publickey).); it must do so without a password: "
         "ssh -o BatchMode=yes me@b true"),
        ("tcpdump: syntax error in filter\x1b[2J", 1, [], "tcpdump on this machine ended: tcpdump: syntax error in filter\\x1b[2J"),
    ],
    ids=["root", "root there", "interface", "password", "no sudo", "no tcpdump by sudo", "no tcpdump", "no key", "other"],
)  # fmt: skip
def test_reasons(machine: Path, tmp_path: Path, said: str, status: int, arguments: list[str], sentence: str) -> None:
    (tmp_path / "said").write_text(said)
    reader = 'case "$*" in *"-r -"*) cat > /dev/null; exit 1;; esac\n'  # which finds no header in an empty stream
    for name in ("tcpdump", "ssh"):
        (tmp_path / "programs" / name).write_text(f"#!/bin/sh\n{reader}cat '{tmp_path / 'said'}' >&2; exit {status}\n")
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[1:] == [f"kwire: {sentence}."]


def test_dumpcaps_words_for_the_same(machine: Path, tmp_path: Path) -> None:
    dumpcap = tmp_path / "programs" / "dumpcap"
    for said, sentence in (
        ('dumpcap: You do not have permission to capture on device "lo".', f"dumpcap may not capture on this machine: {ROOT_HINT}"),
        ('dumpcap: There is no device named "lo".', "this machine has no interface lo: dumpcap -D lists them, and any stands for all"),
    ):
        dumpcap.write_text(f"#!/bin/sh\necho '{said}' >&2; exit 1\n")
        dumpcap.chmod(0o755)
        assert run("--tool", "dumpcap", "--interface", "lo").stderr.splitlines()[1:] == [f"kwire: {sentence}."]


def test_what_is_wrong_before_the_capture(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program starts, and no day is lost."""
    usage = namedtuple("usage", "total used free")
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "disk_usage", lambda _folder: usage(0, 0, 3_000_000_000))
        assert run("--host", "a", "--host", "b", "--limit", "2GB").stderr == (
            "kwire: out has 3.0 GB free, and the captures take up to 4.0 GB: choose --limit or another disk.\n"
        )
    assert run("--owners", "nobody.csv").stderr == "kwire: the owners nobody.csv cannot be read: No such file or directory.\n"
    assert "9.9" in run("--to", "9.9").stderr
    (Path("out") / "old.pcap").write_bytes(b"")
    assert run().stderr == "kwire: out is not empty; choose another folder with --out.\n"
    monkeypatch.setenv("PATH", "/nowhere")
    new = ["capture", "--out", "new"]
    for more, program in ([], "tcpdump or dumpcap"), (["--tool", "dumpcap"], "dumpcap"):
        assert CliRunner().invoke(commands, [*new, *more]).stderr == f"kwire: {program} is not installed here; install it first.\n"
    assert not machine.exists()


@pytest.mark.parametrize(
    ("option", "text"),
    [
        *(("--host", text) for text in ("-oProxyCommand=id", "me@-oProxyCommand=id", "a b", "a;id", "$(id)", "../up", "a\n", "")),
        *(("--interface", text) for text in ("-", "-w", "TCP@10.0.0.1:2002", "rpcap://a/b", "/dev/stdin", "")),
        ("--limit", "19MB"), ("--limit", "10"), ("--limit", "-1GB"), ("--duration", "0s"), ("--duration", "10"), ("--duration", "1e3s"),
    ],
)  # fmt: skip
def test_untrusted_text_is_refused(machine: Path, option: str, text: str) -> None:
    result = run(f"{option}={text}", "--dry-run")
    assert result.exit_code == 2
    assert "invalid" in result.stderr
    assert not machine.exists()


def wait_until(is_true: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("ending", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=lambda each: str(each)
)
def test_signals_end_the_capture(machine: Path, ending: int, status: int) -> None:
    """Ctrl-C begins the analysis. Whatever the signal is, no program goes on, and the captures stay."""
    command = [sys.executable, "-m", "kwire", "capture", "--out", "out", "--host", "broker-1", "--port", "20192"]
    whole = gzip.decompress(SEED.read_bytes())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as capturing:
        kept = Path("out/captures/broker-1/kafka.pcap00")
        wait_until(lambda: kept.exists() and kept.read_bytes() == whole)
        capturing.send_signal(ending)
        shown, said = capturing.communicate(timeout=60)
    assert capturing.returncode == status, said
    assert ("Report: out/report/report.html" in shown) is (ending == signal.SIGINT)
    assert kept.read_bytes() == whole
    # a process that got the signal too may need a moment longer
    wait_until(lambda: str(machine.parent) not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_programs_start_leaves_none(machine: Path, monkeypatch: pytest.MonkeyPatch, ending: int) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Signalled(subprocess.Popen[bytes]):
        def __init__(self, *arguments: object, **settings: object) -> None:
            super().__init__(*arguments, **settings)  # type: ignore[call-overload]
            started.append(self)
            signal.raise_signal(ending)

    monkeypatch.setattr(subprocess, "Popen", Signalled)
    run("--host", "broker-1", "--no-analyze")
    left = [each for each in started if each.returncode is None]
    for each in left:
        each.kill()
    assert len(started) == 2  # the capture and its reader
    assert not left


LOOPBACK = """
import fcntl, socket, struct, sys
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 0x41))  # SIOCSIFFLAGS: up, running
import test_capture
test_capture.exchange()
"""


def exchange() -> None:
    """Capture three Heartbeats and their responses, in a network where nothing else is; called in another process."""
    from kafka_bytes import heartbeat, ok

    command = [
        sys.executable,
        "-m",
        "kwire",
        "capture",
        "--tool",
        "dumpcap",
        "--interface",
        "lo",
        "--port",
        "9092",
        "--out",
        "out",
        "--limit",
        "20MB",
    ]
    with subprocess.Popen(command) as capturing:
        files = Path("out/captures/local")
        wait_until(lambda: capturing.poll() is not None or (files.exists() and [*files.iterdir()]))  # dumpcap has its filter by then
        import socket

        with socket.create_server(("127.0.0.1", 9092)) as server, socket.create_connection(("127.0.0.1", 9092)) as client:
            broker, _ = server.accept()
            with broker:
                for number, client_id in ((1, b"first"), (2, b"first"), (3, b"second")):
                    client.sendall(heartbeat(number, client_id))
                    assert broker.recv(1000) == heartbeat(number, client_id)
                    broker.sendall(ok(number))
                    assert client.recv(1000) == ok(number)
        wait_until(lambda: any(ok(3) in file.read_bytes() for file in files.iterdir()))
        capturing.send_signal(signal.SIGINT)
    sys.exit(capturing.returncode)


def test_dumpcap_on_loopback(tmp_path: Path) -> None:
    """Rows of the report are what went over the socket. Needs dumpcap (package wireshark-common) and `unshare`, and no rights."""
    tests = Path(__file__).parents[2]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--net", sys.executable, "-c", LOOPBACK],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(tests), str(Path(__file__).parent)])},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert requests(tmp_path) == [("Heartbeat", 0, 1, "first"), ("Heartbeat", 0, 2, "first"), ("Heartbeat", 0, 3, "second")]
