#!/usr/bin/env python3
"""Write docs/internals/requirements.md, the proposals' requirements and their tests: `python tools/build_requirements_page.py [--check]`.

A test belongs to a requirement when its name says so (`test_K511_16_...`) or when it is marked (`@pytest.mark.requirement("K511-16")`).
`tools/requirements.tsv` lists the requirements, one a line: id, order of work, places, and, where no test is wanted, the reason.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "internals" / "requirements.md"

PROPOSALS = {
    "K511": "KIP-511: a client's software name and version",
    "K35": "KIP-35: what versions a broker speaks, and the draft with BrokerMetadata",
    "K1313": "KIP-1313: client instance id in the header, header versions",
    "K714": "KIP-714: metrics that clients push",
    "K559": "KIP-559: protocol type and name in group messages",
}

HEADING = """# The proposals, requirement by requirement

Each line is one testable statement drawn from a proposal, with the tests that hold it. p0 came first, p3 last. Places: the catalog (CAT),
the codec (COD), negotiation (NEG), the tracker of connections (TRK), telemetry (TEL), the Spark job (SPK), reports (RPT), the command line
(CLI), a proxy (PRX). Made by `tools/build_requirements_page.py` from the tests; a change here is lost.
"""

_IN_A_NAME = re.compile(r"(?<![A-Za-z0-9])K(511|35|1313|714|559)_(\d+)(?!\d)")


class Requirement(NamedTuple):
    name: str
    order: str
    places: str
    reason: str


def requirements() -> list[Requirement]:
    """The lines of `tools/requirements.tsv`."""
    lines = (ROOT / "tools" / "requirements.tsv").read_text().splitlines()
    return [Requirement(*[*line.split("\t"), ""][:4]) for line in lines if not line.startswith("#")]


def _named(function: ast.FunctionDef) -> Iterator[str]:
    """The requirements that a test is for."""
    for proposal, number in _IN_A_NAME.findall(function.name):
        yield f"K{proposal}-{number}"
    for mark in function.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.requirement":
            yield from (ast.literal_eval(argument) for argument in mark.args)


def proofs() -> dict[str, list[str]]:
    """For each requirement its tests, as ``file::name``."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for name in sorted(set(_named(node))):
                    found[name].append(f"{path.name}::{node.name}")
    return found


def page() -> str:
    """The text of the page."""
    tests = proofs()
    known = requirements()
    if unknown := set(tests) - {requirement.name for requirement in known}:
        raise SystemExit(f"{tests[min(unknown)][0]} names {min(unknown)}, which tools/requirements.tsv does not have")
    lines = [HEADING]
    for proposal, title in PROPOSALS.items():
        mine = [requirement for requirement in known if requirement.name.startswith(f"{proposal}-")]
        proved = sum(requirement.name in tests for requirement in mine)
        lines += [
            f"## {title}",
            "",
            f"{proved} of {len(mine)} have tests of their own.",
            "",
            "| Id | Order | Places | Tests |",
            "|---|---|---|---|",
        ]
        for name, order, places, reason in mine:
            shown = "<br>".join(f"`{test}`" for test in tests.get(name, ())) or reason
            lines.append(f"| {name} | {order} | {places} | {shown} |")
        lines.append("")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    text = page()
    if not parser.parse_args().check:
        PAGE.write_text(text)
        return 0
    return 0 if PAGE.exists() and PAGE.read_text() == text else 1


if __name__ == "__main__":
    sys.exit(main())
