"""The systemd units under a real systemd, in namespaces of its own: they start as the page says, and a restart refuses no client."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
import trustme

import kwire

HERE = Path(__file__).parent
DEPLOY = HERE.parents[1] / "deploy" / "proxy"
SYSTEMD = Path("/lib/systemd/systemd")
(PORT,) = set(re.findall(r"^ListenStream=.*:(\d+)$", (DEPLOY / "kwire-proxy.socket").read_text("ascii"), re.MULTILINE))
# ports of a network namespace of its own, in which nothing else listens
PROXY = f"""
metrics = "127.0.0.1:9400"

[[listeners]]
listen = ":{PORT}"
broker = "127.0.0.1:29092"
node_id = 1
advertised = "localhost:{PORT}"

[listeners.tls]
certificate = "/run/credentials/kwire-proxy.service/tls_proxy.pem"
key = "/run/credentials/kwire-proxy.service/tls_proxy.key"

[tap]
file = "/var/lib/kwire/tap.pcapng"
"""
COMMAND = f"""#!/bin/sh
export LD_LIBRARY_PATH=/opt/python/lib PYTHONPATH=/opt/src:/opt/site
exec /opt/python/bin/python{sys.version_info.major}.{sys.version_info.minor} -m kwire "$@"
"""
TARGETS = ("sysinit", "basic", "sockets", "multi-user", "shutdown", "network-online")
NAMESPACES = ("--pid", "--fork", "--kill-child", "--mount", "--cgroup", "--net", "--uts", "--ipc")


def cgroups() -> Path | None:
    """Return the folder of cgroup v2, if it is mounted."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text("utf-8").splitlines()]
    return next((Path(line[1]) for line in mounts if line[2] == "cgroup2"), None)


CGROUPS = cgroups() if sys.platform == "linux" else None
pytestmark = [
    pytest.mark.matrix,
    pytest.mark.skipif(
        CGROUPS is None or os.geteuid() != 0 or not SYSTEMD.exists(), reason="needs root, systemd and cgroup v2 to start a second systemd"
    ),
]


def prepare(folder: Path, authority: trustme.CA) -> None:
    """Write what the page installs, and the targets that the units name."""
    for name in ("memory", "kwire/bin", "units/kwire-proxy.service.d"):
        (folder / name).mkdir(parents=True)
    (folder / "kwire" / "bin" / "kwire").write_text(COMMAND, "ascii")
    (folder / "kwire" / "bin" / "kwire").chmod(0o755)
    for name in ("service", "socket"):
        shutil.copy(DEPLOY / f"kwire-proxy.{name}", folder / "units")
    for name in TARGETS:
        (folder / "units" / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n", "ascii")
    log = "[Service]\nStandardOutput=append:/run/proxy.log\nStandardError=append:/run/proxy.log\n"  # no journal is there
    (folder / "units" / "kwire-proxy.service.d" / "log.conf").write_text(log, "ascii")
    (folder / "proxy.toml").write_text(PROXY, "ascii")
    made = authority.issue_cert("localhost")
    made.cert_chain_pems[0].write_to_path(str(folder / "proxy.pem"))
    made.private_key_pem.write_to_path(str(folder / "proxy.key"))


def process_one(unshare: subprocess.Popen[str]) -> int:
    """Return the process id of systemd when it has started all units."""
    until_time = time.monotonic() + 60
    children = Path("/proc", str(unshare.pid), "task", str(unshare.pid), "children")
    while time.monotonic() < until_time:
        if unshare.poll() is not None:
            pytest.skip(f"systemd cannot be started here: {unshare.communicate()[1]}")
        for child in children.read_text("ascii").split():
            asked = subprocess.run([*beside(int(child)), "systemctl", "is-system-running"], capture_output=True, text=True, check=False)
            if asked.stdout.strip() in ("running", "degraded"):
                return int(child)
        time.sleep(0.1)
    raise TimeoutError("systemd does not start")


def beside(process: int) -> list[str]:
    """Return the beginning of a command that runs in the namespaces of a process."""
    return ["nsenter", "-t", str(process), "-m", "-p", "-n", "-u", "-i"]


def test_restarts_under_systemd_refuse_no_client(tmp_path: Path, authority: trustme.CA) -> None:
    assert CGROUPS is not None
    prepare(tmp_path, authority)
    group = CGROUPS / f"kwire-test-{os.getpid()}"
    group.mkdir()
    # into a group of its own first: systemd takes the group that it is in as the root
    started = ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh", "unshare", *NAMESPACES, "bash"]
    mounted = [sys.base_prefix, sysconfig.get_path("purelib"), str(Path(kwire.__file__).parents[1])]
    command = [*started, str(HERE / "systemd_namespace.sh"), str(tmp_path), *mounted]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as unshare:
        try:
            systemd = process_one(unshare)
            trial = subprocess.run(
                [*beside(systemd), sys.executable, str(HERE / "systemd_trial.py"), PORT], capture_output=True, text=True, timeout=240,
                check=False, env={"PYTHONPATH": str(HERE.parent), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            )  # fmt: skip
        finally:
            unshare.kill()  # and with it systemd, by --kill-child, and so all that it started
    remove(group)
    assert trial.returncode == 0, trial.stderr
    found = json.loads(trial.stdout)
    assert found["first"] == "answered"
    assert "0" not in found["Uid"].split()
    assert (found["CapEff"], found["NoNewPrivs"], found["Seccomp"]) == ("0000000000000000", "1", "2")
    assert found["healthz"] == 200
    assert found["taps"] == ["600"] * 3  # one of each process
    assert set(found["ended"]) <= {"answered", "closed"}, found["ended"]
    assert found["ended"].get("closed", 0) <= 2 * 4  # those in a handshake at one of two restarts


def remove(group: Path) -> None:
    """Remove a group and those in it, when their processes have ended."""
    until_time = time.monotonic() + 30
    while "populated 1" in (group / "cgroup.events").read_text("ascii"):
        assert time.monotonic() < until_time, "processes of the test are left"
        time.sleep(0.05)
    for folder, _, _ in os.walk(group, topdown=False):
        Path(folder).rmdir()
