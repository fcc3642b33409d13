"""Progress of a job whose tasks read a file more than once, as those that share one large file do."""

from __future__ import annotations

import threading

import pytest

from kwire.runs import workers


@pytest.mark.parametrize(("read", "shown"), [(0, 0), (150, 75), (200, 100), (230, 100)])
def test_each_byte_counts_once(read: int, shown: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tasks read 100 bytes each of the same file: 150 bytes read are 75 of 100."""
    monkeypatch.setattr(workers, "bytes_read", lambda _out: read)
    monkeypatch.setattr(workers, "_POLL_SECONDS", 0.001)
    seen: list[tuple[str, int, int]] = []
    told = threading.Event()

    def progress(*facts: object) -> None:
        seen.append(facts)  # type: ignore[arg-type]
        told.set()

    with workers.watching("out", 200, 100, progress):
        assert told.wait(30)
    assert set(seen) == {("Reading captures", shown, 100)}
