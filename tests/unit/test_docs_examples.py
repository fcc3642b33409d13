"""The examples of the documentation, run as a reader would type them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DECODING = Path(__file__).resolve().parents[2] / "docs" / "decoding.md"


def test_examples_of_decoding(twin, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", DECODING.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == DECODING.read_text("utf-8").count("```") // 2
    assert all(">>> " in block for block in blocks)
    examples = tmp_path / "examples.txt"
    examples.write_text("\n".join((f">>> import kwire; kwire.backend\n'{twin}'\n", *blocks)), "utf-8")
    environment = {**os.environ, "KWIRE_PURE": "1" if twin == "pure" else "0"}
    done = subprocess.run([sys.executable, "-m", "doctest", str(examples)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
