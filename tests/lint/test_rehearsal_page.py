"""The table of docs/how-to/rehearsal.md: what its sentences say of it, and what is known of the same builds from captures."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "rehearsal.md").read_text("utf-8")
# How each client of a captured fleet ended on a real 4.x broker.
TRUTH = json.loads((ROOT / "tests" / "captures" / "data" / "upgrade-fleet-truth.json").read_text())


def table() -> dict[str, list[str]]:
    rows = (re.findall(r"[^|]+", line) for line in PAGE[PAGE.index("| Build |") :].splitlines()[2:] if line.startswith("|"))
    return {build.strip().partition(" (")[0]: [cell.strip() for cell in cells] for build, *cells in rows}


def test_what_the_page_says_of_its_table() -> None:
    rows = table()
    breaking = [build for build, (today, _, release, _) in rows.items() if today != release]
    assert f"{len(rows)} builds of 15 client libraries" in PAGE
    assert len({build.rpartition(" ")[0] for build in rows}) == 15
    assert f"exactly the {len(breaking)} that end otherwise" in " ".join(PAGE.split())
    assert all(behind == release for _, behind, release, _ in rows.values())
    assert [build for build, cells in rows.items() if cells[3] != "-"] == breaking


def test_the_builds_of_a_captured_fleet() -> None:
    rows = table()
    clients = TRUTH["clients"]
    assert len(clients) > 25
    for client in clients:
        today, _, release, _ = rows[f"{client['library']} {client['version']}"]
        assert (today != release) is client["breaks_on_4x"], client["library"]
