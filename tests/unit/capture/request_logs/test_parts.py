"""Lines of request logs that a container runtime has split into parts are read as the lines that they were."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.request_logs import line_parts
from kwire.tables.series_rows import read_series

DATA = Path(__file__).parents[3] / "captures" / "data"
STAMP = "2026-11-21T10:24:51.700000000Z"
LOGS = ("topicids-requests.jsonl.gz", "old-0.10-requests.log.gz")


def lines_of(name: str) -> list[str]:
    """Entries, with the mark that brokers write in front of them."""
    found = gzip.decompress((DATA / name).read_bytes()).decode().splitlines()[:40]
    return [line if "Completed request:" in line else f"[2026-11-21 10:24:51,693] DEBUG Completed request:{line}" for line in found]


def pieces(text: str, size: int) -> Iterator[tuple[str, bool]]:
    places = [*range(0, len(text), size), len(text)]
    for start, stop in pairwise(places):
        yield text[start:stop], stop == len(text)


def cri(lines: list[str], size: int) -> str:
    """As containerd and CRI-O write them, with another stream in between."""
    out = []
    for line in lines:
        for piece, is_last in pieces(line, size):
            out += [f"{STAMP} stdout {'F' if is_last else 'P'} {piece}", f"{STAMP} stderr {'F' if is_last else 'P'} warning"]
    return "".join(f"{line}\n" for line in out)


def docker(lines: list[str], size: int, end: str = "\n") -> str:
    out = []
    for line in lines:
        for piece, is_last in pieces(line, size):
            for log, stream in ((piece + end * is_last, "stdout"), ("noise\n", "stderr")):
                out.append(json.dumps({"log": log, "stream": stream, "time": STAMP}, separators=(",", ":")))
    return "".join(f"{line}\n" for line in out)


def read(*texts: str) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    with read_series([io.BytesIO(text.encode()) for text in texts], "s", ()) as rows:
        found = rows.table("requests").to_pylist()
        rules = [(row["rule"], row["explanation"]) for row in rows.table("violations").to_pylist() if row["rule"] != "log_lines_foreign"]
    for row in found:
        del row["packet_number"]  # the line
    return found, rules


@pytest.mark.parametrize("write", [cri, docker])
@pytest.mark.parametrize("size", [97, 1000])
@pytest.mark.parametrize("name", LOGS)
def test_parts_are_the_line_that_they_were(name: str, size: int, write: Any) -> None:
    lines = lines_of(name)
    whole, rules = read(write(lines, 1 << 20))
    assert len(whole) >= 30
    assert read(write(lines, size)) == (whole, rules)


def test_a_line_whose_last_part_is_missing() -> None:
    lines = lines_of(LOGS[0])
    whole, _ = read(cri(lines[1:], 200))
    torn = cri(lines[:1], 200).splitlines(keepends=True)[0]
    found, rules = read(cri(lines[1:], 200) + torn)
    assert found == whole
    assert [rule for rule, _ in rules] == ["log_line_unreadable"]


def test_a_line_goes_on_in_the_next_file() -> None:
    text = cri(lines_of(LOGS[0]), 200)
    lines = text.splitlines(keepends=True)
    middle = next(at for at in range(len(lines) // 2, len(lines)) if " stdout P " in lines[at])
    found, rules = read("".join(lines[: middle + 1]), "".join(lines[middle + 1 :]))
    whole, _ = read(text)
    assert [row["correlation_id"] for row in found] == [row["correlation_id"] for row in whole]
    assert rules == []


def test_shippers_take_line_breaks_away() -> None:
    """Each line is whole then, and one that is broken costs itself alone."""
    lines = lines_of(LOGS[0])
    whole, _ = read(docker(lines, 1 << 20))
    assert read(docker(lines, 1 << 20, end=""))[0] == whole
    found, rules = read(docker([lines[0][:200], *lines], 1 << 20, end=""))
    assert found == whole
    assert [rule for rule, _ in rules] == ["log_line_unreadable"]


def test_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_parts, "_MOST_CHARACTERS", 100_000)
    lines = lines_of(LOGS[0])
    endless = f"{STAMP} stdout P {'x' * 1000}\n" * 300
    found, rules = read(endless + f"{STAMP} stdout F \n" + cri(lines, 200))
    assert found == read(cri(lines, 200))[0]
    assert "its parts are longer than" in rules[0][1]
