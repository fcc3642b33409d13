"""Memory stays flat while decodes fail; tests/failing_decodes.py runs as many as it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from failing_decodes import Held, grown
from kwire.codec.impl import Twin

PROGRAM = Path(__file__).parents[2] / "failing_decodes.py"
DECODES = {"native": "20000", "pure": "4000"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's account of the process is read from /proc")
@pytest.mark.weighs_process
def test_failures_leave_nothing_behind(twin: Twin) -> None:
    done = subprocess.run([sys.executable, str(PROGRAM), DECODES[twin], twin], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(done.stdout.splitlines()) == 10


def test_what_is_left_behind_is_named() -> None:
    """A block of 48 bytes that each of 900 decodes leaves."""
    first, last = Held(100, 50, 5000, 1 << 20, 64 << 20), Held(1000, 500, 5900, (1 << 20) + 48 * 900, 64 << 20)
    assert grown(first, last) == ["blocks grew by 900 in 900 decodes"]
    assert grown(first, first) == []
