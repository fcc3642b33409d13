"""MkDocs hook: sample-report.html of the site, the report on examples/three-brokers.pcap.gz."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def on_files(files: Any, config: Any) -> None:
    from mkdocs.structure.files import File

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        inputs = (EXAMPLES / "three-brokers.pcap.gz", "--owners", EXAMPLES / "three-brokers-owners.csv")
        command = (sys.executable, "-m", "kwire", "analyze", *inputs, "--out", out, "--engine", "local", "--quiet")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        page = (out / "report.html").read_text("utf-8")
    files.append(File.generated(config, "sample-report.html", content=page))
