"""A rehearsal against the release itself, with a handful of the builds that docs/how-to/rehearsal.md has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kwire.schema import releases

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "rehearsal"), str(ROOT / "tools")]

from builds import BUILDS  # noqa: E402
from rehearse import rehearse  # noqa: E402

pytestmark = [pytest.mark.matrix, pytest.mark.xdist_group("kafka")]

# By what Kafka 4 removed (KIP-896): Produce up to 2, Fetch up to 3, ListOffsets 0, OffsetCommit up to 1.
BREAK = {"kafka-clients 0.9.0.1": "Produce v1", "kafka-clients 0.10.2.2": "Produce v2"}
WORK = {"kafka-clients 0.11.0.3", "kafka-clients 3.9.2"}


def test_builds_end_behind_the_rehearsal_as_on_the_release(kafka_broker: Callable[[str], Any]) -> None:
    older, newer = kafka_broker("3.9.2"), kafka_broker(releases().newest.name)
    wanted = [build for build in BUILDS if str(build) in BREAK or str(build) in WORK]
    rows, missing = rehearse(wanted, ROOT / ".cache" / "builds", older, newer)
    assert not missing
    assert [row.faults for row in rows] == [[]] * 4
    assert {str(row.build): [each for each in row.named if each.startswith("Produce")] for row in rows if row.breaks} == {
        name: [api] for name, api in BREAK.items()
    }
    assert [(row.real.produced, row.real.consumed, row.real.error) for row in rows if row.breaks] == [(0, 0, "NetworkException")] * 2
