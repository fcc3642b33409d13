"""Secrets in every field that may hold one, of every api and version: none is in anything that kwire writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from kwire.analysis import run
from kwire.cli.entry import commands
from kwire.protocol.secrets import frame_blanking
from kwire.proxy import logged_connection, tapped_connection, taps
from kwire.proxy.logged_connection import LoggedConnection
from kwire.proxy.rules.rule import Peer
from kwire.proxy.tap_file import TapFile
from kwire.report.formats import FORMATS
from kwire.tables.series_rows import ROW_TABLES
from marked_secrets import Exchange, Marker, found_in, framed, write_capture

LOCAL = ("10.0.0.1", 9092)


@pytest.fixture(scope="module")
def marked() -> tuple[Marker, list[Exchange]]:
    marker = Marker()
    return marker, list(marker.exchanges())


@pytest.fixture(scope="module")
def capture(marked: tuple[Marker, list[Exchange]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture; that each mark is in it shows that a search can find them."""
    path = tmp_path_factory.mktemp("marked") / "secrets.pcap"
    write_capture(path, marked[1])
    data = path.read_bytes()
    assert [marked[0].marks[mark] for mark in marked[0].marks if mark not in data] == []
    assert len(found_in(data)) >= len(marked[0].marks) > 1000
    return path


def printed(*arguments: str, status: tuple[int, ...] = (0,)) -> bytes:
    result = CliRunner().invoke(commands, arguments)
    assert result.exit_code in status, result.output
    assert len(result.stdout) > 100
    return result.output.encode()


def test_every_listed_field_has_a_mark(marked: tuple[Marker, list[Exchange]]) -> None:
    """All but those of records that brokers write, which lie in the records of a batch."""
    listed = {*frame_blanking.SECRET_TEXTS, *(key for key, rule in frame_blanking.RULES.items() if rule.kind != "nested")}
    sent = {key for key in listed if key[0].endswith(("Request", "Response"))}
    assert len(sent) == 31
    assert sent - set(marked[0].marks.values()) == set()


@pytest.mark.parametrize("kind", ["request log", "tap"])
def test_what_a_proxy_writes(
    twin: str, kind: str, marked: tuple[Marker, list[Exchange]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    if twin == "pure":
        monkeypatch.setattr(logged_connection, "frame_blanker", lambda: frame_blanking.FrameBlanker)
        monkeypatch.setattr(tapped_connection, "frame_blanker", lambda: frame_blanking.FrameBlanker)
    made: Any = taps.TappedConnection if twin == "native" else tapped_connection.TappedConnection
    file = TapFile(tmp_path / "written", max_bytes=1 << 30, max_files=1, max_queued=1 << 30, head=b"")
    for number, exchange in enumerate(marked[1]):
        peer = Peer("10.0.0.9", 20_000 + number, 1)
        seen = LoggedConnection(file, peer, LOCAL, number, 1 << 20) if kind == "request log" else made(file, peer, LOCAL, 1 << 20, 1)
        for asked, frame in exchange.frames:
            if asked:
                seen.from_client(framed(frame), number)
            else:
                seen.to_client([framed(frame)], number)
        seen.closed(number)
    file.close()
    data = file.files()[0].read_bytes()
    assert len(data) > 100_000
    assert found_in(data) == []
    assert found_in(caplog.text.encode()) == []
    assert "stops looking" not in caplog.text


def test_trimmed_captures(capture: Path, tmp_path: Path) -> None:
    assert CliRunner().invoke(commands, ["trim", str(capture), str(tmp_path / "trimmed.pcap")]).exit_code == 0
    assert found_in((tmp_path / "trimmed.pcap").read_bytes()) == []


def test_decode_shows_secrets_only_on_request(capture: Path, marked: tuple[Marker, list[Exchange]]) -> None:
    data = printed("decode", str(capture))
    assert len(data.splitlines()) > 500
    assert found_in(data) == []
    assert len(found_in(printed("decode", str(capture), "--show-secrets"))) > 300
    assert found_in(printed("decode", str(capture), "--dialect", "kip-1313")) == []


def test_decode_of_single_frames(marked: tuple[Marker, list[Exchange]], tmp_path: Path) -> None:
    requests = [frame for exchange in marked[1] for asked, frame in exchange.frames[:2] if asked]
    (tmp_path / "requests").write_bytes(b"".join(map(framed, requests)))
    data = printed("decode", str(tmp_path / "requests"), status=(0, 1))  # some are cut
    assert len(data.splitlines()) > len(requests)
    assert found_in(data) == []
    for exchange in marked[1]:
        for asked, frame in exchange.frames[:2]:
            if not asked:
                (tmp_path / "response").write_bytes(frame)
                options = ("--response", "--api-key", str(exchange.api_key), "--api-version", str(exchange.api_version))
                assert found_in(CliRunner().invoke(commands, ["decode", *options, str(tmp_path / "response")]).output.encode()) == []


@pytest.mark.parametrize("form", [(), ("--json",), ("--wide",)])
def test_inspect(form: tuple[str, ...], capture: Path) -> None:
    for table in ROW_TABLES:
        result = CliRunner().invoke(commands, ["inspect", str(capture), "--table", table, *form])
        assert result.exit_code in (0, 3), result.output
        assert found_in(result.output.encode()) == []


def test_an_analysis(capture: Path, tmp_path: Path) -> None:
    """Tables, reports in all forms, the summary, and the other files of the folder; `_state` is the owner's alone (SECURITY.md)."""
    out = tmp_path / "out"
    data = printed("analyze", str(capture), "--out", str(out), *(word for form in FORMATS for word in ("--format", form)), status=(0, 4))
    assert found_in(data) == []
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and "_state" not in path.parts]
    assert {path.suffix for path in files} >= {".parquet", ".html", ".json", ".md"}
    for path in files:
        held = str(pq.read_table(path).to_pylist()).encode() if path.suffix == ".parquet" else path.read_bytes()
        assert found_in(held) == [], path


def test_the_pure_backend(marked: tuple[Marker, list[Exchange]], tmp_path: Path) -> None:
    """The same commands without compiled code, for a part of the exchanges."""
    write_capture(capture := tmp_path / "some.pcap", marked[1][::5])
    environment = {**os.environ, "KWIRE_PURE": "1", "KWIRE_REQUIRE_NATIVE": ""}
    for arguments in (("decode", str(capture)), ("trim", str(capture), str(tmp_path / "pure.pcap")), ("inspect", str(capture), "--json")):
        done = subprocess.run([sys.executable, "-m", "kwire", *arguments], env=environment, capture_output=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        assert found_in(done.stdout + done.stderr) == []
    assert found_in((tmp_path / "pure.pcap").read_bytes()) == []


def test_request_logs_that_hold_secrets(capture: Path, tmp_path: Path) -> None:
    """A broker's own log has them: no table has what such a line says of them."""
    (tmp_path / "broker.jsonl").write_bytes(printed("decode", str(capture), "--show-secrets"))
    tables = run([str(tmp_path / "broker.jsonl")])
    assert tables["requests"].num_rows > 500
    assert found_in(str({name: table.to_pylist() for name, table in tables.items()}).encode()) == []
