"""Fuzz targets on their seeds, once each, and on the inputs that were faults; the fuzzer itself is `make fuzz`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzz.byte_choices import cut_pieces
from fuzz.run import TARGETS, repeat, target, target_of, write_hex
from fuzz.unwatched import feed
from kwire.codec.impl import Twin

CRASHES = sorted((Path(__file__).parents[2] / "fuzz" / "crashes").glob("*.hex"))


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


def test_an_unwatched_input_that_is_a_fault_is_left_as_hex(tmp_path: Path) -> None:
    """Native code may end the process without a word, so each input is in a file before it is read."""
    met: list[bytes] = []

    def compare(data: bytes) -> None:
        met.append(data)
        assert len(data) < 2 or data[1] & 1 == 0 or not cut_pieces(data[2:])

    with pytest.raises(AssertionError):
        feed(compare, [b"\0\0" + b"\0\0\4abcd" * 3], 2, 4096, 60, 7, tmp_path / "tcp-last")
    (left,) = write_hex("tcp", tmp_path)
    assert bytes.fromhex(left.read_text()) == met[-1]
    assert len(met) > 1
    assert list(tmp_path.iterdir()) == [left]


def test_unwatched_inputs_without_a_fault_leave_nothing(tmp_path: Path) -> None:
    assert feed(lambda data: None, [b"abcd"], None, 4096, 0.01, 7, tmp_path / "tcp-last") > 0
    assert write_hex("tcp", tmp_path) == []
    assert list(tmp_path.iterdir()) == []
