"""The comparison of two analyses, for checks of a change: rows and how often each is there, in any order."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

from compare_folders import differences


def test_rows_are_compared_as_often_as_they_are_there(tmp_path: Path, analysis_tables: ModuleType) -> None:
    first: dict[str, Any] = {"client_key": "a", "requests": 1}
    second = {"client_key": "b", "requests": 2}
    before = Path(analysis_tables.write_tables(tmp_path / "before", {"clients": [first, second, second]}))
    after = Path(analysis_tables.write_tables(tmp_path / "after", {"clients": [second, first, first]}))
    assert list(differences(before, before)) == []
    found = [(table, number, '"client_key": "a"' in row) for table, number, row in differences(before, after)]
    assert found == [("clients", 1, True), ("clients", -1, False)]
