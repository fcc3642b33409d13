"""Brokers in reports: the release is given as far as it is known."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from kwire.report.summary import summarize


@pytest.mark.parametrize(
    ("guess", "words", "running"),
    [
        ("3.9 (3.9.0 to 3.9.2)", "Kafka 3.9 (3.9.0 to 3.9.2)", "(brokers run 3.9)"),
        ("3.8.1", "Kafka 3.8.1", "(brokers run 3.8)"),
        ("3.3 to 3.4 (3.3.0 to 3.4.1)", "Kafka 3.3 to 3.4 (3.3.0 to 3.4.1)", "(brokers run 3.3 to 3.4)"),
        (None, "its ApiVersions answer matches no Apache Kafka release", ""),
    ],
)
def test_the_release_is_said_as_far_as_it_is_known(
    tmp_path: Path, analysis_tables: ModuleType, guess: str | None, words: str, running: str
) -> None:
    tables = analysis_tables.tables_of(analysis_tables.FLEET)
    for row in tables["brokers"]:
        row["release_guess"] = guess
    folder = analysis_tables.write_tables(tmp_path / "out", tables)
    found = summarize(folder)
    assert found.brokers[0].endswith(words)
    assert found.answer.sentence.endswith(running)
    assert ("brokers run" in found.answer.sentence) is bool(running)
