"""What a stream keeps between batches: pairs of endpoints are written as changes, and what no batch resumes from goes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from kwire.capture.dividing import pair_counts
from kwire.capture.dividing.pair_counts import PairCounts
from kwire.capture.dividing.recent_pairs import RecentPairs
from kwire.errors import InputError
from kwire.spark.source.stream_state import SeriesState, StateFolder
from kwire.tables.series import begin_series


def key_of(number: int) -> bytes:
    return b"\4" + number.to_bytes(11, "big") + bytes(1)


def counts(pairs: int) -> PairCounts:
    lives = PairCounts()
    for number in range(pairs):
        lives.begin(key_of(number))
    lives.keep_changes()
    return lives


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return StateFolder(str(tmp_path), "stream")


def state_with(lives: Any) -> SeriesState:
    carry = begin_series("s", ())
    carry.streams.lives = lives
    return SeriesState(carry)


def files(tmp_path: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (tmp_path / "kwire-stream").iterdir()}


def lives_of(folder: StateFolder, version: int) -> Any:
    return folder.read("s", version).carry.streams.lives


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_counts, "_SEALED_PAIRS", 100)
    monkeypatch.setattr(pair_counts, "_MERGED_PAIRS", 800)


def test_a_batch_writes_what_it_changed(folder: StateFolder, tmp_path: Path) -> None:
    lives = counts(5000)
    folder.write("s", 1, state_with(lives))
    before = files(tmp_path)
    known = lives_of(folder, 1)
    assert known == lives
    known.begin(key_of(9000))
    folder.write("s", 2, state_with(known))
    after = files(tmp_path)
    assert len(after) == len(before) + 1  # the state alone; all blocks are there
    whole = sum(size for name, size in before.items() if name.endswith(".pairs"))
    [new] = after.keys() - before.keys()
    assert after[new] < whole / 4
    assert lives_of(folder, 2).count_of(key_of(9000)) == 1
    assert key_of(9000) not in lives_of(folder, 1)


def test_blocks_go_with_the_last_state_that_names_them(folder: StateFolder, tmp_path: Path) -> None:
    lives: Any = PairCounts()
    lives.keep_changes()
    for version in range(1, 40):
        for number in range(60):
            lives.begin(key_of(60 * version + number))
        folder.write("s", version, state_with(lives))
        lives = lives_of(folder, version)
        folder.forget({"s": max(1, version - 1)})
        assert len(lives_of(folder, max(1, version - 1))._blocks()) == 1  # it can still be read
    assert [lives.count_of(key_of(number)) for number in (59, 60, 60 * 40 - 1, 60 * 40)] == [0, 1, 1, 0]
    assert len(files(tmp_path)) < 20  # two states, and blocks of 100 to 800 pairs
    folder.forget({"s": 40})
    assert files(tmp_path) == {}


def test_states_of_other_series_stay(folder: StateFolder, tmp_path: Path) -> None:
    lives = counts(300)
    for series in ("s", "t"):
        folder.write(series, 1, state_with(lives))
    folder.forget({"t": 2})
    assert lives_of(folder, 1) == lives
    with pytest.raises(InputError, match="cannot be read"):
        folder.read("t", 1)


def test_a_block_that_is_gone(folder: StateFolder, tmp_path: Path) -> None:
    lives = counts(300)
    folder.write("s", 1, state_with(lives))
    for path in (tmp_path / "kwire-stream").glob("*.pairs"):
        path.unlink()
    with pytest.raises(InputError, match="state of s after batch 1 cannot be read"):
        folder.read("s", 1)


def test_counts_as_changes_are_the_counts(folder: StateFolder) -> None:
    """Against counts that keep none; a pair that comes again counts once more wherever it lies."""
    kept, plain = PairCounts(), PairCounts()
    kept.keep_changes()
    for step in range(2000):
        key = key_of(step * step % 701)
        assert kept.begin(key) == plain.begin(key)
        if step % 150 == 0:
            kept = pickle.loads(pickle.dumps(kept))
    assert kept == plain
    assert kept._sealed is not None
    assert len(kept._sealed) < 6


@pytest.mark.parametrize("recent", [50, 100_000], ids=["on disk", "in memory"])
def test_pairs_that_come_again_do_not_grow_the_state(monkeypatch: pytest.MonkeyPatch, recent: int) -> None:
    """1,500 pairs, more than a block holds, that are used again and again: blocks hold each a few times at most."""
    monkeypatch.setattr(pair_counts, "RECENT_PAIRS", recent)
    kept = PairCounts()
    kept.keep_changes()
    for turn in range(6):
        for number in range(1500):
            assert kept.begin(key_of(number)) == turn
        kept = pickle.loads(pickle.dumps(kept))
    assert sum(kept._sizes) <= 2 * (1500 + 800)
    assert [count for _, count in kept] == [6] * 1500


def test_pairs_that_are_forgotten_take_their_blocks_along(folder: StateFolder, tmp_path: Path) -> None:
    """Of two generations the earlier one is not written again, and goes as a whole."""
    lives: Any = RecentPairs(10)
    for version in range(1, 12):
        for number in range(200):
            lives.begin(key_of(200 * version + number))
        lives.forget(version * 5)
        lives.keep_changes()
        folder.write("s", version, state_with(lives))
        lives = lives_of(folder, version)
        folder.forget({"s": version})
    assert len(files(tmp_path)) <= 12
    assert key_of(200 * 11) in lives
    assert key_of(200 * 5) not in lives
