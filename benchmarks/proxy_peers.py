"""The proxies that are measured side by side, each started by itself in front of one broker on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["Running", "free_port", "installed"]

_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log error;
{load}
events {{ worker_connections {files}; }}
stream {{ server {{ listen 127.0.0.1:{port} backlog=4096; proxy_pass 127.0.0.1:{broker}; tcp_nodelay on; proxy_timeout 1h; }} }}
"""
_HAPROXY = """
global
    nbthread 1
    maxconn {most}
defaults
    mode tcp
    timeout connect 10s
    timeout client 1h
    timeout server 1h
frontend kafka
    bind 127.0.0.1:{port} backlog 4096
    default_backend brokers
backend brokers
    server broker 127.0.0.1:{broker}
"""
_KWIRE = """
loop = "{loop}"
threads = 1
metrics = "127.0.0.1:0"
max_connections = {most}
first_frame_seconds = 3600
[[listeners]]
listen = "127.0.0.1:{port}"
broker = "127.0.0.1:{broker}"
node_id = 1
advertised = "127.0.0.1:{port}"
"""
_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def free_port() -> int:
    """A port of this machine that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Running:
    """A proxy that runs.

    Arguments:
        name: for the table.
        command: that starts it.
        port: where it listens.
    """

    def __init__(self, name: str, command: list[str], port: int) -> None:
        self.name, self.port = name, port
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"{name} did not start: {' '.join(command)}") from None
                time.sleep(0.05)

    def cpu_seconds(self) -> float:
        """What all its threads have used: the scheduler's own nanoseconds where the kernel has them, else ticks of 10 ms."""
        tasks = Path(f"/proc/{self._process.pid}/task")
        found = sum(int((each / "schedstat").read_text().split()[0]) for each in tasks.iterdir()) / 1e9
        if found:
            return found
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """Memory that is its own or that it shares."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def _nginx(folder: Path, broker: int, most: int) -> Running | None:
    if shutil.which("nginx") is None:
        return None
    port, config = free_port(), folder / "nginx.conf"
    load = f"load_module {_MODULE};" if _MODULE.exists() else ""
    config.write_text(_NGINX.format(folder=folder, port=port, broker=broker, files=2 * most + 100, load=load))
    return Running("nginx stream", ["nginx", "-p", str(folder), "-c", str(config)], port)


def _haproxy(folder: Path, broker: int, most: int) -> Running | None:
    if shutil.which("haproxy") is None:
        return None
    port, config = free_port(), folder / "haproxy.cfg"
    config.write_text(_HAPROXY.format(port=port, broker=broker, most=most))
    return Running("haproxy", ["haproxy", "-db", "-f", str(config)], port)


def _kwire(loop: str) -> Callable[[Path, int, int], Running]:
    def start(folder: Path, broker: int, most: int) -> Running:
        port, config = free_port(), folder / f"{loop}.toml"
        config.write_text(_KWIRE.format(loop=loop, port=port, broker=broker, most=most))
        return Running(f"kwire {loop}", [sys.executable, "-m", "kwire", "proxy", str(config)], port)

    return start


def installed(folder: Path, broker: int, most: int) -> Iterator[Running]:
    """Start each proxy that is installed.

    Arguments:
        folder: for their configurations.
        broker: port of the broker behind all of them.
        most: connections that each must be able to have.
    """
    for start in (_kwire("native"), _kwire("asyncio"), _nginx, _haproxy):
        if (found := start(folder, broker, most)) is not None:
            yield found
