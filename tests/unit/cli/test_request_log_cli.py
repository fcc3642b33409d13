"""`kwire inspect` on request logs: files, pipes, filters, zones; and what it says of a file that is none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kwire.cli.entry import commands
from kwire.tables import SCHEMAS

DATA = Path(__file__).parents[2] / "captures" / "data"
TEXT = DATA / "old-0.11-requests.log.gz"
JSON = DATA / "topicids-requests.jsonl.gz"


def rows(*arguments: str, data: bytes | None = None) -> list[dict[str, Any]]:
    result = CliRunner().invoke(commands, ["inspect", *arguments, "--json"], input=data)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("table", ["requests", "connections", "captures"])
def test_json_has_every_column(table: str) -> None:
    for log in (TEXT, JSON):
        found = rows(str(log), "--table", table)
        assert found
        assert all(list(row) == SCHEMAS[table].names for row in found)


def test_standard_input_reads_like_a_file() -> None:
    from_file = rows(str(TEXT))
    for data in (TEXT.read_bytes(), gzip.decompress(TEXT.read_bytes())):
        from_pipe = rows("-", data=data)
        assert [{**row, "capture": "", "series": ""} for row in from_pipe] == [{**row, "capture": "", "series": ""} for row in from_file]


def test_filters() -> None:
    assert {row["client_id"] for row in rows(str(TEXT), "--client-id", "split")} == {"split"}
    late = rows(str(TEXT), "--since", "2026-11-21T10:24:10")
    assert 0 < len(late) < len(rows(str(TEXT)))


def test_a_zone() -> None:
    """The first line was written at 10:23:49.480, wherever the broker was."""
    times = [rows(str(TEXT), *zone)[0]["response_time"] for zone in ((), ("--log-zone", "America/New_York"))]
    assert times == ["2026-11-21T10:23:49.480000Z", "2026-11-21T15:23:49.480000Z"]
    result = CliRunner().invoke(commands, ["inspect", str(TEXT), "--log-zone", "Mars/Base"])
    assert result.exit_code == 1


def test_a_text_that_is_no_log(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("time,client\n1,2\n")
    for arguments in ([str(notes)], ["-"]):
        result = CliRunner().invoke(commands, ["inspect", *arguments], input="time,client\n1,2\n")
        assert result.exit_code == 1
        assert not isinstance(result.exception, AssertionError | TypeError | ValueError | OSError)
