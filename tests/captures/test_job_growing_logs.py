"""Request logs that their brokers still write to: an analysis that grows with them is that of the whole log, row by row, at every step.

Tasks run in this process; what Spark adds is tested in tests/integration.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from counted_rows import counted_folders, run
from kwire.errors import InputError
from kwire.runs import analysis_run, planning
from kwire.runs.job_request import JobRequest
from kwire.spark import job
from kwire.spark.job import run_job

DATA = Path(__file__).parent / "data"
# A rolled file has another name than the one under which its first rows were read.
NAMES = {"series", "capture"}


pytestmark = [pytest.mark.matrix, pytest.mark.usefixtures("job_in_process")]


def tables(out: Path, *left_out: str) -> dict[str, Counter[str]]:
    return counted_folders(out, left_out)


def log_of(name: str) -> bytes:
    return gzip.decompress((DATA / name).read_bytes())


def lines_of(name: str) -> list[bytes]:
    return log_of(name).splitlines(keepends=True)


def in_a_line(data: bytes, number: int, at: int) -> int:
    """The offset of a byte of a line, from the line's end where it is negative."""
    lines = data.splitlines(keepends=True)
    return sum(map(len, lines[:number])) + (at if at >= 0 else len(lines[number]) + at)


def check_growth(path: Path, stages: Sequence[bytes], tmp_path: Path, append_first: bool = False) -> None:
    """At each stage of a file the analysis that grew is the one of what is there.

    `append_first`: also where the first run appends to nothing. Else a run without --append is what grows: it is that of the first stage.
    """
    for number, stage in enumerate(stages):
        path.write_bytes(stage)
        first = not number and not append_first
        run([path], tmp_path / "grown", append=not first)
        assert first or tables(tmp_path / "grown") == tables(run([path], tmp_path / f"whole{number}"))


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param("upgrade-fleet-requests.jsonl.gz", 1, marks=pytest.mark.whole),
        ("sasl-requests.jsonl.gz", 2),
        pytest.param("old-0.9-requests.log.gz", 2, marks=pytest.mark.whole),
        ("old-0.11-requests.log.gz", 1),
    ],
)
def test_a_log_that_grows_in_the_middle_of_a_line(name: str, step: int, tmp_path: Path) -> None:
    """Cut inside a line; behind its last byte but before its line break; behind a line break; inside the next line, twice in the same.

    Of each form of the log one is cut at all these places, and one at every second.
    """
    data = log_of(name)
    count = data.count(b"\n")
    cuts = [
        in_a_line(data, count // 5, 70),
        in_a_line(data, count // 3, -1),
        in_a_line(data, count // 2, 0),
        in_a_line(data, count // 2, 40),
        in_a_line(data, count // 2, 41),
        len(data),
    ]
    check_growth(tmp_path / "kafka-request.log", [data[:cut] for cut in cuts[step - 1 :: step]], tmp_path, append_first=step == 1)


def test_a_log_that_grows_in_the_middle_of_a_character(tmp_path: Path) -> None:
    """The client id has a letter of two bytes (c3 bc in UTF-8), and each of them comes in a run of its own."""
    lines = lines_of("upgrade-fleet-requests.jsonl.gz")[:60]
    entry = json.loads(lines[30])
    entry["requestHeader"]["clientId"] = "zürich"
    lines[30] = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    data = b"\xef\xbb\xbf" + b"".join(lines)
    inside = data.index("zürich".encode()) + 2
    assert data[inside - 1 : inside + 1] == b"\xc3\xbc"
    check_growth(tmp_path / "kafka-request.log", [data[:cut] for cut in (0, inside, len(data))], tmp_path)
    rows = ds.dataset(tmp_path / "grown" / "requests", format="parquet").to_table().to_pylist()
    assert [row["client_id"] for row in rows].count("zürich") == 1


@pytest.mark.parametrize("codec", [pytest.param("gzip", marks=pytest.mark.whole), "zstd"])
def test_a_compressed_log_that_grows_in_the_middle_of_a_member(codec: str, tmp_path: Path) -> None:
    """It grows by members (frames): one that ends inside a line, one that is cut in itself, a whole one."""
    data = log_of("upgrade-fleet-requests.jsonl.gz")
    cuts = [0, in_a_line(data, 100, 500), in_a_line(data, 400, 0), len(data)]

    def packed(part: bytes) -> bytes:
        return gzip.compress(part, mtime=0) if codec == "gzip" else bytes(pa.compress(part, codec="zstd", asbytes=True))

    members = [packed(data[first:last]) for first, last in pairwise(cuts)]
    whole = b"".join(members)
    sizes = [len(members[0]), len(members[0]) + len(members[1]) // 2, len(members[0]) + len(members[1]), len(whole)]
    check_growth(tmp_path / "kafka-request.log.2026-01-01-10.gz", [whole[:size] for size in sizes], tmp_path)


def test_an_entry_of_several_lines_that_grows_between_them(tmp_path: Path) -> None:
    """A client id may hold a line break, and the text form goes on in the next line then."""
    lines = lines_of("old-0.11-requests.log.gz")[:40]
    at = lines[20].index(b"clientId=") + 9 if b"clientId=" in lines[20] else lines[20].index(b"client_id=") + 10
    data = b"".join(lines[:20]) + lines[20][:at] + b"two\nlines" + lines[20][at:] + b"".join(lines[21:])
    broken = len(b"".join(lines[:20])) + at + len(b"two")
    check_growth(tmp_path / "kafka-request.log", [data[:cut] for cut in (broken, broken + 1, broken + 3, len(data))], tmp_path)


def test_lines_that_are_not_of_the_log_are_counted_once(tmp_path: Path) -> None:
    """What all lines of a file together say (foreign lines, no times) is said of what is there, not once in every run."""
    lines = lines_of("sasl-requests.jsonl.gz")[:30]
    data = (
        b"a stack trace\n" + b"".join(lines[:10]) + b"\tat Main\n{not JSON}\n" + b"".join(lines[10:]) + b"Completed request: nothing of it"
    )
    cuts = (in_a_line(data, 8, 30), in_a_line(data, 12, 3), len(data) - 5, len(data))
    check_growth(tmp_path / "kafka-request.log", [data[:cut] for cut in cuts], tmp_path)


def rolling(folder: Path, hours: Sequence[bytes], name: Callable[[int, int], str]) -> Callable[[int, int], list[Path]]:
    """Lay out a log as it is found in an hour: the earlier hours rolled, of the present one as many bytes as it has by then (0: all)."""

    def at(hour: int, size: int) -> list[Path]:
        for path in folder.iterdir():
            path.unlink()
        paths = [folder / name(each, hour) for each in range(hour + 1)]
        for path, data in zip(paths, [*hours[:hour], hours[hour][: size or None]], strict=True):
            path.write_bytes(data)
        return paths

    return at


ROLLED = {
    "by the hour": lambda hour, _now: f"kafka-request.log.2026-01-01-{hour:02}",
    "by number": lambda hour, now: f"kafka-request.log.{now - hour}",
}


def test_a_log_that_is_rolled(tmp_path: Path) -> None:
    """Kafka's appender names the file by its hour when it is over; logrotate gives every file the next number. Either way what was read of
    a file is not read again under its new name, and a line that is cut by the roll goes on in the next file.

    One byte of a new file does not say what it is: that it cannot be read is taken back by the next run, also when the file is whole and
    rolled by then.

    The whole is made once for both rules, whose rows differ in names only.
    """
    lines = lines_of("upgrade-fleet-requests.jsonl.gz")
    hours = [b"".join(lines[:150]), b"".join(lines[150:350]) + lines[350][:99], lines[350][99:] + b"".join(lines[351:])]
    wholes: dict[tuple[int, int], dict[str, Counter[str]]] = {}
    folder = tmp_path / "logs"  # the same for both: it is in what is said of a file that cannot be read
    folder.mkdir()
    for rule, rolled_name in ROLLED.items():
        every, some = tmp_path / rule / "every", tmp_path / rule / "some"
        at = rolling(folder, hours, lambda hour, now, name=rolled_name: "kafka-request.log" if hour == now else name(hour, now))
        for hour, size in ((0, 70_000), (1, 1), (1, 130_001), (2, 40), (2, 0)):
            paths = at(hour, size)
            if (hour, size) not in wholes:
                wholes[hour, size] = tables(run(paths, tmp_path / f"whole{hour}-{size}"), *NAMES)
            if size == 130_001:
                shutil.copytree(every, some)  # it misses this run, and has seen the same ones before
            for out in [every, some] if hour == 2 else [every]:
                assert tables(run(paths, out, append=True), *NAMES) == wholes[hour, size], rule
        for out in (every, some):
            captures = ds.dataset(out / "captures", format="parquet").to_table().to_pylist()
            assert str(paths[-1]) in {row["capture"] for row in captures}


def test_a_log_that_was_rolled_and_is_given_alone(tmp_path: Path) -> None:
    data = log_of("topicids-requests.jsonl.gz")
    live, rolled = tmp_path / "kafka-request.log", tmp_path / "kafka-request.log.2026-01-01-10"
    live.write_bytes(data[:100_000])
    run([live], tmp_path / "grown", append=True)
    live.unlink()
    rolled.write_bytes(data)
    run([rolled], tmp_path / "grown", append=True)
    assert tables(tmp_path / "grown", *NAMES) == tables(run([rolled], tmp_path / "whole"), *NAMES)


def test_a_log_that_was_written_over_is_refused(tmp_path: Path) -> None:
    data = log_of("topicids-requests.jsonl.gz")
    path = tmp_path / "kafka-request.log"
    path.write_bytes(data[:100_000])
    run([path], tmp_path / "out", append=True)
    path.write_bytes(data[:50] + b"!" + data[51:])
    with pytest.raises(InputError, match=r"has changed since it was read: its first 100,000 bytes differ"):
        run([path], tmp_path / "out", append=True)


def test_what_is_written_while_a_log_is_read_is_left_for_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where packets of a series are routed: the tasks of the second step read logs themselves."""
    monkeypatch.setattr(planning, "SHARE_BYTES", 1)
    monkeypatch.setattr(job, "slots_of", lambda _spark: 3)
    data = log_of("topicids-requests.jsonl.gz")
    path = tmp_path / "kafka-request.log"
    path.write_bytes(data)
    expected = tables(run([path], tmp_path / "expected"))
    real = analysis_run.plan_of

    def plan_of(*args: Any, **more: Any) -> planning.Plan:
        plan = real(*args, **more)
        path.write_bytes(data)  # the broker goes on while Spark starts
        return plan

    monkeypatch.setattr(analysis_run, "plan_of", plan_of)
    path.write_bytes(data[:100_000])
    out = tmp_path / "out"
    first = run_job(JobRequest(inputs=(str(path),), out=str(out)))
    more = f"its first 100,000 bytes are in the analysis, {len(data) - 100_000:,} more are left for a run with --append"
    assert [said for said in first.warnings if more in said]
    violations = ds.dataset(out / "violations", format="parquet").to_table().to_pylist()
    assert not {"log_line_torn", "capture_cut"} & {row["rule"] for row in violations}  # the rest of the line is there
    second = run_job(JobRequest(inputs=(str(path),), out=str(out), append=True))
    assert second.warnings == []
    assert tables(out) == expected
