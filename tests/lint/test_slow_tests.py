"""The list of tests that `make unit` leaves out: of tests that are there, each once."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
LISTED = (TESTS / "slow_tests.txt").read_text("utf-8").splitlines()


def test_what_is_left_out_is_there() -> None:
    """A test that was renamed would come back into `make unit` without a word."""
    files = {name.partition("::")[0] for name in LISTED}
    functions = {
        f"{name}::{node.name}"
        for name in files
        for node in ast.walk(ast.parse((TESTS / name).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert set(LISTED) - functions == set()


def test_the_list_is_in_order() -> None:
    assert sorted(set(LISTED)) == LISTED
