"""Clients and a broker beside a systemd that test_proxy_systemd.py started: does what the page says, and prints what happened as JSON."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path

from proxied_frames import answer, echo, heartbeat

ANSWER = answer(7, len(heartbeat(7)) - 4)
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CONTEXT.check_hostname, CONTEXT.verify_mode = False, ssl.CERT_NONE
CLIENTS = 4
PORT = int(sys.argv[1])
LOG = Path("/run/proxy.log")


def systemctl(*arguments: str) -> str:
    done = subprocess.run(["systemctl", *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"systemctl {' '.join(arguments)}: {done.stderr}\n{LOG.read_text('utf-8')}"
    return done.stdout.strip()


def exchange() -> str:
    try:
        with socket.create_connection(("127.0.0.1", PORT), 30) as plain, CONTEXT.wrap_socket(plain) as client:
            client.sendall(heartbeat(7))
            found = b""
            while len(found) < len(ANSWER) and (data := client.recv(100)):
                found += data
        return "answered" if found == ANSWER else "closed"
    except ConnectionRefusedError:
        return "refused"
    except OSError as error:
        return "closed" if isinstance(error, ssl.SSLEOFError | ConnectionResetError) else repr(error)


def wait_for_answers(ended: Counter[str], more: int) -> None:
    wanted, until = ended["answered"] + more, time.monotonic() + 60
    while ended["answered"] < wanted:
        assert time.monotonic() < until, f"clients are not served: {ended}"
        time.sleep(0.02)


def restarts() -> Counter[str]:
    """Restart the service twice and reload it once, while clients connect, ask once and leave."""
    ended: Counter[str] = Counter()
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            ended[exchange()] += 1

    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for command in ("restart", "reload", "restart"):
        wait_for_answers(ended, 50)
        systemctl(command, "kwire-proxy")
    wait_for_answers(ended, 50)
    stop.set()
    for thread in threads:
        thread.join(60)
    return ended


def main() -> None:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(asyncio.start_server(echo, "127.0.0.1", 29092), loop).result(10)
    systemctl("start", "kwire-proxy.socket")
    systemctl("start", "kwire-proxy")
    found: dict[str, object] = {"first": exchange()}
    assert found["first"] == "answered", LOG.read_text("utf-8")
    status = Path("/proc", systemctl("show", "--property=MainPID", "--value", "kwire-proxy"), "status").read_text("ascii")
    found |= dict(line.split(":\t", 1) for line in status.splitlines() if line.startswith(("Uid", "CapEff", "NoNewPrivs", "Seccomp:")))
    with urllib.request.urlopen("http://127.0.0.1:9400/healthz", timeout=30) as answered:
        found["healthz"] = answered.status
    found["ended"] = restarts()
    systemctl("stop", "kwire-proxy.socket", "kwire-proxy")
    found["taps"] = [f"{each.stat().st_mode & 0o777:o}" for each in Path("/var/lib/private/kwire").glob("*.pcapng")]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
