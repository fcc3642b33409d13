"""Programs on the PATH of a shell in place of those that need root or another machine."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_programs"]

PROGRAMS = {
    "sudo": '[ "$1" = -n ] && shift && export UNTIL_STOPPED=1; exec "$@"',
    "ssh": 'for last; do :; done; eval "exec $last"',
    "timeout": 'shift; exec "$@"',
    "uvx": '[ "$1" = --from ] && shift 2; exec "$@"',
    "browser": 'echo "$1" >> "$OPENED"',
    "tcpdump": """file=-
[ "$1" = -r ] && reads=1
while [ $# -gt 0 ]; do [ "$1" = -w ] && file=$2; shift; done
[ "$reads" ] && exec cat > "${file}00"
case $file in -) gzip -dc "$PACKETS" ;; *) gzip -dc "$PACKETS" > "$(date +"$file")" ;; esac
trap 'exit 0' INT
while [ "$UNTIL_STOPPED" ]; do sleep 0.1; done""",
}
"""tcpdump writes the capture that PACKETS names, where the command says."""


def write_programs(folder: Path, **more: str) -> Path:
    folder.mkdir()
    for name, text in (PROGRAMS | more).items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return folder
