"""Tables of an analysis, written and opened for tests of reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kwire.report.analysis_folder import AnalysisFolder


@pytest.fixture
def folder_of(tmp_path: Path, analysis_tables: ModuleType) -> Callable[..., AnalysisFolder]:
    """Write tables, given as rows, and open them as an analysis."""

    def make(**tables: list[dict[str, Any]]) -> AnalysisFolder:
        return AnalysisFolder(analysis_tables.write_tables(tmp_path / "out", {"captures": [], **tables}))

    return make
