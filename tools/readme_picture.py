#!/usr/bin/env python3
"""Make docs/images/report.png, the picture of README, from a capture in examples: `python tools/readme_picture.py`. Needs Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page_browser import started  # noqa: E402

SIZE = (1200, 1000)
CAPTURE, OWNERS = ROOT / "examples" / "three-brokers.pcap.gz", ROOT / "examples" / "three-brokers-owners.csv"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report"
        command = [sys.executable, "-m", "kwire", "analyze", str(CAPTURE), "--out", str(out), "--owners", str(OWNERS), "--engine", "local"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with started(Path(folder) / "profile") as browser:
            browser.set_window_size(*SIZE)
            browser.get((out / "report.html").as_uri())
            browser.save_screenshot(str(ROOT / "docs" / "images" / "report.png"))


if __name__ == "__main__":
    main()
