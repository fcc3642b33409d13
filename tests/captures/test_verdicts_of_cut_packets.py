"""Verdicts from packets that were cut when they were captured (`tcpdump -s 256`): still what happened on a real 4.x broker."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from kwire import analysis
from kwire.analysis import Options
from pcap_files import cut_to

ROOT = Path(__file__).parents[2]
CLIENTS = json.loads((Path(__file__).parent / "data" / "upgrade-fleet-truth.json").read_text())["clients"]


@cache
def impact(snaplen: int) -> dict[str, list[dict[str, Any]]]:
    whole = gzip.decompress((ROOT / "examples" / "upgrade-fleet.pcap.gz").read_bytes())
    with TemporaryDirectory() as folder:
        capture = Path(folder, "cut.pcap")
        capture.write_bytes(cut_to(whole, snaplen))
        # The ranges that the broker offers lie behind the cut: somebody has to say which release it is.
        tables = analysis.run([str(capture)], [19092], Options(target_releases=["4.3"], broker_release="3.9.2"))
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in tables["upgrade_impact"].to_pylist():
        found[row["client_id"]].append(row)
    return found


def test_a_cut_answer_is_of_no_release() -> None:
    """Its first APIs are those of several releases."""
    (broker,) = analysis.run([str(ROOT / "tests" / "captures" / "data" / "snaplen-96.pcap.gz")])["brokers"].to_pylist()
    assert broker["versions"]
    assert broker["release_guess"] is None


@pytest.mark.parametrize("snaplen", [256, 128])
@pytest.mark.parametrize("client", CLIENTS, ids=[f"{client['library']}-{client['version']}" for client in CLIENTS])
def test_verdicts_agree_with_what_happened(client: dict[str, Any], snaplen: int) -> None:
    rows = impact(snaplen)[client["client_id"]]
    assert rows
    assert ("breaks" in {row["verdict"] for row in rows}) == client["breaks_on_4x"]
