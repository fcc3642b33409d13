"""Other versions of PySpark than that of the environment: installed beside it, into `.cache/pyspark-VERSION`, on the first run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["LAKES", "OTHERS", "installed"]

ROOT: Final = Path(__file__).parents[1]
# The versions with the py4j that each of them wants.
OTHERS: Final = {"3.5.7": "0.10.9.7", "4.0.1": "0.10.9.9"}
# The one that the jars of Iceberg and Delta are for
LAKES: Final = "4.0.1"


def installed(version: str) -> Path | None:
    """Where a version of PySpark is; None for that of this environment."""
    if version not in OTHERS:
        return None
    folder = ROOT / ".cache" / f"pyspark-{version}"
    if not (folder / "py4j").is_dir():
        packages = (f"pyspark=={version}", f"py4j=={OTHERS[version]}")
        command = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *packages)
        subprocess.run(command, check=True, timeout=600)
    return folder
