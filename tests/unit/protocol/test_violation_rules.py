"""Every rule is documented, with the severity that it has."""

from __future__ import annotations

import re
from pathlib import Path

from kwire.protocol.rules import RULES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reference" / "violations.md").read_text()
# id and severity of each row of its tables
DOCUMENTED = dict(re.findall(r"^\| `(\w+)` \| (error|warning|info) \|", PAGE, re.MULTILINE))
OF_FILES = PAGE[PAGE.index("## Files") :]


def test_every_rule_of_the_wire_is_documented_with_its_severity() -> None:
    of_the_wire = {rule: severity for rule, severity in DOCUMENTED.items() if f"`{rule}`" not in OF_FILES}
    assert of_the_wire == {rule.id: rule.severity for rule in RULES.values()}


def test_every_rule_of_files_is_documented_with_its_severity() -> None:
    said = set()
    for path in (ROOT / "src" / "kwire" / "tables").rglob("*.py"):
        said |= set(re.findall(r'_file_violation\([^)]*?"(\w+)", "(error|warning|info)"', path.read_text()))
        said |= set(re.findall(r'"(log_\w+)",\s+"(error|warning|info)"', path.read_text()))
    assert said
    assert said == {(rule, severity) for rule, severity in DOCUMENTED.items() if f"`{rule}`" in OF_FILES}
