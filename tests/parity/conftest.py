"""The captures and frames on which twins are compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_bytes import Frames

TESTS = Path(__file__).parents[1]
CAPTURES = [*sorted((TESTS / "captures" / "data").glob("*.pcap*.gz")), TESTS.parent / "examples" / "upgrade-fleet.pcap.gz"]
# They stand for the others without --whole: ordinary traffic of either file format, IPv6 and other links, beginnings and packets that are
# missing, packets that are cut, hostile bytes, SASL, and TCP that nobody expects.
FOREMOST = {
    "seed", "real", "ipv6", "any-sll2", "late-join", "gap-response", "snaplen-96", "hostile-requests", "tcp-tricks", "wireshark-pdus",
    "sections",
}  # fmt: skip


def _case(path: Path) -> object:
    name = path.name.partition(".")[0]
    return pytest.param(path, id=name, marks=() if name in FOREMOST else pytest.mark.whole)


@pytest.fixture(params=map(_case, CAPTURES))
def capture_path(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="session")
def fleet() -> Path:
    return CAPTURES[-1]


@pytest.fixture(scope="session")
def frames(vectors: Callable[[str], list[dict[str, Any]]]) -> Frames:
    return Frames(vectors)
