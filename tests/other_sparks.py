"""Other versions of PySpark than that of the environment, and what docs/reference/spark-versions.md says of each.

They are installed beside it, into `.cache/pyspark-VERSION`, on the first run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["LAKES", "OTHERS", "documented", "installed", "yes_or_no"]

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "reference" / "spark-versions.md"
# The versions with the py4j that each of them wants.
OTHERS: Final = {"3.5.7": "0.10.9.7", "4.0.1": "0.10.9.9"}
# The one that the jars of Iceberg and Delta are for
LAKES: Final = "4.0.1"


def installed(version: str) -> Path | None:
    if version not in OTHERS:
        return None
    folder = ROOT / ".cache" / f"pyspark-{version}"
    if not (folder / "py4j").is_dir():
        packages = (f"pyspark=={version}", f"py4j=={OTHERS[version]}")
        command = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *packages)
        subprocess.run(command, check=True, timeout=600)
    return folder


def documented(version: str) -> dict[str, str]:
    rows = [[cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    column = rows[0].index(version)
    return {row[0]: row[column] for row in rows[1:]}


def yes_or_no(found: Mapping[str, str]) -> dict[str, str]:
    return {name: "yes" if said == "yes" else "no" for name, said in found.items()}
