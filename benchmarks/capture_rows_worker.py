"""Reads a capture to request rows whenever a line comes in, in the twin that the environment asks for; a process has only one."""

from __future__ import annotations

import sys

import kwire
from kwire.tables import from_capture

print(kwire.backend, flush=True)
for line in sys.stdin:
    print(from_capture(line.strip(), table="requests").num_rows, flush=True)
