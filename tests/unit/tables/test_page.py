"""docs/reference/tables.md lists the columns that the schemas have."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from kwire.tables.schemas import SCHEMAS

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "reference" / "tables.md"


def test_the_page_is_made_from_the_schemas_as_they_are() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools" / "build_tables_page.py", "--check"], check=False)
    assert made.returncode == 0, "run `python tools/build_tables_page.py`"


def test_every_column_has_a_row_with_a_description() -> None:
    sections = re.split(r"^## (\w+)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    listed = dict(zip(sections[::2], sections[1::2], strict=True))
    assert {table: re.findall(r"^\| `(\w+)` \| `.+` \| .* \| \S.*\|$", text, re.MULTILINE) for table, text in listed.items()} == {
        table: schema.names for table, schema in SCHEMAS.items()
    }
