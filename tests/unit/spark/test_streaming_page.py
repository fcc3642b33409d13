"""The page of streams has every option with its default; test_docs_blocks.py reads its code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kwire.errors import InputError
from kwire.spark.source.stream_options import StreamOptions, stream_options

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "how-to" / "streaming.md").read_text("utf-8")


def test_the_table_has_every_option_with_its_default() -> None:
    table = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert table.keys() == {
        "stateLocation", "maxBytesPerTrigger", "maxFilesPerTrigger", "closedAfter", "pairsForgottenAfter", "groupEndsAfter",
        "failOnDataLoss",
    }  # fmt: skip
    said = {name.lower(): text.strip("`") for name, text in table.items() if text.startswith("`")}
    assert stream_options(said) == StreamOptions()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10 minutes", 600), ("1 hour", 3600), ("30s", 30), ("250 ms", 0.25), ("5", 5), ("2 Days", 172800), ("1.5h", 5400)],
)
def test_durations(text: str, seconds: float) -> None:
    assert stream_options({"closedafter": text}).closed_after == seconds


@pytest.mark.parametrize("text", ["", "soon", "ten minutes", "-1 s", "1 month"])
def test_durations_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match=r"closedAfter of the kwire data source must be a duration such as '10 minutes', not"):
        stream_options({"closedafter": text})
