"""The page of object stores shows code that its example has; its commands are run by the integration tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_code_of_the_page_stands_in_its_example() -> None:
    page = (ROOT / "docs" / "object-stores.md").read_text("utf-8")
    example = (ROOT / "examples" / "object_stores.py").read_text("utf-8").splitlines()
    blocks = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == page.count("```py\n") == 2
    for line in "".join(blocks).splitlines():
        assert line in example
