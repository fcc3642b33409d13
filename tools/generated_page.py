"""What the tools that write a page of the documentation have in common: write it, or say whether it is up to date."""

from __future__ import annotations

import argparse
from pathlib import Path


def write_or_check(page: Path, text: str, description: str) -> int:
    """Write the page, or with `--check` on the command line only compare it.

    Returns:
        the exit status: 1 where the page is not up to date.
    """
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the page is up to date")
    if not parser.parse_args().check:
        page.write_text(text)
        return 0
    return 0 if page.exists() and page.read_text() == text else 1
