"""A page with the times of all commits of main: one chart for each work, as SVG without scripts.

usage: python benchmarks/over_commits.py HISTORY.jsonl PAGE.html [COMMIT HEAD.json]

Machines of a CI differ from day to day, so times are divided by the median of their work: a step that stays is a change.
Machines of a CI differ from day to day, so times are divided by the median of their work: a step that stays is a change.
"""

from __future__ import annotations

import html
import json
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any, Final

import pygal

_MOST: Final = 200  # commits on the page


def appended(history: Path, commit: str, times: Path) -> None:
    """Add a commit, once."""
    lines = history.read_text().splitlines() if history.exists() else []
    if all(json.loads(line)["commit"] != commit for line in lines):
        lines.append(json.dumps({"commit": commit, "times": json.loads(times.read_text())}))
    history.write_text("\n".join(lines) + "\n")


def chart(work: str, commits: list[dict[str, Any]]) -> str:
    """The line of one work."""
    times = [each["times"].get(work) for each in commits]
    usual = median(each for each in times if each is not None)
    line = pygal.Line(
        height=220, show_legend=False, x_label_rotation=90, x_labels_major_every=10, show_minor_x_labels=False, js=[], min_scale=4
    )
    line.title = f"{work}: {usual * 1e6:,.3g} us"
    line.x_labels = [each["commit"][:8] for each in commits]
    line.add(work, [None if each is None else each / usual for each in times])
    drawn = str(line.render(is_unicode=True, disable_xml_declaration=True))
    return re.sub(r"<script.*?</script>", "", drawn, flags=re.DOTALL)  # for tooltips, which browsers have


def page(commits: list[dict[str, Any]]) -> str:
    """The page of the newest commits."""
    shown = commits[-_MOST:]
    works = sorted({work for each in shown for work in each["times"]})
    charts = "\n".join(f'<figure id="{html.escape(work, quote=True)}">{chart(work, shown)}</figure>' for work in works)
    title = "Time for one message, over commits"
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>\n{charts}\n</html>\n'


def main(history: str, target: str, *new: str) -> None:
    """Append what is given, and draw."""
    if new:
        appended(Path(history), new[0], Path(new[1]))
    commits = [json.loads(line) for line in Path(history).read_text().splitlines()]
    Path(target).write_text(page(commits), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
