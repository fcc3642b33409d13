"""`kwire merge`: the tables of merged analyses are those of one analysis of all their captures."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner

from counted_rows import counted_folders, run, written
from kwire.analysis.redaction import Redaction
from kwire.cli.entry import commands
from kwire.errors import InputError
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from pcap_files import later, pieces_of

DATA = Path(__file__).parent / "data"

STATES = ("open", "joined_late")

pytestmark = pytest.mark.usefixtures("job_in_process")


def merged(out: Path, *folders: Path, **options: Any) -> list[str]:
    request = JobRequest(inputs=tuple(map(str, folders)), out=str(out), engine="local", merges=True, **options)
    return run_job(request).warnings


def days(into: Path, name: str, count: int) -> list[str]:
    """A capture and copies of it, each a day later: connections are closed or forgotten by then, but their ports are used again."""
    data = gzip.decompress((DATA / name).read_bytes())
    return written([later(data, 86_400 * number) for number in range(count)], into)


def one_by_one(into: Path, files: Sequence[str], **options: Any) -> list[Path]:
    return [run([file], into / f"day{number}", **options) for number, file in enumerate(files)]


# `connection_id` counts the use of the same ports in one analysis; and a copy repeats a sequence number, so a SYN counts as sent again
NUMBERED = {"connection_id", "evidence_connection_id", "series", "first_seen", "last_seen"}


def tables(out: Path, left_out: set[str] = NUMBERED) -> dict[str, Counter[str]]:
    return counted_folders(out, left_out)


def test_other_captures_give_the_tables_of_one_analysis(tmp_path: Path) -> None:
    """All columns of all tables."""
    files = [str(DATA / name) for name in ("topicids.pcap.gz", "groups.pcapng.gz", "telemetry.pcapng.gz", "ipv6.pcap.gz", "sasl.pcap.gz")]
    whole = run(files, tmp_path / "whole")
    parts = one_by_one(tmp_path, files)
    assert merged(tmp_path / "out", *parts) == []
    assert tables(tmp_path / "out", set()) == tables(whole, set())
    again = [tmp_path / "first", tmp_path / "second"]
    merged(again[0], *parts[:2])
    merged(again[1], again[0], *parts[2:])
    assert tables(again[1], set()) == tables(whole, set())


@pytest.mark.parametrize("partition_by", [None, "date"])
def test_days_give_the_tables_of_one_analysis(partition_by: Any, tmp_path: Path) -> None:
    files = days(tmp_path, "topicids.pcap.gz", 3)
    whole = run(files, tmp_path / "whole", partition_by=partition_by)
    merged(tmp_path / "out", *one_by_one(tmp_path, files, partition_by=partition_by))
    assert tables(tmp_path / "out") == tables(whole)
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text())["partition_by"] == partition_by


def test_a_connection_over_the_border_is_a_row_in_both_and_said(tmp_path: Path) -> None:
    """Their number follows from the rows of both analyses."""
    halves = written(pieces_of(gzip.decompress((DATA / "seed.pcap.gz").read_bytes()), 2), tmp_path)
    one, other = one_by_one(tmp_path, halves)
    rows = [ds.dataset(out / "connections", format="parquet").to_table().to_pylist() for out in (one, other)]
    ends = [
        {(row["server_port"], row["client_port"]) for row in found if row["state"] == state}
        for found, state in zip(rows, STATES, strict=True)
    ]
    assert len(ends[0] & ends[1]) > 1
    [said] = merged(tmp_path / "out", one, other)
    assert said.startswith(f"{len(ends[0] & ends[1])} connections were open at the end of one analysis and go on in another")
    found = ds.dataset(tmp_path / "out" / "connections", format="parquet").to_table()
    assert len(found) == sum(map(len, rows))


def test_a_file_group_of_both_is_said(tmp_path: Path) -> None:
    files = days(tmp_path, "topicids.pcap.gz", 4)
    one, other = (run(files[at : at + 2], tmp_path / f"out{at}") for at in (0, 2))
    [said] = merged(tmp_path / "out", one, other)
    assert "trace_*.pcap" in said
    assert "connection_id" in said


def test_what_cannot_be_merged_is_refused(tmp_path: Path) -> None:
    topics, groups = (str(DATA / name) for name in ("topicids.pcap.gz", "ipv6.pcap.gz"))
    one, same, dated = (
        run([topics], tmp_path / "one"),
        run([topics], tmp_path / "same"),
        run([groups], tmp_path / "dated", partition_by="date"),
    )
    redacted = run([groups], tmp_path / "redacted", redaction=Redaction(b"k" * 32))
    old = run([groups], tmp_path / "old")
    manifest = json.loads((old / "_manifest.json").read_text())
    (old / "_manifest.json").write_text(json.dumps(manifest | {"version": "0.0.1"}))
    unsafe = run([groups], tmp_path / "unsafe")
    (unsafe / "_manifest.json").write_text(json.dumps(manifest | {"parts": {"requests": ["../../etc/passwd"]}}))
    released = run([groups], tmp_path / "released")
    (released / "_manifest.json").write_text(json.dumps(manifest | {"broker_release": 4}))
    damaged = run([groups], tmp_path / "damaged")
    [state] = (damaged / "_state").iterdir()
    state.write_bytes(state.read_bytes()[:-1] + b"9")
    for folder, sentence in (
        (same, "topicids.pcap.gz is in .*one and in .*same, so its requests would count twice"),
        (one, "would count twice"),
        (dated, "only one of .*one and .*dated is partitioned by date"),
        (redacted, "redacted has no sums, because"),
        (old, "old was written by kwire 0.0.1, and its sums cannot be read"),
        (unsafe, "unsafe has an invalid manifest"),
        (released, "released has an invalid manifest"),
        (damaged, "it is truncated, damaged, or written by another version"),
        (tmp_path / "nowhere", "nowhere has no complete analysis"),
        (DATA, "data has no complete analysis"),
    ):
        with pytest.raises(InputError, match=sentence):
            merged(tmp_path / "out", one, folder)
        assert not (tmp_path / "out").exists()


def test_a_merged_analysis_is_not_appended_to(tmp_path: Path) -> None:
    files = [str(DATA / name) for name in ("topicids.pcap.gz", "ipv6.pcap.gz", "sasl.pcap.gz")]
    merged(tmp_path / "out", *one_by_one(tmp_path, files[:2]))
    with pytest.raises(InputError, match="without the state that --append needs"):
        run([*files], tmp_path / "out", append=True)
    assert (tmp_path / "out" / "_SUCCESS").exists()


def test_the_command_writes_tables_and_report(tmp_path: Path) -> None:
    """The target release is that of both analyses."""
    files = [str(DATA / name) for name in ("topicids.pcap.gz", "seed.pcap.gz")]
    folders = one_by_one(tmp_path, files, target_releases=("4.0.0",))
    done = CliRunner().invoke(commands, ["merge", *map(str, folders), "--out", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0, done.output
    assert [each["release"] for each in json.loads(done.stdout)["targets"]] == ["4.0.0"]
    assert (tmp_path / "out" / "report.html").exists()
    again = CliRunner().invoke(commands, ["merge", *map(str, folders), "--out", str(tmp_path / "out")])
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr


def test_the_command_ends_as_that_of_an_analysis(tmp_path: Path) -> None:
    folders = [str(each) for each in one_by_one(tmp_path, [str(DATA / name) for name in ("topicids.pcap.gz", "ipv6.pcap.gz")])]
    tables_alone = CliRunner().invoke(commands, ["merge", *folders, "--out", str(tmp_path / "tables"), "--no-report"])
    assert tables_alone.stdout.rstrip().endswith(f"Tables: {tmp_path / 'tables'}")
    refused = CliRunner().invoke(commands, ["merge", *folders, "--out", str(tmp_path / "out"), "--no-report", "--open"])
    assert refused.exit_code == 2
    assert "--open needs a report" in refused.stderr
    assert not (tmp_path / "out").exists()
