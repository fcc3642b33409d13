"""The first lines of `kwire proxy`: in the format of its log, with the ports and the brokers that cannot be reached."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from running_proxy import RunningProxy

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (INFO|WARNING) (.+)")


def started(folder: Path, broker: int, text: str) -> list[tuple[str, str]]:
    proxy = RunningProxy(folder, broker)
    try:
        proxy.logged(text)
        lines = [LINE.fullmatch(line) for line in proxy.log().splitlines()]
    finally:
        proxy.stop()
    assert None not in lines
    return [(line[1], line[2].replace(str(proxy.port), "PORT", 1)) for line in lines if line is not None]


def test_a_broker_that_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert started(tmp_path, port, "all brokers can be reached (1)") == [
            ("INFO", f"listening on port PORT for broker 1 at 127.0.0.1:{port}"),
            ("INFO", "all brokers can be reached (1)"),
        ]


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as bound:  # a port that refuses connections, and that nobody else gets
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        first, second = started(tmp_path, port, "cannot be reached")
    assert first == ("INFO", f"listening on port PORT for broker 1 at 127.0.0.1:{port}")
    assert second[0] == "WARNING"
    assert second[1].startswith(f"broker 1 at 127.0.0.1:{port} cannot be reached: ")
