"""The proxies that are measured side by side, each started by itself in front of one broker on this machine."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

__all__ = ["NotInstalled", "Running", "Start", "free_port", "peers"]

_ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(_ROOT / "tools"))
kafka_jars = importlib.import_module("kafka_jars")  # what builds the catalog fetches the jars

_NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log error;
{load}
events {{ worker_connections {most}; }}
stream {{ server {{ listen 127.0.0.1:{port} {tls} backlog=4096; proxy_pass 127.0.0.1:{broker};
    tcp_nodelay on; proxy_timeout 1h; {files} }} }}
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
    bind 127.0.0.1:{port} {tls} backlog 4096
    default_backend brokers
backend brokers
    server broker 127.0.0.1:{broker}
"""
_KWIRE = """
loop = "{loop}"
threads = 1
metrics = "127.0.0.1:0"
max_connections = {twice}
max_connections_of_address = {most}
max_handshakes_of_address = {most}
max_rate_of_address = {most}
first_frame_seconds = 3600
[[listeners]]
listen = "127.0.0.1:{port}"
broker = "127.0.0.1:{broker}"
node_id = 1
advertised = "127.0.0.1:{port}"
{tls}"""
_TENANT = """tenant = "acme"
[tenants.acme]
prefix = "acme."
"""
# More than a client reaches: what counting costs, not what waiting does
_BYTE_QUOTA = """[[quotas]]
client_id = "client"
request_bytes = 1_000_000_000_000
response_bytes = 1_000_000_000_000
"""
_REQUEST_QUOTA = """[[quotas]]
client_id = "client"
requests = 1_000_000_000
"""
_TAP = """[tap]
file = "{folder}/{name}.pcapng"
max_files = 2
"""
# No filter but its own, which writes addresses; as many threads as it takes by itself
_KROXYLICIOUS = """
virtualClusters:
  - name: measured
    targetCluster:
      bootstrapServers: 127.0.0.1:{broker}
    gateways:
      - name: clients{tls}
        portIdentifiesNode:
          bootstrapAddress: 127.0.0.1:{port}
          nodeStartPort: {node_port}
          nodeIdRanges:
            - name: brokers
              start: 1
              end: 1
"""
_KROXYLICIOUS_TLS = """
        tls:
          key:
            certificateFile: {}
            privateKeyFile: {}"""
_KROXYLICIOUS_JARS = [
    ("io.kroxylicious", "kroxylicious-runtime", "0.12.0"),
    ("org.apache.logging.log4j", "log4j-slf4j2-impl", "2.25.3"),
]
_KROXYLICIOUS_MAIN = Path(__file__).parent / "java" / "KroxyliciousProxy.java"
_JAVA_SECONDS = 4.0
_SECONDS_TO_START = 120
_MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")


def free_port() -> int:
    """A port of this machine that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class NotInstalled(Exception):
    """A proxy, or what it runs on, is not on this machine."""


class Running:
    """A proxy that runs.

    Arguments:
        name: for the table.
        command: that starts it.
        port: where it listens.
        seconds_to_warm: of its processor time, before it is measured with a load; a JVM compiles what runs often.
        tls: its clients speak TLS.
    """

    def __init__(self, name: str, command: list[str], port: int, seconds_to_warm: float = 0, *, tls: bool = False) -> None:
        self.name, self.port, self.seconds_to_warm, self.tls = name, port, seconds_to_warm, tls
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + _SECONDS_TO_START
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    self.stop()
                    raise RuntimeError(f"{name} did not start: {' '.join(command)}") from None
                time.sleep(0.05)

    def cpu_seconds(self) -> float:
        """What all its threads have used, those that have ended too (a JVM ends compiler threads)."""
        return time.clock_gettime(~self._process.pid << 3 | 2)  # as clock_getcpuclockid makes the id of a process's clock

    def resident_bytes(self) -> int:
        """Memory that is its own or that it shares."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def drain_seconds(self) -> float:
        """Ask it to stop, and return the time until it has; a time out of bounds is an error."""
        begin = time.monotonic()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(_SECONDS_TO_START)
        return time.monotonic() - begin

    def stop(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


Start = Callable[[Path, int, int], Running]


def _need(name: str, *programs: str) -> None:
    if missing := [each for each in programs if shutil.which(each) is None]:
        raise NotInstalled(f"{name}: {' and '.join(missing)} not on the PATH")


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate that signs itself, once for all proxies."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    if not certificate.exists():
        _need("TLS", "openssl")
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        subprocess.run(["openssl", "req", "-x509", *kind, "-keyout", key, "-out", certificate], check=True, capture_output=True)
        (folder / "both.pem").write_text(certificate.read_text() + key.read_text())
    return certificate, key


def _nginx(folder: Path, broker: int, most: int, *, tls: bool = False) -> Running:
    _need("nginx stream", "nginx")
    port, config = free_port(), folder / f"nginx{tls}.conf"
    load = f"load_module {_MODULE};" if _MODULE.exists() else ""
    files = "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.2 TLSv1.3;".format(*_certificate(folder)) if tls else ""
    ends = {"port": port, "broker": broker, "tls": "ssl" if tls else "", "files": files}
    config.write_text(_NGINX.format(folder=folder, most=2 * most + 100, load=load, **ends))
    return Running("nginx stream", ["nginx", "-p", str(folder), "-c", str(config)], port, tls=tls)


def _haproxy(folder: Path, broker: int, most: int, *, tls: bool = False) -> Running:
    _need("haproxy", "haproxy")
    port, config = free_port(), folder / f"haproxy{tls}.cfg"
    secured = f"ssl crt {_certificate(folder)[0].with_name('both.pem')}" if tls else ""
    config.write_text(_HAPROXY.format(port=port, broker=broker, most=most, tls=secured))
    return Running("haproxy", ["haproxy", "-db", "-f", str(config)], port, tls=tls)


def _kwire(folder: Path, broker: int, most: int, *, name: str = "kwire", more: str = "", tls: bool = False) -> Running:
    port, config = free_port(), folder / f"{name}{tls}.toml"
    secured = 'tls = {{ certificate = "{}", key = "{}" }}\n'.format(*_certificate(folder)) if tls else ""
    loop = "asyncio" if name == "kwire asyncio" else "native"
    more = more.format(folder=folder, name=f"{name}{tls}")
    config.write_text(_KWIRE.format(loop=loop, port=port, broker=broker, most=most, twice=2 * most, tls=secured) + more)
    return Running(name, [sys.executable, "-m", "kwire", "proxy", str(config)], port, tls=tls)


def _kroxylicious(folder: Path, broker: int, most: int, *, tls: bool = False) -> Running:
    _need("kroxylicious", "java", "mvn")
    try:
        jars = kafka_jars.fetch_with_dependencies("kroxylicious-0.12.0", _KROXYLICIOUS_JARS, _ROOT / ".cache" / "kafka-jars")
    except SystemExit as failure:
        raise NotInstalled(f"kroxylicious: {failure}") from failure
    port, config = free_port(), folder / f"kroxylicious{tls}.yaml"
    secured = _KROXYLICIOUS_TLS.format(*_certificate(folder)) if tls else ""
    config.write_text(_KROXYLICIOUS.format(port=port, node_port=free_port(), broker=broker, tls=secured))
    command = ["java", "-Xms512m", "-Xmx512m", "-cp", f"{jars}/*", str(_KROXYLICIOUS_MAIN), str(config)]
    return Running("kroxylicious", command, port, _JAVA_SECONDS, tls=tls)


def peers() -> tuple[Start, ...]:
    """What starts each proxy.

    Arguments of each:
        folder: for its configuration.
        broker: port of the broker behind all of them.
        most: connections that it must be able to have.

    Raises:
        NotInstalled: by each, with the proxy's name and what is missing.
    """
    options = {"tenant": _TENANT, "tap": _TAP, "byte quota": _BYTE_QUOTA, "request quota": _REQUEST_QUOTA}
    own = [_kwire, *(partial(_kwire, name=f"+ {name}", more=more) for name, more in options.items()), partial(_kwire, name="kwire asyncio")]
    both = [_kwire, own[2], own[-1], _nginx, _haproxy, _kroxylicious]
    return *own, *both[3:], *(partial(each, tls=True) for each in both)
