"""Base against head on one machine, in turns: the same works, our own times only, so that neither a busy machine nor a peer tilts it.

usage: python benchmarks/base_and_head.py BASE HEAD [--rounds 3] [--out build/base-and-head] [-- pytest arguments]

BASE and HEAD are checkouts in which `sh tools/environment.sh bench` has run. A work is slower when head took over `LIMIT` times base's time
in every round: then the exit status is 1. `table.md` is the comment, `head.json` what a page of many commits is drawn from.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

LIMIT: Final = 1.15
SHOWN: Final = 1.05  # what is neither faster nor slower by this is one line together
Times = dict[str, float]  # seconds for one message, by work


def times_of(path: Path) -> Times:
    """Our own times in a file of pytest-benchmark."""
    found: Times = {}
    for each in json.loads(path.read_text())["benchmarks"]:
        facts = each["extra_info"]
        if facts.get("contender") == "native":
            found[facts["work"]] = each["stats"]["min"] / facts["messages"]
    return found


def measured(checkout: Path, to: Path, arguments: Sequence[str]) -> Times:
    """Run the benchmarks of a checkout, with its own kwire.

    Raises:
        OSError: none ran.
    """
    python = checkout.resolve() / ".venv" / "bin" / "python"
    command = [
        python,
        "-m",
        "pytest",
        "benchmarks",
        "-p",
        "no:xdist",
        "-q",
        "--benchmark-quiet",
        "-k",
        "native",
        f"--benchmark-json={to.resolve()}",
        *arguments,
    ]
    environment = {**os.environ, "KWIRE_REQUIRE_NATIVE": "1"}
    # floors are the business of `make bench`
    subprocess.run(command, cwd=checkout, env=environment, check=False, stdout=subprocess.DEVNULL)
    if not to.exists():
        raise OSError(f"the benchmarks of {checkout} did not run")
    return times_of(to)


def ratios_of(rounds: Sequence[tuple[Times, Times]]) -> dict[str, list[float]]:
    """Head's time divided by base's, one for each round, for works that both have in all of them."""
    works = set.intersection(*({*base} & {*head} for base, head in rounds))
    return {work: [head[work] / base[work] for base, head in rounds] for work in sorted(works)}


def slower_in(ratios: dict[str, list[float]]) -> list[str]:
    """Works that took longer in every round."""
    return [work for work, found in ratios.items() if min(found) > LIMIT]


def table_of(ratios: dict[str, list[float]]) -> str:
    """The comment, in Markdown; the slowest come first."""
    lines = ["### Head's time divided by base's", "", "| Work | median | rounds |", "|---|---:|---|"]
    changed = {work: found for work, found in ratios.items() if not 1 / SHOWN < median(found) < SHOWN}
    for work, found in sorted(changed.items(), key=lambda each: -median(each[1])):
        mark = " (slower in each round)" if work in slower_in(ratios) else ""
        lines.append(f"| `{work}`{mark} | {median(found):.2f} | {', '.join(f'{each:.2f}' for each in found)} |")
    return "\n".join([*lines, "", f"{len(ratios) - len(changed)} of {len(ratios)} works changed by less than {SHOWN - 1:.0%}.", ""])


def main() -> int:
    """Measure, write the files, and judge."""
    parser = argparse.ArgumentParser(description="Compare the benchmarks of two checkouts.")
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/base-and-head"))
    parser.add_argument("arguments", nargs="*")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    rounds = []
    for number in range(asked.rounds):
        # which of them is first changes, for a machine that warms up or slows down
        both = [("base", asked.base), ("head", asked.head)][:: -1 if number % 2 else 1]
        done = {name: measured(checkout, asked.out / f"{name}-{number}.json", asked.arguments) for name, checkout in both}
        rounds.append((done["base"], done["head"]))
    ratios = ratios_of(rounds)
    best = {work: min(head[work] for _, head in rounds if work in head) for work in sorted({*rounds[0][1]})}
    (asked.out / "head.json").write_text(json.dumps(best, indent=1) + "\n")
    (asked.out / "table.md").write_text(table_of(ratios))
    print(table_of(ratios))
    return 1 if slower_in(ratios) else 0


if __name__ == "__main__":
    sys.exit(main())
