"""Programs of captures that begin in the middle: each is one row of `clients`, and every other table has its key."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from kwire.analysis.redaction import Redaction
from kwire.runs.job_request import JobRequest
from kwire.spark.job import run_job
from pcap_files import HEADER, records_of

SEED = Path(__file__).parent / "data" / "seed.pcap.gz"
WITH_KEYS = ("connections", "requests", "group_events", "api_usage", "client_hourly", "upgrade_impact", "topic_access")


@pytest.fixture(params=["alone", "redacted", "appended"])
def out(request: pytest.FixtureRequest, tmp_path: Path, job_in_process: Callable[..., None]) -> Path:
    """The analysis of a capture whose first quarter is missing: `java-new` and `py-old` have a connection that was joined late."""
    data = gzip.decompress(SEED.read_bytes())
    records = records_of(data)
    records = records[len(records) // 4 :]
    middle = len(records) // 2 if request.param == "appended" else len(records)
    pieces = [tmp_path / f"trace_{number}.pcap" for number in range(2)]
    redaction = Redaction(key=b"k" * 32) if request.param == "redacted" else None
    for piece, part in zip(pieces, (records[:middle], records[middle:]), strict=True):
        if part:
            piece.write_bytes(data[:HEADER] + b"".join(part))
            run_job(
                JobRequest(inputs=(str(tmp_path / "trace_*"),), out=str(tmp_path / "out"), append=piece != pieces[0], redaction=redaction)
            )
    return tmp_path / "out"


def test_each_is_counted_once(out: Path) -> None:
    connections = ds.dataset(out / "connections").to_table().to_pylist()
    programs = {(row["client_id"], row["client_address"], row["principal"]) for row in connections if row["client_id"] is not None}
    keys = {row["client_key"] for row in connections if row["client_id"] is not None}
    assert len(keys) == len(programs)
    clients = {row["client_key"]: row for row in ds.dataset(out / "clients").to_table().to_pylist()}
    for name in WITH_KEYS:
        assert set(ds.dataset(out / name).to_table().column("client_key").to_pylist()) - {None} <= clients.keys(), name
    assert Counter(row["client_key"] for row in connections) == {key: row["connections"] for key, row in clients.items()}
    requests = Counter(row["client_key"] for row in ds.dataset(out / "requests").to_table().to_pylist() if row["api_key"] is not None)
    assert requests == Counter({key: row["requests"] for key, row in clients.items()})
