#!/usr/bin/env python3
"""Make docs/images/report.png, the picture of README, from `kwire demo`: `python tools/readme_picture.py`. Needs Chromium."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from page_browser import started  # noqa: E402

SIZE = (1200, 1000)


def described(picture: bytes, text: str) -> bytes:
    """Return a PNG file with a description before its last chunk, by which a test knows what it shows."""
    chunk = b"tEXtDescription\0" + text.encode("latin-1")
    end = picture.rindex(b"IEND") - 4
    return picture[:end] + (len(chunk) - 4).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big") + picture[end:]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo"
        command = [sys.executable, "-m", "kwire", "demo", "--no-open", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with started(Path(folder) / "profile") as browser:
            browser.set_window_size(*SIZE)
            browser.get((out / "report" / "report.html").as_uri())
            answer = " ".join(browser.find_element("tag name", "h1").text.split())
            picture = described(base64.b64decode(browser.get_screenshot_as_base64()), answer)
        (ROOT / "docs" / "images" / "report.png").write_bytes(picture)


if __name__ == "__main__":
    main()
