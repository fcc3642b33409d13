"""Command line of the tools that write a page of the documentation: write it, or check whether it is up to date."""

from __future__ import annotations

import argparse
from pathlib import Path


def write_or_check(page: Path, text: str, description: str) -> int:
    """Write the page, or with `--check` only compare it; return exit status 1 if it is not up to date."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    if not parser.parse_args().check:
        page.write_text(text)
        return 0
    return 0 if page.exists() and page.read_text() == text else 1
