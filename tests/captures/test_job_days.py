"""Days of `client_hourly` that stay when an analysis is appended to, and those that are made again."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from counted_rows import counted_folders, run, written
from kwire.errors import InputError
from kwire.runs import finish_task, sums_files
from kwire.runs.parts import STATE
from pcap_files import HEADER, later, records_of

DATA = Path(__file__).parent / "data"
DAY = 86_400
PROVENANCE = {"series", "capture", "packet_number", "explanation", "evidence_request_index"}

pytestmark = pytest.mark.usefixtures("job_in_process")


def cut_seed() -> tuple[bytes, bytes]:
    """The capture, and its second quarter: clients have connections then that were joined late, so they have no name."""
    data = gzip.decompress((DATA / "seed.pcap.gz").read_bytes())
    records = records_of(data)
    return data, data[:HEADER] + b"".join(records[len(records) // 4 : len(records) // 2])


def grown(files: Sequence[str], out: Path) -> list[dict[str, str]]:
    """Append the files one by one; return the parts of days after each run, by day and bucket."""
    found = []
    for count in range(1, len(files) + 1):
        run(files[:count], out, append=True)
        names = [path.name for path in (out / "client_hourly").iterdir()]
        found.append({name[9:28]: name for name in names if name.startswith("part-key-20")})
    return found


def assert_alike(one: Path, other: Path) -> None:
    assert counted_folders(one, PROVENANCE, without=["captures"]) == counted_folders(other, PROVENANCE, without=["captures"])


def test_a_day_that_is_over_stays(tmp_path: Path) -> None:
    seed, _ = cut_seed()
    files = written([later(seed, seconds) for seconds in (0, DAY, DAY + 600, 2 * DAY, 2 * DAY + 600)], tmp_path)
    parts = grown(files, tmp_path / "grown")
    assert [len(each) for each in parts] == [0, 1, 1, 2, 2]
    assert parts[1].items() <= parts[2].items() <= parts[3].items() <= parts[4].items()
    state = sorted(path.name[:6] + path.name[-11:] for path in (tmp_path / "grown" / STATE).iterdir() if path.name.startswith("sums-"))
    assert [name[7:] for name in state] == [each[:10] for each in sorted(parts[4])]
    assert_alike(tmp_path / "grown", run(files, tmp_path / "whole"))


def test_a_day_is_made_again_when_a_client_gets_its_name(tmp_path: Path) -> None:
    """The first days have connections without a name, of programs that say it on the last day."""
    named, late = cut_seed()
    files = written([late, later(late, DAY), later(late, 2 * DAY), later(named, 3 * DAY)], tmp_path)
    parts = grown(files, tmp_path / "grown")
    assert parts[1].items() <= parts[2].items()
    assert not parts[3].items() & parts[2].items()
    assert_alike(tmp_path / "grown", run(files, tmp_path / "whole"))


def test_a_day_is_made_again_when_it_gets_more(tmp_path: Path) -> None:
    """Files of another capture point come a day late."""
    seed, _ = cut_seed()
    files = written([later(seed, seconds) for seconds in (0, DAY, 2 * DAY)], tmp_path, "one")
    parts = grown(files, tmp_path / "grown")
    files += written([later(gzip.decompress((DATA / "sasl.pcap.gz").read_bytes()), 0)], tmp_path, "two")
    run(files, tmp_path / "grown", append=True)
    assert_alike(tmp_path / "grown", run(files, tmp_path / "whole"))
    assert len(parts[-1]) == 2


def test_a_damaged_day_is_one_sentence(tmp_path: Path) -> None:
    seed, _ = cut_seed()
    files = written([later(seed, seconds) for seconds in (0, DAY, DAY + 600)], tmp_path)
    [name] = grown(files[:2], tmp_path / "grown")[1].values()
    part = tmp_path / "grown" / "client_hourly" / name
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(InputError, match=rf"client_hourly/{name} in .*grown is damaged; analyze its captures again"):
        run(files, tmp_path / "grown", append=True)


@pytest.mark.whole
def test_days_of_many_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums_files, "PIECE_BYTES", 30_000)
    monkeypatch.setattr(finish_task, "GATHERED_BYTES", 30_000)
    monkeypatch.setattr(finish_task, "BUCKET_BYTES", 30_000)
    monkeypatch.setattr(finish_task, "STEP_BYTES", 8_000)
    seed, _ = cut_seed()
    files = written([later(seed, seconds) for seconds in (0, DAY, 2 * DAY, 3 * DAY)], tmp_path)
    for few_bits in (8, 0):  # the second: files are brought together first
        monkeypatch.setattr(finish_task, "_FEW_BITS", few_bits)
        out = tmp_path / f"grown-{few_bits}"
        parts = grown(files, out)
        assert len({name[11:] for name in parts[-1]}) > 1
        assert_alike(out, run(files, tmp_path / f"whole-{few_bits}"))
