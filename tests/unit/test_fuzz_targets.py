"""Fuzz targets on their seeds, once each, and on the inputs that were faults; the fuzzer itself is `make fuzz`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.run import TARGETS, repeat, target, target_of
from kwire.codec.impl import Twin

CRASHES = sorted((Path(__file__).parents[1] / "fuzz" / "crashes").glob("*.hex"))


@pytest.fixture
def both(native_codec: Any) -> Twin:
    """The targets compare the twins: there has to be a native one."""
    twin: Twin = native_codec.twin
    return twin


@pytest.mark.parametrize("name", TARGETS)
def test_seeds(name: str, both: Twin, share: Callable[..., list[bytes]]) -> None:
    seeds = [each for each in target(name).seeds() if each]
    assert len(set(seeds)) > 5
    some = seeds[:: 1 + len(seeds) // 400]  # parity tests read all messages that seeds are made of
    for data in share(some, 1 + len(some) // 40):
        target(name).compare(data)


@pytest.mark.parametrize("path", CRASHES, ids=lambda path: path.stem)
def test_inputs_that_were_faults(path: Path, both: Twin) -> None:
    repeat(path)


def test_a_target_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"nothing-1\.hex begins with the name of none"):
        target_of(Path("nothing-1.hex"))
