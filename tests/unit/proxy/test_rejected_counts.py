"""Counts of a rehearsal: bounded, kept in a file, and shared by processes that overlap."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from kwire.errors import InputError
from kwire.proxy.rules.rehearsal import RehearsalRule
from kwire.proxy.rules.rejected_counts import Rejected, RejectedCounts


def test_rehearsal_counts_a_bounded_number_of_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kwire.proxy.rules.rejected_counts._MOST_COUNTED", 2)
    counts = RejectedCounts("4.0.2")
    for version in (0, 1, 0, 2, 3):
        counts.count(Rejected("", "", "c", "10.0.0.9", 8, version))
    rejected, others = counts.read()
    assert (sum(rejected.values()), others) == (3, 2)


def test_counts_of_a_rehearsal_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    who = Rejected("sarama", "1.27.2", "sh\u00f6p", "10.0.0.9", 8, 1)
    first = RehearsalRule("4.0.0", "count", str(path))
    first.counts.save()
    assert not path.exists()  # nothing to save
    first.counts.count(who)
    first.counts.save()
    assert path.stat().st_mode & 0o777 == 0o600
    second = RehearsalRule("4.0.0", "count", str(path))
    second.counts.count(who)
    assert second.counts.read() == ({who: 2}, 0)
    with pytest.raises(InputError, match=r"has the counts of 4\.0\.0, not of 4\.1\.0: choose another file"):
        RehearsalRule("4.1.0", "count", str(path))
    assert not RehearsalRule("4.1.0", "break", str(path)).counts.read()[0]
    for text in ('{"release": "4.0.0"}', "x", '{"release": "4.0.0", "others": 0, "rejected": [[["a"], 1]]}'):
        path.write_text(text)
        with pytest.raises(InputError, match="has no counts of a rehearsal: choose another file"):
            RehearsalRule("4.0.0", "count", str(path))
    gone = RejectedCounts("4.0.0", str(tmp_path / "none" / "counts.json"))
    gone.count(who)
    for _ in range(2):  # it is tried again
        with pytest.raises(OSError, match="No such file"):
            gone.save()


def test_processes_that_overlap_add_their_counts(tmp_path: Path) -> None:
    """The one that is replaced saves last, after the one that replaces it; four then save at once."""
    path = str(tmp_path / "counts.json")
    one, two = (Rejected("sarama", "1.27.2", "shop", "10.0.0.9", 8, version) for version in (0, 1))
    old = RejectedCounts("4.0.2", path)
    old.count(one)
    old.save()
    new = RejectedCounts("4.0.2", path)
    for counts, what in ((old, one), (new, one), (new, two), (old, two), (old, two)):
        counts.count(what)
        counts.save()
    assert new.read() == ({one: 3, two: 1}, 0)
    new.save()  # nothing of its own
    assert new.read() == RejectedCounts("4.0.2", path).read() == ({one: 3, two: 3}, 0)

    def run(counts: RejectedCounts) -> None:
        for _ in range(50):
            counts.count(one)
            counts.save()

    threads = [threading.Thread(target=run, args=(RejectedCounts("4.0.2", path),)) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert RejectedCounts("4.0.2", path).read() == ({one: 203, two: 3}, 0)


def test_merged_counts_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kwire.proxy.rules.rejected_counts._MOST_COUNTED", 2)
    path = str(tmp_path / "counts.json")
    both = [RejectedCounts("4.0.2", path) for _ in range(2)]
    for counts, versions in zip(both, ((0, 1, 2), (1, 3, 4)), strict=True):
        for version in versions:
            counts.count(Rejected("", "", "c", "10.0.0.9", 8, version))
        counts.save()
    kinds = {Rejected("", "", "c", "10.0.0.9", 8, version): version + 1 for version in (0, 1)}
    assert both[1].read() == RejectedCounts("4.0.2", path).read() == (kinds, 3)


def test_counts_that_cannot_be_saved_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "counts.json"
    who = Rejected("", "", "shop", "10.0.0.9", 8, 1)
    counts = RejectedCounts("4.0.2", str(path))
    path.write_text("x")
    counts.count(who)
    with pytest.raises(InputError, match="has no counts of a rehearsal"):
        counts.save()
    path.unlink()
    counts.count(who)
    counts.save()
    assert counts.read() == RejectedCounts("4.0.2", str(path)).read() == ({who: 2}, 0)
